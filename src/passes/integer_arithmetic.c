/* Add, Mul, GlobalAveragePool, Softmax, Sigmoid and LeakyRelu between DequantizeLinear and QuantizeLinear become operators on
 * 8 bits, with the roundings that ONNX Runtime's have; Concat joins codes, each part's first made those of the result. */
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
    ingot_attribute attributes[MAX_ATTRIBUTES + 2];
    size_t count = node->attribute_count;
    for (size_t i = 0; i < count; i++)
        attributes[i] = node->attributes[i];
    if (form->tells_opset && !ingot_node_attribute(node, "axis")) /* opsets differ in what it is then */
        attributes[count++] =
            (ingot_attribute){.name = "axis", .type = INGOT_ATTRIBUTE_INT, .i = node->opset >= 13 ? -1 : 1};
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

/* ---- Concat ---- */

/* The codes of the same numbers with another scale and zero point: a LeakyRelu that changes nothing looks them up. */
static ingot_status requantize(ingot_node *before, ingot_quantized *from, const ingot_quantized *to,
                               ingot_graph_value **codes, ingot_error *error)
{
    ingot_attribute same = {.name = "alpha", .type = INGOT_ATTRIBUTE_FLOAT, .f = 1};
    ingot_node *node;
    *codes = from->tensor;
    if (ingot_same_quantization(from, to))
        return INGOT_OK;
    INGOT_TRY(ingot_set_zero_point(before->graph, from, error));
    INGOT_TRY(ingot_graph_add_value(before->graph, "", 0, codes, error));
    ingot_graph_value *inputs[5] = {from->tensor, from->scale, from->zero, to->scale, to->zero};
    ingot_node_spec spec = {.domain = MS_DOMAIN,
                            .op_type = "QLinearLeakyRelu",
                            .name = before->name,
                            .opset = 1,
                            .inputs = inputs,
                            .input_count = 5,
                            .operand_count = 5,
                            .outputs = codes,
                            .output_count = 1,
                            .attributes = &same,
                            .attribute_count = 1};
    return ingot_insert_node(before->graph, &spec, before, &node, error);
}

static bool are_dequantized(const ingot_node *node, ingot_element element)
{
    for (size_t i = 0; i < node->operand_count; i++) {
        ingot_quantized q;
        if (!ingot_is_dequantized_by_one(node->inputs[i], &q) || q.tensor->type.element != element)
            return false;
    }
    return true;
}

static ingot_status join(ingot_node *node, ingot_error *error, bool *changed)
{
    ingot_quantized y, part;
    ingot_node *quantizer = ingot_quantizer_of(node->outputs[0], &y);
    if (!quantizer || !are_dequantized(node, y.tensor->type.element))
        return INGOT_OK;
    size_t count = node->operand_count;
    ingot_graph_value **inputs =
        ingot_arena_alloc_array(node->graph->module->arena, count, sizeof(ingot_graph_value *));
    if (!inputs)
        return ingot_fail_memory(error, count * sizeof(ingot_graph_value *), "a pass");
    INGOT_TRY(ingot_set_zero_point(node->graph, &y, error));
    for (size_t i = 0; i < count; i++) {
        ingot_is_dequantized_by_one(node->inputs[i], &part);
        INGOT_TRY(requantize(node, &part, &y, &inputs[i], error));
    }
    ingot_replacement by = {.op_type = "Concat",
                            .opset = node->opset,
                            .inputs = inputs,
                            .input_count = count,
                            .attributes = node->attributes,
                            .attribute_count = node->attribute_count};
    *changed = true;
    return ingot_replace_node(quantizer, &by, NULL, error);
}

/* ---- The pass ---- */

ingot_status ingot_pass_integer_arithmetic(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first, *next; n; n = next) {
        ingot_quantized operands[MAX_OPERANDS], y;
        ingot_graph_value *inputs[3 * MAX_OPERANDS + 2];
        next = n->next;
        if (ingot_node_is(n, "Concat") && n->opset >= 4)
            INGOT_TRY(join(n, context->error, changed));
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
