/* The vector kernels of one level; each runs in the caller. */
#ifndef INGOT_CPU_VEC_TABLE_H
#define INGOT_CPU_VEC_TABLE_H

#include "cpu/eltwise/eltwise.h"
#include "cpu/simd/level.h"

/* y[i] = op(x[i]), a and b are the operation's parameters; y may be x. */
typedef void (*ingot_vec_unary_function)(const float *x, float *y, size_t count, float a, float b);
/* y[i] = a[i] op b[i]; y may be a or b. */
typedef void (*ingot_vec_binary_function)(const float *a, const float *b, float *y, size_t count);

/* How a binary kernel reads its inputs: vectors side by side, or one number for all. */
enum { INGOT_VEC_BOTH, INGOT_VEC_ONE_A, INGOT_VEC_ONE_B, INGOT_VEC_FORMS };

typedef struct ingot_vec_table {
    ingot_vec_unary_function unary[INGOT_UNARY_COUNT];
    ingot_vec_binary_function binary[INGOT_BINARY_COUNT][INGOT_VEC_FORMS];
} ingot_vec_table;

#define INGOT_LEVEL(suffix, features) extern const ingot_vec_table ingot_vec_table_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

const ingot_vec_table *ingot_vec_table_at(int level);
/* Of ingot_level_best(). */
const ingot_vec_table *ingot_vec_table_best(void);

#endif
