/* Adam, Adagrad and Momentum: one step of an optimizer. */
#ifndef INGOT_OPS_OPTIMIZER_H
#define INGOT_OPS_OPTIMIZER_H

#include "ops/op.h"

/* Inputs: rate R, update count T, then groups of n tensors: X, G and what the optimizer remembers. Outputs: new X, new memory. */
typedef struct ingot_optimizer_params {
    float alpha, beta, epsilon;
    float norm, norm_post; /* coefficients of the regularization before and after */
    float decay_factor;    /* of Adagrad's rate */
    int nesterov;          /* Momentum: 1: Nesterov's */
    size_t groups;         /* of inputs behind R and T; outputs are groups - 1 */
    size_t tensors;        /* n; filled by check */
} ingot_optimizer_params;

#endif
