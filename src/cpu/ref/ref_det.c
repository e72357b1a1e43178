/* Det: elimination with row exchange, in double. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"

static size_t find_pivot(const double *m, size_t n, size_t column)
{
    size_t best = column;
    for (size_t row = column + 1; row < n; row++)
        if (fabs(m[row * n + column]) > fabs(m[best * n + column]))
            best = row;
    return best;
}

/* Changes m, an n by n matrix. */
static double determinant(double *m, size_t n)
{
    double product = 1;
    for (size_t c = 0; c < n; c++) {
        size_t pivot = find_pivot(m, n, c);
        if (m[pivot * n + c] == 0)
            return 0;
        for (size_t k = 0; pivot != c && k < n; k++) {
            double held = m[c * n + k];
            m[c * n + k] = m[pivot * n + k];
            m[pivot * n + k] = held;
        }
        product *= pivot != c ? -m[c * n + c] : m[c * n + c];
        for (size_t row = c + 1; row < n; row++) {
            double factor = m[row * n + c] / m[c * n + c];
            for (size_t k = c; k < n; k++)
                m[row * n + k] -= factor * m[c * n + k];
        }
    }
    return product;
}

ingot_status ingot_ref_det(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    size_t n = (size_t)a->dims[a->rank - 1], batch = ingot_dims_product(a->dims, 0, a->rank - 2), bytes;
    void *matrix;
    if (!ingot_mul_size(n * n, sizeof(double), &bytes))
        return ingot_kernel_fail(call, "its matrices are too large");
    INGOT_TRY(ingot_kernel_scratch(call, bytes, &matrix));
    for (size_t i = 0; i < batch; i++) {
        ingot_read_doubles(a->element, a->data, (int64_t)(i * n * n), 1, n * n, matrix);
        ingot_store_double(z->element, z->data, i, determinant(matrix, n));
    }
    return INGOT_OK;
}
