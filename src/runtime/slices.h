/* Slices along one axis, and stacks of them: what Loop and Scan read and write. */
#ifndef INGOT_RUNTIME_SLICES_H
#define INGOT_RUNTIME_SLICES_H

#include "base/value.h"

/* Makes slice the part of whole at index of axis, without that axis; a copy. */
ingot_status ingot_slice_take(ingot_value *slice, const ingot_value *whole, int axis, int64_t index,
                              ingot_budget *budget, ingot_error *error);

/* Writes item into whole, a tensor of item's shape with length more at axis, at index. */
ingot_status ingot_slice_put(ingot_value *whole, const ingot_value *item, int axis, int64_t index, ingot_error *error);

/* Shape of a stack of length items along axis. dims has room for INGOT_MAX_RANK. */
void ingot_stack_dims(const ingot_value *item, int axis, int64_t length, int64_t *dims);

/* Adds item at the end of stack, whose first axis it is; count is the number of items there. Memory doubles. */
ingot_status ingot_stack_append(ingot_value *stack, const ingot_value *item, int64_t count, ingot_budget *budget,
                                ingot_error *error);

#endif
