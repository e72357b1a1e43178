/* com.microsoft: operators that the standard took over later, or that a few of its operators make up. */
#include <string.h>

#include "ops/expand.h"

/* ---- The same under another name, or with another type of index ---- */

static ingot_status rename(ingot_node *node, ingot_error *error, const char *op_type, int opset,
                           const char *const *names)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute attributes[4];
    size_t count = ingot_expand_pass_on(&e, names, attributes);
    ingot_expand_result(
        &e, 0,
        INGOT_EXPAND(&e, op_type, opset, attributes, count, ingot_expand_input(&e, 0), ingot_expand_input(&e, 1)));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_ms_trilu(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"upper", NULL};
    return rename(node, error, "Trilu", 14, names);
}

ingot_status ingot_upgrade_ms_grid_sample(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"align_corners", "mode", "padding_mode", NULL};
    return rename(node, error, "GridSample", 16, names);
}

/* What training alone uses, the other inputs, is left out. */
ingot_status ingot_upgrade_torch_embedding(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {NULL};
    return rename(node, error, "Gather", 13, names);
}

ingot_status ingot_upgrade_sample_op(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_expand_result(&e, 0, ingot_expand_input(&e, 0));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_ms_gather_nd(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *indices = ingot_expand_cast(&e, ingot_expand_input(&e, 1), INGOT_INT64);
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "GatherND", 13, NULL, 0, ingot_expand_input(&e, 0), indices));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_expand_dims(ingot_node *node, ingot_error *error)
{
    static const int64_t one[] = {1};
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *axis = ingot_expand_cast(&e, ingot_expand_input(&e, 1), INGOT_INT64);
    axis = ingot_expand_reshape(&e, axis, one, 1);
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Unsqueeze", 13, NULL, 0, ingot_expand_input(&e, 0), axis));
    return ingot_expand_end(&e);
}

/* A tensor of one element, without a dimension; NULL stays. */
static ingot_graph_value *as_scalar(ingot_expansion *e, ingot_graph_value *value)
{
    return value ? ingot_expand_reshape(e, value, NULL, 0) : NULL;
}

ingot_status ingot_upgrade_ms_pad(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"mode", NULL};
    static const int64_t flat[] = {-1};
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute mode;
    size_t count = ingot_expand_pass_on(&e, names, &mode);
    ingot_graph_value *pads = ingot_expand_reshape(&e, ingot_expand_input(&e, 1), flat, 1);
    ingot_expand_result(&e, 0,
                        INGOT_EXPAND(&e, "Pad", 13, &mode, count, ingot_expand_input(&e, 0), pads,
                                     as_scalar(&e, ingot_expand_input(&e, 2))));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_ms_range(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *start = ingot_expand_input(&e, 0), *step = ingot_expand_input(&e, 2);
    step = step ? as_scalar(&e, step) : ingot_expand_number(&e, start->type.element, 1);
    ingot_expand_result(
        &e, 0,
        INGOT_EXPAND(&e, "Range", 11, NULL, 0, as_scalar(&e, start), as_scalar(&e, ingot_expand_input(&e, 1)), step));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_ms_unique(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute in_order = ingot_int_of("sorted", 0);
    ingot_graph_value *x = ingot_expand_input(&e, 0), *outputs[4];
    ingot_expand_node(&e, &(ingot_expand_spec){NULL, "Unique", 11, &in_order, 1, &x, 1}, 4, outputs);
    ingot_expand_result(&e, 0, outputs[0]);
    ingot_expand_result(&e, 1, outputs[2]);
    ingot_expand_result(&e, 2, outputs[3]);
    return ingot_expand_end(&e);
}

/* ---- Sums ---- */

ingot_status ingot_upgrade_reduce_sum_integer(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    const ingot_attribute *axes = ingot_node_attribute(node, "axes");
    ingot_graph_value *x = ingot_expand_input(&e, 0);
    ingot_attribute keep = ingot_int_of("keepdims", ingot_expand_int(&e, "keepdims", 1));
    x = ingot_expand_cast(&e, x, x->type.element == INGOT_UINT8 ? INGOT_UINT32 : INGOT_INT32);
    ingot_expand_result(
        &e, 0,
        INGOT_EXPAND(&e, "ReduceSum", 13, &keep, 1, x, axes ? ingot_expand_vector(&e, axes->ints, axes->count) : NULL));
    return ingot_expand_end(&e);
}

/* ---- Fourier transforms of the last axis ---- */

static void check_transform(ingot_expansion *e)
{
    ingot_expand_require_int(e, "normalized", 0);
    ingot_expand_require_int(e, "onesided", 1);
    ingot_expand_require_int(e, "signal_ndim", 1);
}

/* The number -2: the axis before the last, as DFT takes it. */
static ingot_graph_value *signal_axis(ingot_expansion *e)
{
    return ingot_expand_number(e, INGOT_INT64, -2);
}

ingot_status ingot_upgrade_rfft(ingot_node *node, ingot_error *error)
{
    static const int64_t last[] = {-1};
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute onesided = ingot_int_of("onesided", 1);
    check_transform(&e);
    ingot_graph_value *real =
        INGOT_EXPAND(&e, "Unsqueeze", 13, NULL, 0, ingot_expand_input(&e, 0), ingot_expand_vector(&e, last, 1));
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "DFT", 20, &onesided, 1, real, NULL, signal_axis(&e)));
    return ingot_expand_end(&e);
}

/* The spectrum [..., n / 2 + 1, 2] with its mirror: elements n / 2 - 1 ... 1 conjugated. */
static ingot_graph_value *whole_spectrum(ingot_expansion *e, ingot_graph_value *half)
{
    static const int64_t from[] = {-2}, to[] = {0}, axis[] = {-2}, step[] = {-1};
    ingot_attribute along = ingot_int_of("axis", -2), parts = ingot_int_of("axis", -1);
    ingot_graph_value *mirror =
        INGOT_EXPAND(e, "Slice", 13, NULL, 0, half, ingot_expand_vector(e, from, 1), ingot_expand_vector(e, to, 1),
                     ingot_expand_vector(e, axis, 1), ingot_expand_vector(e, step, 1));
    ingot_graph_value *imaginary = INGOT_EXPAND(e, "Neg", 13, NULL, 0, ingot_expand_slice(e, mirror, -1, 1, 2));
    mirror = INGOT_EXPAND(e, "Concat", 13, &parts, 1, ingot_expand_slice(e, mirror, -1, 0, 1), imaginary);
    return INGOT_EXPAND(e, "Concat", 13, &along, 1, half, mirror);
}

ingot_status ingot_upgrade_irfft(ingot_node *node, ingot_error *error)
{
    static const int64_t last[] = {-1};
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute inverse = ingot_int_of("inverse", 1);
    check_transform(&e);
    ingot_graph_value *y =
        INGOT_EXPAND(&e, "DFT", 20, &inverse, 1, whole_spectrum(&e, ingot_expand_input(&e, 0)), NULL, signal_axis(&e));
    y = ingot_expand_slice(&e, y, -1, 0, 1);
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Squeeze", 13, NULL, 0, y, ingot_expand_vector(&e, last, 1)));
    return ingot_expand_end(&e);
}

/* ---- ConvTransposeWithDynamicPads ---- */

/* Pads [2 * axes], begins first, cut off what the convolution without them gives. */
ingot_status ingot_upgrade_conv_transpose_dynamic_pads(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"auto_pad",       "dilations", "group", "kernel_shape",
                                        "output_padding", "strides",   NULL};
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute attributes[6];
    size_t count = ingot_expand_pass_on(&e, names, attributes);
    ingot_graph_value *x = ingot_expand_input(&e, 0), *pads = ingot_expand_input(&e, 2);
    ingot_graph_value *y = INGOT_EXPAND(&e, "ConvTranspose", 11, attributes, count, x, ingot_expand_input(&e, 1),
                                        ingot_expand_input(&e, 3));
    int64_t spatial = ingot_expand_rank(&e, x, "X") - 2, axes[INGOT_MAX_RANK];
    for (int64_t i = 0; i < spatial; i++)
        axes[i] = i + 2;
    if (pads && spatial > 0) {
        ingot_attribute range[] = {ingot_int_of("start", 2), ingot_int_of("end", spatial + 2)};
        ingot_graph_value *end = INGOT_EXPAND(&e, "Sub", 14, NULL, 0, INGOT_EXPAND(&e, "Shape", 15, range, 2, y),
                                              ingot_expand_slice(&e, pads, 0, spatial, 2 * spatial));
        y = INGOT_EXPAND(&e, "Slice", 13, NULL, 0, y, ingot_expand_slice(&e, pads, 0, 0, spatial), end,
                         ingot_expand_vector(&e, axes, (size_t)spatial));
    }
    ingot_expand_result(&e, 0, y);
    return ingot_expand_end(&e);
}
