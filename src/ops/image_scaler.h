/* ImageScaler: an experimental operator that ONNX 1.5 took away, but that models still use. */
#ifndef INGOT_OPS_IMAGE_SCALER_H
#define INGOT_OPS_IMAGE_SCALER_H

#include "ops/op.h"

typedef struct ingot_image_scaler_params { /* y = scale * x + bias[channel] for x [N, C, H, W] */
    float scale;
    ingot_floats bias; /* empty: 0 */
} ingot_image_scaler_params;

#endif
