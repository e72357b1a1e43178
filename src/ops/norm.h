/* Normalizations. */
#ifndef INGOT_OPS_NORM_H
#define INGOT_OPS_NORM_H

#include "ops/op.h"

/* LayerNormalization, RMSNormalization: over the axes from axis on. */
typedef struct ingot_layer_norm_params {
    int64_t axis; /* may be negative */
    float epsilon;
    int64_t stash_type; /* element type of mean and inverse deviation */
} ingot_layer_norm_params;

/* InstanceNormalization (num_groups 0: a group a channel), GroupNormalization: per sample and group of channels. */
typedef struct ingot_group_norm_params {
    int64_t num_groups;
    float epsilon;
} ingot_group_norm_params;

typedef struct ingot_batch_norm_params {
    float epsilon, momentum;
    bool training;  /* statistics of this batch, else those given */
    bool spatial;   /* old forms: one statistic a channel; else one for each place within a sample */
    bool per_place; /* not spatial */
    bool is_test;   /* oldest forms: not training */
} ingot_batch_norm_params;

typedef struct ingot_lp_norm_params {
    int64_t axis; /* may be negative */
    int64_t p;    /* 1 or 2 */
} ingot_lp_norm_params;

typedef struct ingot_mean_variance_params {
    ingot_ints axes; /* as the attribute has them, negative ones included */
} ingot_mean_variance_params;

/* y = x / (bias + alpha / size * sum of x^2 over size channels around it) ^ beta */
typedef struct ingot_lrn_params {
    float alpha, beta, bias;
    int64_t size;
} ingot_lrn_params;

#endif
