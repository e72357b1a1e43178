/* ImageDecoder. */
#include "base/image.h"
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/image.h"

typedef struct picture {
    const ingot_kernel_call *call;
    int64_t width, height;
    uint8_t *rgb;
} picture;

static ingot_status set_size(const ingot_kernel_call *call, int64_t height, int64_t width)
{
    const ingot_image_decoder_params *p = call->params;
    return ingot_kernel_set_output(call, 0, INGOT_UINT8, 3,
                                   (const int64_t[]){height, width, p->format == INGOT_PIXEL_GREY ? 1 : 3});
}

/* Colours are decoded where they are wanted, greys are made from colours afterwards. */
static ingot_status make(void *context, size_t width, size_t height, uint8_t **rgb, ingot_error *error)
{
    picture *pic = context;
    const ingot_image_decoder_params *p = pic->call->params;
    pic->width = (int64_t)width;
    pic->height = (int64_t)height;
    INGOT_TRY(set_size(pic->call, pic->height, pic->width));
    if (p->format == INGOT_PIXEL_GREY) {
        void *memory;
        INGOT_TRY(ingot_kernel_scratch(pic->call, width * height * 3, &memory));
        pic->rgb = memory;
    } else {
        pic->rgb = pic->call->outputs[0]->data;
    }
    *rgb = pic->rgb;
    return INGOT_OK;
}

static void swap_red_and_blue(uint8_t *rgb, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t red = rgb[3 * i];
        rgb[3 * i] = rgb[3 * i + 2];
        rgb[3 * i + 2] = red;
    }
}

/* The luma of ITU-R BT.601, in 65536ths. */
static void make_grey(const uint8_t *rgb, size_t count, uint8_t *grey)
{
    for (size_t i = 0; i < count; i++)
        grey[i] = (uint8_t)((rgb[3 * i] * UINT32_C(19595) + rgb[3 * i + 1] * UINT32_C(38470) +
                             rgb[3 * i + 2] * UINT32_C(7471) + UINT32_C(32768)) >>
                            16);
}

/* What is no picture, for whatever reason, gives an empty one, as the standard says. A format that only another build of Ingot
 * reads is an error. */
ingot_status ingot_ref_image_decoder(const ingot_kernel_call *call)
{
    const ingot_image_decoder_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    picture pic = {.call = call};
    ingot_image_target target = {make, &pic};
    ingot_error reason = {0};
    ingot_status status = ingot_image_decode((ingot_image_source){x->data, ingot_ref_count(x)}, &target, &reason);
    if (status == INGOT_INVALID_INPUT)
        return set_size(call, 0, 0);
    if (status != INGOT_OK)
        return ingot_node_fail(call->node, call->error, status, "%s", reason.message);
    size_t count = (size_t)(pic.width * pic.height);
    if (p->format == INGOT_PIXEL_BGR)
        swap_red_and_blue(pic.rgb, count);
    if (p->format == INGOT_PIXEL_GREY)
        make_grey(pic.rgb, count, call->outputs[0]->data);
    return INGOT_OK;
}
