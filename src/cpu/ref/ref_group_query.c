/* GroupQueryAttention: in doubles, one head at a time. */
#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/ms_group_query.h"

typedef struct query_job {
    const ingot_kernel_call *call;
    const ingot_group_query_params *params;
    size_t batch, length, size, capacity; /* capacity: of the new cache */
    size_t group;                         /* heads that share a key */
    bool first;                           /* nothing is in the cache */
    double scale;
    double *keys, *values, *query, *scores, *cosines, *sines;
} query_job;

static const ingot_value *input(const query_job *job, size_t index)
{
    return ingot_kernel_has(job->call, index) ? job->call->inputs[index] : NULL;
}

/* Keys of a sample, and how many of them were there before. */
typedef struct sample {
    size_t index, keys, past;
} sample;

static ingot_status read_sample(const query_job *job, size_t index, sample *s)
{
    const ingot_value *lengths = job->call->inputs[INGOT_GQA_LENGTHS], *cache = input(job, INGOT_GQA_PAST_KEY);
    int64_t keys = (int64_t)((const int32_t *)lengths->data)[index] + 1, length = (int64_t)job->length;
    int64_t past = job->first ? 0 : keys - length;
    if (keys < 1 || keys > (int64_t)job->capacity || past < 0 || (past > 0 && (!cache || past > cache->dims[2])) ||
        past + length > (int64_t)job->capacity)
        return ingot_kernel_fail(
            job->call, "seqlens_k holds %lld for sample %zu, which does not fit %lld new and %lld cached keys",
            (long long)(keys - 1), index, (long long)length, (long long)(cache ? cache->dims[2] : 0));
    *s = (sample){index, (size_t)keys, (size_t)past};
    return INGOT_OK;
}

/* ---- Rows ---- */

/* Row of a head: part 0 is the query, 1 the keys, 2 the values; packed behind each other, or apart. */
static void load_row(const query_job *job, size_t part, size_t token, size_t head, double *to)
{
    const ingot_group_query_params *p = job->params;
    const ingot_value *x = input(job, part);
    size_t before = 0, q_width = (size_t)p->heads * job->size, kv_width = (size_t)p->kv_heads * job->size;
    if (!input(job, INGOT_GQA_KEY)) {
        x = job->call->inputs[INGOT_GQA_QUERY];
        before = part == 0 ? 0 : q_width + (part - 1) * kv_width;
    }
    ingot_ref_to_doubles(x, token * (size_t)x->dims[2] + before + head * job->size, job->size, to);
}

static void normalize(const query_job *job, size_t weights, double epsilon, double *row)
{
    const ingot_value *w = input(job, weights);
    double squares = 0;
    if (!w)
        return;
    for (size_t i = 0; i < job->size; i++)
        squares += row[i] * row[i];
    double factor = 1 / sqrt(squares / (double)job->size + epsilon);
    for (size_t i = 0; i < job->size; i++)
        row[i] *= factor * ingot_load_double(w->element, w->data, i);
}

static ingot_status turn(const query_job *job, const sample *s, size_t position, double *row)
{
    if (!job->params->rotary)
        return INGOT_OK;
    const ingot_value *ids = input(job, INGOT_GQA_POSITIONS), *table = job->call->inputs[INGOT_GQA_COSINES];
    const ingot_value *sines = job->call->inputs[INGOT_GQA_SINES];
    size_t half = (size_t)table->dims[1], id = s->past + position;
    int64_t at = ids ? ((const int64_t *)ids->data)[s->index * job->length + position] : (int64_t)id;
    if (!ids && position >= s->keys)
        at = 0; /* padding behind the sample: any row will do */
    if (at < 0 || at >= table->dims[0] || at >= sines->dims[0])
        return ingot_kernel_fail(job->call, "position %lld is outside of the %lld rows of cos_cache and sin_cache",
                                 (long long)at, (long long)table->dims[0]);
    ingot_ref_to_doubles(table, (size_t)at * half, half, job->cosines);
    ingot_ref_to_doubles(sines, (size_t)at * half, half, job->sines);
    for (size_t i = 0; i < half; i++) {
        size_t a = job->params->interleaved ? 2 * i : i, b = job->params->interleaved ? 2 * i + 1 : i + half;
        double real = row[a], imaginary = row[b];
        row[a] = job->cosines[i] * real - job->sines[i] * imaginary;
        row[b] = job->sines[i] * real + job->cosines[i] * imaginary;
    }
    return INGOT_OK;
}

/* ---- The cache ---- */

static void store_cache(const query_job *job, const sample *s, size_t head, size_t output, const double *rows)
{
    if (!ingot_kernel_wants(job->call, output))
        return;
    ingot_value *y = job->call->outputs[output];
    size_t first = (s->index * (size_t)job->params->kv_heads + head) * job->capacity * job->size;
    ingot_write_doubles(y->element, y->data, (int64_t)first, 1, job->capacity * job->size, rows);
}

static void load_cache(const query_job *job, const sample *s, size_t head, size_t past, double *to)
{
    const ingot_value *cache = input(job, past);
    memset(to, 0, job->capacity * job->size * sizeof *to);
    if (!cache || s->past == 0)
        return;
    size_t rows = (size_t)cache->dims[2];
    size_t first = (s->index * (size_t)job->params->kv_heads + head) * rows * job->size;
    ingot_ref_to_doubles(cache, first, s->past * job->size, to);
}

/* Keys and values of one head: those of the cache, then the new ones; zeros behind. */
static ingot_status collect(const query_job *job, const sample *s, size_t head)
{
    const ingot_group_query_params *p = job->params;
    double epsilon = (double)(p->has_k_epsilon ? p->k_norm_epsilon : p->norm_epsilon);
    load_cache(job, s, head, INGOT_GQA_PAST_KEY, job->keys);
    load_cache(job, s, head, INGOT_GQA_PAST_VALUE, job->values);
    for (size_t i = 0; i < job->length; i++) {
        double *key = job->keys + (s->past + i) * job->size;
        load_row(job, 1, s->index * job->length + i, head, key);
        load_row(job, 2, s->index * job->length + i, head, job->values + (s->past + i) * job->size);
        normalize(job, INGOT_GQA_K_NORM, epsilon, key);
        INGOT_TRY(turn(job, s, i, key));
    }
    store_cache(job, s, head, 1, job->keys);
    store_cache(job, s, head, 2, job->values);
    return INGOT_OK;
}

/* ---- One query ---- */

/* Softmax of scores; sink is the product of a key without a value, where there is one. */
static void softmax(double *scores, size_t count, bool has_sink, double sink)
{
    double top = has_sink ? sink : -INFINITY, sum = 0;
    for (size_t j = 0; j < count; j++)
        top = scores[j] > top || isnan(scores[j]) ? scores[j] : top;
    for (size_t j = 0; j < count; j++)
        sum += scores[j] = exp(scores[j] - top);
    sum += has_sink ? exp(sink - top) : 0;
    for (size_t j = 0; j < count; j++)
        scores[j] /= sum;
}

static double bias_at(const query_job *job, const sample *s, size_t head, size_t position, size_t key)
{
    const ingot_value *bias = input(job, INGOT_GQA_BIAS);
    if (!bias || key >= (size_t)bias->dims[3] || position >= (size_t)bias->dims[2])
        return 0;
    size_t batch = bias->dims[0] == 1 ? 0 : s->index, h = bias->dims[1] == 1 ? 0 : head;
    size_t row = (batch * (size_t)bias->dims[1] + h) * (size_t)bias->dims[2] + position;
    return ingot_load_double(bias->element, bias->data, row * (size_t)bias->dims[3] + key);
}

/* Scores of one query into output_qk; keys that it does not see are zero. */
static void store_scores(const query_job *job, const sample *s, size_t head, size_t position, size_t start, size_t end)
{
    ingot_value *y = job->call->outputs[3];
    size_t width = (size_t)y->dims[3], row = (s->index * (size_t)job->params->heads + head) * job->length + position;
    for (size_t j = 0; j < width; j++) {
        double score = j >= start && j < end ? job->scores[j] : 0;
        ingot_write_doubles(y->element, y->data, (int64_t)(row * width + j), 1, 1, &score);
    }
}

static ingot_status attend(const query_job *job, const sample *s, size_t head, size_t position)
{
    const ingot_group_query_params *p = job->params;
    const ingot_value *sinks = input(job, INGOT_GQA_SINK);
    ingot_value *y = job->call->outputs[0];
    size_t own = s->past + position + 1, end = p->causal && own < s->keys ? own : s->keys;
    size_t start = p->window > 0 && own > (size_t)p->window ? own - (size_t)p->window : 0;
    double *scores = job->scores;
    load_row(job, 0, s->index * job->length + position, head, job->query);
    normalize(job, INGOT_GQA_Q_NORM, (double)(p->has_q_epsilon ? p->q_norm_epsilon : p->norm_epsilon), job->query);
    INGOT_TRY(turn(job, s, position, job->query));
    for (size_t j = start; j < end; j++) {
        double sum = 0;
        for (size_t d = 0; d < job->size; d++)
            sum += job->query[d] * job->keys[j * job->size + d];
        sum *= job->scale;
        if (p->softcap > 0)
            sum = (double)p->softcap * tanh(sum / (double)p->softcap);
        scores[j] = sum + bias_at(job, s, head, position, j);
    }
    if (p->probe == INGOT_GQA_BEFORE_SOFTMAX)
        store_scores(job, s, head, position, start, end);
    if (start < end)
        softmax(scores + start, end - start, sinks || p->smooth == 1,
                sinks ? ingot_load_double(sinks->element, sinks->data, head) : 0);
    if (p->probe == INGOT_GQA_AFTER_SOFTMAX)
        store_scores(job, s, head, position, start, end);
    memset(job->query, 0, job->size * sizeof *job->query);
    for (size_t j = start; j < end; j++)
        for (size_t d = 0; d < job->size; d++)
            job->query[d] += scores[j] * job->values[j * job->size + d];
    size_t to = ((s->index * job->length + position) * (size_t)p->heads + head) * job->size;
    ingot_write_doubles(y->element, y->data, (int64_t)to, 1, job->size, job->query);
    return INGOT_OK;
}

/* ---- The operator ---- */

static ingot_status check_inputs(const query_job *job)
{
    const ingot_kernel_call *call = job->call;
    const ingot_value *lengths = call->inputs[INGOT_GQA_LENGTHS], *bias = input(job, INGOT_GQA_BIAS);
    const ingot_value *ids = input(job, INGOT_GQA_POSITIONS), *sinks = input(job, INGOT_GQA_SINK);
    INGOT_TRY(ingot_ref_single(call, INGOT_GQA_TOTAL, "total_sequence_length"));
    if (ingot_ref_count(lengths) != job->batch)
        return ingot_kernel_fail(call, "seqlens_k has %zu elements, but must have one for each of %zu samples",
                                 ingot_ref_count(lengths), job->batch);
    if (ids && job->params->rotary && ingot_ref_count(ids) != job->batch * job->length)
        return ingot_kernel_fail(call, "position_ids has %zu elements, but must have %zu", ingot_ref_count(ids),
                                 job->batch * job->length);
    if (bias && (bias->rank != 4 || (bias->dims[0] != 1 && (size_t)bias->dims[0] != job->batch) ||
                 (bias->dims[1] != 1 && bias->dims[1] != job->params->heads)))
        return ingot_kernel_fail(call, "attention_bias must have the shape [batch or 1, heads or 1, length, total]");
    if (sinks && ingot_ref_count(sinks) != (size_t)job->params->heads)
        return ingot_kernel_fail(call, "head_sink has %zu elements, but must have one for each of %lld heads",
                                 ingot_ref_count(sinks), (long long)job->params->heads);
    for (size_t i = INGOT_GQA_Q_NORM; i <= INGOT_GQA_K_NORM; i++)
        if (input(job, i) && ingot_ref_count(input(job, i)) != job->size)
            return ingot_kernel_fail(call, "q_norm_weight or k_norm_weight has not %zu elements, the size of a head",
                                     job->size);
    return INGOT_OK;
}

/* Elements of half a head that turn; the caches of both functions must agree and fit the head. */
static ingot_status rotary_half(const query_job *job, size_t *half)
{
    *half = 0;
    if (!job->params->rotary)
        return INGOT_OK;
    const ingot_value *c = job->call->inputs[INGOT_GQA_COSINES], *s = job->call->inputs[INGOT_GQA_SINES];
    if (c->rank != 2 || s->rank != 2 || c->dims[1] != s->dims[1] || 2 * (size_t)c->dims[1] > job->size)
        return ingot_kernel_fail(job->call,
                                 "cos_cache and sin_cache must have one width, at most half of the %zu "
                                 "elements of a head",
                                 job->size);
    *half = (size_t)c->dims[1];
    return INGOT_OK;
}

static ingot_status prepare(const ingot_kernel_call *call, query_job *job)
{
    const ingot_group_query_params *p = call->params;
    const ingot_value *q = call->inputs[INGOT_GQA_QUERY],
                      *past = ingot_kernel_has(call, INGOT_GQA_PAST_KEY) ? call->inputs[INGOT_GQA_PAST_KEY] : NULL;
    int64_t total = *(const int32_t *)call->inputs[INGOT_GQA_TOTAL]->data, old = past ? past->dims[2] : 0;
    *job = (query_job){.call = call,
                       .params = p,
                       .batch = (size_t)q->dims[0],
                       .length = (size_t)q->dims[1],
                       .size = (size_t)(call->outputs[0]->dims[2] / p->heads),
                       .capacity = (size_t)(total > old ? total : old),
                       .group = (size_t)(p->heads / p->kv_heads),
                       .first = total == q->dims[1]};
    job->scale = p->scale != 0 ? (double)p->scale : 1 / sqrt((double)job->size);
    INGOT_TRY(check_inputs(job));
    size_t half, cells;
    INGOT_TRY(rotary_half(job, &half));
    if (!ingot_mul_size(job->capacity, job->size, &cells))
        return ingot_kernel_fail(call, "the cache has too many elements");
    size_t elements[] = {cells, cells, job->size, job->capacity, half, half}, sizes[] = {8, 8, 8, 8, 8, 8};
    void *parts[6];
    INGOT_TRY(ingot_ref_scratch(call, 6, elements, sizes, parts));
    job->keys = parts[0];
    job->values = parts[1];
    job->query = parts[2];
    job->scores = parts[3];
    job->cosines = parts[4];
    job->sines = parts[5];
    return INGOT_OK;
}

ingot_status ingot_ref_group_query_attention(const ingot_kernel_call *call)
{
    query_job job;
    INGOT_TRY(prepare(call, &job));
    for (size_t b = 0; b < job.batch; b++) {
        sample s;
        INGOT_TRY(read_sample(&job, b, &s));
        for (size_t head = 0; head < (size_t)job.params->kv_heads; head++) {
            INGOT_TRY(collect(&job, &s, head));
            for (size_t q = head * job.group; q < (head + 1) * job.group; q++)
                for (size_t position = 0; position < job.length; position++)
                    INGOT_TRY(attend(&job, &s, q, position));
        }
    }
    return INGOT_OK;
}
