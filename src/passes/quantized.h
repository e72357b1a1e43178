/* Tensors of 8 bits between QuantizeLinear and DequantizeLinear: what the rewrites of quantized models share. */
#ifndef INGOT_PASSES_QUANTIZED_H
#define INGOT_PASSES_QUANTIZED_H

#include "passes/rewrite.h"

/* A tensor with the scale and zero point that make real numbers of it. */
typedef struct ingot_quantized {
    ingot_graph_value *tensor, *scale, *zero; /* zero NULL: 0 */
    int axis;                                 /* of the scales, as the node counts it; meaningless for one scale */
    bool single;                              /* one scale for the whole tensor */
} ingot_quantized;

/* Whether the value is what DequantizeLinear makes of a tensor of 8 bits and constant scales, FP32, one or one for each index of an axis. */
bool ingot_is_dequantized(const ingot_graph_value *value, ingot_quantized *q);
/* The same with one scale. */
bool ingot_is_dequantized_by_one(const ingot_graph_value *value, ingot_quantized *q);
/* Whether value is the bias of a product of x and w: NULL, or 32-bit integers dequantized by the product of their scales.
 * *bias gets the integers. */
bool ingot_is_quantized_bias(const ingot_graph_value *value, const ingot_quantized *x, const ingot_quantized *w,
                             ingot_graph_value **bias);
/* Whether the node is QuantizeLinear from FP32 to 8 bits by one constant scale. q gets its output, scale and zero point. */
bool ingot_is_quantizer(const ingot_node *node, ingot_quantized *q);
/* Such a node that is the only one to read the value; NULL: there is none. */
ingot_node *ingot_quantizer_of(const ingot_graph_value *value, ingot_quantized *q);
/* Whether both have one scale and zero point, with the same numbers, and one element type. */
bool ingot_same_quantization(const ingot_quantized *a, const ingot_quantized *b);
/* Gives each a zero point where it has none: a constant 0 in the shape of its scale. */
ingot_status ingot_set_zero_point(ingot_graph *graph, ingot_quantized *q, ingot_error *error);

#endif
