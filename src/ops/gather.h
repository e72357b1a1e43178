/* Operators that pick elements or slices by index: Gather, GatherElements, GatherND. */
#ifndef INGOT_OPS_GATHER_H
#define INGOT_OPS_GATHER_H

#include "ops/shape.h"

/* Params of Gather and GatherElements are ingot_axis_params. */

typedef struct ingot_gather_nd_params {
    int64_t batch_dims; /* at least 0 */
} ingot_gather_nd_params;

#endif
