/* NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. */
#ifndef INGOT_OPS_LOSS_H
#define INGOT_OPS_LOSS_H

#include "ops/op.h"

typedef enum ingot_loss_reduction {
    INGOT_LOSS_NONE,
    INGOT_LOSS_SUM,
    INGOT_LOSS_MEAN,
} ingot_loss_reduction;

/* Inputs: scores [N, C, d...], labels [N, d...], weights [C] or none. */
typedef struct ingot_loss_params {
    int reduction; /* ingot_loss_reduction */
    bool ignores;  /* ignore is given */
    int64_t ignore;
    bool of_scores; /* the softmax comes first; else the input is log-probabilities */
} ingot_loss_params;

#endif
