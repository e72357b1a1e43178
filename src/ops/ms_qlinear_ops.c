/* com.microsoft: operators on 8-bit tensors that have kernels: what they round is told by the order of their steps. */
#include <stddef.h>

#include "ops/ms_qlinear.h"

#define FIELD(attribute, kind, field)                                   \
    {                                                                   \
        attribute, kind, offsetof(ingot_qlinear_params, field), NULL, 0 \
    }

static ingot_status infer_binary(ingot_infer *c)
{
    int rank;
    ingot_dim dims[INGOT_MAX_RANK];
    const ingot_type *a = &c->inputs[0].type, *b = &c->inputs[3].type;
    INGOT_TRY(ingot_infer_broadcast_dims(c, a->rank, a->dims, b->rank, b->dims, &rank, dims));
    if (rank < 0)
        ingot_infer_set_unranked(c, 0, a->element);
    else
        ingot_infer_set(c, 0, a->element, rank, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_qlinear_add = {.summary = "Sum of 8-bit tensors with scales and zero points, requantized",
                                       .infer = infer_binary};

const ingot_op ingot_op_qlinear_mul = {.summary = "Product of 8-bit tensors with scales and zero points, requantized",
                                       .infer = infer_binary};

/* ---- Each element by itself ---- */

static ingot_status infer_same(ingot_infer *c)
{
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

static const ingot_param_field leaky_relu_fields[] = {FIELD("alpha", INGOT_PARAM_FLOAT, alpha), {0}};

const ingot_op ingot_op_qlinear_sigmoid = {
    .summary = "Sigmoid of a quantized tensor, requantized", .infer = infer_same, .flags = INGOT_OP_IN_PLACE};

const ingot_op ingot_op_qlinear_leaky_relu = {.summary = "LeakyRelu of a quantized tensor, requantized",
                                              .params_size = sizeof(ingot_qlinear_params),
                                              .fields = leaky_relu_fields,
                                              .infer = infer_same,
                                              .flags = INGOT_OP_IN_PLACE};

/* ---- Along an axis, and over images ---- */

static const ingot_param_field softmax_fields[] = {
    FIELD("axis", INGOT_PARAM_INT, axis), FIELD("opset", INGOT_PARAM_INT, opset), {0}};

static ingot_status infer_softmax(ingot_infer *c)
{
    const ingot_qlinear_params *p = c->params;
    int rank = c->inputs[0].type.rank, axis;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    if (rank >= 0)
        INGOT_TRY(ingot_infer_axis(c, "axis", p->axis, rank, 0, &axis));
    return infer_same(c);
}

const ingot_op ingot_op_qlinear_softmax = {.summary = "Softmax of a quantized tensor, requantized",
                                           .params_size = sizeof(ingot_qlinear_params),
                                           .fields = softmax_fields,
                                           .infer = infer_softmax};

static const ingot_param_field pool_fields[] = {FIELD("channels_last", INGOT_PARAM_BOOL, channels_last), {0}};

static ingot_status infer_global_average_pool(ingot_infer *c)
{
    const ingot_qlinear_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, x->element);
        return INGOT_OK;
    }
    int channels = p->channels_last ? x->rank - 1 : 1;
    for (int i = 0; i < x->rank; i++)
        dims[i] = i == 0 || i == channels ? x->dims[i] : 1;
    ingot_infer_set(c, 0, x->element, x->rank, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_qlinear_global_average_pool = {.summary =
                                                           "Mean of each channel of quantized images, requantized",
                                                       .params_size = sizeof(ingot_qlinear_params),
                                                       .fields = pool_fields,
                                                       .infer = infer_global_average_pool};
