/* QLinearSigmoid and QLinearLeakyRelu by a table of all codes; QLinearSoftmax; QLinearGlobalAveragePool. */
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_qlinear.h"
#include "ops/ms_qlinear.h"

enum { X, X_SCALE, Y_SCALE = 3, CODES = 256 };

typedef struct operands {
    float x_scale, y_scale, x_zero, y_zero;
    ingot_codes codes;
} operands;

static ingot_status load(const ingot_kernel_call *call, operands *o)
{
    INGOT_TRY(ingot_load_quantization(call, X_SCALE, "X_scale", &o->x_scale, &o->x_zero));
    INGOT_TRY(ingot_load_quantization(call, Y_SCALE, "Y_scale", &o->y_scale, &o->y_zero));
    o->codes = ingot_codes_of(call->outputs[0]->element);
    return INGOT_OK;
}

/* ---- By table ---- */

typedef float (*function)(float x, float alpha);

static ingot_status look_up(const ingot_kernel_call *call, function f, float alpha)
{
    operands o;
    uint8_t table[CODES];
    INGOT_TRY(load(call, &o));
    for (int i = 0; i < CODES; i++) {
        float code = (float)(o.codes.is_signed && i >= CODES / 2 ? i - CODES : i);
        ingot_store_code(&o.codes, table, i, rintf(f((code - o.x_zero) * o.x_scale, alpha) / o.y_scale) + o.y_zero);
    }
    const uint8_t *x = call->inputs[X]->data;
    uint8_t *y = call->outputs[0]->data;
    size_t count = ingot_ref_count(call->inputs[X]);
    for (size_t i = 0; i < count; i++)
        y[i] = table[x[i]];
    return INGOT_OK;
}

static float sigmoid(float x, float alpha)
{
    return (float)(1 / (1 + exp(-(double)x)));
}

static float leaky_relu(float x, float alpha)
{
    return x >= 0 ? x : x * alpha;
}

ingot_status ingot_ref_qlinear_sigmoid(const ingot_kernel_call *call)
{
    return look_up(call, sigmoid, 0);
}

ingot_status ingot_ref_qlinear_leaky_relu(const ingot_kernel_call *call)
{
    return look_up(call, leaky_relu, ((const ingot_qlinear_params *)call->params)->alpha);
}

/* ---- Softmax ---- */

/* Elements of a row lie step apart. The largest has the last power. Powers are summed in float, and divided in double. */
static void softmax_row(const operands *o, const float *powers, const void *x, void *y, size_t first, size_t step,
                        size_t length)
{
    const int64_t start = (int64_t)first, apart = (int64_t)step, end = start + apart * (int64_t)length;
    const double inverse_scale = (double)floorf(1 / o->y_scale);
    float sum = 0;
    int32_t largest = ingot_load_code(&o->codes, x, start);
    for (int64_t i = start; i < end; i += apart) {
        int32_t code = ingot_load_code(&o->codes, x, i);
        largest = code > largest ? code : largest;
    }
    for (int64_t i = start; i < end; i += apart)
        sum += powers[CODES - 1 + ingot_load_code(&o->codes, x, i) - largest];
    for (int64_t i = start; i < end; i += apart) {
        double power = (double)powers[CODES - 1 + ingot_load_code(&o->codes, x, i) - largest];
        ingot_store_code(&o->codes, y, i, (float)rint(power * inverse_scale / (double)sum) + o->y_zero);
    }
}

ingot_status ingot_ref_qlinear_softmax(const ingot_kernel_call *call)
{
    const ingot_qlinear_params *p = call->params;
    const ingot_value *x = call->inputs[X];
    operands o;
    float powers[CODES];
    INGOT_TRY(load(call, &o));
    ingot_split s = ingot_split_at(x->rank, x->dims, ingot_axis(p->axis, x->rank));
    if (p->opset < 13) {
        s.size *= s.inner;
        s.inner = 1;
    }
    if (s.outer * s.size * s.inner == 0)
        return INGOT_OK;
    ingot_softmax_powers(o.x_scale, s.size, powers);
    for (size_t outer = 0; outer < s.outer; outer++)
        for (size_t inner = 0; inner < s.inner; inner++)
            softmax_row(&o, powers, x->data, call->outputs[0]->data, outer * s.size * s.inner + inner, s.inner, s.size);
    return INGOT_OK;
}

/* ---- Mean of images ---- */

ingot_status ingot_ref_qlinear_global_average_pool(const ingot_kernel_call *call)
{
    const ingot_qlinear_params *p = call->params;
    const ingot_value *x = call->inputs[X];
    operands o;
    INGOT_TRY(load(call, &o));
    size_t batch = (size_t)x->dims[0], channels = (size_t)x->dims[p->channels_last ? x->rank - 1 : 1];
    size_t pixels =
        p->channels_last ? ingot_dims_product(x->dims, 1, x->rank - 1) : ingot_dims_product(x->dims, 2, x->rank);
    size_t step = p->channels_last ? channels : 1, channel_step = p->channels_last ? 1 : pixels;
    float scale = o.x_scale / (o.y_scale * (float)pixels);
    for (size_t n = 0; n < batch; n++)
        for (size_t c = 0; c < channels; c++) {
            size_t first = n * channels * pixels + c * channel_step;
            int64_t sum = -(int64_t)pixels * (int64_t)o.x_zero;
            for (size_t i = 0; i < pixels; i++)
                sum += ingot_load_code(&o.codes, x->data, (int64_t)(first + i * step));
            ingot_store_code(&o.codes, call->outputs[0]->data, (int64_t)(n * channels + c),
                             ingot_code_mean(sum, scale, o.y_zero));
        }
    return INGOT_OK;
}
