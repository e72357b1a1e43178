/* Winograd's F(2, 5) along rows, on channels in blocks of 16: two outputs of a window of five side by side, with stride 1, from six
 * products instead of ten. The points are those of winograd.h. */
#ifndef INGOT_CPU_BLOCKED_LINE_H
#define INGOT_CPU_BLOCKED_LINE_H

#include "cpu/conv/blocked.h"

#define INGOT_LINE_TAPS    5
#define INGOT_LINE_OUTPUTS 2
#define INGOT_LINE_POINTS  6

/* Weights of a block of the input and a group of outputs at the points: tap t of from is at t * size, point p goes to
 * p * pitch; size: channels times outputs, whole vectors. */
typedef void (*ingot_line_weights_function)(const float *from, size_t size, float *to, size_t pitch);

/* One block of channels of a row: tiles from pixel first on, which may lie left of it, at the points. */
typedef struct ingot_line_points {
    const float *row;
    ptrdiff_t first;
    size_t width, tiles;
    float *to;
    size_t pitch;
} ingot_line_points;
typedef void (*ingot_line_points_function)(const ingot_line_points *points);

/* Outputs of a block of channels, side by side, from their sums at the points; what follows is as in a tile. */
typedef struct ingot_line_sums {
    const float *from;
    size_t pitch, columns;
    const float *bias; /* so many lanes, or NULL */
    size_t lanes;
    const float *add; /* or NULL */
    bool add_last;
    float low, high;
    float *out;
} ingot_line_sums;
typedef void (*ingot_line_sums_function)(const ingot_line_sums *sums);

typedef struct ingot_line_kernel {
    ingot_line_weights_function weights;
    ingot_line_points_function points;
    ingot_line_sums_function sums;
} ingot_line_kernel;

/* ---- For blocked.c ---- */

/* Whether the convolution is run so: from its shape, without the batch. */
bool ingot_blocked_line_suits(const ingot_conv *conv);
size_t ingot_blocked_line_workspace(const ingot_conv *conv, int threads); /* bytes */
void ingot_blocked_line_f32(const ingot_conv *conv, const float *input, const float *packed,
                            const ingot_epilogue *epilogue, float *output, float *workspace, int threads);

#endif
