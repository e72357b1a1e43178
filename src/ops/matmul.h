/* MatMul, MatMulInteger, Gemm. */
#ifndef INGOT_OPS_MATMUL_H
#define INGOT_OPS_MATMUL_H

#include "ops/op.h"

/* Y = alpha A' B' + beta C; A' is A transposed where trans_a, and so on. */
typedef struct ingot_gemm_params {
    float alpha, beta;
    bool trans_a, trans_b;
} ingot_gemm_params;

#endif
