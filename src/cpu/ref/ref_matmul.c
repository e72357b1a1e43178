/* MatMul, MatMulInteger, Gemm. */
#include "cpu/ref/ref_product.h"
#include "ops/matmul.h"

/* A batch of matrices: a vector is a row on the left and a column on the right. */
typedef struct matrices {
    int batch_rank;
    int64_t rows, columns;
} matrices;

static matrices as_matrices(const ingot_value *v, bool left)
{
    if (v->rank == 1)
        return (matrices){0, left ? 1 : v->dims[0], left ? v->dims[0] : 1};
    return (matrices){v->rank - 2, v->dims[v->rank - 2], v->dims[v->rank - 1]};
}

static void multiply(const ingot_kernel_call *call, const ingot_factors *factors)
{
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_value *z = call->outputs[0];
    matrices x = as_matrices(a, true), y = as_matrices(b, false);
    int batch_rank = x.batch_rank > y.batch_rank ? x.batch_rank : y.batch_rank;
    ingot_product product = {.n = (size_t)y.columns,
                             .k = (size_t)x.columns,
                             .a_row = x.columns,
                             .a_column = 1,
                             .b_row = y.columns,
                             .b_column = 1};
    size_t to = 0;
    ingot_walk walk;
    ingot_walk_init(&walk, batch_rank, z->dims);
    ingot_walk_add_broadcast(&walk, x.batch_rank, a->dims);
    ingot_walk_add_broadcast(&walk, y.batch_rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        for (size_t i = 0; i < walk.run; i++) {
            product.a_start = (walk.offset[1] + (int64_t)i * walk.step[1]) * x.rows * x.columns;
            product.b_start = (walk.offset[2] + (int64_t)i * walk.step[2]) * y.rows * y.columns;
            for (size_t row = 0; row < (size_t)x.rows; row++, to += product.n) {
                ingot_product_row(factors, &product, row);
                ingot_product_store(factors, z, to, product.n);
            }
        }
}

ingot_status ingot_ref_matmul(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_factors factors;
    INGOT_TRY(ingot_factors_prepare(call, a, b, (size_t)as_matrices(b, false).columns, &factors));
    multiply(call, &factors);
    return INGOT_OK;
}

/* ---- MatMulInteger ---- */

/* Takes the zero point from the integers of v in numbers: one number, one for each row of A (given as a vector), or a shape that
 * broadcasts. */
static ingot_status subtract(const ingot_kernel_call *call, size_t input, const ingot_value *v, int64_t *numbers)
{
    if (!ingot_kernel_has(call, input))
        return INGOT_OK;
    const ingot_value *zero = call->inputs[input];
    int64_t dims[INGOT_MAX_RANK + 1];
    int rank = zero->rank;
    for (int i = 0; i < rank; i++)
        dims[i] = zero->dims[i];
    if (input == 2 && rank == 1 && v->rank > 1)
        dims[rank++] = 1;
    for (int i = 0; i < rank; i++)
        if (dims[i] != 1 && (rank > v->rank || dims[i] != v->dims[i + v->rank - rank]))
            return ingot_kernel_fail(call, "input '%s' has %lld elements on its axis %d, which does not fit '%s'",
                                     input == 2 ? "a_zero_point" : "b_zero_point", (long long)dims[i], i,
                                     input == 2 ? "A" : "B");
    ingot_walk walk;
    ingot_walk_init(&walk, v->rank, v->dims);
    ingot_walk_add_broadcast(&walk, rank > v->rank ? 0 : rank, dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        for (int64_t i = 0; i < (int64_t)walk.run; i++)
            numbers[walk.offset[0] + i] -=
                ingot_load_i64(zero->element, zero->data, (size_t)(walk.offset[1] + i * walk.step[1]));
    return INGOT_OK;
}

ingot_status ingot_ref_matmul_integer(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_factors factors;
    INGOT_TRY(ingot_factors_prepare(call, a, b, (size_t)as_matrices(b, false).columns, &factors));
    INGOT_TRY(subtract(call, 2, a, factors.a_copy));
    INGOT_TRY(subtract(call, 3, b, factors.b_copy));
    multiply(call, &factors);
    return INGOT_OK;
}

/* ---- Gemm ---- */

/* A row of beta C: its first element and the step to the next; value NULL where there is no C. */
typedef struct bias_row {
    const ingot_value *value;
    int64_t start, step;
} bias_row;

static void finish_reals(double *row, const ingot_gemm_params *p, const bias_row *bias, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        double x;
        row[j] *= p->alpha;
        if (!bias->value)
            continue;
        ingot_read_doubles(bias->value->element, bias->value->data, bias->start + (int64_t)j * bias->step, 1, 1, &x);
        row[j] += p->beta * x;
    }
}

/* Factors of one keep integers exact; others take them through double, rounded toward zero. */
static void finish_wholes(int64_t *row, const ingot_gemm_params *p, const bias_row *bias, size_t count)
{
    bool exact = p->alpha == 1 && p->beta == 1;
    for (size_t j = 0; j < count; j++) {
        size_t at = (size_t)(bias->start + (int64_t)j * bias->step);
        int64_t x = bias->value ? ingot_load_i64(bias->value->element, bias->value->data, at) : 0;
        if (exact)
            row[j] = (int64_t)((uint64_t)row[j] + (uint64_t)x);
        else
            ingot_store_double(INGOT_INT64, row, j, (double)p->alpha * (double)row[j] + (double)p->beta * (double)x);
    }
}

ingot_status ingot_ref_gemm(const ingot_kernel_call *call)
{
    const ingot_gemm_params *p = call->params;
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    const ingot_value *bias = ingot_kernel_has(call, 2) ? call->inputs[2] : NULL;
    ingot_value *z = call->outputs[0];
    size_t rows = (size_t)z->dims[0], columns = (size_t)z->dims[1];
    int64_t a_width = a->dims[1], b_width = b->dims[1], bias_strides[2] = {0, 0};
    ingot_product product = {.n = columns,
                             .k = (size_t)a->dims[p->trans_a ? 0 : 1],
                             .a_row = p->trans_a ? 1 : a_width,
                             .a_column = p->trans_a ? a_width : 1,
                             .b_row = p->trans_b ? 1 : b_width,
                             .b_column = p->trans_b ? b_width : 1};
    ingot_factors factors;
    INGOT_TRY(ingot_factors_prepare(call, a, b, columns, &factors));
    if (bias)
        ingot_walk_strides(bias->rank, bias->dims, 2, bias_strides);
    for (size_t i = 0; i < rows; i++) {
        bias_row bias_here = {bias, (int64_t)i * bias_strides[0], bias_strides[1]};
        ingot_product_row(&factors, &product, i);
        if (factors.element == INGOT_INT64)
            finish_wholes(factors.row, p, &bias_here, columns);
        else
            finish_reals(factors.row, p, &bias_here, columns);
        ingot_product_store(&factors, z, i * columns, columns);
    }
    return INGOT_OK;
}
