/* FP32 convolution of dense NCHW tensors in two dimensions (one dimension: height 1), and its transpose.
 *
 * Tensors need the alignment of a float only; packed weights and workspaces are aligned to INGOT_ALIGNMENT. Nothing outside
 * the tensors is read or written. Inputs, epilogue.add and output must not overlap.
 *
 * Same bits: an output element depends on its image, the weights and the shape without the batch, not on the batch or the
 * number of threads. Threads: as in gemm.h.
 *
 * Winograd's way (large 3x3 convolutions with stride 1) rounds otherwise than the direct sum: its errors are about twice as
 * large. An infinity or a NaN in a tile of the input makes NaNs of all the tile's outputs. */
#ifndef INGOT_CPU_CONV_H
#define INGOT_CPU_CONV_H

#include "cpu/gemm/gemm.h"

/* Shape of a convolution. Input [batch, channels, in_height, in_width], weights [outputs, channels / groups, kernel_height,
 * kernel_width], output [batch, outputs, out_height, out_width]. groups divides channels and outputs. Padding at the bottom and
 * at the right follows from the output's size, which the caller computes. Padding is zeros. */
typedef struct ingot_conv {
    size_t batch, groups, channels, outputs;
    size_t in_height, in_width, out_height, out_width;
    size_t kernel_height, kernel_width;
    size_t stride_height, stride_width;     /* at least 1 */
    size_t dilation_height, dilation_width; /* at least 1 */
    size_t pad_top, pad_left;
    const ingot_gemm_kernel *kernel; /* NULL: the best one */
} ingot_conv;

/* Packed weights depend on groups, channels, outputs and the kernel's size, not on the image or the batch. pack reads
 * weights as ONNX has them. Both may be used at run time for weights that are no constants. */
size_t ingot_conv_f32_packed_size(const ingot_conv *conv);
void ingot_conv_f32_pack(const ingot_conv *conv, const float *weights, float *packed);

size_t ingot_conv_f32_workspace(const ingot_conv *conv, int threads);
/* row_bias is the bias, one for each output channel; column_bias must be NULL. */
void ingot_conv_f32(const ingot_conv *conv, const float *input, const float *packed, const ingot_epilogue *epilogue,
                    float *output, void *workspace, int threads);

/* Short name of the way this convolution is run, for people: "depthwise", "pointwise", "implicit gemm", ... */
const char *ingot_conv_f32_tactic(const ingot_conv *conv);

/* ConvTranspose. The same fields, with these meanings: input [batch, channels, in_height, in_width], weights
 * [channels, outputs / groups, kernel_height, kernel_width], output [batch, outputs, out_height, out_width], where input (y, x)
 * adds to output (y * stride_height + ky * dilation_height - pad_top, ...). Of the epilogue, row_bias and activation are
 * used; the rest must be unset. */
size_t ingot_conv_transpose_f32_packed_size(const ingot_conv *conv);
void ingot_conv_transpose_f32_pack(const ingot_conv *conv, const float *weights, float *packed);
size_t ingot_conv_transpose_f32_workspace(const ingot_conv *conv, int threads);
void ingot_conv_transpose_f32(const ingot_conv *conv, const float *input, const float *packed,
                              const ingot_epilogue *epilogue, float *output, void *workspace, int threads);

#endif
