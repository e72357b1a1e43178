/* The Reduce operators, ArgMax and ArgMin. */
#ifndef INGOT_OPS_REDUCE_H
#define INGOT_OPS_REDUCE_H

#include "ops/op.h"

typedef struct ingot_reduce_params {
    ingot_ints axes; /* as the attribute has them, negative ones included; newer versions have them as input 1 */
    bool keepdims;
    bool noop_with_empty_axes;
} ingot_reduce_params;

typedef struct ingot_arg_params {
    int64_t axis; /* may be negative */
    bool keepdims;
    bool select_last_index;
} ingot_arg_params;

/* The axes that are reduced as bits (bit i: axis i): all where none are given, or none with noop. False where one is not in
 * -rank ... rank - 1; then *bad is its place in the list. An axis that is given twice counts once. */
bool ingot_reduce_mask(int rank, const int64_t *axes, size_t count, bool noop, uint32_t *mask, size_t *bad);

#endif
