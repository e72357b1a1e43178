/* GroupQueryAttention of com.microsoft: causal attention whose cache is longer than what it holds. */
#ifndef INGOT_OPS_MS_GROUP_QUERY_H
#define INGOT_OPS_MS_GROUP_QUERY_H

#include "ops/op.h"

typedef struct ingot_group_query_params {
    int64_t heads, kv_heads;
    float scale;   /* 0: 1 / sqrt(size of a head) */
    float softcap; /* 0: none */
    float norm_epsilon, q_norm_epsilon, k_norm_epsilon;
    bool has_q_epsilon, has_k_epsilon;
    bool causal, rotary, interleaved;
    int64_t window; /* keys that a query sees, itself included; -1: all */
    int64_t smooth; /* 1: a key of product 0 without a value joins the softmax */
    int64_t probe;  /* what output_qk is: nothing, INGOT_GQA_BEFORE_SOFTMAX or INGOT_GQA_AFTER_SOFTMAX */
    int64_t window_cache;
} ingot_group_query_params;

enum { INGOT_GQA_BEFORE_SOFTMAX = 1, INGOT_GQA_AFTER_SOFTMAX = 2 };

enum {                  /* inputs */
       INGOT_GQA_QUERY, /* [batch, length, heads * size]; with keys and values behind where those are left out */
       INGOT_GQA_KEY,
       INGOT_GQA_VALUE,
       INGOT_GQA_PAST_KEY, /* [batch, kv_heads, capacity, size] */
       INGOT_GQA_PAST_VALUE,
       INGOT_GQA_LENGTHS, /* int32, one less than the keys of each sample, new ones included */
       INGOT_GQA_TOTAL,   /* int32, the greatest number of keys; the length of the query: nothing is in the cache */
       INGOT_GQA_COSINES, /* [positions, half of the elements that turn] */
       INGOT_GQA_SINES,
       INGOT_GQA_POSITIONS,
       INGOT_GQA_BIAS, /* [batch or 1, heads or 1, length, total] */
       INGOT_GQA_SINK, /* [heads] */
       INGOT_GQA_K_SCALE,
       INGOT_GQA_V_SCALE,
       INGOT_GQA_Q_NORM, /* [size] */
       INGOT_GQA_K_NORM,
       INGOT_GQA_QUERY_LENGTHS,
};

#endif
