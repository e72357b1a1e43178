#include "passes/quantized.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

/* The domain of the standard, and that of ONNX Runtime, which has the same operators. */
static bool is_quantization(const ingot_node *node, const char *op_type)
{
    return node && node->op && strcmp(node->op_type, op_type) == 0 &&
           (strcmp(node->domain, "ai.onnx") == 0 || strcmp(node->domain, "com.microsoft") == 0) &&
           ingot_int_attribute(node, "block_size", 0) == 0;
}

static bool is_narrow(const ingot_graph_value *value)
{
    return value && (value->type.element == INGOT_INT8 || value->type.element == INGOT_UINT8);
}

static const ingot_value *constant_floats(const ingot_graph_value *value)
{
    bool constant = ingot_graph_value_is_constant(value) && value->constant->kind == INGOT_KIND_TENSOR;
    return constant && value->constant->element == INGOT_FLOAT ? value->constant : NULL;
}

/* Scale and zero point of a node; false: they are none that rewrites know. */
static bool read_parameters(const ingot_node *node, ingot_quantized *q)
{
    q->scale = node->inputs[1];
    q->zero = ingot_operand(node, 2);
    const ingot_value *scale = constant_floats(q->scale);
    if (!scale || scale->rank > 1 || ingot_value_count(scale) == 0 ||
        (q->zero &&
         (!ingot_graph_value_is_constant(q->zero) || ingot_value_count(q->zero->constant) != ingot_value_count(scale))))
        return false;
    q->single = ingot_value_count(scale) == 1;
    q->axis = (int)ingot_int_attribute(node, "axis", 1);
    return true;
}

static const ingot_node *dequantizer(const ingot_graph_value *value)
{
    const ingot_node *node = value && value->producer_index == 0 ? value->producer : NULL;
    return is_quantization(node, "DequantizeLinear") && value->type.element == INGOT_FLOAT ? node : NULL;
}

bool ingot_is_dequantized(const ingot_graph_value *value, ingot_quantized *q)
{
    const ingot_node *node = dequantizer(value);
    if (!node || !is_narrow(node->inputs[0]))
        return false;
    q->tensor = node->inputs[0];
    return read_parameters(node, q);
}

bool ingot_is_dequantized_by_one(const ingot_graph_value *value, ingot_quantized *q)
{
    return ingot_is_dequantized(value, q) && q->single;
}

static double number_at(const ingot_graph_value *value, size_t index)
{
    const ingot_value *v = value->constant;
    return ingot_load_double(v->element, v->data, ingot_value_count(v) == 1 ? 0 : index);
}

bool ingot_is_quantized_bias(const ingot_graph_value *value, const ingot_quantized *x, const ingot_quantized *w,
                             ingot_graph_value **bias)
{
    /* Quantizers round the product to float. */
    const double slack = 1e-6;
    ingot_quantized q;
    *bias = NULL;
    if (!value)
        return true;
    const ingot_node *node = dequantizer(value);
    if (!node || node->inputs[0]->type.element != INGOT_INT32 || !read_parameters(node, &q))
        return false;
    const int rank = node->inputs[0]->type.rank;
    size_t count = ingot_value_count(q.scale->constant), scales = ingot_value_count(w->scale->constant);
    if ((count != 1 && scales != 1 && count != scales) ||
        (count != 1 && (rank < 1 || (q.axis < 0 ? q.axis + rank : q.axis) != rank - 1)))
        return false;
    for (size_t i = 0; i < (count > scales ? count : scales); i++) {
        double product = number_at(x->scale, 0) * number_at(w->scale, i);
        if (!(fabs(number_at(q.scale, i) - product) <= slack * product) || (q.zero && number_at(q.zero, i) != 0))
            return false;
    }
    *bias = node->inputs[0];
    return true;
}

bool ingot_is_quantizer(const ingot_node *node, ingot_quantized *q)
{
    if (!is_quantization(node, "QuantizeLinear") || !is_narrow(node->outputs[0]) ||
        node->inputs[0]->type.element != INGOT_FLOAT || ingot_int_attribute(node, "precision", 0) != 0)
        return false;
    q->tensor = node->outputs[0];
    return read_parameters(node, q) && q->single;
}

ingot_node *ingot_quantizer_of(const ingot_graph_value *value, ingot_quantized *q)
{
    bool alone = value && value->use_count == 1 && value->uses[0].index == 0;
    return alone && ingot_is_quantizer(value->uses[0].node, q) ? value->uses[0].node : NULL;
}

bool ingot_same_quantization(const ingot_quantized *a, const ingot_quantized *b)
{
    return a->single && b->single && a->tensor->type.element == b->tensor->type.element &&
           number_at(a->scale, 0) == number_at(b->scale, 0) &&
           (a->zero ? number_at(a->zero, 0) : 0) == (b->zero ? number_at(b->zero, 0) : 0);
}

ingot_status ingot_set_zero_point(ingot_graph *graph, ingot_quantized *q, ingot_error *error)
{
    const ingot_value *scale = q->scale->constant;
    void *data;
    if (q->zero)
        return INGOT_OK;
    return ingot_new_tensor(graph, "", q->tensor->type.element, scale->rank, scale->dims, &q->zero, &data, error);
}
