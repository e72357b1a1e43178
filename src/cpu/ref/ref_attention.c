/* Attention and RotaryEmbedding: in doubles, one head at a time. */
#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/attention.h"

/* ---- Heads of an input ---- */

/* Element where row `position` of a head begins: [batch, heads, length, size], or [batch, length, heads * size]. */
static size_t head_row(const ingot_value *x, size_t heads, size_t batch, size_t head, size_t position)
{
    if (x->rank == 4) {
        size_t length = (size_t)x->dims[2], size = (size_t)x->dims[3];
        return ((batch * heads + head) * length + position) * size;
    }
    size_t width = (size_t)x->dims[2];
    return (batch * (size_t)x->dims[1] + position) * width + head * (width / heads);
}

typedef struct attention_job {
    const ingot_kernel_call *call;
    const ingot_attention_params *params;
    size_t batch, q_heads, kv_heads, q_length, kv_length, past, total, head, v_head;
    double scale;
    double *keys, *values;  /* of one head: [total, head], [total, v_head] */
    double *query, *result; /* [head], [v_head] */
    double *scores, *bias;  /* [total] */
} attention_job;

static const ingot_value *input(const attention_job *job, size_t index)
{
    return ingot_kernel_has(job->call, index) ? job->call->inputs[index] : NULL;
}

/* Keys or values of one head, those of the past first. */
static void load_head(const attention_job *job, const ingot_value *past, const ingot_value *x, size_t batch,
                      size_t head, size_t size, double *to)
{
    if (past)
        ingot_ref_to_doubles(past, (batch * job->kv_heads + head) * job->past * size, job->past * size, to);
    for (size_t i = 0; i < job->kv_length; i++)
        ingot_ref_to_doubles(x, head_row(x, job->kv_heads, batch, head, i), size, to + (job->past + i) * size);
}

/* ---- Masks ---- */

/* What attn_mask adds to the scores of a query; keys past its end are masked. */
static void add_mask(const attention_job *job, size_t batch, size_t head, size_t position, double *bias)
{
    const ingot_value *mask = input(job, INGOT_ATTENTION_MASK);
    if (!mask)
        return;
    const size_t place[] = {batch, head, position};
    size_t columns = (size_t)mask->dims[mask->rank - 1], row = 0;
    for (int i = 0; i < mask->rank - 1; i++)
        row = row * (size_t)mask->dims[i] + (mask->dims[i] == 1 ? 0 : place[4 - mask->rank + i]);
    for (size_t j = 0; j < job->total; j++) {
        double value = j < columns ? ingot_load_double(mask->element, mask->data, row * columns + j) : 0;
        if (j >= columns || (mask->element == INGOT_BOOL && value == 0))
            bias[j] = -INFINITY;
        else if (mask->element != INGOT_BOOL)
            bias[j] += value;
    }
}

/* What masks of all kinds add to the scores of a query; false: every key is masked. */
static bool make_bias(const attention_job *job, size_t batch, size_t head, size_t position)
{
    const ingot_attention_params *p = job->params;
    const ingot_value *lengths = input(job, INGOT_ATTENTION_LENGTHS);
    int64_t length = lengths ? ((const int64_t *)lengths->data)[batch] : (int64_t)job->total;
    int64_t offset = lengths ? length - (int64_t)job->q_length : (int64_t)job->past;
    int64_t own = (int64_t)position + offset;
    memset(job->bias, 0, job->total * sizeof *job->bias);
    add_mask(job, batch, head, position, job->bias);
    bool any = false;
    for (size_t j = 0; j < job->total; j++) {
        int64_t key = (int64_t)j;
        bool masked = key >= length || (p->is_causal && key > own) || (p->left >= 0 && key < own - p->left) ||
                      (p->right >= 0 && key > own + p->right);
        if (masked)
            job->bias[j] = -INFINITY;
        any = any || job->bias[j] != (double)-INFINITY;
    }
    return any;
}

/* ---- One query ---- */

static double round_to(ingot_element element, double value)
{
    switch (element) {
    case INGOT_FLOAT:
        return (double)(float)value;
    case INGOT_FLOAT16:
        return (double)ingot_half_to_float(ingot_half_from_double(value));
    case INGOT_BFLOAT16:
        return (double)ingot_bfloat16_to_float(ingot_bfloat16_from_double(value));
    default:
        return value;
    }
}

static void softmax(double *scores, size_t count)
{
    double top = -INFINITY, sum = 0;
    for (size_t j = 0; j < count; j++)
        top = scores[j] > top || isnan(scores[j]) ? scores[j] : top;
    for (size_t j = 0; j < count; j++)
        sum += scores[j] = exp(scores[j] - top);
    for (size_t j = 0; j < count; j++)
        scores[j] /= sum;
}

static void store_probe(const attention_job *job, ingot_attention_probe probe, size_t row, const double *scores)
{
    if (job->params->probe != (int64_t)probe || !ingot_kernel_wants(job->call, 3))
        return;
    ingot_value *y = job->call->outputs[3];
    ingot_write_doubles(y->element, y->data, (int64_t)(row * job->total), 1, job->total, scores);
}

static void attend(const attention_job *job, size_t batch, size_t head, size_t position)
{
    const ingot_attention_params *p = job->params;
    const ingot_value *q = job->call->inputs[INGOT_ATTENTION_Q];
    ingot_value *y = job->call->outputs[0];
    size_t row = (batch * job->q_heads + head) * job->q_length + position;
    double *scores = job->scores;
    ingot_ref_to_doubles(q, head_row(q, job->q_heads, batch, head, position), job->head, job->query);
    for (size_t j = 0; j < job->total; j++) {
        double sum = 0;
        for (size_t d = 0; d < job->head; d++)
            sum += job->query[d] * job->keys[j * job->head + d];
        scores[j] = sum * job->scale;
    }
    store_probe(job, INGOT_ATTENTION_PRODUCT, row, scores);
    for (size_t j = 0; p->softcap != 0 && j < job->total; j++)
        scores[j] = (double)p->softcap * tanh(scores[j] / (double)p->softcap);
    store_probe(job, INGOT_ATTENTION_CAPPED, row, scores);
    bool any = make_bias(job, batch, head, position);
    for (size_t j = 0; j < job->total; j++)
        scores[j] += job->bias[j];
    store_probe(job, INGOT_ATTENTION_BIASED, row, scores);
    for (size_t j = 0; p->softmax_precision && j < job->total; j++)
        scores[j] = round_to((ingot_element)p->softmax_precision, scores[j]);
    if (any)
        softmax(scores, job->total);
    else
        memset(scores, 0, job->total * sizeof *scores);
    store_probe(job, INGOT_ATTENTION_SOFTMAX, row, scores);
    memset(job->result, 0, job->v_head * sizeof *job->result);
    for (size_t j = 0; any && j < job->total; j++)
        for (size_t d = 0; d < job->v_head; d++)
            job->result[d] += scores[j] * job->values[j * job->v_head + d];
    ingot_write_doubles(y->element, y->data, (int64_t)head_row(y, job->q_heads, batch, head, position), 1, job->v_head,
                        job->result);
}

/* ---- The operator ---- */

/* present = past, then the new rows, head by head. */
static void store_present(const attention_job *job, size_t output, const ingot_value *past, const ingot_value *x,
                          size_t size)
{
    if (!ingot_kernel_wants(job->call, output))
        return;
    ingot_value *y = job->call->outputs[output];
    size_t bits = ingot_element_bits(y->element);
    for (size_t i = 0; i < job->batch * job->kv_heads; i++) {
        size_t to = i * job->total * size;
        if (past)
            ingot_copy_elements(bits, y->data, to, past->data, i * job->past * size, job->past * size);
        for (size_t s = 0; s < job->kv_length; s++)
            ingot_copy_elements(bits, y->data, to + (job->past + s) * size, x->data,
                                head_row(x, job->kv_heads, i / job->kv_heads, i % job->kv_heads, s), size);
    }
}

static ingot_status prepare(const ingot_kernel_call *call, attention_job *job)
{
    ingot_attention_input inputs[INGOT_ATTENTION_LENGTHS + 1];
    ingot_attention_shape s;
    for (size_t i = 0; i <= INGOT_ATTENTION_LENGTHS; i++) {
        const ingot_value *x = ingot_kernel_has(call, i) ? call->inputs[i] : NULL;
        inputs[i] = (ingot_attention_input){x ? x->rank : -1, x ? x->dims : NULL};
    }
    INGOT_TRY(ingot_attention_geometry(call->node, call->params, NULL, inputs, &s, call->error));
    *job = (attention_job){.call = call,
                           .params = call->params,
                           .batch = (size_t)s.batch,
                           .q_heads = (size_t)s.q_heads,
                           .kv_heads = (size_t)s.kv_heads,
                           .q_length = (size_t)s.q_length,
                           .kv_length = (size_t)s.kv_length,
                           .past = (size_t)s.past,
                           .total = (size_t)s.total,
                           .head = (size_t)s.head,
                           .v_head = (size_t)s.v_head};
    job->scale = job->params->has_scale ? (double)job->params->scale : 1 / sqrt((double)job->head);
    size_t key_count, value_count;
    if (!ingot_mul_size(job->total, job->head, &key_count) || !ingot_mul_size(job->total, job->v_head, &value_count))
        return ingot_kernel_fail(call, "the keys or values have too many elements");
    size_t elements[] = {key_count, value_count, job->head, job->v_head, job->total, job->total};
    size_t sizes[] = {8, 8, 8, 8, 8, 8};
    void *parts[6];
    INGOT_TRY(ingot_ref_scratch(call, 6, elements, sizes, parts));
    job->keys = parts[0];
    job->values = parts[1];
    job->query = parts[2];
    job->result = parts[3];
    job->scores = parts[4];
    job->bias = parts[5];
    return INGOT_OK;
}

ingot_status ingot_ref_attention(const ingot_kernel_call *call)
{
    attention_job job;
    INGOT_TRY(prepare(call, &job));
    const ingot_value *k = call->inputs[INGOT_ATTENTION_K], *v = call->inputs[INGOT_ATTENTION_V];
    const ingot_value *past_key = input(&job, INGOT_ATTENTION_PAST_KEY);
    const ingot_value *past_value = input(&job, INGOT_ATTENTION_PAST_VALUE);
    for (size_t i = 0; i < job.batch * job.kv_heads; i++) {
        size_t batch = i / job.kv_heads, head = i % job.kv_heads, sharing = job.q_heads / job.kv_heads;
        load_head(&job, past_key, k, batch, head, job.head, job.keys);
        load_head(&job, past_value, v, batch, head, job.v_head, job.values);
        for (size_t q = head * sharing; q < (head + 1) * sharing; q++)
            for (size_t position = 0; position < job.q_length; position++)
                attend(&job, batch, q, position);
    }
    store_present(&job, 1, past_key, k, job.head);
    store_present(&job, 2, past_value, v, job.v_head);
    return INGOT_OK;
}

/* ---- RotaryEmbedding ---- */

typedef struct rotary_job {
    const ingot_kernel_call *call;
    size_t batch, heads, length, head, half; /* half of the elements of a head that turn */
} rotary_job;

static ingot_status prepare_rotary(const ingot_kernel_call *call, rotary_job *job)
{
    const ingot_rotary_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    bool split = x->rank == 4;
    *job = (rotary_job){.call = call, .batch = (size_t)x->dims[0]};
    job->heads = (size_t)(split ? x->dims[1] : p->heads);
    job->length = (size_t)(split ? x->dims[2] : x->dims[1]);
    job->head = split ? (size_t)x->dims[3] : (size_t)x->dims[2] / job->heads;
    job->half = (p->rotary_dim ? (size_t)p->rotary_dim : job->head) / 2;
    if (2 * job->half > job->head)
        return ingot_kernel_fail(call, "rotary_embedding_dim is %lld, but a head has %zu elements",
                                 (long long)p->rotary_dim, job->head);
    bool by_position = ingot_kernel_has(call, 3);
    for (size_t i = 1; i <= 2; i++) {
        const ingot_value *cache = call->inputs[i];
        bool rows = by_position || ((size_t)cache->dims[0] == job->batch && (size_t)cache->dims[1] == job->length);
        if (!rows || (size_t)cache->dims[cache->rank - 1] != job->half || cache->dims[0] != call->inputs[1]->dims[0])
            return ingot_kernel_fail(call,
                                     "the shape of %s does not fit: its last size must be %zu, half of the elements "
                                     "that turn",
                                     i == 1 ? "cos_cache" : "sin_cache", job->half);
    }
    const ingot_value *ids = by_position ? call->inputs[3] : NULL;
    if (ids && ((size_t)ids->dims[0] != job->batch || (size_t)ids->dims[1] != job->length))
        return ingot_kernel_fail(call, "position_ids has shape [%lld,%lld], expected [%zu,%zu]",
                                 (long long)ids->dims[0], (long long)ids->dims[1], job->batch, job->length);
    return INGOT_OK;
}

/* Row of the caches for a token. */
static ingot_status cache_row(const rotary_job *job, size_t token, size_t *row)
{
    *row = token;
    if (!ingot_kernel_has(job->call, 3))
        return INGOT_OK;
    int64_t position = ((const int64_t *)job->call->inputs[3]->data)[token];
    int64_t rows = job->call->inputs[1]->dims[0];
    if (position < 0 || position >= rows)
        return ingot_kernel_fail(job->call, "position_ids holds %lld, but the caches have %lld rows",
                                 (long long)position, (long long)rows);
    *row = (size_t)position;
    return INGOT_OK;
}

ingot_status ingot_ref_rotary_embedding(const ingot_kernel_call *call)
{
    const ingot_rotary_params *p = call->params;
    const ingot_value *x = call->inputs[0], *cosines = call->inputs[1], *sines = call->inputs[2];
    ingot_value *y = call->outputs[0];
    rotary_job job;
    INGOT_TRY(prepare_rotary(call, &job));
    void *parts[3];
    INGOT_TRY(ingot_ref_scratch(call, 3, (size_t[]){job.head, job.half, job.half}, (size_t[]){8, 8, 8}, parts));
    double *row = parts[0], *c = parts[1], *s = parts[2];
    for (size_t token = 0; token < job.batch * job.length; token++) {
        size_t angle;
        INGOT_TRY(cache_row(&job, token, &angle));
        ingot_ref_to_doubles(cosines, angle * job.half, job.half, c);
        ingot_ref_to_doubles(sines, angle * job.half, job.half, s);
        for (size_t head = 0; head < job.heads; head++) {
            size_t at = head_row(x, job.heads, token / job.length, head, token % job.length);
            ingot_ref_to_doubles(x, at, job.head, row);
            for (size_t i = 0; i < job.half; i++) {
                size_t a = p->interleaved ? 2 * i : i, b = p->interleaved ? 2 * i + 1 : i + job.half;
                double real = c[i] * row[a] - s[i] * row[b], imaginary = s[i] * row[a] + c[i] * row[b];
                row[a] = real;
                row[b] = imaginary;
            }
            ingot_write_doubles(y->element, y->data, (int64_t)at, 1, job.head, row);
        }
    }
    return INGOT_OK;
}
