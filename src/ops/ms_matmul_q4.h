/* MatMulBnb4 and MatMulFpQ4 of com.microsoft: products with weights of four bits in layouts of their own. */
#ifndef INGOT_OPS_MS_MATMUL_Q4_H
#define INGOT_OPS_MS_MATMUL_Q4_H

#include "ops/op.h"

typedef struct ingot_matmul_bnb4_params {
    int64_t k, n;       /* the weights are [n, k] */
    int64_t block_size; /* numbers that share a scale, through the ends of rows */
    int64_t codes;      /* 0: FP4, 1: NF4 */
    bool transposed;    /* A [..., k] times the weights transposed; else A [..., n] times the weights */
} ingot_matmul_bnb4_params;

typedef struct ingot_matmul_fpq4_params {
    int64_t kind; /* 1: blocks have zero points; 0: it is 8 for all */
} ingot_matmul_fpq4_params;

/* How a column lies in the blob of MatMulFpQ4: blocks of a float scale, a byte of zero point where there are any, then the
 * numbers, two a byte. */
#define INGOT_FPQ4_BLOCK 32

static inline int64_t ingot_fpq4_block_bytes(const ingot_matmul_fpq4_params *p)
{
    return (int64_t)sizeof(float) + p->kind + INGOT_FPQ4_BLOCK / 2;
}

#endif
