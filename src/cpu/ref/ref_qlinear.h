/* Scales, zero points and codes of 8-bit tensors: what the reference kernels of QLinear operators share. */
#ifndef INGOT_CPU_REF_REF_QLINEAR_H
#define INGOT_CPU_REF_REF_QLINEAR_H

#include <float.h>
#include <math.h>

#include "base/number.h"
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_scratch.h"

/* The two types of codes. */
typedef struct ingot_codes {
    bool is_signed;
    float low, high;
} ingot_codes;

static inline ingot_codes ingot_codes_of(ingot_element element)
{
    bool is_signed = element == INGOT_INT8;
    return (ingot_codes){is_signed, is_signed ? INT8_MIN : 0, is_signed ? INT8_MAX : UINT8_MAX};
}

static inline int32_t ingot_load_code(const ingot_codes *c, const void *data, int64_t index)
{
    return c->is_signed ? ((const int8_t *)data)[index] : ((const uint8_t *)data)[index];
}

/* Rounds half to even and saturates; NaN becomes the lowest code. */
static inline void ingot_store_code(const ingot_codes *c, void *data, int64_t index, float value)
{
    value = rintf(value);
    value = value >= c->low ? (value <= c->high ? value : c->high) : c->low;
    if (c->is_signed)
        ((int8_t *)data)[index] = (int8_t)value;
    else
        ((uint8_t *)data)[index] = (uint8_t)value;
}

/* A scale, and a zero point that may be left out: both have one element. */
static inline ingot_status ingot_load_quantization(const ingot_kernel_call *call, size_t scale_input, const char *name,
                                                   float *scale, float *zero)
{
    INGOT_TRY(ingot_ref_single(call, scale_input, name));
    *scale = ((const float *)call->inputs[scale_input]->data)[0];
    *zero = 0;
    if (!ingot_kernel_has(call, scale_input + 1))
        return INGOT_OK;
    INGOT_TRY(ingot_ref_single(call, scale_input + 1, "a zero point"));
    const ingot_value *value = call->inputs[scale_input + 1];
    *zero = (float)ingot_load_i64(value->element, value->data, 0);
    return INGOT_OK;
}

/* For QLinearSoftmax over length codes: powers[i] is e to the code i - 255, times what makes the most of a float's range without
 * the sum of a row leaving it. */
static inline void ingot_softmax_powers(float scale, size_t length, float powers[256])
{
    double wide = (double)scale, room = (double)logf(FLT_MAX / (float)length) - 5, shift = fmax(0, room) / wide;
    for (int i = 0; i < 256; i++)
        powers[i] = (float)exp((i - UINT8_MAX + shift) * wide);
}

/* The value of a mean, to be rounded: sum is that of codes less their zero points; scale is x_scale / (y_scale * count). */
static inline float ingot_code_mean(int64_t sum, float scale, float y_zero)
{
    return rintf((float)sum * scale) + y_zero;
}

#endif
