/* Sequences of tensors, and optional values. */
#ifndef INGOT_OPS_SEQUENCE_H
#define INGOT_OPS_SEQUENCE_H

#include "ops/op.h"

typedef struct ingot_sequence_empty_params {
    int64_t dtype;
    bool has_dtype;
    ingot_element element; /* of dtype; float where it is not given */
} ingot_sequence_empty_params;

typedef struct ingot_split_to_sequence_params {
    int64_t axis;
    bool keepdims; /* ignored where split is given */
} ingot_split_to_sequence_params;

typedef struct ingot_concat_from_sequence_params {
    int64_t axis;
    bool new_axis; /* the tensors are stacked along a new dimension; else joined along one that they have */
} ingot_concat_from_sequence_params;

#endif
