/* Add, Mul, GlobalAveragePool, Softmax, Sigmoid and LeakyRelu between DequantizeLinear and QuantizeLinear become operators on
 * 8 bits, with the roundings that ONNX Runtime's have. */
#include "passes/quantized.h"

#define MS_DOMAIN "com.microsoft"

static const struct form {
    const char *op_type, *becomes;
    size_t operands;
    bool tells_opset; /* in an attribute */
} forms[] = {
    {"Add", "QLinearAdd", 2, false},
    {"GlobalAveragePool", "QLinearGlobalAveragePool", 1, false},
    {"LeakyRelu", "QLinearLeakyRelu", 1, false},
    {"Mul", "QLinearMul", 2, false},
    {"Sigmoid", "QLinearSigmoid", 1, false},
    {"Softmax", "QLinearSoftmax", 1, true},
};

#define MAX_OPERANDS   2
#define MAX_ATTRIBUTES 8

static const struct form *form_of(const ingot_node *node)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (ingot_node_is(node, forms[i].op_type))
            return &forms[i];
    return NULL;
}

/* Operands and result, each of 8 bits of one type with one scale; returns the QuantizeLinear, or NULL. */
static ingot_node *match(const ingot_node *node, const struct form *form, ingot_quantized *operands, ingot_quantized *y)
{
    ingot_node *quantizer = ingot_quantizer_of(node->outputs[0], y);
    for (size_t i = 0; quantizer && i < form->operands; i++)
        if (!ingot_is_dequantized_by_one(node->inputs[i], &operands[i]) ||
            operands[i].tensor->type.element != y->tensor->type.element)
            return NULL;
    return quantizer;
}

/* With the node's attributes, and the opset that tells what axis means. */
static ingot_status make(ingot_node *node, const struct form *form, ingot_node *quantizer, ingot_graph_value **inputs,
                         ingot_error *error)
{
    ingot_attribute attributes[MAX_ATTRIBUTES];
    size_t count = node->attribute_count;
    for (size_t i = 0; i < count; i++)
        attributes[i] = node->attributes[i];
    if (form->tells_opset)
        attributes[count++] =
            (ingot_attribute){.name = "opset", .type = INGOT_ATTRIBUTE_INT, .i = node->opset >= 13 ? 13 : node->opset};
    ingot_replacement by = {.domain = MS_DOMAIN,
                            .op_type = form->becomes,
                            .opset = 1,
                            .inputs = inputs,
                            .input_count = 3 * form->operands + 2,
                            .attributes = attributes,
                            .attribute_count = count};
    return ingot_replace_node(quantizer, &by, NULL, error);
}

ingot_status ingot_pass_integer_arithmetic(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first, *next; n; n = next) {
        ingot_quantized operands[MAX_OPERANDS], y;
        ingot_graph_value *inputs[3 * MAX_OPERANDS + 2];
        next = n->next;
        const struct form *form = form_of(n);
        if (!form || n->attribute_count >= MAX_ATTRIBUTES)
            continue;
        ingot_node *quantizer = match(n, form, operands, &y);
        if (!quantizer)
            continue;
        for (size_t i = 0; i <= form->operands; i++) {
            ingot_quantized *q = i < form->operands ? &operands[i] : &y;
            size_t at = i < form->operands ? 3 * i : 3 * i - 1;
            INGOT_TRY(ingot_set_zero_point(graph, q, context->error));
            if (i < form->operands)
                inputs[at] = q->tensor;
            inputs[at + 1] = q->scale;
            inputs[at + 2] = q->zero;
        }
        INGOT_TRY(make(n, form, quantizer, inputs, context->error));
        *changed = true;
    }
    return INGOT_OK;
}
