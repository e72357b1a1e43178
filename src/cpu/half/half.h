/* Conversions between the 16-bit floats and FP32, rounded to nearest even, many elements at a time.
 *
 * Pointers need their element's alignment only. A call uses up to threads participants of ingot_parallel. */
#ifndef INGOT_CPU_HALF_H
#define INGOT_CPU_HALF_H

#include <stddef.h>

typedef enum ingot_half_kind {
    INGOT_HALF_TO_FLOAT,
    INGOT_HALF_FROM_FLOAT,
    INGOT_HALF_BFLOAT16_TO_FLOAT,
    INGOT_HALF_BFLOAT16_FROM_FLOAT,
    INGOT_HALF_KIND_COUNT
} ingot_half_kind;

void ingot_half_convert(ingot_half_kind kind, const void *x, void *y, size_t count, int threads);

#endif
