/* CDist, DynamicTimeWarping, Inverse, UnfoldTensor of com.microsoft. */
#include "ops/ms_matrix.h"

#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"

/* ---- CDist ---- */

ingot_status ingot_ref_cdist(const ingot_kernel_call *call)
{
    const ingot_cdist_params *p = call->params;
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_value *y = call->outputs[0];
    size_t rows = (size_t)a->dims[0], others = (size_t)b->dims[0], width = (size_t)a->dims[1];
    size_t elements[] = {width, width}, sizes[] = {sizeof(double), sizeof(double)};
    void *parts[2];
    INGOT_TRY(ingot_ref_scratch(call, 2, elements, sizes, parts));
    double *x = parts[0], *z = parts[1];
    for (size_t i = 0; i < rows; i++) {
        ingot_ref_to_doubles(a, i * width, width, x);
        for (size_t j = 0; j < others; j++) {
            double sum = 0;
            ingot_ref_to_doubles(b, j * width, width, z);
            for (size_t k = 0; k < width; k++)
                sum += (x[k] - z[k]) * (x[k] - z[k]);
            ingot_store_double(y->element, y->data, i * others + j, p->root ? sqrt(sum) : sum);
        }
    }
    return INGOT_OK;
}

/* ---- Inverse ---- */

static void swap_rows(double *m, size_t width, size_t a, size_t b)
{
    for (size_t k = 0; a != b && k < width; k++) {
        double held = m[a * width + k];
        m[a * width + k] = m[b * width + k];
        m[b * width + k] = held;
    }
}

/* Of [n, 2 n]: the matrix, then the identity; makes the left half the identity. A singular one gives infinities and NaN. */
static void eliminate(double *m, size_t n)
{
    size_t width = 2 * n;
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t row = c + 1; row < n; row++)
            if (fabs(m[row * width + c]) > fabs(m[best * width + c]))
                best = row;
        swap_rows(m, width, c, best);
        double pivot = m[c * width + c];
        for (size_t k = 0; k < width; k++)
            m[c * width + k] /= pivot;
        for (size_t row = 0; row < n; row++) {
            double factor = m[row * width + c];
            for (size_t k = 0; row != c && k < width; k++)
                m[row * width + k] -= factor * m[c * width + k];
        }
    }
}

ingot_status ingot_ref_inverse(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0];
    ingot_value *y = call->outputs[0];
    size_t n = (size_t)a->dims[a->rank - 1], batch = ingot_dims_product(a->dims, 0, a->rank - 2);
    size_t count = 0, size = sizeof(double);
    void *memory;
    if (!ingot_mul_size(n, n, &count) || !ingot_mul_size(count, 2, &count))
        return ingot_kernel_fail(call, "its matrices are too large");
    INGOT_TRY(ingot_ref_scratch(call, 1, &count, &size, &memory));
    double *m = memory;
    for (size_t i = 0; i < batch; i++) {
        for (size_t row = 0; row < n; row++) {
            ingot_ref_to_doubles(a, (i * n + row) * n, n, m + row * 2 * n);
            for (size_t k = 0; k < n; k++)
                m[row * 2 * n + n + k] = row == k;
        }
        eliminate(m, n);
        for (size_t row = 0; row < n; row++)
            ingot_write_doubles(y->element, y->data, (int64_t)((i * n + row) * n), 1, n, m + row * 2 * n + n);
    }
    return INGOT_OK;
}

/* ---- DynamicTimeWarping ---- */

enum { DIAGONAL, UP, LEFT };

/* Costs [rows + 1, columns + 1] of the cheapest ways to each point, and where each came from. */
static void find_ways(const float *cost, size_t rows, size_t columns, float *sums, uint8_t *from)
{
    size_t width = columns + 1;
    for (size_t i = 0; i < (rows + 1) * width; i++)
        sums[i] = INFINITY;
    sums[0] = 0;
    for (size_t j = 0; j < width; j++)
        from[j] = LEFT;
    for (size_t i = 1; i <= rows; i++)
        from[i * width] = UP;
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j < width; j++) {
            float diagonal = sums[(i - 1) * width + j - 1], up = sums[(i - 1) * width + j];
            float left = sums[i * width + j - 1], best = left;
            uint8_t way = LEFT;
            if (diagonal < up && diagonal < left) {
                best = diagonal;
                way = DIAGONAL;
            } else if (up < diagonal && up < left) {
                best = up;
                way = UP;
            }
            sums[i * width + j] = best + cost[(i - 1) * columns + j - 1];
            from[i * width + j] = way;
        }
}

/* Walks back from the last point; returns the number of points. rows_at and columns_at (NULL: only count) are filled from end on. */
static size_t walk_back(const uint8_t *from, size_t rows, size_t columns, int32_t *rows_at, int32_t *columns_at,
                        size_t end)
{
    size_t i = rows, j = columns, count = 0;
    while (i > 0 || j > 0) {
        count++;
        if (rows_at) {
            rows_at[end - count] = (int32_t)i - 1;
            columns_at[end - count] = (int32_t)j - 1;
        }
        uint8_t way = from[i * (columns + 1) + j];
        i -= way != LEFT;
        j -= way != UP;
    }
    return count;
}

ingot_status ingot_ref_dynamic_time_warping(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    size_t rows = (size_t)x->dims[x->rank - 2], columns = (size_t)x->dims[x->rank - 1], count;
    if (rows > INT32_MAX - 1 || columns > INT32_MAX - 1 || !ingot_mul_size(rows + 1, columns + 1, &count))
        return ingot_kernel_fail(call, "its matrix is too large");
    size_t elements[] = {count, count}, sizes[] = {sizeof(float), 1};
    void *parts[2];
    INGOT_TRY(ingot_ref_scratch(call, 2, elements, sizes, parts));
    find_ways(x->data, rows, columns, parts[0], parts[1]);
    size_t points = walk_back(parts[1], rows, columns, NULL, NULL, 0);
    INGOT_TRY(ingot_kernel_set_output(call, 0, INGOT_INT32, 2, (int64_t[]){2, (int64_t)points}));
    int32_t *y = call->outputs[0]->data;
    walk_back(parts[1], rows, columns, y, y + points, points);
    return INGOT_OK;
}

/* ---- UnfoldTensor ---- */

ingot_status ingot_ref_unfold_tensor(const ingot_kernel_call *call)
{
    const ingot_unfold_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int axis = ingot_axis(p->axis, x->rank);
    ingot_split s = ingot_split_at(x->rank, x->dims, axis);
    size_t slices = (size_t)y->dims[axis], size = (size_t)p->size, step = (size_t)p->step, to = 0;
    size_t bits = ingot_element_bits(x->element);
    if (x->element == INGOT_STRING)
        return ingot_kernel_fail(call, "does not take strings");
    for (size_t outer = 0; outer < s.outer; outer++)
        for (size_t slice = 0; slice < slices; slice++)
            for (size_t inner = 0; inner < s.inner; inner++)
                for (size_t i = 0; i < size; i++, to++)
                    ingot_copy_elements(bits, y->data, to, x->data,
                                        (outer * s.size + slice * step + i) * s.inner + inner, 1);
    return INGOT_OK;
}
