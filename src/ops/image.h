/* ImageDecoder. */
#ifndef INGOT_OPS_IMAGE_H
#define INGOT_OPS_IMAGE_H

#include "ops/op.h"

typedef enum ingot_pixel_format {
    INGOT_PIXEL_RGB,
    INGOT_PIXEL_BGR,
    INGOT_PIXEL_GREY,
} ingot_pixel_format;

typedef struct ingot_image_decoder_params {
    int format; /* ingot_pixel_format */
} ingot_image_decoder_params;

#endif
