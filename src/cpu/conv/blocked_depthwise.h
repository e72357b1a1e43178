/* FP32 depthwise convolution on channels in blocks of 16 (INGOT_LAYOUT_C16): one filter a channel, any window, stride, dilation and
 * padding. As in conv.h but for the order of elements; lanes of the last block past the channels may hold anything, and get
 * anything. A sum runs over the window row by row, padding counts as zeros. */
#ifndef INGOT_CPU_BLOCKED_DEPTHWISE_H
#define INGOT_CPU_BLOCKED_DEPTHWISE_H

#include "cpu/conv/conv.h"
#include "cpu/simd/level.h"

/* One filter a channel. */
bool ingot_blocked_depthwise_suits(const ingot_conv *conv);
/* Of weights [channels, 1, kernel_height, kernel_width]: packed as [blocks][taps][16]. */
size_t ingot_blocked_depthwise_packed_size(const ingot_conv *conv);
void ingot_blocked_depthwise_pack(const ingot_conv *conv, const float *weights, float *packed);
/* epilogue: row_bias as in conv.h, add blocked, scaled and column_bias unset. Needs no workspace. */
void ingot_blocked_depthwise_f32(const ingot_conv *conv, const float *input, const float *packed,
                                 const ingot_epilogue *epilogue, float *output, int threads);

/* Some rows of one block, of an image: rows first ... end - 1 of the output. */
typedef struct ingot_depthwise_rows {
    const ingot_conv *conv;
    const ingot_epilogue *epilogue;
    const float *packed;
    size_t block, first, end;
    const float *input; /* where row 0 of the block lies, or would lie: only rows that are seen are read */
    float *output;      /* of row first */
    const float *add;   /* likewise, or NULL */
} ingot_depthwise_rows;
void ingot_blocked_depthwise_rows_f32(const ingot_depthwise_rows *rows);

/* ---- For the kernels ---- */

/* Some outputs of a row of one block. What lies outside the image counts as zero. */
typedef struct ingot_depthwise_row {
    const ingot_conv *conv;
    const float *input;   /* the image's row under the first tap */
    size_t taps;          /* rows of the window that lie in the image, from that one on */
    const float *weights; /* of those */
    const float *bias;    /* of the block, or NULL */
    size_t channels;      /* of the block */
    const float *add;     /* laid out as output, or NULL */
    bool add_last;        /* adds after the limit */
    float low, high;      /* the result is limited to these */
    float *output;
} ingot_depthwise_row;
typedef void (*ingot_depthwise_row_function)(const ingot_depthwise_row *row);

#define INGOT_LEVEL(suffix, features) void ingot_blocked_depthwise_row_##suffix(const ingot_depthwise_row *row);
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
ingot_depthwise_row_function ingot_blocked_depthwise_row_at(int level);

#endif
