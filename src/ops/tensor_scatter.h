/* TensorScatter and BitCast. */
#ifndef INGOT_OPS_TENSOR_SCATTER_H
#define INGOT_OPS_TENSOR_SCATTER_H

#include "ops/op.h"

typedef struct ingot_tensor_scatter_params {
    int64_t axis; /* of the sequence, as given; never the first one */
    int circular; /* 1: positions wrap around; 0: they must fit */
} ingot_tensor_scatter_params;

typedef struct ingot_bit_cast_params {
    int64_t to; /* ingot_element */
} ingot_bit_cast_params;

#endif
