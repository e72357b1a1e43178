/* Attention and RotaryEmbedding. */
#ifndef INGOT_OPS_ATTENTION_H
#define INGOT_OPS_ATTENTION_H

#include "ops/op.h"

typedef enum ingot_attention_probe { /* what the fourth output holds */
                                     INGOT_ATTENTION_PRODUCT,
                                     INGOT_ATTENTION_CAPPED,
                                     INGOT_ATTENTION_BIASED,
                                     INGOT_ATTENTION_SOFTMAX,
} ingot_attention_probe;

typedef struct ingot_attention_params {
    bool is_causal;
    int64_t q_heads, kv_heads; /* of inputs of rank 3; 0: not given */
    float scale;               /* where has_scale, else 1 / sqrt(head size) */
    bool has_scale;
    float softcap;             /* 0: none */
    int64_t softmax_precision; /* an ingot_element; 0: not given */
    int64_t probe;             /* ingot_attention_probe */
    int64_t left, right;       /* window around a query's own position; -1: without bound */
} ingot_attention_params;

enum { /* inputs */
       INGOT_ATTENTION_Q,
       INGOT_ATTENTION_K,
       INGOT_ATTENTION_V,
       INGOT_ATTENTION_MASK,
       INGOT_ATTENTION_PAST_KEY,
       INGOT_ATTENTION_PAST_VALUE,
       INGOT_ATTENTION_LENGTHS,
};

typedef struct ingot_attention_shape {
    ingot_dim batch, q_heads, kv_heads, q_length, kv_length, past, total; /* total = past + kv_length */
    ingot_dim head, v_head;                                               /* sizes of a head */
} ingot_attention_shape;

typedef struct ingot_attention_input { /* rank and sizes of one input; rank -1: left out, or not known */
    int rank;
    const ingot_dim *dims;
} ingot_attention_input;

/* Sizes from inputs 0 ... INGOT_ATTENTION_LENGTHS, which are checked against each other. Q, K and V must have rank 3 or 4. dims
 * NULL: plain numbers, as at run time. */
ingot_status ingot_attention_geometry(const ingot_node *node, const ingot_attention_params *params, ingot_dims *dims,
                                      const ingot_attention_input *inputs, ingot_attention_shape *shape,
                                      ingot_error *error);

typedef struct ingot_rotary_params {
    bool interleaved;
    int64_t heads;      /* of an input of rank 3 */
    int64_t rotary_dim; /* 0: the whole head */
} ingot_rotary_params;

#endif
