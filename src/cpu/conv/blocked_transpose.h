/* FP32 ConvTranspose on channels in blocks of 16, constant weights. The outputs of one place modulo the strides see a part of the
 * window, and are an ordinary convolution (blocked.h) whose outputs lie strides apart; there is one for each such place. */
#ifndef INGOT_CPU_BLOCKED_TRANSPOSE_H
#define INGOT_CPU_BLOCKED_TRANSPOSE_H

#include "cpu/conv/blocked.h"

/* Whether it can be run so: the window is as large as the strides, dilated only where they are 1, the pads cut off no more than the
 * window's rest, and groups are as ingot_blocked_suits wants them. */
bool ingot_blocked_transpose_suits(const ingot_conv *conv);
/* How often the input is copied: for each place modulo the strides, or, where its outputs see one pixel each, never. */
size_t ingot_blocked_transpose_copies(const ingot_conv *conv);
/* As those of ingot_conv_transpose_f32, whose weights pack reads. */
size_t ingot_blocked_transpose_packed_size(const ingot_conv *conv);
void ingot_blocked_transpose_pack(const ingot_conv *conv, const float *weights, float *packed);
size_t ingot_blocked_transpose_workspace(const ingot_conv *conv, int threads);
/* epilogue: as that of ingot_blocked_f32. */
void ingot_blocked_transpose_f32(const ingot_conv *conv, const float *input, const float *packed,
                                 const ingot_epilogue *epilogue, float *output, void *workspace, int threads);

#endif
