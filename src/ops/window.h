/* Windows that slide over the spatial axes of [batch, channels, spatial...]: what convolutions and pools share. */
#ifndef INGOT_OPS_WINDOW_H
#define INGOT_OPS_WINDOW_H

#include "ops/op.h"

#define INGOT_MAX_SPATIAL (INGOT_MAX_RANK - 2)

typedef enum ingot_auto_pad {
    INGOT_AUTO_PAD_NOTSET, /* pads holds */
    INGOT_AUTO_PAD_SAME_UPPER,
    INGOT_AUTO_PAD_SAME_LOWER,
    INGOT_AUTO_PAD_VALID,
} ingot_auto_pad;

/* The attributes as the model gives them; a list that was left out has count 0. */
typedef struct ingot_window_params {
    int auto_pad; /* ingot_auto_pad; pads is ignored where it is not NOTSET */
    bool ceil_mode;
    ingot_ints kernel_shape, strides, dilations;
    ingot_ints pads; /* begins of all axes, then ends */
} ingot_window_params;

extern const char *const ingot_auto_pad_words[];

/* Fields of a params struct of type that holds an ingot_window_params as member. */
#define INGOT_WINDOW_OFFSET(type, member, field) (offsetof(type, member) + offsetof(ingot_window_params, field))
#define INGOT_WINDOW_FIELDS(type, member)                                                                 \
    {"auto_pad", INGOT_PARAM_WORD, INGOT_WINDOW_OFFSET(type, member, auto_pad), ingot_auto_pad_words, 0}, \
        {"ceil_mode", INGOT_PARAM_BOOL, INGOT_WINDOW_OFFSET(type, member, ceil_mode), NULL, 0},           \
        {"kernel_shape", INGOT_PARAM_INTS, INGOT_WINDOW_OFFSET(type, member, kernel_shape), NULL, 0},     \
        {"strides", INGOT_PARAM_INTS, INGOT_WINDOW_OFFSET(type, member, strides), NULL, 0},               \
        {"dilations", INGOT_PARAM_INTS, INGOT_WINDOW_OFFSET(type, member, dilations), NULL, 0},           \
    {                                                                                                     \
        "pads", INGOT_PARAM_INTS, INGOT_WINDOW_OFFSET(type, member, pads), NULL, 0                        \
    }

/* A window of known rank with its defaults filled in. With plain numbers as input sizes all fields are numbers; else
 * sizes may be symbols, and pads that depend on them are INGOT_DIM_UNKNOWN. */
typedef struct ingot_window {
    int spatial;
    ingot_dim kernel[INGOT_MAX_SPATIAL];
    int64_t stride[INGOT_MAX_SPATIAL], dilation[INGOT_MAX_SPATIAL];
    ingot_dim begin[INGOT_MAX_SPATIAL], end[INGOT_MAX_SPATIAL]; /* padding */
    ingot_dim out[INGOT_MAX_SPATIAL];
} ingot_window;

/* For check: lists of one length, sizes in range. */
ingot_status ingot_window_check(const ingot_node *node, const ingot_window_params *params, ingot_error *error);

/* Kernel, strides and dilations of spatial axes. kernel: its sizes where an input gives them, which kernel_shape must equal
 * where it is given; or NULL. dims: NULL where all sizes are numbers, as at run time. */
ingot_status ingot_window_fill(const ingot_node *node, const ingot_window_params *params, ingot_dims *dims, int spatial,
                               const ingot_dim *kernel, ingot_window *window, ingot_error *error);

/* The same, and pads and output sizes for an input of spatial sizes in. */
ingot_status ingot_window_resolve(const ingot_node *node, const ingot_window_params *params, ingot_dims *dims,
                                  int spatial, const ingot_dim *in, const ingot_dim *kernel, ingot_window *window,
                                  ingot_error *error);

/* Cells that one place of the window covers: (kernel - 1) * dilation + 1. */
ingot_dim ingot_window_extent(const ingot_window *window, ingot_dims *dims, int axis);

#endif
