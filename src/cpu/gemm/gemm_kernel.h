/* What a GEMM kernel of one instruction set offers to the drivers (gemm.c, conv.c). */
#ifndef INGOT_CPU_GEMM_KERNEL_H
#define INGOT_CPU_GEMM_KERNEL_H

#include "cpu/gemm/gemm.h"
#include "cpu/sizes.h"

#if defined(__x86_64__)
#define INGOT_X86 1
#endif

/* One block of C: C[rows, columns] = A[rows, k] * B[k, columns], or is added to C where accumulate; where last, the
 * epilogue's part that needs no function call follows. A is packed, [k][rows]. B's columns come in panels as wide as the
 * kernel; b_panel is the distance of panels, b_step that from one k to the next (the panel's width where B is
 * packed). columns may span several panels where rows is small, see ingot_gemm_panels_at_once. */
typedef struct ingot_gemm_tile {
    size_t rows, columns, k;
    const float *a;
    const float *b;
    size_t b_step, b_panel;
    float *c;
    size_t c_row;
    const char *prefetch; /* for each k, what lies here is fetched, prefetch_step bytes further each time */
    size_t prefetch_step;
    bool accumulate, last;
    /* Only read where last. */
    float scale;
    const float *row_bias;    /* of the tile's first row, or NULL */
    const float *column_bias; /* of the tile's first column, or NULL */
    const float *add;         /* of the tile's first element, or NULL */
    size_t add_row;
    float low, high; /* the result is limited to these */
} ingot_gemm_tile;

/* to[step * width + lane] = from[step * step_stride + lane * lane_stride] for step < steps and lane < lanes; lanes up to width
 * become 0. Writes nothing past to[steps * width]. */
typedef struct ingot_gemm_pack {
    size_t steps, lanes, width;
    const float *from;
    ptrdiff_t step_stride, lane_stride;
    float *to;
} ingot_gemm_pack;

/* The last few columns of a product, for several row tiles at once: here the vectors lie along the rows. */
#define INGOT_GEMM_STRIP_TILES   4
#define INGOT_GEMM_STRIP_COLUMNS 6
#define INGOT_GEMM_STRIP_LANES   16 /* at least the most rows of a tile that has a strip kernel */
typedef struct ingot_gemm_strip {
    size_t columns, k; /* columns from 1 on */
    const float *a[INGOT_GEMM_STRIP_TILES];
    size_t rows[INGOT_GEMM_STRIP_TILES];
    const float *b;
    size_t b_step;
    /* Out: the sums, as the tile kernel has them before anything is added; lanes past a tile's rows have no meaning. */
    float sums[INGOT_GEMM_STRIP_TILES][INGOT_GEMM_STRIP_COLUMNS][INGOT_GEMM_STRIP_LANES];
} ingot_gemm_strip;

typedef void (*ingot_gemm_tile_function)(const ingot_gemm_tile *tile);
typedef void (*ingot_gemm_pack_function)(const ingot_gemm_pack *pack);
typedef void (*ingot_gemm_strip_function)(ingot_gemm_strip *strip);

struct ingot_gemm_kernel {
    const char *name;
    uint32_t features; /* INGOT_CPU_*: all are needed */
    size_t rows, columns;
    ingot_gemm_tile_function tile;
    ingot_gemm_pack_function pack;
    ingot_gemm_strip_function strip;
    size_t strip_lanes; /* a product whose columns leave a small rest modulo this ends in a strip */
};

#define INGOT_GEMM_KERNEL(name, features, rows, columns)     \
    void ingot_gemm_##name##_tile(const ingot_gemm_tile *t); \
    void ingot_gemm_##name##_pack(const ingot_gemm_pack *p); \
    void ingot_gemm_##name##_strip(ingot_gemm_strip *s);
#include "cpu/gemm/gemm_kernels.def"
#undef INGOT_GEMM_KERNEL

/* Panels that a tile of so many rows may span: enough sums to hide the latency of a multiply-add. */
static inline size_t ingot_gemm_panels_at_once(size_t rows)
{
    return rows == 1 ? 4 : rows == 2 ? 2 : 1;
}

/* K is cut into this many blocks, block i from ingot_part_begin(k, blocks, i); they depend on K only. */
#define INGOT_GEMM_K_BLOCK 768
static inline size_t ingot_gemm_k_blocks(size_t k)
{
    return k == 0 ? 1 : (k + INGOT_GEMM_K_BLOCK - 1) / INGOT_GEMM_K_BLOCK;
}

#endif
