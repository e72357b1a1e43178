/* QuantizeLinear and DequantizeLinear where they cost accuracy or speed and give nothing. */
#include <stdio.h>
#include <string.h>

#include "tools/doctor.h"

static const ingot_doctor_rule between = {"quantize-before-activation", INGOT_WARNING,
                                          "let the quantizer put the pair after the activation (in ONNX Runtime's "
                                          "quantizer: pre-process the model first): here it rounds twice "
                                          "and keeps the activation out of the convolution"};
static const ingot_doctor_rule scales = {
    "quantize-scales-differ", INGOT_WARNING,
    "give the DequantizeLinear the scale and zero point of its QuantizeLinear: as it is, values come back changed"};
static const ingot_doctor_rule lone = {"quantize-for-nothing", INGOT_NOTE,
                                       "remove the pair: what reads it has no quantized form, so it only rounds"};

/* What a quantized form exists for. */
static const char *const quantizable[] = {"Conv",       "ConvTranspose", "MatMul",
                                          "Gemm",       "Add",           "Mul",
                                          "Concat",     "AveragePool",   "GlobalAveragePool",
                                          "MaxPool",    "Reshape",       "Transpose",
                                          "LeakyRelu",  "Resize",        "Sigmoid",
                                          "Slice",      "Softmax",       "Split",
                                          "Squeeze",    "Unsqueeze",     "Gather",
                                          "Pad",        "Where",         "LSTM",
                                          "Flatten",    "Relu",          "Clip",
                                          "ReduceMean", "Attention",     NULL};
static const char *const activations[] = {"Relu", "Clip", "LeakyRelu", "HardSwish", "HardSigmoid", NULL};
static const char *const products[] = {"Conv", "ConvTranspose", "MatMul", "Gemm", "Add", NULL};

static bool same_constant(const ingot_graph_value *a, const ingot_graph_value *b)
{
    if (a == b)
        return true;
    if (!ingot_graph_value_is_constant(a) || !ingot_graph_value_is_constant(b))
        return false;
    size_t bytes = ingot_value_bytes(a->constant);
    return a->type.element == b->type.element && ingot_value_bytes(b->constant) == bytes &&
           (bytes == 0 || memcmp(a->constant->data, b->constant->data, bytes) == 0);
}

static const ingot_graph_value *operand(const ingot_node *node, size_t index)
{
    return index < node->operand_count ? node->inputs[index] : NULL;
}

typedef struct survey {
    ingot_doctor_tally between, scales, lone;
} survey;

/* quantize feeds node, a DequantizeLinear. */
static void look_at_pair(survey *s, const ingot_node *quantize, const ingot_node *node)
{
    const ingot_graph_value *y = node->outputs[0];
    bool used = false, activation = y->use_count == 1 && ingot_doctor_is_any(y->uses[0].node, activations);
    if (!same_constant(operand(quantize, 1), operand(node, 1)) ||
        !same_constant(operand(quantize, 2), operand(node, 2)))
        ingot_doctor_count_node(&s->scales, node);
    for (size_t i = 0; i < y->use_count; i++)
        used = used || ingot_doctor_is_any(y->uses[i].node, quantizable) ||
               ingot_doctor_is(y->uses[i].node, "QuantizeLinear");
    if (activation && quantize->inputs[0] && ingot_doctor_is_any(quantize->inputs[0]->producer, products))
        ingot_doctor_count_node(&s->between, node);
    else if (!used && y->use_count > 0 && y->output_count == 0)
        ingot_doctor_count_node(&s->lone, node);
}

ingot_status ingot_doctor_check_quantization(ingot_diagnosis *d, const ingot_graph *graph, ingot_error *error)
{
    survey s = {0};
    for (const ingot_node *n = graph->first; n; n = n->next) {
        const ingot_node *before =
            ingot_doctor_is(n, "DequantizeLinear") && n->inputs[0] ? n->inputs[0]->producer : NULL;
        if (ingot_doctor_is(before, "QuantizeLinear") && n->outputs[0])
            look_at_pair(&s, before, n);
    }
    INGOT_TRY(ingot_doctor_add(d, &scales, &s.scales, error,
                               "%zu pairs of QuantizeLinear and DequantizeLinear have two scales or zero points",
                               s.scales.count));
    INGOT_TRY(
        ingot_doctor_add(d, &between, &s.between, error,
                         "%zu pairs of QuantizeLinear and DequantizeLinear stand between a product and its activation",
                         s.between.count));
    return ingot_doctor_add(d, &lone, &s.lone, error,
                            "%zu quantized tensors are read only by operators without quantized form", s.lone.count);
}
