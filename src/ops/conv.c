#include "ops/conv.h"

#include <float.h>
#include <stddef.h>

/* ---- Fields and checks ---- */

static const char *const activation_words[] = {"", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid", NULL};

/* Those of the activation are FusedConv's alone. */
static const ingot_param_field conv_fields[] = {
    INGOT_WINDOW_FIELDS(ingot_conv_params, window),
    {"group", INGOT_PARAM_INT, offsetof(ingot_conv_params, group), NULL, 0},
    {"activation", INGOT_PARAM_WORD, offsetof(ingot_conv_params, activation), activation_words, 0},
    {"activation_params", INGOT_PARAM_FLOATS, offsetof(ingot_conv_params, activation_params), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static const ingot_param_field conv_transpose_fields[] = {
    INGOT_WINDOW_FIELDS(ingot_conv_transpose_params, window),
    {"group", INGOT_PARAM_INT, offsetof(ingot_conv_transpose_params, group), NULL, 0},
    {"output_padding", INGOT_PARAM_INTS, offsetof(ingot_conv_transpose_params, output_padding), NULL, 0},
    {"output_shape", INGOT_PARAM_INTS, offsetof(ingot_conv_transpose_params, output_shape), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_group(const ingot_node *node, int64_t group, ingot_error *error)
{
    if (group >= 1)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "group is %lld, expected 1 or more", (long long)group);
}

static ingot_status check_conv(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_conv_params *p = params;
    INGOT_TRY(check_group(node, p->group, error));
    return ingot_window_check(node, &p->window, error);
}

static ingot_status check_fused_conv(const ingot_node *node, void *params, ingot_error *error)
{
    static const struct {
        size_t count; /* of parameters */
        float a, b;   /* defaults */
    } activations[] = {
        [INGOT_CONV_IDENTITY] = {0, 0, 0},
        [INGOT_CONV_RELU] = {0, 0, 0},
        [INGOT_CONV_TANH] = {0, 0, 0},
        [INGOT_CONV_SIGMOID] = {0, 0, 0},
        [INGOT_CONV_LEAKY_RELU] = {1, 0.01f, 0},
        [INGOT_CONV_CLIP] = {2, -FLT_MAX, FLT_MAX},
        [INGOT_CONV_HARD_SIGMOID] = {2, .2f, .5f},
    };
    ingot_conv_params *p = params;
    INGOT_TRY(check_conv(node, params, error));
    size_t expected = activations[p->activation].count;
    size_t found = p->activation_params.count;
    if (found && found != expected)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "activation_params has %zu values, expected %zu for the activation %s", found, expected,
                               activation_words[p->activation]);
    p->a = found > 0 ? p->activation_params.data[0] : activations[p->activation].a;
    p->b = found > 1 ? p->activation_params.data[1] : activations[p->activation].b;
    return INGOT_OK;
}

static ingot_status check_conv_transpose(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_conv_transpose_params *p = params;
    INGOT_TRY(check_group(node, p->group, error));
    INGOT_TRY(ingot_window_check(node, &p->window, error));
    for (size_t i = 0; i < p->output_padding.count; i++) {
        if (p->output_padding.data[i] < 0)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "output_padding[%zu] is %lld, expected 0 or more",
                                   i, (long long)p->output_padding.data[i]);
    }
    for (size_t i = 0; i < p->output_shape.count; i++) {
        if (p->output_shape.data[i] < 0)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "output_shape[%zu] is %lld, expected 0 or more", i,
                                   (long long)p->output_shape.data[i]);
    }
    return INGOT_OK;
}

/* ---- Geometry ---- */

static ingot_status check_channels(const ingot_node *node, ingot_dims *dims, ingot_dim channels, ingot_dim weights,
                                   int64_t group, ingot_error *error)
{
    ingot_dim expected = ingot_dim_mul(dims, weights, group);
    if (!ingot_dim_is_number(channels) || !ingot_dim_is_number(expected) || channels == expected)
        return INGOT_OK;
    return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                           "the input has %lld channels, but the weights are for %lld (%lld times group = %lld)",
                           (long long)channels, (long long)expected, (long long)weights, (long long)group);
}

static ingot_status check_divides(const ingot_node *node, ingot_dims *dims, const char *what, ingot_dim count,
                                  int64_t group, ingot_error *error)
{
    if (!ingot_dim_is_number(count) || count % group == 0)
        return INGOT_OK;
    return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                           "%s, %lld, is not divisible by group = %lld", what, (long long)count, (long long)group);
}

ingot_status ingot_conv_geometry(const ingot_node *node, const ingot_conv_params *params, ingot_dims *dims, int rank,
                                 const ingot_dim *x, const ingot_dim *w, ingot_window *window, ingot_error *error)
{
    INGOT_TRY(check_channels(node, dims, x[1], w[1], params->group, error));
    INGOT_TRY(check_divides(node, dims, "the number of output channels", w[0], params->group, error));
    return ingot_window_resolve(node, &params->window, dims, rank - 2, x + 2, w + 2, window, error);
}

/* Padding of one axis so that the output has this size: none where even without padding it would be smaller. */
static void pad_to_output(ingot_window *window, ingot_dims *dims, int axis, ingot_dim natural, ingot_dim out,
                          bool upper)
{
    ingot_dim total = ingot_dim_sub(dims, natural, out);
    window->out[axis] = out;
    window->begin[axis] = window->end[axis] = INGOT_DIM_UNKNOWN;
    if (!ingot_dim_is_number(total))
        return;
    if (total < 0)
        total = 0;
    window->begin[axis] = upper ? total / 2 : total - total / 2;
    window->end[axis] = total - window->begin[axis];
}

static ingot_status check_axis_count(const ingot_node *node, ingot_dims *dims, const char *name, const ingot_ints *list,
                                     int spatial, ingot_error *error)
{
    if (list->count == 0 || list->count == (size_t)spatial)
        return INGOT_OK;
    return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                           "%s has %zu values, expected %d for the input's spatial axes", name, list->count, spatial);
}

ingot_status ingot_conv_transpose_geometry(const ingot_node *node, const ingot_conv_transpose_params *params,
                                           ingot_dims *dims, int rank, const ingot_dim *x, const ingot_dim *w,
                                           ingot_window *window, ingot_error *error)
{
    int spatial = rank - 2;
    int auto_pad = params->window.auto_pad;
    INGOT_TRY(check_channels(node, dims, x[1], w[0], 1, error));
    INGOT_TRY(check_divides(node, dims, "the number of input channels", w[0], params->group, error));
    INGOT_TRY(check_axis_count(node, dims, "output_padding", &params->output_padding, spatial, error));
    INGOT_TRY(check_axis_count(node, dims, "output_shape", &params->output_shape, spatial, error));
    INGOT_TRY(ingot_window_fill(node, &params->window, dims, spatial, w + 2, window, error));
    for (int i = 0; i < spatial; i++) {
        ingot_dim in = x[2 + i];
        ingot_dim reach = ingot_dim_mul(dims, ingot_dim_sub(dims, in, 1), window->stride[i]);
        ingot_dim natural = ingot_dim_add(dims, reach, ingot_window_extent(window, dims, i));
        if (params->output_padding.count)
            natural = ingot_dim_add(dims, natural, params->output_padding.data[i]);
        if (params->output_shape.count) {
            pad_to_output(window, dims, i, natural, params->output_shape.data[i],
                          auto_pad == INGOT_AUTO_PAD_SAME_UPPER);
        } else if (auto_pad == INGOT_AUTO_PAD_SAME_UPPER || auto_pad == INGOT_AUTO_PAD_SAME_LOWER) {
            pad_to_output(window, dims, i, natural, ingot_dim_mul(dims, in, window->stride[i]),
                          auto_pad == INGOT_AUTO_PAD_SAME_UPPER);
        } else {
            ingot_dim padding = ingot_dim_add(dims, window->begin[i], window->end[i]);
            window->out[i] = ingot_dim_sub(dims, natural, padding);
        }
        if (ingot_dim_is_number(window->out[i]) && window->out[i] < 0)
            return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                                   "pads leave %lld output cells on spatial axis %d", (long long)window->out[i], i);
    }
    return INGOT_OK;
}

/* ---- Types and shapes ---- */

/* The rank that the input, the weights or kernel_shape tell; -1: none does. Refuses ranks that differ. */
static ingot_status find_rank(ingot_infer *c, size_t x, size_t w, const ingot_window_params *window, int *rank)
{
    int x_rank = c->inputs[x].type.rank;
    int w_rank = c->inputs[w].type.rank;
    INGOT_TRY(ingot_infer_rank(c, x, 3, INGOT_MAX_RANK));
    if (x_rank >= 0 && w_rank >= 0 && x_rank != w_rank)
        return ingot_infer_fail(c, "the weights have %d dimensions, expected %d as the input has", w_rank, x_rank);
    INGOT_TRY(ingot_infer_rank(c, w, 3, INGOT_MAX_RANK));
    *rank = x_rank >= 0 ? x_rank : w_rank;
    if (*rank < 0 && window->kernel_shape.count > 0 && window->kernel_shape.count <= INGOT_MAX_SPATIAL)
        *rank = (int)window->kernel_shape.count + 2;
    return INGOT_OK;
}

/* The dims of an input whose rank is rank or not known: then all unknown. */
static void dims_of(const ingot_infer *c, size_t input, int rank, ingot_dim *dims)
{
    const ingot_type *type = &c->inputs[input].type;
    for (int i = 0; i < rank; i++)
        dims[i] = type->rank == rank ? type->dims[i] : INGOT_DIM_UNKNOWN;
}

static ingot_status check_bias(ingot_infer *c, size_t input, ingot_dim outputs)
{
    if (!ingot_infer_has(c, input))
        return INGOT_OK;
    INGOT_TRY(ingot_infer_rank(c, input, 1, 1));
    if (c->inputs[input].type.rank != 1)
        return INGOT_OK;
    return ingot_infer_same_dim(c, "the number of output channels and the bias's size", outputs,
                                c->inputs[input].type.dims[0], NULL);
}

/* The four operators alike: x, w and the optional bias are at these inputs. */
static ingot_status infer_conv_at(ingot_infer *c, size_t x, size_t w, size_t bias, ingot_element element)
{
    const ingot_conv_params *p = c->params;
    ingot_dim x_dims[INGOT_MAX_RANK], w_dims[INGOT_MAX_RANK], out[INGOT_MAX_RANK];
    ingot_window window;
    int rank;
    INGOT_TRY(find_rank(c, x, w, &p->window, &rank));
    if (rank < 0) {
        ingot_infer_set_unranked(c, 0, element);
        return INGOT_OK;
    }
    dims_of(c, x, rank, x_dims);
    dims_of(c, w, rank, w_dims);
    INGOT_TRY(ingot_conv_geometry(c->node, p, c->dims, rank, x_dims, w_dims, &window, c->error));
    INGOT_TRY(check_bias(c, bias, w_dims[0]));
    out[0] = x_dims[0];
    out[1] = w_dims[0];
    for (int i = 2; i < rank; i++)
        out[i] = window.out[i - 2];
    ingot_infer_set(c, 0, element, rank, out);
    return INGOT_OK;
}

static ingot_status infer_conv(ingot_infer *c)
{
    return infer_conv_at(c, 0, 1, 2, c->inputs[0].type.element);
}

static ingot_status infer_fused_conv(ingot_infer *c)
{
    INGOT_TRY(infer_conv(c));
    if (!ingot_infer_has(c, 3) || c->inputs[3].type.rank < 0 || c->outputs[0].type.rank < 0)
        return INGOT_OK;
    const ingot_type *z = &c->inputs[3].type;
    INGOT_TRY(ingot_infer_rank(c, 3, c->outputs[0].type.rank, c->outputs[0].type.rank));
    for (int i = 0; i < z->rank; i++)
        INGOT_TRY(
            ingot_infer_same_dim(c, "the sizes of Z and of the output", z->dims[i], c->outputs[0].type.dims[i], NULL));
    return INGOT_OK;
}

/* A scale or zero point is one number, or one for each of channels where that is not 1. */
static ingot_status check_parameter(ingot_infer *c, size_t input, const char *name, ingot_dim channels)
{
    if (!ingot_infer_has(c, input) || c->inputs[input].type.rank < 0)
        return INGOT_OK;
    const ingot_type *type = &c->inputs[input].type;
    ingot_dim count = 1;
    for (int i = 0; i < type->rank; i++)
        count = ingot_dim_mul(c->dims, count, type->dims[i]);
    if (!ingot_dim_is_number(count) || !ingot_dim_is_number(channels) || count == 1 || count == channels)
        return INGOT_OK;
    return channels == 1 ? ingot_infer_fail(c, "%s has %lld elements, expected one", name, (long long)count)
                         : ingot_infer_fail(c, "%s has %lld elements, expected 1 or %lld, one for each output channel",
                                            name, (long long)count, (long long)channels);
}

static ingot_dim output_channels(const ingot_infer *c, size_t w)
{
    return c->inputs[w].type.rank > 0 ? c->inputs[w].type.dims[0] : INGOT_DIM_UNKNOWN;
}

static ingot_status infer_conv_integer(ingot_infer *c)
{
    INGOT_TRY(check_parameter(c, 2, "x_zero_point", 1));
    INGOT_TRY(check_parameter(c, 3, "w_zero_point", output_channels(c, 1)));
    return infer_conv_at(c, 0, 1, SIZE_MAX, INGOT_INT32);
}

static ingot_status infer_qlinear_conv(ingot_infer *c)
{
    const ingot_dim outputs = output_channels(c, 3);
    INGOT_TRY(check_parameter(c, 1, "x_scale", 1));
    INGOT_TRY(check_parameter(c, 2, "x_zero_point", 1));
    INGOT_TRY(check_parameter(c, 4, "w_scale", outputs));
    INGOT_TRY(check_parameter(c, 5, "w_zero_point", outputs));
    INGOT_TRY(check_parameter(c, 6, "y_scale", 1));
    INGOT_TRY(check_parameter(c, 7, "y_zero_point", 1));
    return infer_conv_at(c, 0, 3, 8, c->inputs[7].type.element);
}

static ingot_status infer_conv_transpose(ingot_infer *c)
{
    const ingot_conv_transpose_params *p = c->params;
    ingot_dim x_dims[INGOT_MAX_RANK], w_dims[INGOT_MAX_RANK], out[INGOT_MAX_RANK];
    ingot_window window;
    int rank;
    INGOT_TRY(find_rank(c, 0, 1, &p->window, &rank));
    if (rank < 0) {
        ingot_infer_set_unranked(c, 0, c->inputs[0].type.element);
        return INGOT_OK;
    }
    dims_of(c, 0, rank, x_dims);
    dims_of(c, 1, rank, w_dims);
    INGOT_TRY(ingot_conv_transpose_geometry(c->node, p, c->dims, rank, x_dims, w_dims, &window, c->error));
    out[0] = x_dims[0];
    out[1] = ingot_dim_mul(c->dims, w_dims[1], p->group);
    INGOT_TRY(check_bias(c, 2, out[1]));
    for (int i = 2; i < rank; i++)
        out[i] = window.out[i - 2];
    ingot_infer_set(c, 0, c->inputs[0].type.element, rank, out);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_conv = {
    .summary = "Convolution over any number of spatial axes, with groups, dilations and an optional bias.",
    .params_size = sizeof(ingot_conv_params),
    .fields = conv_fields,
    .check = check_conv,
    .infer = infer_conv,
};

const ingot_op ingot_op_fused_conv = {
    .summary = "Convolution, then an optional sum with Z, then an activation.",
    .params_size = sizeof(ingot_conv_params),
    .fields = conv_fields,
    .check = check_fused_conv,
    .infer = infer_fused_conv,
};

const ingot_op ingot_op_conv_integer = {
    .summary = "Convolution of 8-bit integers less their zero points, into int32.",
    .params_size = sizeof(ingot_conv_params),
    .fields = conv_fields,
    .check = check_conv,
    .infer = infer_conv_integer,
};

const ingot_op ingot_op_qlinear_conv = {
    .summary = "Convolution of 8-bit integers with scales and zero points, requantized to 8 bits.",
    .params_size = sizeof(ingot_conv_params),
    .fields = conv_fields,
    .check = check_conv,
    .infer = infer_qlinear_conv,
};

const ingot_op ingot_op_conv_transpose = {
    .summary = "Transposed convolution over any number of spatial axes, with groups and output padding.",
    .params_size = sizeof(ingot_conv_transpose_params),
    .fields = conv_transpose_fields,
    .check = check_conv_transpose,
    .infer = infer_conv_transpose,
};
