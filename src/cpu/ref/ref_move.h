/* Copying elements of any type, strings and types under a byte included: what the movement kernels share. */
#ifndef INGOT_CPU_REF_REF_MOVE_H
#define INGOT_CPU_REF_REF_MOVE_H

#include "cpu/ref/ref_iterate.h"
#include "ops/kernel.h"

/* count elements from from_index on to to_index on; of one element type. The values must not be the same. */
ingot_status ingot_ref_copy_run(const ingot_kernel_call *call, ingot_value *to, size_t to_index,
                                const ingot_value *from, size_t from_index, size_t count);
/* All elements of from, whose number must be to's. Nothing to do where both share their memory. */
ingot_status ingot_ref_copy_all(const ingot_kernel_call *call, ingot_value *to, const ingot_value *from);
/* Copies element from_index of from to count places. */
ingot_status ingot_ref_fill(const ingot_kernel_call *call, ingot_value *to, size_t to_index, size_t count,
                            const ingot_value *from, size_t from_index);
/* Zeros, empty strings. */
void ingot_ref_clear(ingot_value *to);
/* A walk, not begun, whose operand 0 lies in to and operand 1 in from: copies every element that it visits. */
ingot_status ingot_ref_copy_walk(const ingot_kernel_call *call, ingot_value *to, const ingot_value *from,
                                 ingot_walk *walk);

static inline size_t ingot_ref_count(const ingot_value *value)
{
    return ingot_dims_product(value->dims, 0, value->rank);
}

/* Element index of an integer or bool tensor. */
static inline int64_t ingot_ref_integer(const ingot_value *value, size_t index)
{
    if (value->element == INGOT_INT64)
        return ((const int64_t *)value->data)[index];
    if (value->element == INGOT_INT32)
        return ((const int32_t *)value->data)[index];
    return ingot_load_i64(value->element, value->data, index);
}

/* Where string index of a string tensor lies. */
static inline const char *ingot_ref_text(const ingot_value *value, size_t index, size_t *length)
{
    const ingot_string *string = (const ingot_string *)value->data + index;
    *length = string->length;
    return value->strings + string->offset;
}

#endif
