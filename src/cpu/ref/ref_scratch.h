/* Scratch memory in parts, and whole inputs as plain floats or integers: what the reference kernels of nets share. */
#ifndef INGOT_CPU_REF_REF_SCRATCH_H
#define INGOT_CPU_REF_REF_SCRATCH_H

#include "ops/kernel.h"

/* Splits one ingot_kernel_scratch into count parts, each of elements[i] elements of sizes[i] bytes, aligned to
 * INGOT_ALIGNMENT. */
ingot_status ingot_ref_scratch(const ingot_kernel_call *call, size_t count, const size_t *elements, const size_t *sizes,
                               void **parts);

/* Elements of a tensor. */
size_t ingot_ref_count(const ingot_value *value);

/* Elements first ... first + count - 1 of any numeric or bool tensor as doubles (int64 rounds). */
void ingot_ref_to_doubles(const ingot_value *value, size_t first, size_t count, double *to);

/* Sets all bytes of a tensor to zero. */
void ingot_ref_zero(ingot_value *value);

/* The one element of a tensor: refused, naming the operand, where it has another number of elements. */
ingot_status ingot_ref_single(const ingot_kernel_call *call, size_t input, const char *name);

#endif
