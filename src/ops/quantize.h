/* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#ifndef INGOT_OPS_QUANTIZE_H
#define INGOT_OPS_QUANTIZE_H

#include <math.h>

#include "ops/op.h"

typedef struct ingot_quantize_params {
    int64_t axis;
    int64_t block_size;  /* 0: none */
    int64_t output_type; /* attribute output_dtype; an ingot_element, 0: not given */
    int64_t precision;   /* QuantizeLinear: type to divide in, an ingot_element; 0: that of the scale */
    bool saturate;       /* QuantizeLinear into float8 */
    bool per_tensor;     /* versions before 13 have one scale alone */
} ingot_quantize_params;

/* How many elements share a scale. */
typedef enum ingot_granularity {
    INGOT_PER_TENSOR, /* all */
    INGOT_PER_AXIS,   /* those of one index on the axis: the scale has one dimension */
    INGOT_PER_BLOCK,  /* block_size ones that follow each other on the axis: the scale has the input's rank */
} ingot_granularity;

/* From the shapes of the input and its scale, checked against each other. *axis is non-negative; 0 for PER_TENSOR. dims NULL:
 * plain numbers, as at run time. */
ingot_status ingot_quantize_granularity(const ingot_node *node, const ingot_quantize_params *params, ingot_dims *dims,
                                        int rank, const ingot_dim *x, int scale_rank, const ingot_dim *scale,
                                        ingot_granularity *granularity, int *axis, ingot_error *error);

/* Scale and zero point that DynamicQuantizeLinear gives to numbers low ... high, 0 among them. A range of nothing has scale 0. */
typedef struct ingot_dynamic_scale {
    float scale, zero;
} ingot_dynamic_scale;

static inline ingot_dynamic_scale ingot_dynamic_scale_of(float low, float high)
{
    float scale = (high - low) / UINT8_MAX;
    return (ingot_dynamic_scale){scale, scale > 0 ? rintf(fminf(fmaxf(-low / scale, 0), UINT8_MAX)) : 0};
}

/* The code, a whole number from 0 to 255; NaN becomes 0. */
static inline float ingot_dynamic_code(const ingot_dynamic_scale *s, float x)
{
    float code = s->scale > 0 ? rintf(x / s->scale) + s->zero : 0;
    return code >= 0 ? (code <= UINT8_MAX ? code : UINT8_MAX) : 0;
}

#endif
