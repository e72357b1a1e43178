/* Operations that join many floats: reductions, softmax, normalization, pooling.
 *
 * Pointers need the alignment of a float only; nothing outside the tensors is read or written. y may be x where both have the
 * same shape, else they must not overlap. Sums run in several accumulators whose order depends on the length that is
 * summed alone: neither the place, the other dimensions nor the number of threads change a bit. None needs a workspace. */
#ifndef INGOT_CPU_REDUCE_H
#define INGOT_CPU_REDUCE_H

#include "cpu/eltwise/eltwise.h"

#define INGOT_REDUCE_LIST(X)   \
    X(SUM)                     \
    X(MEAN)                    \
    X(MAX) /* NaN if any is */ \
    X(MIN)                     \
    X(SUM_SQUARE)              \
    X(SUM_ABS)

typedef enum ingot_reduce_kind {
#define INGOT_REDUCE_ENUM(name) INGOT_REDUCE_##name,
    INGOT_REDUCE_LIST(INGOT_REDUCE_ENUM)
#undef INGOT_REDUCE_ENUM
        INGOT_REDUCE_COUNT
} ingot_reduce_kind;

/* y[outer, inner] = join of x[outer, count, inner] over count: inner 1 is the last axis, outer 1 the first. count 0
 * gives 0, NaN (mean), -infinity (max) or infinity (min). */
void ingot_reduce_f32(ingot_reduce_kind kind, size_t outer, size_t count, size_t inner, const float *x, float *y,
                      int threads);

/* Softmax, or its logarithm, of x[outer, count, inner] over count. */
void ingot_softmax_f32(bool logarithm, size_t outer, size_t count, size_t inner, const float *x, float *y, int threads);

/* y = (x - mean) / sqrt(variance + epsilon) * scale + bias, a row of x[rows, count] at a time, with scale[count] and bias[count]
 * (each may be NULL). root_mean_square: y = x / sqrt(mean of squares + epsilon) * scale, the mean is not taken away. mean[rows]
 * and inverse[rows] (1 / sqrt(...)) are stored where not NULL. */
typedef struct ingot_layer_norm {
    size_t rows, count;
    bool root_mean_square;
    float epsilon;
    const float *x, *scale, *bias;
    float *y, *mean, *inverse;
} ingot_layer_norm;
void ingot_layer_norm_f32(const ingot_layer_norm *norm, int threads);

/* Normalizes each of groups groups of channels of x[batch, channels, inner] by its own mean and variance, then scale[channels]
 * and bias[channels] (each may be NULL). groups == channels is InstanceNormalization. */
typedef struct ingot_group_norm {
    size_t batch, channels, groups, inner;
    float epsilon;
    const float *x, *scale, *bias;
    float *y;
} ingot_group_norm;
void ingot_group_norm_f32(const ingot_group_norm *norm, int threads);

/* Pooling of dense NCHW planes: x[planes, in_height, in_width] to y[planes, out_height, out_width]; planes is batch times
 * channels. The right and bottom padding follow from the output's size. */
typedef struct ingot_pool {
    bool average; /* else the maximum, where padding counts for nothing */
    bool
        count_padding; /* average: divide by the window as far as it lies in the padded image, else by what is in the image */
    size_t planes, in_height, in_width, out_height, out_width;
    size_t kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
    size_t pad_top, pad_left, pad_bottom, pad_right;
} ingot_pool;
void ingot_pool_f32(const ingot_pool *pool, const float *x, float *y, int threads);

#endif
