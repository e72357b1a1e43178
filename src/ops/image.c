/* ImageDecoder. */
#include "ops/image.h"

static const char *const format_words[] = {"RGB", "BGR", "Grayscale", NULL};

static const ingot_param_field image_decoder_fields[] = {
    {"pixel_format", INGOT_PARAM_WORD, offsetof(ingot_image_decoder_params, format), format_words, 0},
    {0},
};

static ingot_status infer_image_decoder(ingot_infer *c)
{
    const ingot_image_decoder_params *p = c->params;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, 1));
    ingot_infer_set(c, 0, INGOT_UINT8, 3,
                    (ingot_dim[]){INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, p->format == INGOT_PIXEL_GREY ? 1 : 3});
    return INGOT_OK;
}

const ingot_op ingot_op_image_decoder = {
    .summary = "the pixels of a picture file",
    .params_size = sizeof(ingot_image_decoder_params),
    .fields = image_decoder_fields,
    .infer = infer_image_decoder,
    .flags = INGOT_OP_SIZES_OUTPUT,
};
