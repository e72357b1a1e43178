/* SwiGLU, CausalConvWithState and LinearAttention, in float (SwiGLU of doubles in double), rounded where the standard's functions
 * round. */
#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/linear_attention.h"

/* A number as an element of the type holds it. */
static double rounded(ingot_element element, double value)
{
    switch (element) {
    case INGOT_DOUBLE:
        return value;
    case INGOT_FLOAT16:
        return (double)ingot_half_to_float(ingot_half_from_double(value));
    case INGOT_BFLOAT16:
        return (double)ingot_bfloat16_to_float(ingot_bfloat16_from_double(value));
    default:
        return (double)(float)value;
    }
}

/* ---- SwiGLU ---- */

#define BLOCK 256

ingot_status ingot_ref_swiglu(const ingot_kernel_call *call)
{
    const ingot_swiglu_params *p = call->params;
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    size_t count = ingot_ref_count(a);
    double gate[BLOCK], linear[BLOCK];
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t block = count - first < BLOCK ? count - first : BLOCK;
        ingot_read_doubles(a->element, a->data, (int64_t)first, 1, block, gate);
        ingot_read_doubles(b->element, b->data, (int64_t)first, 1, block, linear);
        for (size_t i = 0; i < block; i++) {
            double swish = gate[i] / (1 + exp(-(double)p->alpha * gate[i]));
            gate[i] = rounded(a->element, swish) * linear[i];
        }
        ingot_write_doubles(a->element, call->outputs[0]->data, (int64_t)first, 1, block, gate);
    }
    return INGOT_OK;
}

/* ---- CausalConvWithState ---- */

/* One channel: x is what is carried, kernel - 1 numbers, then the input. */
static void convolve(const float *x, const float *weight, size_t kernel, float bias, size_t length, float *y)
{
    for (size_t i = 0; i < length; i++) {
        double sum = (double)bias;
        for (size_t j = 0; j < kernel; j++)
            sum += (double)weight[j] * (double)x[i + j];
        y[i] = (float)sum;
    }
}

static void silu(ingot_element element, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float x = (float)rounded(element, (double)y[i]);
        y[i] = x / (1 + expf(-x));
    }
}

ingot_status ingot_ref_causal_conv_with_state(const ingot_kernel_call *call)
{
    const ingot_causal_conv_params *p = call->params;
    const ingot_value *x = call->inputs[0], *w = call->inputs[1];
    size_t channels = (size_t)x->dims[1], length = (size_t)x->dims[2], kernel = (size_t)w->dims[2];
    size_t rows = (size_t)x->dims[0] * channels, state = kernel - 1;
    void *parts[3];
    INGOT_TRY(ingot_ref_scratch(call, 3, (size_t[]){length + state, kernel, length},
                                (size_t[]){sizeof(float), sizeof(float), sizeof(float)}, parts));
    float *past = parts[0], *weight = parts[1], *y = parts[2];
    for (size_t row = 0; row < rows; row++) {
        size_t channel = row % channels;
        float bias = 0;
        memset(past, 0, state * sizeof *past);
        if (ingot_kernel_has(call, 3))
            ingot_read_floats(x->element, call->inputs[3]->data, (int64_t)(row * state), 1, state, past);
        ingot_read_floats(x->element, x->data, (int64_t)(row * length), 1, length, past + state);
        ingot_read_floats(x->element, w->data, (int64_t)(channel * kernel), 1, kernel, weight);
        if (ingot_kernel_has(call, 2))
            ingot_read_floats(x->element, call->inputs[2]->data, (int64_t)channel, 1, 1, &bias);
        convolve(past, weight, kernel, bias, length, y);
        if (p->activation)
            silu(x->element, y, length);
        if (ingot_kernel_wants(call, 0))
            ingot_write_floats(x->element, call->outputs[0]->data, (int64_t)(row * length), 1, length, y);
        if (ingot_kernel_wants(call, 1))
            ingot_write_floats(x->element, call->outputs[1]->data, (int64_t)(row * state), 1, state, past + length);
    }
    return INGOT_OK;
}

/* ---- LinearAttention ---- */

typedef struct recurrence {
    const ingot_kernel_call *call;
    const ingot_linear_attention_params *params;
    size_t length, key, value; /* tokens; sizes of a key and a value */
    size_t group;              /* heads of the query that read one state */
    float scale;
    float *state; /* [key, value] */
    float *q, *k, *v, *decay, *y;
} recurrence;

/* Part of row token of an input [B, T, columns]. */
static void read_part(const recurrence *r, size_t input, size_t token, size_t first, size_t count, float *to)
{
    const ingot_value *x = r->call->inputs[input];
    ingot_read_floats(x->element, x->data, (int64_t)(token * (size_t)x->dims[2] + first), 1, count, to);
}

static void decay_state(const recurrence *r, size_t token, size_t head)
{
    bool per_head = r->call->inputs[INGOT_LINEAR_DECAY]->dims[2] == r->params->kv_heads;
    read_part(r, INGOT_LINEAR_DECAY, token, per_head ? head : head * r->key, per_head ? 1 : r->key, r->decay);
    for (size_t i = 0; i < r->key; i++) {
        float factor = expf(r->decay[per_head ? 0 : i]);
        for (size_t j = 0; j < r->value; j++)
            r->state[i * r->value + j] *= factor;
    }
}

/* v becomes beta times what the state does not hold of it yet. */
static void correct_value(const recurrence *r, size_t token, size_t head)
{
    float beta;
    read_part(r, INGOT_LINEAR_BETA, token, r->call->inputs[INGOT_LINEAR_BETA]->dims[2] == 1 ? 0 : head, 1, &beta);
    for (size_t j = 0; j < r->value; j++) {
        float held = 0;
        for (size_t i = 0; i < r->key; i++)
            held += r->state[i * r->value + j] * r->k[i];
        r->v[j] = beta * (r->v[j] - held);
    }
}

static void read_state(const recurrence *r, size_t token, size_t q_head)
{
    ingot_value *output = r->call->outputs[0];
    read_part(r, INGOT_LINEAR_QUERY, token, q_head * r->key, r->key, r->q);
    memset(r->y, 0, r->value * sizeof *r->y);
    for (size_t i = 0; i < r->key; i++)
        for (size_t j = 0; j < r->value; j++)
            r->y[j] += r->q[i] * r->state[i * r->value + j];
    for (size_t j = 0; j < r->value; j++)
        r->y[j] *= r->scale;
    ingot_write_floats(output->element, output->data, (int64_t)(token * (size_t)output->dims[2] + q_head * r->value), 1,
                       r->value, r->y);
}

static void run_token(const recurrence *r, size_t token, size_t head)
{
    read_part(r, INGOT_LINEAR_KEY, token, head * r->key, r->key, r->k);
    read_part(r, INGOT_LINEAR_VALUE, token, head * r->value, r->value, r->v);
    if (r->params->rule & INGOT_UPDATE_GATED)
        decay_state(r, token, head);
    if (r->params->rule & INGOT_UPDATE_DELTA)
        correct_value(r, token, head);
    for (size_t i = 0; i < r->key; i++)
        for (size_t j = 0; j < r->value; j++)
            r->state[i * r->value + j] += r->k[i] * r->v[j];
    for (size_t g = 0; ingot_kernel_wants(r->call, 0) && g < r->group; g++)
        read_state(r, token, head * r->group + g);
}

/* All tokens of one sample and head of the keys. */
static void run_head(const recurrence *r, size_t batch, size_t head)
{
    size_t cells = r->key * r->value;
    int64_t first = (int64_t)((batch * (size_t)r->params->kv_heads + head) * cells);
    memset(r->state, 0, cells * sizeof *r->state);
    if (ingot_kernel_has(r->call, INGOT_LINEAR_STATE)) {
        const ingot_value *past = r->call->inputs[INGOT_LINEAR_STATE];
        ingot_read_floats(past->element, past->data, first, 1, cells, r->state);
    }
    for (size_t t = 0; t < r->length; t++)
        run_token(r, batch * r->length + t, head);
    if (ingot_kernel_wants(r->call, 1)) {
        ingot_value *present = r->call->outputs[1];
        ingot_write_floats(present->element, present->data, first, 1, cells, r->state);
    }
}

ingot_status ingot_ref_linear_attention(const ingot_kernel_call *call)
{
    const ingot_linear_attention_params *p = call->params;
    const ingot_value *query = call->inputs[INGOT_LINEAR_QUERY], *value = call->inputs[INGOT_LINEAR_VALUE];
    recurrence r = {.call = call, .params = p, .length = (size_t)query->dims[1]};
    r.key = (size_t)(query->dims[2] / p->q_heads);
    r.value = (size_t)(value->dims[2] / p->kv_heads);
    r.group = (size_t)(p->q_heads / p->kv_heads);
    r.scale = p->scale != 0 ? p->scale : (float)(1 / sqrt((double)r.key));
    size_t cells;
    void *parts[6];
    if (!ingot_mul_size(r.key, r.value, &cells))
        return ingot_kernel_fail(call, "the state of a head is too large");
    const size_t size = sizeof(float);
    INGOT_TRY(ingot_ref_scratch(call, 6, (size_t[]){cells, r.key, r.key, r.value, r.key + 1, r.value},
                                (size_t[]){size, size, size, size, size, size}, parts));
    r.state = parts[0];
    r.q = parts[1];
    r.k = parts[2];
    r.v = parts[3];
    r.decay = parts[4];
    r.y = parts[5];
    for (size_t batch = 0; batch < (size_t)query->dims[0]; batch++)
        for (size_t head = 0; head < (size_t)p->kv_heads; head++)
            run_head(&r, batch, head);
    return INGOT_OK;
}
