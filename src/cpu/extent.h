/* Shapes at run time as the families' kernels want them. All of values whose sizes have been checked and are not 0. */
#ifndef INGOT_CPU_EXTENT_H
#define INGOT_CPU_EXTENT_H

#include "base/number.h"
#include "cpu/sizes.h"

/* A dense tensor around a run of its axes: [outer, count, inner]. */
typedef struct ingot_extent {
    size_t outer, count, inner;
} ingot_extent;

static inline size_t ingot_sizes_product(const int64_t *dims, int first, int end)
{
    size_t product = 1;
    for (int i = first; i < end; i++)
        product *= (size_t)dims[i];
    return product;
}

/* The axes first ... end - 1 together are count. */
static inline ingot_extent ingot_extent_of(const ingot_value *v, int first, int end)
{
    return (ingot_extent){ingot_sizes_product(v->dims, 0, first), ingot_sizes_product(v->dims, first, end),
                          ingot_sizes_product(v->dims, end, v->rank)};
}

/* axis in -rank ... rank - 1, made non-negative. */
static inline int ingot_axis_of(int64_t axis, int rank)
{
    return (int)(axis < 0 ? axis + rank : axis);
}

/* Strides of a row-major tensor without gaps, in elements. */
static inline void ingot_dense_strides(int rank, const int64_t *dims, ptrdiff_t *strides)
{
    ptrdiff_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= (ptrdiff_t)dims[i];
    }
}

/* Element index of a tensor of integers of any width. */
static inline int64_t ingot_integer_at(const ingot_value *v, size_t index)
{
    return v->element == INGOT_INT64 ? ((const int64_t *)v->data)[index] : ingot_load_i64(v->element, v->data, index);
}

/* Parts of a workspace, one behind the other, each aligned to INGOT_ALIGNMENT: takes bytes at *end, returns where they
 * begin. */
static inline size_t ingot_take_part(size_t *end, size_t bytes)
{
    size_t begin = *end;
    *end += ingot_aligned_size(bytes);
    return begin;
}

#endif
