/* What a product goes through before it is stored: in the last tile, while it is in registers or in the L1 cache. */
#ifndef INGOT_CPU_EPILOGUE_H
#define INGOT_CPU_EPILOGUE_H

#include "cpu/eltwise/eltwise.h"

/* {0} changes nothing. In this order:
 *   v = product
 *   v = v * scale                     where scaled
 *   v = v + row_bias[row]             where given (convolution: one for each output channel)
 *   v = v + column_bias[column]       where given (a matrix product's usual bias)
 *   v = v + add[row, column]          where given and not add_last
 *   v = activation(v)
 *   v = v + add[row, column]          where given and add_last
 * add must not overlap the output, which holds partial sums on the way. */
typedef struct ingot_epilogue {
    bool scaled, add_last;
    float scale;
    const float *row_bias, *column_bias;
    const float *add; /* gemm: of C's shape and batch strides; conv: of the output's shape, dense */
    size_t add_row;   /* gemm: floats from a row of add to the next; 0: like C */
    ingot_unary activation;
} ingot_epilogue;

#endif
