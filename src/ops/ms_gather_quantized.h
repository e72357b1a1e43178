/* GatherBlockQuantized of com.microsoft. */
#ifndef INGOT_OPS_MS_GATHER_QUANTIZED_H
#define INGOT_OPS_MS_GATHER_QUANTIZED_H

#include "ops/op.h"

typedef struct ingot_gather_quantized_params {
    int64_t gather_axis, quantize_axis;
    int64_t block_size; /* elements along quantize_axis that share a scale; 0: all of them */
    int64_t bits;       /* of numbers packed in uint8: 2, 4 or 8 */
} ingot_gather_quantized_params;

/* Numbers in one element of the data along the last axis. */
static inline int64_t ingot_gather_quantized_packed(const ingot_gather_quantized_params *p, ingot_element data)
{
    return data == INGOT_UINT8 ? 8 / p->bits : 1;
}

#endif
