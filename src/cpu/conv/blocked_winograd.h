/* Winograd's F(4x4, 3x3), as in winograd.h, on channels in blocks of 16: vectors lie along channels. */
#ifndef INGOT_CPU_BLOCKED_WINOGRAD_H
#define INGOT_CPU_BLOCKED_WINOGRAD_H

#include "cpu/conv/blocked.h"
#include "cpu/conv/winograd.h"

/* Weights of a block of the input and a group of outputs, as a tile takes them, at the points:
 * to[point * point_stride + channel * width + output]. Whole vectors are written. */
typedef void (*ingot_blocked_weights_function)(const float *from, size_t channels, size_t width, float *to,
                                               size_t point_stride);

/* One block of channels of a tile's 6x6 inputs at the points: point p goes to to[p * point_stride]. from is input (0, 0)'s place,
 * rows and columns lie row and column floats apart; those from first_* to end_* - 1 are in the image. scratch has
 * 2 * 36 * 16 floats. */
typedef struct ingot_blocked_points {
    const float *from;
    size_t row, column;
    size_t first_row, end_row, first_column, end_column;
    float *to, *scratch;
    size_t point_stride;
} ingot_blocked_points;
typedef void (*ingot_blocked_points_function)(const ingot_blocked_points *points);

/* The 4x4 outputs of a block of channels from its sums at the points, plus bias, which has so many lanes or is NULL: pixel by
 * pixel to to. What was at from is lost. */
typedef struct ingot_blocked_sums {
    float *from;
    size_t point_stride, lanes;
    const float *bias;
    float *to;
} ingot_blocked_sums;
typedef void (*ingot_blocked_sums_function)(const ingot_blocked_sums *sums);

/* Takes rows x columns of such outputs to their place, row and column floats apart, and adds and limits as a tile does. */
typedef struct ingot_blocked_store {
    const float *from;
    float *out;
    const float *add; /* or NULL */
    size_t rows, columns, row, column;
    bool add_last;
    float low, high;
} ingot_blocked_store;
typedef void (*ingot_blocked_store_function)(const ingot_blocked_store *store);

typedef struct ingot_blocked_winograd_kernel {
    ingot_blocked_weights_function weights;
    ingot_blocked_points_function points;
    ingot_blocked_sums_function sums;
    ingot_blocked_store_function store;
} ingot_blocked_winograd_kernel;

/* ---- For blocked.c ---- */

/* Whether the convolution is run so: from its shape, without the batch. */
bool ingot_blocked_winograd_suits(const ingot_conv *conv);
size_t ingot_blocked_winograd_workspace(const ingot_conv *conv, int threads); /* bytes */
void ingot_blocked_winograd_f32(const ingot_conv *conv, const float *input, const float *packed,
                                const ingot_epilogue *epilogue, float *output, float *workspace, int threads);

#endif
