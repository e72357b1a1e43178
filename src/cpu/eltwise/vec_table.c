#include "cpu/eltwise/vec_table.h"

#include "cpu/eltwise/vec.h"

static const ingot_vec_table *const tables[] = {
#define INGOT_LEVEL(suffix, features) &ingot_vec_table_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

const ingot_vec_table *ingot_vec_table_at(int level)
{
    return tables[level];
}

const ingot_vec_table *ingot_vec_table_best(void)
{
    return tables[ingot_level_best()];
}

void ingot_vec_unary(const ingot_unary *op, const float *x, float *y, size_t count)
{
    ingot_vec_table_best()->unary[op->kind](x, y, count, op->a, op->b);
}

void ingot_vec_binary(ingot_binary_kind kind, const float *a, const float *b, float *y, size_t count)
{
    ingot_vec_table_best()->binary[kind][INGOT_VEC_BOTH](a, b, y, count);
}
