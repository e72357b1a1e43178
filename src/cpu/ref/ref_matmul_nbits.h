/* Rows of the weights of MatMulNBits as floats. */
#ifndef INGOT_CPU_REF_REF_MATMUL_NBITS_H
#define INGOT_CPU_REF_REF_MATMUL_NBITS_H

#include "ops/kernel.h"
#include "ops/ms_matmul_nbits.h"

typedef struct ingot_nbits_weights {
    const ingot_matmul_nbits_params *params;
    const ingot_value *b, *scales, *zeros; /* zeros NULL: the default */
} ingot_nbits_weights;

/* Row n, k floats, where a block is block_size neighbours. */
void ingot_nbits_read_row(const ingot_nbits_weights *weights, size_t n, float *to);
/* Number index of those packed from the low bits on. */
unsigned ingot_nbits_unpack(const uint8_t *packed, size_t index, unsigned bits);
float ingot_nbits_zero(const ingot_nbits_weights *weights, size_t n, size_t block);
float ingot_nbits_scale(const ingot_nbits_weights *weights, size_t n, size_t block);

#endif
