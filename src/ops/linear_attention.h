/* SwiGLU, CausalConvWithState and LinearAttention: parts of language models. */
#ifndef INGOT_OPS_LINEAR_ATTENTION_H
#define INGOT_OPS_LINEAR_ATTENTION_H

#include "ops/op.h"

typedef struct ingot_swiglu_params {
    float alpha;
} ingot_swiglu_params;

typedef struct ingot_causal_conv_params {
    int activation; /* 0: none; else SiLU */
} ingot_causal_conv_params;

typedef enum ingot_update_rule { /* bit 0: the state decays; bit 1: what it holds already is taken off */
                                 INGOT_UPDATE_LINEAR = 0,
                                 INGOT_UPDATE_GATED = 1,
                                 INGOT_UPDATE_DELTA = 2,
                                 INGOT_UPDATE_GATED_DELTA = 3,
} ingot_update_rule;

typedef struct ingot_linear_attention_params {
    int rule; /* ingot_update_rule */
    int64_t q_heads, kv_heads;
    float scale; /* 0: 1 / sqrt(size of a key) */
} ingot_linear_attention_params;

enum { /* inputs of LinearAttention */
       INGOT_LINEAR_QUERY,
       INGOT_LINEAR_KEY,
       INGOT_LINEAR_VALUE,
       INGOT_LINEAR_STATE,
       INGOT_LINEAR_DECAY,
       INGOT_LINEAR_BETA,
};

#endif
