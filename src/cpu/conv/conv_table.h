/* The convolution kernels of one level; each runs in the caller. */
#ifndef INGOT_CPU_CONV_TABLE_H
#define INGOT_CPU_CONV_TABLE_H

#include "cpu/conv/blocked.h"
#include "cpu/conv/blocked_line.h"
#include "cpu/conv/blocked_winograd.h"
#include "cpu/conv/winograd.h"
#include "cpu/simd/level.h"

/* The matrix that a convolution multiplies its weights with: row tap * channels + channel holds, for every output
 * pixel of an image, the input element under tap (a place in the window), or 0 outside the image. channels are a group's. */
typedef struct ingot_im2col {
    const ingot_conv *conv;
    size_t channels;
    const float *input; /* the group's first plane */
    size_t width;       /* of a panel */
} ingot_im2col;

/* A gemm fill: context is an ingot_im2col. width is a multiple of the level's lanes. */
typedef void (*ingot_im2col_function)(const void *context, size_t k, size_t steps, size_t column, size_t columns,
                                      float *to);

/* Some planes of a depthwise convolution, which lie one after the other, as do their windows and outputs:
 * out[out_height, out_width] = min(max(sum over the window + bias, low), high); bias may be NULL. scratch has
 * ingot_depthwise_scratch floats; all of it is zero before the first plane, and the kernel keeps its padding zero. */
typedef struct ingot_depthwise {
    const ingot_conv *conv;
    size_t planes;
    float low, high;
} ingot_depthwise;
typedef void (*ingot_depthwise_function)(const ingot_depthwise *depthwise, const float *input, const float *weights,
                                         const float *bias, float *out, float *scratch);

/* A plane laid out for the kernels: padded with zeros, and its columns sorted by their remainder modulo the stride, so that
 * neighbouring outputs read neighbouring elements. Element (y, x) of the padded plane is at
 * (x % stride * rows + y) * row_size + x / stride. */
typedef struct ingot_depthwise_layout {
    size_t rows, row_size, size;
} ingot_depthwise_layout;
ingot_depthwise_layout ingot_depthwise_plane(const ingot_conv *conv);
/* Whether there is a kernel for the window that reads the plane where it lies; then scratch is a row of zeros. */
bool ingot_depthwise_is_direct(const ingot_conv *conv);
size_t ingot_depthwise_scratch(const ingot_conv *conv);

/* A row of the output of a convolution with few outputs, stride 1, one group and no more than so many columns of the window. */
#define INGOT_NARROW_OUTPUTS 4
#define INGOT_NARROW_WIDTH   16
typedef struct ingot_narrow_row {
    const ingot_conv *conv;
    const float *input;   /* the image */
    const float *weights; /* [tap][channel][output] */
    const float *bias;    /* or NULL */
    size_t y;
    float *output; /* row y of output 0 */
} ingot_narrow_row;
typedef void (*ingot_narrow_function)(const ingot_narrow_row *row);

typedef struct ingot_conv_table {
    ingot_im2col_function im2col;
    ingot_depthwise_function depthwise;
    ingot_narrow_function narrow;
    ingot_winograd_weights_function winograd_weights;
    ingot_winograd_input_function winograd_input;
    ingot_winograd_output_function winograd_output;
    ingot_winograd_store_function winograd_store;
    ingot_blocked_kernel blocked;
    ingot_blocked_winograd_kernel blocked_winograd;
    ingot_line_kernel line;
} ingot_conv_table;

#define INGOT_LEVEL(suffix, features) extern const ingot_conv_table ingot_conv_table_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

const ingot_conv_table *ingot_conv_table_at(int level);

#endif
