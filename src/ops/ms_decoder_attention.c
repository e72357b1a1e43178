/* com.microsoft: attention of one new token over a cache that is longer than what it holds, rewritten into Attention. */
#include "ops/ms_attention.h"

enum { /* inputs of DecoderMaskedMultiHeadAttention */
       QUERY,
       KEY,
       VALUE,
       MASK,
       BIAS,
       PAST_KEY,
       PAST_VALUE,
       PAST_LENGTH,
       BEAM_WIDTH,
       CACHE_INDIRECTION,
       PROJECTION_BIAS,
};

/* What the cache holds: its first rows; all where used is NULL. */
static ingot_graph_value *held(ingot_expansion *e, ingot_graph_value *cache, ingot_graph_value *used)
{
    static const int64_t zero[] = {0}, axis[] = {2};
    if (!cache || !used)
        return cache;
    return INGOT_EXPAND(e, "Slice", 13, NULL, 0, cache, ingot_expand_vector(e, zero, 1), used,
                        ingot_expand_vector(e, axis, 1));
}

/* The cache with its new rows in front of what it does not hold. */
static ingot_graph_value *refilled(ingot_expansion *e, ingot_graph_value *present, ingot_graph_value *cache,
                                   ingot_graph_value *used)
{
    static const int64_t one[] = {1}, end[] = {INT64_MAX}, axis[] = {2};
    ingot_attribute along = ingot_int_of("axis", 2);
    if (!cache || !used)
        return present;
    ingot_graph_value *from = INGOT_EXPAND(e, "Add", 14, NULL, 0, used, ingot_expand_vector(e, one, 1));
    ingot_graph_value *rest = INGOT_EXPAND(e, "Slice", 13, NULL, 0, cache, from, ingot_expand_vector(e, end, 1),
                                           ingot_expand_vector(e, axis, 1));
    return INGOT_EXPAND(e, "Concat", 13, &along, 1, present, rest);
}

/* Rows that the cache holds, int64 [1]; NULL: as many as it has. */
static ingot_graph_value *used_rows(ingot_expansion *e)
{
    static const int64_t vector[] = {1};
    if (ingot_expand_int(e, "past_present_share_buffer", 0) == 0 || !ingot_expand_input(e, PAST_KEY))
        return NULL;
    if (!ingot_expand_input(e, PAST_LENGTH)) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL,
                          "attribute 'past_present_share_buffer' is 1, but 'past_sequence_length' is left out");
        return NULL;
    }
    ingot_graph_value *rows = ingot_expand_cast(e, ingot_expand_input(e, PAST_LENGTH), INGOT_INT64);
    return ingot_expand_reshape(e, rows, vector, 1);
}

/* Q, K and V of the token: apart, or behind each other, where the heads of the cache tell their widths. */
static void split_token(ingot_expansion *e, ingot_ms_attention *a, ingot_graph_value *cache)
{
    a->q = ingot_expand_input(e, QUERY);
    a->k = ingot_expand_input(e, KEY);
    a->v = ingot_expand_input(e, VALUE);
    if (a->k && a->v)
        return;
    if (!cache) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL, "key or value is left out, and there is no past");
        return;
    }
    int64_t width = a->heads * ingot_expand_size(e, cache, 3, "past_key");
    ingot_graph_value *all = a->q;
    a->q = ingot_expand_slice(e, all, 2, 0, width);
    a->k = ingot_expand_slice(e, all, 2, width, 2 * width);
    a->v = ingot_expand_slice(e, all, 2, 2 * width, INT64_MAX);
}

ingot_status ingot_upgrade_decoder_masked_attention(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *keys = ingot_expand_input(&e, PAST_KEY), *values = ingot_expand_input(&e, PAST_VALUE);
    ingot_graph_value *outputs[4] = {NULL, NULL, NULL, NULL};
    ingot_ms_attention a = {.heads = ingot_ms_attention_heads(&e), .mask = ingot_expand_input(&e, MASK)};
    ingot_expand_refuse_input(&e, CACHE_INDIRECTION, "cache_indirection");
    a.bias = ingot_expand_input(&e, BIAS);
    split_token(&e, &a, keys);
    ingot_expand_projection_bias(&e, &a, ingot_expand_input(&e, PROJECTION_BIAS));
    ingot_graph_value *used = used_rows(&e);
    a.past_key = held(&e, keys, used);
    a.past_value = held(&e, values, used);
    ingot_expand_attention(&e, &a, ingot_expand_wants(&e, 3), outputs);
    ingot_expand_result(&e, 0, outputs[0]);
    ingot_expand_result(&e, 1, refilled(&e, outputs[1], keys, used));
    ingot_expand_result(&e, 2, refilled(&e, outputs[2], values, used));
    ingot_expand_result(&e, 3, outputs[3]);
    return ingot_expand_end(&e);
}
