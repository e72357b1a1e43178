/* The vector kernels of one thread that elementwise operations and epilogues are made of: the best instruction set's. */
#ifndef INGOT_CPU_VEC_H
#define INGOT_CPU_VEC_H

#include "cpu/eltwise/eltwise.h"

/* y[i] = op(x[i]); y may be x. */
void ingot_vec_unary(const ingot_unary *op, const float *x, float *y, size_t count);

/* y[i] = a[i] op b[i]; y may be a or b. */
void ingot_vec_binary(ingot_binary_kind kind, const float *a, const float *b, float *y, size_t count);

#endif
