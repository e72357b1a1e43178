/* DeformConv: a convolution whose taps are moved by offsets that come as an input. */
#ifndef INGOT_OPS_DEFORM_CONV_H
#define INGOT_OPS_DEFORM_CONV_H

#include "ops/window.h"

typedef struct ingot_deform_conv_params {
    ingot_window_params window;
    int64_t group, offset_group;
} ingot_deform_conv_params;

/* Window and output sizes; checks all shapes against each other: x [N, C, spatial...], w [M, C / group, kernel...], offset
 * [N, offset_group * taps * spatial axes, out...], mask (NULL: none) [N, offset_group * taps, out...], all of that rank. dims
 * NULL: plain numbers, as at run time. */
ingot_status ingot_deform_conv_geometry(const ingot_node *node, const ingot_deform_conv_params *params,
                                        ingot_dims *dims, int rank, const ingot_dim *x, const ingot_dim *w,
                                        const ingot_dim *offset, const ingot_dim *mask, ingot_window *window,
                                        ingot_error *error);

#endif
