/* com.microsoft: CDist, DynamicTimeWarping, Inverse, UnfoldTensor. */
#ifndef INGOT_OPS_MS_MATRIX_H
#define INGOT_OPS_MS_MATRIX_H

#include "ops/op.h"

typedef struct ingot_cdist_params {
    int root; /* word: 0 squares of distances, 1 distances */
} ingot_cdist_params;

typedef struct ingot_unfold_params {
    int64_t axis, size, step;
} ingot_unfold_params;

#endif
