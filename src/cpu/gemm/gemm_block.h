/* The inner driver, which matrix products and convolutions share: a block of C from a packed A. */
#ifndef INGOT_CPU_GEMM_BLOCK_H
#define INGOT_CPU_GEMM_BLOCK_H

#include "cpu/gemm/gemm_kernel.h"

/* Rows are cut into tiles of nearly equal height, at most the kernel's; tile i begins at ingot_part_begin(m, tiles, i). A packed
 * A[M,K] holds its tiles one after the other, each [K][height]. */
static inline size_t ingot_gemm_row_tiles(const ingot_gemm_kernel *kernel, size_t m)
{
    return ingot_ceil_div(m, kernel->rows);
}

/* Packs tiles first ... end - 1 of A[m,k] to their places in packed. */
void ingot_gemm_f32_pack_a(const ingot_gemm_kernel *kernel, size_t m, size_t k, const float *a, ptrdiff_t row,
                           ptrdiff_t column, size_t first, size_t end, float *packed);

/* Packs rows and columns of B into panels, one after the other, each [steps][kernel columns]; the rest of the last one's rows becomes
 * 0. */
void ingot_gemm_f32_pack_panels(const ingot_gemm_kernel *kernel, const float *b, ptrdiff_t row, ptrdiff_t column,
                                size_t steps, size_t columns, float *to);

/* Fills such panels with rows k ... k + steps - 1 and columns column ... column + columns - 1 of B. */
typedef void (*ingot_gemm_fill)(const void *context, size_t k, size_t steps, size_t column, size_t columns, float *to);
/* Whether that part of B is known to be zeros. */
typedef bool (*ingot_gemm_empty)(const void *context, size_t k, size_t steps, size_t column, size_t columns);

/* A product of which blocks are computed, by any number of threads. One of packed_b, direct_b and fill is set. */
typedef struct ingot_gemm_plan {
    const ingot_gemm_kernel *kernel;
    size_t m, n, k;
    size_t k_unit; /* divides k: blocks of K end where a unit ends; 0: one unit. The bits depend on it */
    const float *packed_a;
    bool accumulate;       /* the product is added to what C holds */
    bool unfinished;       /* more will be added to C: the epilogue is left out */
    bool far_a;            /* A comes from memory, not from the caches: weights, used once a run */
    const float *packed_b; /* panels [K][columns] one after the other */
    size_t packed_b_k;     /* rows of such a panel, where the product needs only some of them; 0: k */
    bool keep_b;           /* packed_b stays in the L2 cache: all its panels pass for each tile of A, not the reverse */
    const float *direct_b; /* rows direct_b_row apart, columns side by side */
    size_t direct_b_row;
    ingot_gemm_fill fill;
    ingot_gemm_empty empty; /* with fill, or NULL: zeros are left out */
    const void *fill_context;
    float *c;
    size_t c_row;
    ingot_epilogue epilogue; /* add_row is set */
} ingot_gemm_plan;

/* Panels that are filled together; a scratch holds so many of up to INGOT_GEMM_K_BLOCK steps. */
#define INGOT_GEMM_FILL_PANELS 4
/* Floats of scratch for one participant of a plan with fill. */
size_t ingot_gemm_f32_fill_scratch(const ingot_gemm_kernel *kernel, size_t n, size_t k);

/* Computes row tiles first_tile ... end_tile - 1 of panels first_panel ... end_panel - 1. */
typedef struct ingot_gemm_range {
    size_t first_tile, end_tile, first_panel, end_panel;
} ingot_gemm_range;
void ingot_gemm_f32_block(const ingot_gemm_plan *plan, const ingot_gemm_range *range, float *scratch);

/* How a product is split: row_blocks * column_blocks chunks, from its shape alone, so that one is some tens of
 * microseconds of work. */
typedef struct ingot_gemm_grid {
    size_t tiles, panels, row_blocks, column_blocks;
    size_t unit; /* panels that stay together, as a tile takes so many at once */
} ingot_gemm_grid;
ingot_gemm_grid ingot_gemm_f32_grid(const ingot_gemm_kernel *kernel, size_t m, size_t n, size_t k, bool fill);
ingot_gemm_range ingot_gemm_grid_range(const ingot_gemm_grid *grid, size_t chunk);

#endif
