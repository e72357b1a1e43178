/* com.microsoft: QLinearAdd, QLinearMul, QLinearGlobalAveragePool, QLinearLeakyRelu, QLinearSigmoid, QLinearSoftmax. */
#ifndef INGOT_OPS_MS_QLINEAR_H
#define INGOT_OPS_MS_QLINEAR_H

#include "ops/op.h"

/* Each operator has some of them. */
typedef struct ingot_qlinear_params {
    int64_t axis, opset; /* Softmax: before opset 13 the axes from the given one on are one row */
    float alpha;         /* LeakyRelu */
    bool channels_last;  /* GlobalAveragePool */
} ingot_qlinear_params;

#endif
