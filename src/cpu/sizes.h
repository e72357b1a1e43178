/* Arithmetic of sizes that kernels share. */
#ifndef INGOT_CPU_SIZES_H
#define INGOT_CPU_SIZES_H

#include "base/memory.h"

static inline size_t ingot_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t ingot_most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t ingot_ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* Where part i of count things in parts nearly equal parts begins. */
static inline size_t ingot_part_begin(size_t count, size_t parts, size_t i)
{
    size_t each = count / parts, rest = count % parts;
    return i * each + (i < rest ? i : rest);
}

/* Bytes of whole units of INGOT_ALIGNMENT. */
static inline size_t ingot_aligned_size(size_t bytes)
{
    return ingot_ceil_div(bytes, INGOT_ALIGNMENT) * INGOT_ALIGNMENT;
}

#endif
