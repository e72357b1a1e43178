/* QLinearMatMul: elements less their zero points are exact in float, their sums of products in double. */
#include <math.h>

#include "cpu/ref/ref_product.h"
#include "cpu/ref/ref_scratch.h"

enum { A = 0, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO };

/* One factor: a batch of matrices, with a scale for each row (a) or column (b) of each. */
typedef struct factor {
    const ingot_value *value;
    bool left;
    int batch_rank;
    size_t rows, columns, lines; /* lines: rows of all matrices of a, or columns of all of b */
    float *numbers;              /* less the zero point */
    float *scales, *zeros;       /* [lines] */
} factor;

static factor describe(const ingot_value *v, bool left)
{
    factor f = {.value = v, .left = left, .rows = 1, .columns = 1};
    f.batch_rank = v->rank > 2 ? v->rank - 2 : 0;
    if (v->rank > 1 || !left)
        f.rows = (size_t)v->dims[v->rank > 1 ? v->rank - 2 : 0];
    if (v->rank > 1 || left)
        f.columns = (size_t)v->dims[v->rank - 1];
    f.lines = ingot_dims_product(v->dims, 0, f.batch_rank) * (left ? f.rows : f.columns);
    return f;
}

/* A scale or zero point for every line: one number, a vector of rows or columns, or a shape that broadcasts. */
static ingot_status spread(const ingot_kernel_call *call, size_t input, const char *name, const factor *f, float *to)
{
    const ingot_value *from = call->inputs[input];
    int64_t dims[INGOT_MAX_RANK + 1], lines[INGOT_MAX_RANK];
    int rank = f->value->rank, own = from->rank;
    for (int i = 0; i < rank; i++)
        lines[i] = f->value->dims[i];
    lines[f->left || rank == 1 ? rank - 1 : rank - 2] = 1;
    for (int i = 0; i < own; i++)
        dims[i] = from->dims[i];
    if (f->left && own == 1 && rank > 1)
        dims[own++] = 1;
    bool fits = own <= rank || ingot_ref_count(from) == 1;
    for (int i = 0; fits && own <= rank && i < own; i++)
        fits = dims[i] == 1 || dims[i] == lines[rank - own + i];
    if (!fits)
        return ingot_kernel_fail(call, "%s of rank %d does not fit the rows or columns of its matrix", name,
                                 from->rank);
    ingot_walk walk;
    ingot_walk_init(&walk, rank, lines);
    ingot_walk_add_broadcast(&walk, own <= rank ? own : 0, dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        for (int64_t i = 0; i < (int64_t)walk.run; i++)
            to[walk.offset[0] + i] =
                (float)ingot_load_double(from->element, from->data, (size_t)(walk.offset[1] + i * walk.step[1]));
    return INGOT_OK;
}

static size_t line_of(const factor *f, size_t matrix, size_t row, size_t column)
{
    return f->left ? matrix * f->rows + row : matrix * f->columns + column;
}

static ingot_status load(const ingot_kernel_call *call, factor *f)
{
    INGOT_TRY(spread(call, f->left ? A_SCALE : B_SCALE, f->left ? "a_scale" : "b_scale", f, f->scales));
    INGOT_TRY(spread(call, f->left ? A_ZERO : B_ZERO, f->left ? "a_zero_point" : "b_zero_point", f, f->zeros));
    size_t count = ingot_ref_count(f->value), size = f->rows * f->columns;
    for (size_t i = 0; i < count; i++) {
        size_t place = i % size;
        f->numbers[i] = (float)ingot_load_double(f->value->element, f->value->data, i) -
                        f->zeros[line_of(f, i / size, place / f->columns, place % f->columns)];
    }
    return INGOT_OK;
}

/* One row of a product. to: its first element in the output. */
static void requantize(const ingot_kernel_call *call, const factor *b, size_t b_matrix, float a_scale,
                       const double *row, size_t to)
{
    ingot_value *y = call->outputs[0];
    float y_scale = (float)ingot_load_double(call->inputs[Y_SCALE]->element, call->inputs[Y_SCALE]->data, 0);
    float zero = (float)ingot_load_double(y->element, call->inputs[Y_ZERO]->data, 0);
    float low = y->element == INGOT_INT8 ? INT8_MIN : 0;
    float high = y->element == INGOT_INT8 ? INT8_MAX : UINT8_MAX;
    for (size_t j = 0; j < b->columns; j++) {
        float v = (float)row[j] * (a_scale * b->scales[b_matrix * b->columns + j] / y_scale);
        if (ingot_element_is_float(y->element)) {
            ((uint8_t *)y->data)[to + j] = ingot_narrow_from_float(y->element, v + zero, true);
            continue;
        }
        v = rintf(v) + zero;
        v = v >= low ? (v <= high ? v : high) : low;
        ingot_store_i64(y->element, y->data, to + j, (int64_t)v);
    }
}

static void multiply(const ingot_kernel_call *call, const factor *a, const factor *b, double *row)
{
    ingot_factors factors = {.element = INGOT_FLOAT, .a = a->numbers, .b = b->numbers, .row = row};
    ingot_product product = {.n = b->columns, .k = a->columns, .a_column = 1, .b_column = 1};
    product.a_row = (int64_t)a->columns;
    product.b_row = (int64_t)b->columns;
    size_t to = 0;
    ingot_walk walk;
    ingot_walk_init(&walk, a->batch_rank > b->batch_rank ? a->batch_rank : b->batch_rank, call->outputs[0]->dims);
    ingot_walk_add_broadcast(&walk, a->batch_rank, a->value->dims);
    ingot_walk_add_broadcast(&walk, b->batch_rank, b->value->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        for (int64_t i = 0; i < (int64_t)walk.run; i++) {
            size_t a_matrix = (size_t)(walk.offset[1] + i * walk.step[1]);
            size_t b_matrix = (size_t)(walk.offset[2] + i * walk.step[2]);
            product.a_start = (int64_t)(a_matrix * a->rows * a->columns);
            product.b_start = (int64_t)(b_matrix * b->rows * b->columns);
            for (size_t r = 0; r < a->rows; r++, to += b->columns) {
                ingot_product_row(&factors, &product, r);
                requantize(call, b, b_matrix, a->scales[a_matrix * a->rows + r], row, to);
            }
        }
}

ingot_status ingot_ref_qlinear_matmul(const ingot_kernel_call *call)
{
    factor a = describe(call->inputs[A], true), b = describe(call->inputs[B], false);
    INGOT_TRY(ingot_ref_single(call, Y_SCALE, "y_scale"));
    INGOT_TRY(ingot_ref_single(call, Y_ZERO, "y_zero_point"));
    size_t elements[] = {
        ingot_ref_count(a.value), ingot_ref_count(b.value), a.lines, a.lines, b.lines, b.lines, b.columns};
    size_t sizes[] = {4, 4, 4, 4, 4, 4, sizeof(double)};
    void *parts[7];
    INGOT_TRY(ingot_ref_scratch(call, 7, elements, sizes, parts));
    a.numbers = parts[0];
    b.numbers = parts[1];
    a.scales = parts[2];
    a.zeros = parts[3];
    b.scales = parts[4];
    b.zeros = parts[5];
    INGOT_TRY(load(call, &a));
    INGOT_TRY(load(call, &b));
    multiply(call, &a, &b, parts[6]);
    return INGOT_OK;
}
