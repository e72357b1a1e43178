/* Conv, FusedConv, ConvTranspose, ConvInteger, QLinearConv: attributes and geometry. */
#ifndef INGOT_OPS_CONV_H
#define INGOT_OPS_CONV_H

#include "ops/window.h"

/* What com.microsoft::FusedConv applies last; the parameters are a and b. */
typedef enum ingot_conv_activation {
    INGOT_CONV_IDENTITY,
    INGOT_CONV_RELU,
    INGOT_CONV_TANH,
    INGOT_CONV_SIGMOID,
    INGOT_CONV_LEAKY_RELU,   /* x < 0 ? a * x : x */
    INGOT_CONV_CLIP,         /* min(max(x, a), b) */
    INGOT_CONV_HARD_SIGMOID, /* min(max(a * x + b, 0), 1) */
} ingot_conv_activation;

/* Conv, FusedConv, ConvInteger, QLinearConv. */
typedef struct ingot_conv_params {
    ingot_window_params window;
    int64_t group;
    int activation; /* ingot_conv_activation; IDENTITY but for FusedConv */
    ingot_floats activation_params;
    float a, b; /* of the activation, defaults filled */
} ingot_conv_params;

typedef struct ingot_conv_transpose_params {
    ingot_window_params window;
    int64_t group;
    ingot_ints output_padding;
    ingot_ints output_shape; /* spatial sizes alone */
} ingot_conv_transpose_params;

/* Kernel, strides, dilations, pads and output sizes from the shapes x [N, C, spatial...] and w [M, C / group, kernel...], both
 * of that rank. Checks the channels against group and kernel_shape against w. dims NULL: plain numbers, as at run time;
 * then every field is a number. */
ingot_status ingot_conv_geometry(const ingot_node *node, const ingot_conv_params *params, ingot_dims *dims, int rank,
                                 const ingot_dim *x, const ingot_dim *w, ingot_window *window, ingot_error *error);

/* The same for ConvTranspose: w is [C, M / group, kernel...]; input cell i adds to the output cells
 * i * stride + k * dilation - begin. */
ingot_status ingot_conv_transpose_geometry(const ingot_node *node, const ingot_conv_transpose_params *params,
                                           ingot_dims *dims, int rank, const ingot_dim *x, const ingot_dim *w,
                                           ingot_window *window, ingot_error *error);

#endif
