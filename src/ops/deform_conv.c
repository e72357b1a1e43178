#include "ops/deform_conv.h"

#include <stddef.h>

static const ingot_param_field deform_conv_fields[] = {
    INGOT_WINDOW_FIELDS(ingot_deform_conv_params, window),
    {"group", INGOT_PARAM_INT, offsetof(ingot_deform_conv_params, group), NULL, 0},
    {"offset_group", INGOT_PARAM_INT, offsetof(ingot_deform_conv_params, offset_group), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_deform_conv(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_deform_conv_params *p = params;
    if (p->group < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "group is %lld, expected 1 or more",
                               (long long)p->group);
    if (p->offset_group < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "offset_group is %lld, expected 1 or more",
                               (long long)p->offset_group);
    return ingot_window_check(node, &p->window, error);
}

typedef struct shape_check {
    const ingot_node *node;
    ingot_dims *dims;
    ingot_error *error;
} shape_check;

static ingot_status expect(const shape_check *c, const char *what, ingot_dim found, ingot_dim expected)
{
    if (!ingot_dim_is_number(found) || !ingot_dim_is_number(expected) || found == expected)
        return INGOT_OK;
    return ingot_node_fail(c->node, c->error, c->dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                           "%s is %lld, expected %lld", what, (long long)found, (long long)expected);
}

static ingot_status expect_divides(const shape_check *c, const char *what, ingot_dim count, const char *name,
                                   int64_t divisor)
{
    if (!ingot_dim_is_number(count) || count % divisor == 0)
        return INGOT_OK;
    return ingot_node_fail(c->node, c->error, c->dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                           "%s, %lld, is not divisible by %s = %lld", what, (long long)count, name, (long long)divisor);
}

ingot_status ingot_deform_conv_geometry(const ingot_node *node, const ingot_deform_conv_params *params,
                                        ingot_dims *dims, int rank, const ingot_dim *x, const ingot_dim *w,
                                        const ingot_dim *offset, const ingot_dim *mask, ingot_window *window,
                                        ingot_error *error)
{
    const shape_check c = {node, dims, error};
    ingot_dim taps = params->offset_group;
    INGOT_TRY(expect(&c, "the number of input channels", x[1], ingot_dim_mul(dims, w[1], params->group)));
    INGOT_TRY(expect_divides(&c, "the number of output channels", w[0], "group", params->group));
    INGOT_TRY(expect_divides(&c, "the number of input channels", x[1], "offset_group", params->offset_group));
    INGOT_TRY(ingot_window_resolve(node, &params->window, dims, rank - 2, x + 2, w + 2, window, error));
    for (int i = 0; i < window->spatial; i++)
        taps = ingot_dim_mul(dims, taps, window->kernel[i]);
    INGOT_TRY(expect(&c, "the batch size of offset", offset[0], x[0]));
    INGOT_TRY(expect(&c, "the number of channels of offset", offset[1], ingot_dim_mul(dims, taps, window->spatial)));
    for (int i = 0; i < window->spatial; i++)
        INGOT_TRY(expect(&c, "a spatial size of offset", offset[2 + i], window->out[i]));
    if (!mask)
        return INGOT_OK;
    INGOT_TRY(expect(&c, "the batch size of mask", mask[0], x[0]));
    INGOT_TRY(expect(&c, "the number of channels of mask", mask[1], taps));
    for (int i = 0; i < window->spatial; i++)
        INGOT_TRY(expect(&c, "a spatial size of mask", mask[2 + i], window->out[i]));
    return INGOT_OK;
}

static ingot_status infer_deform_conv(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type, *w = &c->inputs[1].type, *offset = &c->inputs[2].type;
    const ingot_type *mask = ingot_infer_has(c, 4) ? &c->inputs[4].type : NULL;
    INGOT_TRY(ingot_infer_rank(c, 0, 3, INGOT_MAX_RANK));
    if (x->rank < 0 || w->rank < 0 || offset->rank < 0 || (mask && mask->rank < 0)) {
        ingot_infer_set_unranked(c, 0, x->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_rank(c, 1, x->rank, x->rank));
    INGOT_TRY(ingot_infer_rank(c, 2, x->rank, x->rank));
    if (mask)
        INGOT_TRY(ingot_infer_rank(c, 4, x->rank, x->rank));
    ingot_window window;
    INGOT_TRY(ingot_deform_conv_geometry(c->node, c->params, c->dims, x->rank, x->dims, w->dims, offset->dims,
                                         mask ? mask->dims : NULL, &window, c->error));
    if (ingot_infer_has(c, 3)) {
        INGOT_TRY(ingot_infer_rank(c, 3, 1, 1));
        if (c->inputs[3].type.rank == 1)
            INGOT_TRY(ingot_infer_same_dim(c, "the number of output channels and the bias's size", w->dims[0],
                                           c->inputs[3].type.dims[0], NULL));
    }
    ingot_dim out[INGOT_MAX_RANK] = {x->dims[0], w->dims[0]};
    for (int i = 2; i < x->rank; i++)
        out[i] = window.out[i - 2];
    ingot_infer_set(c, 0, x->element, x->rank, out);
    return INGOT_OK;
}

const ingot_op ingot_op_deform_conv = {
    .summary = "Convolution whose taps are moved by offsets and weighted by a mask.",
    .params_size = sizeof(ingot_deform_conv_params),
    .fields = deform_conv_fields,
    .check = check_deform_conv,
    .infer = infer_deform_conv,
};
