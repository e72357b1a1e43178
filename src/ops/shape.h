/* Shape, Size, and operators that give the same elements another shape: Reshape, Squeeze, Unsqueeze, Flatten, Identity. */
#ifndef INGOT_OPS_SHAPE_H
#define INGOT_OPS_SHAPE_H

#include "ops/op.h"

typedef struct ingot_shape_params {
    int64_t start, end; /* as given; clamped to the rank by ingot_shape_range */
    bool has_end;
} ingot_shape_params;

/* Dimensions first ... end - 1 of a shape of this rank, by the rules of start and end. */
void ingot_shape_range(const ingot_shape_params *params, int rank, int *first, int *end);

typedef struct ingot_reshape_params {
    ingot_ints shape; /* of the attribute form; else input 1 */
    bool allowzero;   /* a 0 is a size of 0; else it is the size that the input has there */
} ingot_reshape_params;

typedef struct ingot_axes_params { /* Squeeze, Unsqueeze */
    ingot_ints axes;               /* of the attribute form; else input 1 */
} ingot_axes_params;

typedef struct ingot_axis_params { /* operators with one axis and no other attribute */
    int64_t axis;
    bool given; /* where the operator asks for it */
} ingot_axis_params;

#endif
