#include "ops/window.h"

const char *const ingot_auto_pad_words[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};

/* Keeps kernel * dilation and the like far from overflow. */
#define MAX_WINDOW_SIZE INT64_C(0x7fffffff)

static ingot_status check_list(const ingot_node *node, const char *name, const ingot_ints *list, int64_t least,
                               ingot_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->data[i] < least || list->data[i] > MAX_WINDOW_SIZE)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                                   "%s[%zu] is %lld, expected a number from %lld to %lld", name, i,
                                   (long long)list->data[i], (long long)least, (long long)MAX_WINDOW_SIZE);
    }
    return INGOT_OK;
}

ingot_status ingot_window_check(const ingot_node *node, const ingot_window_params *params, ingot_error *error)
{
    INGOT_TRY(check_list(node, "kernel_shape", &params->kernel_shape, 1, error));
    INGOT_TRY(check_list(node, "strides", &params->strides, 1, error));
    INGOT_TRY(check_list(node, "dilations", &params->dilations, 1, error));
    INGOT_TRY(check_list(node, "pads", &params->pads, 0, error));
    if (params->pads.count % 2)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "pads has %zu values, expected two for each spatial axis", params->pads.count);
    return INGOT_OK;
}

static ingot_status check_count(const ingot_node *node, const char *name, size_t count, size_t expected,
                                ingot_status status, ingot_error *error)
{
    if (count == 0 || count == expected)
        return INGOT_OK;
    return ingot_node_fail(node, error, status, "%s has %zu values, expected %zu for the input's spatial axes", name,
                           count, expected);
}

ingot_status ingot_window_fill(const ingot_node *node, const ingot_window_params *params, ingot_dims *dims, int spatial,
                               const ingot_dim *kernel, ingot_window *window, ingot_error *error)
{
    ingot_status status = dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT;
    size_t axes = (size_t)spatial;
    INGOT_TRY(check_count(node, "kernel_shape", params->kernel_shape.count, axes, status, error));
    INGOT_TRY(check_count(node, "strides", params->strides.count, axes, status, error));
    INGOT_TRY(check_count(node, "dilations", params->dilations.count, axes, status, error));
    INGOT_TRY(check_count(node, "pads", params->pads.count, 2 * axes, status, error));
    window->spatial = spatial;
    for (size_t i = 0; i < axes; i++) {
        bool given = params->kernel_shape.count > 0;
        if (given && kernel && ingot_dim_is_number(kernel[i]) && kernel[i] != params->kernel_shape.data[i])
            return ingot_node_fail(node, error, status, "kernel_shape[%zu] is %lld, but the weights have %lld there", i,
                                   (long long)params->kernel_shape.data[i], (long long)kernel[i]);
        window->kernel[i] = given ? params->kernel_shape.data[i] : kernel ? kernel[i] : INGOT_DIM_UNKNOWN;
        if (ingot_dim_is_number(window->kernel[i]) && (window->kernel[i] < 1 || window->kernel[i] > MAX_WINDOW_SIZE))
            return ingot_node_fail(node, error, status,
                                   "the kernel's size is %lld on spatial axis %zu, expected 1 to %lld",
                                   (long long)window->kernel[i], i, (long long)MAX_WINDOW_SIZE);
        window->stride[i] = params->strides.count ? params->strides.data[i] : 1;
        window->dilation[i] = params->dilations.count ? params->dilations.data[i] : 1;
        bool padded = params->auto_pad == INGOT_AUTO_PAD_NOTSET && params->pads.count;
        window->begin[i] = padded ? params->pads.data[i] : 0;
        window->end[i] = padded ? params->pads.data[axes + i] : 0;
    }
    return INGOT_OK;
}

ingot_dim ingot_window_extent(const ingot_window *window, ingot_dims *dims, int axis)
{
    ingot_dim steps = ingot_dim_sub(dims, window->kernel[axis], 1);
    return ingot_dim_add(dims, ingot_dim_mul(dims, steps, window->dilation[axis]), 1);
}

/* SAME: the output is the input's size over the stride, rounded up; the padding follows. */
static void resolve_same(ingot_window *window, ingot_dims *dims, int axis, ingot_dim in, bool upper)
{
    int64_t stride = window->stride[axis];
    ingot_dim extent = ingot_window_extent(window, dims, axis);
    ingot_dim out = ingot_dim_make(dims, INGOT_DIM_CEIL_DIV, in, stride);
    ingot_dim covered = ingot_dim_add(dims, ingot_dim_mul(dims, ingot_dim_sub(dims, out, 1), stride), extent);
    ingot_dim total = ingot_dim_sub(dims, covered, in);
    window->out[axis] = out;
    window->begin[axis] = window->end[axis] = INGOT_DIM_UNKNOWN;
    if (!ingot_dim_is_number(total))
        return;
    if (total < 0)
        total = 0;
    window->begin[axis] = upper ? total / 2 : total - total / 2;
    window->end[axis] = total - window->begin[axis];
}

/* With ceil_mode a last window may overhang, but one that would start in the padding at the end is dropped. */
static void resolve_explicit(ingot_window *window, ingot_dims *dims, int axis, ingot_dim in, bool ceil_mode)
{
    int64_t stride = window->stride[axis];
    ingot_dim padded = ingot_dim_add(dims, in, window->begin[axis]);
    ingot_dim room =
        ingot_dim_sub(dims, ingot_dim_add(dims, padded, window->end[axis]), ingot_window_extent(window, dims, axis));
    ingot_dim steps = ingot_dim_make(dims, ceil_mode ? INGOT_DIM_CEIL_DIV : INGOT_DIM_FLOOR_DIV, room, stride);
    window->out[axis] = ingot_dim_add(dims, steps, 1);
    if (ceil_mode) {
        ingot_dim starts = ingot_dim_make(dims, INGOT_DIM_CEIL_DIV, padded, stride);
        window->out[axis] = ingot_dim_make(dims, INGOT_DIM_MIN, window->out[axis], starts);
    }
}

ingot_status ingot_window_resolve(const ingot_node *node, const ingot_window_params *params, ingot_dims *dims,
                                  int spatial, const ingot_dim *in, const ingot_dim *kernel, ingot_window *window,
                                  ingot_error *error)
{
    INGOT_TRY(ingot_window_fill(node, params, dims, spatial, kernel, window, error));
    for (int i = 0; i < spatial; i++) {
        if (params->auto_pad == INGOT_AUTO_PAD_SAME_UPPER || params->auto_pad == INGOT_AUTO_PAD_SAME_LOWER) {
            resolve_same(window, dims, i, in[i], params->auto_pad == INGOT_AUTO_PAD_SAME_UPPER);
            continue;
        }
        /* The standard's formula for VALID is the same with and without ceil_mode. */
        resolve_explicit(window, dims, i, in[i], params->ceil_mode && params->auto_pad == INGOT_AUTO_PAD_NOTSET);
        /* By the formula an output may be empty, but not less. */
        if (ingot_dim_is_number(window->out[i]) && window->out[i] < 0) {
            ingot_dim extent = ingot_window_extent(window, dims, i);
            return ingot_node_fail(
                node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                "the kernel (dilated %lld) does not fit into the padded input (%lld + %lld + %lld) on "
                "spatial axis %d",
                (long long)extent, (long long)window->begin[i], (long long)in[i], (long long)window->end[i], i);
        }
    }
    return INGOT_OK;
}
