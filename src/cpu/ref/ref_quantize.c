/* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/quantize.h"

/* Elements first ... first + count - 1, whose scales (and zero points) are scale, scale + scale_step, ... */
typedef struct run {
    size_t first, count;
    size_t scale, scale_step;
} run;

typedef struct quantizer {
    const ingot_value *x, *scale, *zero; /* zero NULL: 0 */
    ingot_value *y;
    ingot_element precision; /* quantize: of the division */
    bool saturate;
    float low, high; /* quantize: of an integer output */
} quantizer;

typedef void (*convert_run)(const quantizer *q, const run *r);

/* Calls convert for runs that cover the tensor. */
static ingot_status for_each_run(const ingot_kernel_call *call, const quantizer *q, convert_run convert)
{
    const ingot_quantize_params *p = call->params;
    ingot_granularity granularity;
    int axis;
    INGOT_TRY(ingot_quantize_granularity(call->node, p, NULL, q->x->rank, q->x->dims, q->scale->rank, q->scale->dims,
                                         &granularity, &axis, call->error));
    if (granularity == INGOT_PER_TENSOR) {
        convert(q, &(run){0, ingot_ref_count(q->x), 0, 0});
        return INGOT_OK;
    }
    ingot_split s = ingot_split_at(q->x->rank, q->x->dims, axis);
    size_t block = granularity == INGOT_PER_BLOCK ? (size_t)p->block_size : 1;
    size_t blocks = (s.size + block - 1) / block;
    for (size_t outer = 0; outer < s.outer; outer++) {
        size_t start = outer * s.size * s.inner;
        if (granularity == INGOT_PER_AXIS && s.inner == 1) {
            convert(q, &(run){start, s.size, 0, 1});
            continue;
        }
        for (size_t i = 0; i < s.size; i++) {
            run r = {start + i * s.inner, s.inner, i, 0};
            if (granularity == INGOT_PER_BLOCK) {
                r.scale = (outer * blocks + i / block) * s.inner;
                r.scale_step = 1;
            }
            convert(q, &r);
        }
    }
    return INGOT_OK;
}

/* ---- Quantize ---- */

/* NaN becomes the lowest value. */
static inline float round_to_range(float quotient, float zero, float low, float high)
{
    float v = rintf(quotient) + zero;
    return v >= low ? (v <= high ? v : high) : low;
}

static float round_to(ingot_element precision, float v)
{
    switch (precision) {
    case INGOT_FLOAT16:
        return ingot_half_to_float(ingot_half_from_float(v));
    case INGOT_BFLOAT16:
        return ingot_bfloat16_to_float(ingot_bfloat16_from_float(v));
    default:
        return v;
    }
}

static float load(const ingot_value *value, size_t index)
{
    return (float)ingot_load_double(value->element, value->data, index);
}

static float zero_point(const quantizer *q, size_t index)
{
    return q->zero ? load(q->zero, index) : 0;
}

static void quantize_f32_u8(const quantizer *q, const run *r)
{
    const float *x = (const float *)q->x->data + r->first;
    const float *scale = (const float *)q->scale->data + r->scale;
    const uint8_t *zero = q->zero ? (const uint8_t *)q->zero->data + r->scale : NULL;
    uint8_t *y = (uint8_t *)q->y->data + r->first;
    for (size_t i = 0; i < r->count; i++) {
        size_t s = i * r->scale_step;
        y[i] = (uint8_t)round_to_range(x[i] / scale[s], zero ? (float)zero[s] : 0, 0, UINT8_MAX);
    }
}

static void quantize_f32_i8(const quantizer *q, const run *r)
{
    const float *x = (const float *)q->x->data + r->first;
    const float *scale = (const float *)q->scale->data + r->scale;
    const int8_t *zero = q->zero ? (const int8_t *)q->zero->data + r->scale : NULL;
    int8_t *y = (int8_t *)q->y->data + r->first;
    for (size_t i = 0; i < r->count; i++) {
        size_t s = i * r->scale_step;
        y[i] = (int8_t)round_to_range(x[i] / scale[s], zero ? (float)zero[s] : 0, INT8_MIN, INT8_MAX);
    }
}

static float quotient(const quantizer *q, size_t index, size_t scale)
{
    float x = round_to(q->precision, load(q->x, index));
    return round_to(q->precision, x / round_to(q->precision, load(q->scale, scale)));
}

static void quantize_to_integers(const quantizer *q, const run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        size_t scale = r->scale + i * r->scale_step;
        float v = round_to_range(quotient(q, r->first + i, scale), zero_point(q, scale), q->low, q->high);
        ingot_store_i64(q->y->element, q->y->data, r->first + i, (int64_t)v);
    }
}

static void quantize_to_floats(const quantizer *q, const run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        size_t scale = r->scale + i * r->scale_step;
        float v = quotient(q, r->first + i, scale) + zero_point(q, scale);
        uint8_t bits = ingot_narrow_from_float(q->y->element, v, q->saturate);
        ingot_copy_elements(ingot_element_bits(q->y->element), q->y->data, r->first + i, &bits, 0, 1);
    }
}

ingot_status ingot_ref_quantize_linear(const ingot_kernel_call *call)
{
    const ingot_quantize_params *p = call->params;
    quantizer q = {.x = call->inputs[0], .scale = call->inputs[1], .y = call->outputs[0], .saturate = p->saturate};
    q.zero = ingot_kernel_has(call, 2) ? call->inputs[2] : NULL;
    q.precision = p->precision ? (ingot_element)p->precision : q.scale->element;
    size_t bits = ingot_element_bits(q.y->element);
    bool plain = q.x->element == INGOT_FLOAT && q.scale->element == INGOT_FLOAT && q.precision == INGOT_FLOAT;
    if (bits < 8) /* the last byte may hold less than it can */
        ingot_ref_zero(q.y);
    if (ingot_element_is_float(q.y->element))
        return for_each_run(call, &q, quantize_to_floats);
    if (plain && q.y->element == INGOT_UINT8)
        return for_each_run(call, &q, quantize_f32_u8);
    if (plain && q.y->element == INGOT_INT8)
        return for_each_run(call, &q, quantize_f32_i8);
    bool is_signed = ingot_element_is_signed(q.y->element);
    q.high = (float)((UINT32_C(1) << (is_signed ? bits - 1 : bits)) - 1);
    q.low = is_signed ? -q.high - 1 : 0;
    return for_each_run(call, &q, quantize_to_integers);
}

/* ---- Dequantize ---- */

#define DEFINE_DEQUANTIZE(name, type)                                                 \
    static void name(const quantizer *q, const run *r)                                \
    {                                                                                 \
        const type *x = (const type *)q->x->data + r->first;                          \
        const float *scale = (const float *)q->scale->data + r->scale;                \
        const type *zero = q->zero ? (const type *)q->zero->data + r->scale : NULL;   \
        float *y = (float *)q->y->data + r->first;                                    \
        for (size_t i = 0; i < r->count; i++) {                                       \
            size_t s = i * r->scale_step;                                             \
            y[i] = (float)((int64_t)x[i] - (zero ? (int64_t)zero[s] : 0)) * scale[s]; \
        }                                                                             \
    }
DEFINE_DEQUANTIZE(dequantize_u8_f32, uint8_t)
DEFINE_DEQUANTIZE(dequantize_i8_f32, int8_t)
DEFINE_DEQUANTIZE(dequantize_i32_f32, int32_t)

/* Differences of the other types, int32 included, are exact in double. */
static void dequantize_any(const quantizer *q, const run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        size_t scale = r->scale + i * r->scale_step;
        double zero = q->zero ? ingot_load_double(q->zero->element, q->zero->data, scale) : 0;
        float x = (float)(ingot_load_double(q->x->element, q->x->data, r->first + i) - zero);
        float y = x * load(q->scale, scale);
        ingot_write_floats(q->y->element, q->y->data, (int64_t)(r->first + i), 1, 1, &y);
    }
}

ingot_status ingot_ref_dequantize_linear(const ingot_kernel_call *call)
{
    quantizer q = {.x = call->inputs[0], .scale = call->inputs[1], .y = call->outputs[0]};
    q.zero = ingot_kernel_has(call, 2) ? call->inputs[2] : NULL;
    bool plain = q.scale->element == INGOT_FLOAT && q.y->element == INGOT_FLOAT;
    if (plain && q.x->element == INGOT_UINT8)
        return for_each_run(call, &q, dequantize_u8_f32);
    if (plain && q.x->element == INGOT_INT8)
        return for_each_run(call, &q, dequantize_i8_f32);
    if (plain && q.x->element == INGOT_INT32)
        return for_each_run(call, &q, dequantize_i32_f32);
    return for_each_run(call, &q, dequantize_any);
}

/* ---- DynamicQuantizeLinear ---- */

ingot_status ingot_ref_dynamic_quantize_linear(const ingot_kernel_call *call)
{
    const float *x = call->inputs[0]->data;
    uint8_t *y = call->outputs[0]->data;
    size_t count = ingot_ref_count(call->inputs[0]);
    float low = 0, high = 0; /* the range always holds 0 */
    for (size_t i = 0; i < count; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    ingot_dynamic_scale s = ingot_dynamic_scale_of(low, high);
    for (size_t i = 0; i < count; i++)
        y[i] = (uint8_t)ingot_dynamic_code(&s, x[i]);
    *(float *)call->outputs[1]->data = s.scale;
    *(uint8_t *)call->outputs[2]->data = (uint8_t)s.zero;
    return INGOT_OK;
}
