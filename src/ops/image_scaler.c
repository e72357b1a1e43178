#include "ops/image_scaler.h"

#include <stddef.h>

static const ingot_param_field image_scaler_fields[] = {
    {"scale", INGOT_PARAM_FLOAT, offsetof(ingot_image_scaler_params, scale), NULL, 0},
    {"bias", INGOT_PARAM_FLOATS, offsetof(ingot_image_scaler_params, bias), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status infer_image_scaler(ingot_infer *c)
{
    const ingot_image_scaler_params *p = c->params;
    INGOT_TRY(ingot_infer_rank(c, 0, 4, 4));
    if (c->inputs[0].type.rank == 4 && p->bias.count)
        INGOT_TRY(ingot_infer_same_dim(c, "the number of channels and the length of bias", c->inputs[0].type.dims[1],
                                       (ingot_dim)p->bias.count, NULL));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

const ingot_op ingot_op_image_scaler = {
    .summary = "Scales an image and adds a bias to each channel.",
    .params_size = sizeof(ingot_image_scaler_params),
    .fields = image_scaler_fields,
    .infer = infer_image_scaler,
    .flags = INGOT_OP_IN_PLACE,
};
