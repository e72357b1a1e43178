/* What the files of the convolutions' part share. */
#ifndef INGOT_CHECK_CONV_H
#define INGOT_CHECK_CONV_H

#include "check.h"
#include "cpu/conv/conv.h"

#define MAX_THREADS 7

/* s: groups, channels, outputs, in_height, in_width, kernel height and width, stride, dilation, pads top, left, bottom, right,
 * batch. */
ingot_conv check_conv_make(const size_t s[14], const ingot_gemm_kernel *kernel);

/* The sum of a window in double, of Conv and of ConvTranspose. */
typedef double check_conv_window(const ingot_conv *c, const float *x, const float *w, size_t image, size_t output,
                                 size_t y, size_t column);
check_conv_window check_conv_sum, check_conv_transpose_sum;

/* What all cases of a shape share, until guard_release. */
typedef struct check_conv_shape {
    ingot_conv c;
    size_t count;       /* elements of the output */
    float *x[2], *w[2]; /* the same numbers after a guard page and before one */
    double *sums;       /* of each element of the output */
} check_conv_shape;
check_conv_shape check_conv_begin(const ingot_conv *c, check_conv_window *sum);

/* The epilogue of a variant, in double, with the activation check_conv_activations[variant % 4]. */
extern const ingot_unary check_conv_activations[4];
double check_conv_finish(size_t variant, const ingot_epilogue *e, size_t output, double add, double value);

/* Convolutions on channels in blocks. */
void check_conv_blocked(const ingot_gemm_kernel *kernel);
void bench_conv_blocked(const ingot_gemm_kernel *kernel);

#endif
