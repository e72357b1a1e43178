/* Kernels on tensors in blocks of 16 channels (INGOT_LAYOUT_C16), but for convolutions: per-channel operations, pools, reductions of
 * images, normalization, resizing, and moving channels and images.
 *
 * image is height * width. Pointers need the alignment of a float only. Lanes past the last channel are read and written, but no
 * real lane depends on them. The same bits for any batch and number of threads. Nothing needs a workspace
 * but where one is asked for. */
#ifndef INGOT_CPU_C16_H
#define INGOT_CPU_C16_H

#include "cpu/eltwise/eltwise.h"
#include "cpu/layout/layout.h"
#include "cpu/reduce/reduce.h"

/* X(name, formula): x is an element, b the number of its channel, c that of the second list. */
#define INGOT_CHANNEL_LIST(X)             \
    X(ADD, "x + b")                       \
    X(SUB, "x - b")                       \
    X(SUB_FROM, "b - x")                  \
    X(MUL, "x * b")                       \
    X(DIV, "x / b")                       \
    X(DIV_OF, "b / x")                    \
    X(MIN, "min(x, b), NaN if either is") \
    X(MAX, "max(x, b)")                   \
    X(AFFINE, "x * b + c, rounded once")  \
    X(LEAKY_RELU, "x < 0 ? b * x : x")

typedef enum ingot_channel_kind {
#define INGOT_CHANNEL_ENUM(name, formula) INGOT_CHANNEL_##name,
    INGOT_CHANNEL_LIST(INGOT_CHANNEL_ENUM)
#undef INGOT_CHANNEL_ENUM
        INGOT_CHANNEL_COUNT
} ingot_channel_kind;

/* y = then(x op b): b lies plain, one number a channel, for all images or for each its own. y may be x. */
typedef struct ingot_channel_op {
    ingot_channel_kind kind;
    size_t batch, channels, image;
    const float *x, *b, *c; /* c: AFFINE alone */
    size_t b_batch;         /* floats from the numbers of an image to those of the next; 0: the same */
    float *y;
    ingot_unary then;
} ingot_channel_op;
void ingot_c16_channels_f32(const ingot_channel_op *op, int threads);

/* As ingot_pool_f32, with the same bits; pool->planes is batch times blocks of channels. */
void ingot_c16_pool_f32(const ingot_pool *pool, const float *x, float *y, int threads);

/* y[batch, channels], plain: each image of x joined, large ones half by half; SUM, MEAN, MAX, MIN. */
void ingot_c16_reduce_f32(ingot_reduce_kind kind, size_t batch, size_t channels, size_t image, const float *x, float *y,
                          int threads);

/* Normalizes each channel of each image by its own mean and variance, then scale[channels] and bias[channels]; then(y + add), or
 * where add_last, then(y) + add; add is blocked, or NULL. y may be x. */
typedef struct ingot_c16_norm {
    size_t batch, channels, image;
    float epsilon;
    const float *x, *scale, *bias;
    const float *add;
    bool add_last;
    ingot_unary then;
    float *y;
} ingot_c16_norm;
size_t ingot_c16_instance_norm_workspace(const ingot_c16_norm *norm); /* of sizes alone */
void ingot_c16_instance_norm_f32(const ingot_c16_norm *norm, void *workspace, int threads);

/* As ingot_resize_f32, with the same bits; planes is batch times blocks of channels. */
void ingot_c16_resize_f32(size_t planes, const ingot_resize_axis *height, const ingot_resize_axis *width,
                          const float *x, float *y, int threads);

/* The same to y[batch, height, width, channels], plain with channels last. */
void ingot_c16_resize_last_f32(size_t batch, size_t channels, const ingot_resize_axis *height,
                               const ingot_resize_axis *width, const float *x, float *y, int threads);

/* Channels x_first ... x_first + count - 1 of x become channels y_first ... of y; x_channels and y_channels are all that each
 * has. */
typedef struct ingot_channel_copy {
    size_t batch, image, count;
    const float *x;
    size_t x_channels, x_first;
    float *y;
    size_t y_channels, y_first;
} ingot_channel_copy;
void ingot_c16_copy_f32(const ingot_channel_copy *copy, int threads);

/* Images of in_height * in_width inside of y's, top rows and left columns from its begin, value around them. */
typedef struct ingot_c16_padding {
    size_t planes, in_height, in_width, out_height, out_width, top, left;
    float value;
} ingot_c16_padding;
void ingot_c16_pad_f32(const ingot_c16_padding *padding, const float *x, float *y, int threads);
/* The reverse: images of out_height * out_width out of x's, from top and left on; value does not count. */
void ingot_c16_crop_f32(const ingot_c16_padding *border, const float *x, float *y, int threads);

#endif
