/* Moving elements: transposes, slices, expansions, resizing. Elements of 1, 2, 4, 8 or 16 bytes, whatever they mean. */
#ifndef INGOT_CPU_LAYOUT_H
#define INGOT_CPU_LAYOUT_H

#include "base/value.h"

/* ---- The blocked layout ---- */

/* Layout number of ingot_format and ingot_tactic: 16 channels side by side. Float tensors [n, c, h, w], or [n, c, w] with h = 1, lie as
 * [n][blocks of 16 channels][h][w][16]. Lanes past the last channel hold anything: no element may depend on them. */
#define INGOT_LAYOUT_C16 1
#define INGOT_BLOCK      16

/* Tensors of bytes [n, c, h, w] lie as [n][h][w][c]. */
#define INGOT_LAYOUT_NHWC 2

/* Bytes of a tensor in such a layout: those of whole blocks. False for tensors that it has no place for, and beyond any memory. */
bool ingot_blocked_bytes(unsigned layout, ingot_element element, int rank, const int64_t *dims, size_t *bytes);
static inline size_t ingot_block_count(size_t channels)
{
    return (channels + INGOT_BLOCK - 1) / INGOT_BLOCK;
}
/* h * w. */
size_t ingot_blocked_image(int rank, const int64_t *dims);
/* Floats of whole blocks, of a tensor whose sizes have been checked. */
size_t ingot_blocked_count(int rank, const int64_t *dims);

/* Plain x[batch][channels][image] to y in C16, where lanes past the last channel become 0, and back. */
void ingot_block_f32(size_t batch, size_t channels, size_t image, const float *x, float *y, int threads);
void ingot_unblock_f32(size_t batch, size_t channels, size_t image, const float *x, float *y, int threads);
/* The same for x[batch][image][channels], channels last. */
void ingot_block_last_f32(size_t batch, size_t channels, size_t image, const float *x, float *y, int threads);
void ingot_unblock_last_f32(size_t batch, size_t channels, size_t image, const float *x, float *y, int threads);

/* ---- Strided copies ---- */

/* y[index] = x[index] for every index of dims, where element index lies at the sum of index * strides (in elements). A stride of
 * x may be 0 or negative; y's must not make two elements meet. x and y must not overlap. Serves Transpose, Slice, Split, Concat,
 * Expand, Tile, Pad's inner part and depth-to-space. element_size: 1, 2, 4, 8 or 16. rank: at most INGOT_MAX_RANK. */
typedef struct ingot_copy {
    int rank;
    const size_t *dims;
    size_t element_size;
    const void *x;
    const ptrdiff_t *x_strides;
    void *y;
    const ptrdiff_t *y_strides;
} ingot_copy;
void ingot_copy_strided(const ingot_copy *copy, int threads);

/* Dense x of shape dims to dense y of shape dims[permutation[0]], dims[permutation[1]], ... */
void ingot_transpose(int rank, const size_t *dims, const int *permutation, size_t element_size, const void *x, void *y,
                     int threads);

/* One axis of a resize: output index i is low[i] * (1 - weight[i]) + high[i] * weight[i], so infinities and large numbers stay what they
 * are; for the nearest neighbour, low alone. The caller fills the tables (from the coordinate mode) with indices below the input's size. */
typedef struct ingot_resize_axis {
    size_t in, out;
    const uint32_t *low, *high; /* out each; high NULL: nearest */
    const float *weight;        /* out; NULL where high is */
} ingot_resize_axis;

/* Resizes planes x[planes, height.in, width.in] to y[planes, height.out, width.out]. Both axes are nearest or both linear. */
void ingot_resize_f32(size_t planes, const ingot_resize_axis *height, const ingot_resize_axis *width, const float *x,
                      float *y, int threads);

#endif
