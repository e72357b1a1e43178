/* Walking over n-dimensional data: what the reference kernels share.
 *
 * A walk visits the elements of a shape in row-major order as runs along the innermost axis. Each operand has its own strides
 * (0 where it is broadcast, any sign elsewhere), all in elements. Axes that lie one behind the other in all operands are
 * merged, so plain data is one run:
 *
 *     ingot_walk walk;
 *     ingot_walk_init(&walk, y->rank, y->dims);            operand 0: the shape itself, without gaps
 *     ingot_walk_add_broadcast(&walk, a->rank, a->dims);   operand 1
 *     for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
 *         negate(yd + walk.offset[0], ad + walk.offset[1], walk.step[1], walk.run);
 */
#ifndef INGOT_CPU_REF_REF_ITERATE_H
#define INGOT_CPU_REF_REF_ITERATE_H

#include "base/number.h"

#define INGOT_WALK_OPERANDS 4

typedef struct ingot_walk {
    int64_t offset[INGOT_WALK_OPERANDS]; /* of the run's first element */
    int64_t step[INGOT_WALK_OPERANDS];   /* from one element of the run to the next */
    size_t run;                          /* elements of a run; 1 for rank 0 */
    int operands;
    int rank; /* axes outside the run, once it has begun */
    int64_t sizes[INGOT_MAX_RANK];
    int64_t index[INGOT_MAX_RANK];
    int64_t strides[INGOT_WALK_OPERANDS][INGOT_MAX_RANK];
} ingot_walk;

/* Over a shape; its operand 0 is that shape, row-major without gaps. */
void ingot_walk_init(ingot_walk *walk, int rank, const int64_t *dims);
/* Over a shape, without an operand yet. */
void ingot_walk_init_bare(ingot_walk *walk, int rank, const int64_t *dims);
/* One more operand: a plain tensor of this shape, broadcast as numpy does (its shape must fit); or one with these strides (of
 * all axes of the walk) whose element 0 lies at offset. At most INGOT_WALK_OPERANDS in all. */
void ingot_walk_add_broadcast(ingot_walk *walk, int rank, const int64_t *dims);
void ingot_walk_add_strided(ingot_walk *walk, const int64_t *strides, int64_t offset);
/* To the first run: false where there is none. Call it once, after all operands. */
bool ingot_walk_begin(ingot_walk *walk);
/* To the next run: false past the last. */
bool ingot_walk_next(ingot_walk *walk);

/* Strides, in elements, of a row-major tensor without gaps. */
void ingot_plain_strides(int rank, const int64_t *dims, int64_t *strides);
/* The same as operand of an output of rank out_rank: 0 on the axes where it is broadcast. */
void ingot_walk_strides(int rank, const int64_t *dims, int out_rank, int64_t *strides);

/* Product of dims first ... end - 1: of a value whose sizes have been checked, so that it cannot overflow. */
size_t ingot_dims_product(const int64_t *dims, int first, int end);

/* axis of the given rank, made non-negative. */
static inline int ingot_axis(int64_t axis, int rank)
{
    return (int)(axis < 0 ? axis + rank : axis);
}

/* A row-major tensor as [outer, size, inner] around one axis (non-negative). */
typedef struct ingot_split {
    size_t outer, size, inner;
} ingot_split;

ingot_split ingot_split_at(int rank, const int64_t *dims, int axis);

/* ---- Types ---- */

/* The element types that C has itself. X(element, C type, the unsigned or float type to compute in without overflow) */
#define INGOT_NATIVE_FLOATS(X)   \
    X(INGOT_FLOAT, float, float) \
    X(INGOT_DOUBLE, double, double)
#define INGOT_NATIVE_SIGNED(X)        \
    X(INGOT_INT8, int8_t, uint32_t)   \
    X(INGOT_INT16, int16_t, uint32_t) \
    X(INGOT_INT32, int32_t, uint32_t) \
    X(INGOT_INT64, int64_t, uint64_t)
#define INGOT_NATIVE_UNSIGNED(X)        \
    X(INGOT_UINT8, uint8_t, uint32_t)   \
    X(INGOT_UINT16, uint16_t, uint32_t) \
    X(INGOT_UINT32, uint32_t, uint32_t) \
    X(INGOT_UINT64, uint64_t, uint64_t)
#define INGOT_NATIVE_INTEGERS(X) INGOT_NATIVE_SIGNED(X) INGOT_NATIVE_UNSIGNED(X)
#define INGOT_NATIVE_NUMBERS(X)  INGOT_NATIVE_FLOATS(X) INGOT_NATIVE_INTEGERS(X)

/* float16, bfloat16, float or double elements index, index + step, ... to floats or doubles, and back. */
void ingot_read_floats(ingot_element element, const void *data, int64_t index, int64_t step, size_t count, float *to);
void ingot_write_floats(ingot_element element, void *data, int64_t index, int64_t step, size_t count,
                        const float *from);
void ingot_read_doubles(ingot_element element, const void *data, int64_t index, int64_t step, size_t count, double *to);
void ingot_write_doubles(ingot_element element, void *data, int64_t index, int64_t step, size_t count,
                         const double *from);

/* Where an element of a whole number of bytes lies. */
static inline void *ingot_element_at(const ingot_value *value, size_t index)
{
    return (char *)value->data + index * ingot_element_size(value->element);
}

#endif
