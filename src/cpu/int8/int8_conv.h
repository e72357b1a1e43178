/* Convolutions of bytes. The image is read with its channels side by side ([n, h, w, c]) and padding laid out around it: unless it lies
 * so already, a copy is made. Then each place of the output is a row of a product (product.h), whose stretches are the
 * window's rows; depthwise convolutions have a kernel of their own. Padding is the zero point, as the operators have it. */
#ifndef INGOT_CPU_INT8_CONV_H
#define INGOT_CPU_INT8_CONV_H

#include "cpu/conv/conv.h"
#include "cpu/int8/product.h"

typedef struct ingot_int8_conv {
    const ingot_conv *shape; /* kernel is not used */
    bool depthwise;          /* by that kernel: one filter a channel, no zero points of weights once they are signed */
    bool x_last, y_last;     /* channels lie side by side, else planes of pixels follow each other */
    ingot_int8_terms terms;  /* A is the image, B the weights; summand is the bias */
    const void *x;
    const int8_t *packed;
    float x_scale, y_scale; /* BYTES: a sum is scaled by x_scale * w_scale / y_scale */
    const float *w_scale;
    size_t w_scale_count;
    ingot_int8_output output; /* SUMS or BYTES */
    ingot_element element;    /* BYTES */
    int32_t zero;
    void *y;
} ingot_int8_conv;

/* Whether the depthwise kernel may do it, as far as the shape tells. */
bool ingot_int8_conv_is_depthwise(const ingot_conv *shape);
/* Weights as ONNX has them, for shapes whose image is not known. */
size_t ingot_int8_conv_packed_size(const ingot_conv *shape, bool depthwise);
void ingot_int8_conv_pack(const ingot_conv *shape, bool depthwise, const void *weights, bool is_signed, int8_t *packed);

/* Whether the image with its padding, of which a copy may be made, is of a size that memory can have. */
bool ingot_int8_conv_fits(const ingot_int8_conv *conv);
size_t ingot_int8_conv_workspace(const ingot_int8_conv *conv, int threads);
void ingot_int8_convolve(const ingot_int8_conv *conv, void *workspace, int threads);

/* Dense y[n][columns][rows] from x[n][rows][columns]. */
void ingot_int8_transpose(const void *x, size_t n, size_t rows, size_t columns, void *y, int threads);

#endif
