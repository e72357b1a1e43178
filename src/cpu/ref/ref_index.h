/* Indices given by a tensor: what the gather and scatter kernels share. */
#ifndef INGOT_CPU_REF_REF_INDEX_H
#define INGOT_CPU_REF_REF_INDEX_H

#include "cpu/ref/ref_move.h"

/* Element i of input 1, which counts along a dimension of size elements, made non-negative. Refused where it is out of
 * range. */
ingot_status ingot_ref_index(const ingot_kernel_call *call, size_t i, int dimension, int64_t size, size_t *index);

/* Tuples of depth indices, tuple number i of input 1, into dimensions first ... first + depth - 1 of input 0: the element
 * that they lead to, counted in slices of what is behind those dimensions. */
ingot_status ingot_ref_index_tuple(const ingot_kernel_call *call, size_t i, int first, int depth, size_t *slice);

/* A walk over the indices of input 1, [like input 0, but for the axis]: operand 0 is the indices, operand 1 the element of
 * input 0 with index 0 along the axis; *stride is that from one index to the next. */
void ingot_ref_index_walk(const ingot_kernel_call *call, int axis, ingot_walk *walk, int64_t *stride);

#endif
