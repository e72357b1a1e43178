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
    ingot_graph_value *used = keys ? ingot_expand_used_rows(&e, ingot_expand_input(&e, PAST_LENGTH)) : NULL;
    a.past_key = ingot_expand_held(&e, keys, used);
    a.past_value = ingot_expand_held(&e, values, used);
    ingot_expand_attention(&e, &a, outputs);
    ingot_expand_result(&e, 0, outputs[0]);
    ingot_expand_result(&e, 1, ingot_expand_refilled(&e, outputs[1], keys, used));
    ingot_expand_result(&e, 2, ingot_expand_refilled(&e, outputs[2], values, used));
    ingot_expand_result(&e, 3, outputs[3]);
    return ingot_expand_end(&e);
}
