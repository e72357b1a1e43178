/* The layout kernels of one level; each runs in the caller. */
#ifndef INGOT_CPU_LAYOUT_TABLE_H
#define INGOT_CPU_LAYOUT_TABLE_H

#include "cpu/layout/layout.h"
#include "cpu/simd/level.h"

typedef struct ingot_layout_table {
    /* y[row * y_stride + column] = x[column * x_stride + row] for row < rows, column < columns; elements of 4 bytes. */
    void (*transpose_4)(const float *x, ptrdiff_t x_stride, float *y, ptrdiff_t y_stride, size_t rows, size_t columns);
    /* An output row from two rows of the input, joined by down first, then across. */
    void (*resize_row)(const float *top, const float *bottom, float down, const ingot_resize_axis *width, float *y);
    /* One block of channels: y[i][16] = x[channel * stride + i] for i < count and channel < channels <= 16, 0 in the other
     * lanes; and back. */
    void (*block)(const float *x, size_t stride, size_t channels, float *y, size_t count);
    void (*unblock)(const float *x, float *y, size_t stride, size_t channels, size_t count);
    /* The same with channels last: y[i][16] = x[i * stride + channel]; and back. */
    void (*block_last)(const float *x, size_t stride, size_t channels, float *y, size_t count);
    void (*unblock_last)(const float *x, float *y, size_t stride, size_t channels, size_t count);
} ingot_layout_table;

#define INGOT_LEVEL(suffix, features) extern const ingot_layout_table ingot_layout_table_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

const ingot_layout_table *ingot_layout_table_at(int level);

#endif
