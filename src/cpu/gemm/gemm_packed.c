/* A constant B: panels [K][kernel columns] one after the other. */
#include "cpu/gemm/gemm_kernel.h"

static const ingot_gemm_kernel *or_best(const ingot_gemm_kernel *kernel)
{
    return kernel ? kernel : ingot_gemm_kernel_best();
}

size_t ingot_gemm_f32_packed_b_size(const ingot_gemm_kernel *kernel, size_t k, size_t n)
{
    kernel = or_best(kernel);
    return ingot_ceil_div(n, kernel->columns) * kernel->columns * k * sizeof(float);
}

/* Steps rows of n columns of B, into as many rows of panels of k rows. */
static void pack_columns(const ingot_gemm_kernel *kernel, size_t k, size_t n, const ingot_gemm_pack *rows)
{
    ingot_gemm_pack pack = *rows;
    pack.width = kernel->columns;
    for (size_t first = 0; first < n; first += pack.width) {
        pack.lanes = n - first < pack.width ? n - first : pack.width;
        pack.from = rows->from + (ptrdiff_t)first * rows->lane_stride;
        pack.to = rows->to + first * k;
        kernel->pack(&pack);
    }
}

void ingot_gemm_f32_pack_b(const ingot_gemm_kernel *kernel, size_t k, size_t n, const float *b, ptrdiff_t row,
                           ptrdiff_t column, float *packed)
{
    ingot_gemm_pack pack = {.steps = k, .from = b, .step_stride = row, .lane_stride = column, .to = packed};
    pack_columns(or_best(kernel), k, n, &pack);
}

void ingot_gemm_f32_pack_b_rows(const ingot_gemm_kernel *kernel, size_t k, size_t n, bool transposed, size_t first,
                                size_t count, const float *rows, float *packed)
{
    kernel = or_best(kernel);
    ingot_gemm_pack pack = {.from = rows};
    pack.steps = transposed ? k : count;
    pack.step_stride = transposed ? 1 : (ptrdiff_t)n;
    pack.lane_stride = transposed ? (ptrdiff_t)k : 1;
    pack.to = packed + first * (transposed ? k : kernel->columns);
    pack_columns(kernel, k, transposed ? count : n, &pack);
}

void ingot_gemm_f32_unpack_column(const ingot_gemm_kernel *kernel, size_t k, const float *packed, size_t column,
                                  float *to)
{
    size_t width = or_best(kernel)->columns;
    const float *from = packed + column / width * width * k + column % width;
    for (size_t step = 0; step < k; step++, from += width)
        to[step] = *from;
}
