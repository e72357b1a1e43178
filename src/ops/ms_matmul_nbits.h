/* MatMulNBits of com.microsoft: a product with weights of a few bits, scaled block by block. */
#ifndef INGOT_OPS_MS_MATMUL_NBITS_H
#define INGOT_OPS_MS_MATMUL_NBITS_H

#include "ops/op.h"

typedef struct ingot_matmul_nbits_params {
    int64_t k, n;       /* the weights are [n, k] */
    int64_t bits;       /* 2, 4 or 8 */
    int64_t block_size; /* weights along k that share a scale: a power of two, 16 or more */
    int64_t prepacked;
} ingot_matmul_nbits_params;

enum { /* inputs */
       INGOT_NBITS_A,
       INGOT_NBITS_B,      /* uint8: rows of blocks, each of block_size numbers, the first one in the low bits */
       INGOT_NBITS_SCALES, /* [n, blocks] */
       INGOT_NBITS_ZEROS, /* uint8: rows packed as the weights are; else numbers of A's type [n, blocks]; default 2^(bits - 1) */
       INGOT_NBITS_GROUPS, /* int32: the block whose scale a weight has, for each of the k columns */
       INGOT_NBITS_BIAS,   /* [n] */
};

/* Blocks of a row. */
static inline int64_t ingot_nbits_blocks(const ingot_matmul_nbits_params *p)
{
    return p->k / p->block_size + (p->k % p->block_size != 0);
}

/* Bytes of a row of zero points. */
static inline int64_t ingot_nbits_zero_bytes(const ingot_matmul_nbits_params *p)
{
    return (ingot_nbits_blocks(p) * p->bits + 7) / 8;
}

#endif
