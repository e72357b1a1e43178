/* BifurcationDetector, MurmurHash3, NGramRepeatBlock, RemovePadding, RestorePadding, RelativePositionBias of com.microsoft. */
#include "ops/ms_tokens.h"

#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"

/* ---- BifurcationDetector ---- */

/* Where the pattern begins in tokens, from start on; count: nowhere. */
static size_t find(const int64_t *tokens, size_t count, size_t start, const int64_t *pattern, size_t size)
{
    for (size_t i = start; i + size <= count; i++)
        if (memcmp(tokens + i, pattern, size * sizeof *pattern) == 0)
            return i;
    return count;
}

/* Behind the only place in the source that has the last tokens; -1: there is none, or more than one. */
static int64_t match_suffix(const ingot_bifurcation_params *p, const int64_t *source, size_t source_count,
                            const int64_t *tokens, size_t count)
{
    int64_t match = -1;
    for (int64_t size = p->min_size; size <= p->max_size && size <= (int64_t)count; size++) {
        const int64_t *pattern = tokens + count - (size_t)size;
        size_t at = find(source, source_count, 0, pattern, (size_t)size);
        if (at == source_count)
            break;
        match = (int64_t)at + size;
        if (match >= (int64_t)source_count || find(source, source_count, at + 1, pattern, (size_t)size) == source_count)
            break;
        match = -1;
    }
    return match;
}

/* Predicted tokens that the source has as well, from its last match on, and the first one that it has not. */
static ingot_status count_predicted(const ingot_kernel_call *call, const ingot_value *source, size_t *taken)
{
    const ingot_value *predicted = ingot_kernel_has(call, 3) ? call->inputs[3] : NULL;
    *taken = 0;
    if (!predicted)
        return INGOT_OK;
    INGOT_TRY(ingot_ref_single(call, 2, "prev_suffix_match_idx"));
    int64_t from = *(const int64_t *)call->inputs[2]->data, length = source->dims[0];
    if (from < 0 || from > length || predicted->dims[0] != length + 1 - from)
        return ingot_kernel_fail(call,
                                 "pred_tokens has %lld elements and prev_suffix_match_idx is %lld, for %lld tokens",
                                 (long long)predicted->dims[0], (long long)from, (long long)length);
    const int64_t *a = predicted->data, *b = (const int64_t *)source->data + from;
    while (*taken < (size_t)(length - from) && a[*taken] == b[*taken])
        ++*taken;
    ++*taken;
    return INGOT_OK;
}

ingot_status ingot_ref_bifurcation_detector(const ingot_kernel_call *call)
{
    const ingot_value *source = call->inputs[0], *current = call->inputs[1];
    size_t taken, own = (size_t)current->dims[0];
    INGOT_TRY(count_predicted(call, source, &taken));
    INGOT_TRY(ingot_kernel_set_output(call, 0, INGOT_INT64, 1, (int64_t[]){(int64_t)(own + taken)}));
    int64_t *tokens = call->outputs[0]->data;
    if (own > 0)
        memcpy(tokens, current->data, own * sizeof *tokens);
    if (taken > 0)
        memcpy(tokens + own, call->inputs[3]->data, taken * sizeof *tokens);
    *(int64_t *)call->outputs[1]->data =
        match_suffix(call->params, source->data, (size_t)source->dims[0], tokens, own + taken);
    return INGOT_OK;
}

/* ---- MurmurHash3 ---- */

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

static uint32_t scramble(uint32_t k)
{
    return rotate(k * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
}

static uint32_t hash(const uint8_t *data, size_t length, uint32_t seed)
{
    uint32_t h = seed, tail = 0;
    for (size_t i = 0; i + 4 <= length; i += 4) {
        uint32_t k =
            (uint32_t)data[i] | (uint32_t)data[i + 1] << 8 | (uint32_t)data[i + 2] << 16 | (uint32_t)data[i + 3] << 24;
        h = rotate(h ^ scramble(k), 13) * 5 + UINT32_C(0xe6546b64);
    }
    for (size_t i = length; i > length / 4 * 4; i--)
        tail = tail << 8 | data[i - 1];
    h ^= scramble(tail) ^ (uint32_t)length;
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

ingot_status ingot_ref_murmur_hash3(const ingot_kernel_call *call)
{
    const ingot_hash_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    uint32_t *y = call->outputs[0]->data;
    size_t count = ingot_ref_count(x), size = ingot_element_size(x->element);
    for (size_t i = 0; i < count; i++) {
        const ingot_string *text = x->element == INGOT_STRING ? (const ingot_string *)x->data + i : NULL;
        const void *data = text ? (const void *)(x->strings + text->offset) : ingot_element_at(x, i);
        y[i] = hash(data, text ? text->length : size, (uint32_t)p->seed);
    }
    return INGOT_OK;
}

/* ---- NGramRepeatBlock ---- */

ingot_status ingot_ref_ngram_repeat_block(const ingot_kernel_call *call)
{
    const ingot_ngram_block_params *p = call->params;
    const ingot_value *ids = call->inputs[0], *scores = call->inputs[1];
    float *y = call->outputs[0]->data;
    size_t batch = (size_t)ids->dims[0], length = (size_t)ids->dims[1], words = (size_t)scores->dims[1];
    size_t size = (size_t)p->size, count = ingot_ref_count(scores);
    if (count > 0)
        memcpy(y, scores->data, count * sizeof *y);
    for (size_t b = 0; size <= length && b < batch; b++) {
        const int64_t *row = (const int64_t *)ids->data + b * length;
        const int64_t *last = row + length - (size - 1);
        for (size_t i = 0; i + size <= length; i++) {
            int64_t next = row[i + size - 1];
            if (memcmp(row + i, last, (size - 1) * sizeof *row) != 0)
                continue;
            if (next < 0 || (size_t)next >= words)
                return ingot_kernel_fail(call, "input_ids holds %lld, but there are scores for %zu tokens",
                                         (long long)next, words);
            y[b * words + (size_t)next] = -INFINITY;
        }
    }
    return INGOT_OK;
}

/* ---- RemovePadding, RestorePadding ---- */

ingot_status ingot_ref_remove_padding(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    const int32_t *counts = call->inputs[1]->data;
    size_t batch = (size_t)x->dims[0], length = (size_t)x->dims[1], width = (size_t)x->dims[2], total = 0;
    for (size_t b = 0; b < batch; b++) {
        if (counts[b] < 0 || (size_t)counts[b] > length)
            return ingot_kernel_fail(call, "sequence_token_count holds %d, but samples have %zu tokens", (int)counts[b],
                                     length);
        total += (size_t)counts[b];
    }
    INGOT_TRY(ingot_kernel_set_output(call, 0, x->element, 2, (int64_t[]){(int64_t)total, (int64_t)width}));
    INGOT_TRY(ingot_kernel_set_output(call, 1, INGOT_INT32, 2, (int64_t[]){(int64_t)batch, (int64_t)length}));
    INGOT_TRY(ingot_kernel_set_output(call, 2, INGOT_INT32, 1, (int64_t[]){(int64_t)batch + 1}));
    INGOT_TRY(ingot_kernel_set_output(call, 3, INGOT_INT32, 1, (int64_t[]){1}));
    int32_t *offsets = call->outputs[1]->data, *sums = call->outputs[2]->data, *longest = call->outputs[3]->data;
    size_t bits = ingot_element_bits(x->element), token = 0, padding = total;
    *longest = sums[0] = 0;
    for (size_t b = 0; b < batch; b++) {
        for (size_t i = 0; i < length; i++) {
            bool kept = i < (size_t)counts[b];
            if (kept)
                ingot_copy_elements(bits, call->outputs[0]->data, token * width, x->data, (b * length + i) * width,
                                    width);
            offsets[kept ? token++ : padding++] = (int32_t)(b * length + i);
        }
        sums[b + 1] = sums[b] + counts[b];
        *longest = counts[b] > *longest ? counts[b] : *longest;
    }
    return INGOT_OK;
}

ingot_status ingot_ref_restore_padding(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0], *offsets = call->inputs[1];
    ingot_value *y = call->outputs[0];
    size_t tokens = (size_t)x->dims[0], width = (size_t)x->dims[1], places = ingot_ref_count(offsets);
    if (tokens > places)
        return ingot_kernel_fail(call, "has %zu tokens, but token_offset has %zu places", tokens, places);
    ingot_ref_zero(y);
    for (size_t i = 0; i < tokens; i++) {
        int32_t to = ((const int32_t *)offsets->data)[i];
        if (to < 0 || (size_t)to >= places)
            return ingot_kernel_fail(call, "token_offset holds %d, but there are %zu places", (int)to, places);
        ingot_copy_elements(ingot_element_bits(x->element), y->data, (size_t)to * width, x->data, i * width, width);
    }
    return INGOT_OK;
}

/* ---- RelativePositionBias ---- */

/* Buckets of one distance each for the near half, of growing ones up to max_distance behind. */
static int64_t bucket_of(const ingot_relative_position_params *p, int64_t buckets, int64_t query, int64_t key)
{
    int64_t distance = key - query, bucket = 0;
    if (p->both_ways) {
        buckets /= 2;
        bucket = distance > 0 ? buckets : 0;
        distance = distance < 0 ? -distance : distance;
    } else {
        distance = distance < 0 ? -distance : 0;
    }
    int64_t exact = buckets / 2;
    if (distance < exact)
        return bucket + distance;
    float scaled = logf((float)distance / (float)exact) / logf((float)p->max_distance / (float)exact);
    int64_t far = exact + (int64_t)(scaled * (float)(buckets - exact));
    return bucket + (far < buckets - 1 ? far : buckets - 1);
}

ingot_status ingot_ref_relative_position_bias(const ingot_kernel_call *call)
{
    const ingot_relative_position_params *p = call->params;
    const ingot_value *table = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t buckets = table->dims[0], heads = table->dims[1], queries = y->dims[2], keys = y->dims[3];
    if (buckets < (p->both_ways ? 4 : 2) || p->max_distance <= buckets / (p->both_ways ? 4 : 2))
        return ingot_kernel_fail(call, "%lld buckets do not fit 'max_distance' %lld", (long long)buckets,
                                 (long long)p->max_distance);
    for (int64_t q = 0; q < queries; q++)
        for (int64_t k = 0; k < keys; k++) {
            int64_t bucket = bucket_of(p, buckets, q, k);
            for (int64_t h = 0; h < heads; h++)
                ingot_copy_elements(ingot_element_bits(table->element), y->data, (size_t)((h * queries + q) * keys + k),
                                    table->data, (size_t)(bucket * heads + h), 1);
        }
    return INGOT_OK;
}
