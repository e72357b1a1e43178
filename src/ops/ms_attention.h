/* What the attention operators of com.microsoft share: they end as products and a softmax, for which there are fast kernels. */
#ifndef INGOT_OPS_MS_ATTENTION_H
#define INGOT_OPS_MS_ATTENTION_H

#include "ops/expand.h"

typedef struct ingot_ms_attention {
    ingot_graph_value *q, *k, *v; /* [batch, length, heads * size]; k and v also [batch, heads, length, size] */
    ingot_graph_value *past_key, *past_value; /* [batch, heads, past, size], or NULL */
    ingot_graph_value *mask;                  /* int32, as masks come; NULL: none */
    ingot_graph_value *bias; /* added to the products, [batch or 1, heads or 1, length, total]; or NULL */
    int64_t heads;
    bool by_end_and_start; /* a mask of 2 * batch numbers: where samples end, then where they begin */
} ingot_ms_attention;

/* The heads of the node's attribute num_heads; fails unless it is positive. */
int64_t ingot_ms_attention_heads(ingot_expansion *e);
/* Adds parts of one bias vector (NULL: none) to Q, K and V; keys and values that come split into heads have theirs already. */
void ingot_expand_projection_bias(ingot_expansion *e, ingot_ms_attention *a, ingot_graph_value *bias);
/* outputs: the result, keys and values with those of the past, [batch, heads, total, size], and Q K' with scale and mask. Attributes
 * scale, unidirectional and mask_filter_value are the node's. Narrow floats are multiplied and summed as float. */
void ingot_expand_attention(ingot_expansion *e, const ingot_ms_attention *a, ingot_graph_value *outputs[4]);

/* Rows that a cache holds, int64 [1], from past_sequence_length; NULL unless past_present_share_buffer is 1: all. */
ingot_graph_value *ingot_expand_used_rows(ingot_expansion *e, ingot_graph_value *length);
/* The rows that the cache [batch, heads, rows, size] holds. cache or used NULL: cache. */
ingot_graph_value *ingot_expand_held(ingot_expansion *e, ingot_graph_value *cache, ingot_graph_value *used);
/* Rows held and one more, then the rest of the cache. cache or used NULL: present. */
ingot_graph_value *ingot_expand_refilled(ingot_expansion *e, ingot_graph_value *present, ingot_graph_value *cache,
                                         ingot_graph_value *used);

#endif
