/* ConvInteger and QLinearConv: 8-bit integers less their zero points, summed in 32 bits that wrap. Padding is the zero point. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_conv_core.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"

/* Where the operator has its inputs; SIZE_MAX: nowhere. */
typedef struct operands {
    size_t x, x_zero, w, w_zero;
} operands;

static int32_t load_i32(const ingot_value *value, size_t index)
{
    return (int32_t)ingot_load_i64(value->element, value->data, index);
}

/* Index of channel in an operand that has one element, or one for each output channel. */
static size_t channel_index(const ingot_value *value, size_t channel)
{
    return ingot_ref_count(value) == 1 ? 0 : channel;
}

static void widen(const ingot_kernel_call *call, const operands *at, int32_t *x, int32_t *w)
{
    const ingot_value *x_value = call->inputs[at->x], *w_value = call->inputs[at->w];
    const ingot_value *w_zero = ingot_kernel_has(call, at->w_zero) ? call->inputs[at->w_zero] : NULL;
    size_t x_count = ingot_ref_count(x_value), w_count = ingot_ref_count(w_value);
    size_t channels = (size_t)w_value->dims[0];
    int32_t zero = 0;
    if (ingot_kernel_has(call, at->x_zero))
        zero = load_i32(call->inputs[at->x_zero], 0);
    for (size_t i = 0; i < x_count; i++)
        x[i] = load_i32(x_value, i) - zero;
    for (size_t m = 0; m < channels; m++) {
        size_t row = w_count / channels;
        zero = w_zero ? load_i32(w_zero, channel_index(w_zero, m)) : 0;
        for (size_t i = m * row; i < (m + 1) * row; i++)
            w[i] = load_i32(w_value, i) - zero;
    }
}

static ingot_status convolve(const ingot_kernel_call *call, const operands *at,
                             void (*finish)(void *context, const ingot_ref_conv_row *row))
{
    const ingot_conv_params *p = call->params;
    const ingot_value *x = call->inputs[at->x], *w = call->inputs[at->w];
    ingot_ref_conv_job job = {.type = INGOT_REF_CONV_I32, .x_dims = x->dims, .w_dims = w->dims, .group = p->group};
    INGOT_TRY(ingot_conv_geometry(call->node, p, NULL, x->rank, x->dims, w->dims, &job.window, call->error));
    size_t elements[] = {ingot_ref_count(x), ingot_ref_count(w), (size_t)job.window.out[job.window.spatial - 1]};
    size_t sizes[] = {sizeof(int32_t), sizeof(int32_t), 8};
    void *parts[3];
    INGOT_TRY(ingot_ref_scratch(call, 3, elements, sizes, parts));
    widen(call, at, parts[0], parts[1]);
    job.x = parts[0];
    job.w = parts[1];
    job.sums = parts[2];
    job.finish = finish;
    job.context = (void *)(uintptr_t)call;
    ingot_ref_convolve(&job);
    return INGOT_OK;
}

/* ---- ConvInteger ---- */

static void store_sums(void *context, const ingot_ref_conv_row *row)
{
    const ingot_kernel_call *call = context;
    ingot_copy_elements(32, call->outputs[0]->data, row->offset, row->sums, 0, row->count);
}

ingot_status ingot_ref_conv_integer(const ingot_kernel_call *call)
{
    static const operands at = {.x = 0, .x_zero = 2, .w = 1, .w_zero = 3};
    return convolve(call, &at, store_sums);
}

/* ---- QLinearConv ---- */

enum { X_SCALE = 1, W_SCALE = 4, Y_SCALE = 6, Y_ZERO = 7, BIAS = 8 };

static float load_scale(const ingot_kernel_call *call, size_t input, size_t channel)
{
    const ingot_value *value = call->inputs[input];
    return ((const float *)value->data)[channel_index(value, channel)];
}

static void requantize(void *context, const ingot_ref_conv_row *row)
{
    const ingot_kernel_call *call = context;
    ingot_value *y = call->outputs[0];
    float scale = load_scale(call, X_SCALE, 0) * load_scale(call, W_SCALE, row->channel) / load_scale(call, Y_SCALE, 0);
    float zero = (float)load_i32(call->inputs[Y_ZERO], 0);
    float low = y->element == INGOT_INT8 ? INT8_MIN : 0;
    float high = y->element == INGOT_INT8 ? INT8_MAX : UINT8_MAX;
    const uint32_t *sums = row->sums;
    uint32_t bias = ingot_kernel_has(call, BIAS) ? (uint32_t)load_i32(call->inputs[BIAS], row->channel) : 0;
    for (size_t i = 0; i < row->count; i++) {
        float v = rintf((float)(int32_t)(sums[i] + bias) * scale) + zero;
        v = v >= low ? (v <= high ? v : high) : low;
        ingot_store_i64(y->element, y->data, row->offset + i, (int64_t)v);
    }
}

ingot_status ingot_ref_qlinear_conv(const ingot_kernel_call *call)
{
    static const operands at = {.x = 0, .x_zero = 2, .w = 3, .w_zero = 5};
    return convolve(call, &at, requantize);
}
