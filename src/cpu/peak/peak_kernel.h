/* Kernels that show what the processor can do at most. What they compute means nothing. */
#ifndef INGOT_CPU_PEAK_KERNEL_H
#define INGOT_CPU_PEAK_KERNEL_H

#include <stddef.h>

/* The compiler takes the variable for used and changed here: it does not leave out, merge or reorder what made it. */
#define INGOT_PEAK_KEEP(constraint, variable) __asm__ volatile("" : constraint(variable))

/* Does that many rounds of independent multiplications and additions. */
#define INGOT_PEAK_KERNEL(name, text, features, operations) void ingot_peak_##name(size_t rounds);
#include "cpu/peak/peak_kernels.def"
#undef INGOT_PEAK_KERNEL

/* Additions each of which waits for the one before: one a cycle. A round has INGOT_PEAK_CHAIN of them. */
#define INGOT_PEAK_CHAIN 16
void ingot_peak_chain(size_t rounds);

/* Reads bytes, a multiple of 512, of memory that is aligned to 64. */
typedef void ingot_peak_reader(const void *memory, size_t bytes);
#define INGOT_LEVEL(suffix, features) ingot_peak_reader ingot_peak_read_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

#endif
