/* Softmax, LogSoftmax, Hardmax; CumSum, CumProd: operators along one axis that keep the shape. */
#ifndef INGOT_OPS_SOFTMAX_H
#define INGOT_OPS_SOFTMAX_H

#include "ops/op.h"

typedef struct ingot_softmax_params {
    int64_t axis;  /* may be negative */
    bool flattens; /* before version 13: over all axes from axis on together */
} ingot_softmax_params;

typedef struct ingot_cumulative_params {
    bool exclusive; /* a result does not contain its own element */
    bool reverse;   /* from the end of the axis */
} ingot_cumulative_params;

#endif
