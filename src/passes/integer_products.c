/* Conv, MatMul and Gemm of dequantized 8-bit tensors become products of integers: QLinearConv and QLinearMatMul where
 * QuantizeLinear comes next, else MatMulIntegerToFloat; QGemm with or without. What the float form rounds in its sums, this one
 * does not. */
#include "passes/quantized.h"

#define MS_DOMAIN "com.microsoft"

typedef struct product {
    ingot_quantized x, w, y;
    ingot_graph_value *bias; /* 32-bit integers; NULL: none */
    ingot_node *quantizer;   /* what reads the float product; NULL: it stays float */
} product;

/* Scales of w are one, or one for each index of that axis. */
static bool take_operands(const ingot_node *node, int w_axis, product *p)
{
    if (!ingot_is_dequantized_by_one(node->inputs[0], &p->x) || !ingot_is_dequantized(node->inputs[1], &p->w))
        return false;
    int rank = p->w.tensor->type.rank, axis = p->w.axis < 0 ? p->w.axis + rank : p->w.axis;
    p->quantizer = ingot_quantizer_of(node->outputs[0], &p->y);
    return p->w.single || (rank >= 0 && axis == w_axis && ingot_graph_value_is_constant(p->w.tensor));
}

static ingot_status set_zero_points(ingot_graph *graph, product *p, ingot_error *error)
{
    INGOT_TRY(ingot_set_zero_point(graph, &p->x, error));
    INGOT_TRY(ingot_set_zero_point(graph, &p->w, error));
    return p->quantizer ? ingot_set_zero_point(graph, &p->y, error) : INGOT_OK;
}

/* The node whose output 0 the integer form gives. */
static ingot_node *last_node(ingot_node *node, const product *p)
{
    return p->quantizer ? p->quantizer : node;
}

static bool is_read_by_quantizer(const ingot_graph_value *value)
{
    ingot_quantized q;
    for (size_t i = 0; i < value->use_count; i++)
        if (ingot_is_quantizer(value->uses[i].node, &q))
            return true;
    return false;
}

/* ---- Each operator ---- */

static ingot_status make_conv(ingot_node *node, ingot_error *error, bool *changed)
{
    product p = {0};
    if (!take_operands(node, 0, &p) || !p.quantizer ||
        !ingot_is_quantized_bias(ingot_operand(node, 2), &p.x, &p.w, &p.bias))
        return INGOT_OK;
    INGOT_TRY(set_zero_points(node->graph, &p, error));
    ingot_graph_value *inputs[9] = {p.x.tensor, p.x.scale, p.x.zero, p.w.tensor, p.w.scale,
                                    p.w.zero,   p.y.scale, p.y.zero, p.bias};
    ingot_replacement by = {.op_type = "QLinearConv",
                            .opset = 10,
                            .inputs = inputs,
                            .input_count = p.bias ? 9 : 8,
                            .attributes = node->attributes,
                            .attribute_count = node->attribute_count};
    *changed = true;
    return ingot_replace_node(p.quantizer, &by, NULL, error);
}

static ingot_status make_matmul(ingot_node *node, ingot_error *error, bool *changed)
{
    product p = {0};
    if (!take_operands(node, 1, &p) || (!p.w.single && p.w.tensor->type.rank != 2) ||
        (!p.quantizer && is_read_by_quantizer(node->outputs[0])))
        return INGOT_OK;
    INGOT_TRY(set_zero_points(node->graph, &p, error));
    ingot_graph_value *narrow[8] = {p.x.tensor, p.x.scale, p.x.zero,  p.w.tensor,
                                    p.w.scale,  p.w.zero,  p.y.scale, p.y.zero};
    ingot_graph_value *wide[6] = {p.x.tensor, p.w.tensor, p.x.scale, p.w.scale, p.x.zero, p.w.zero};
    ingot_replacement by = {.op_type = "QLinearMatMul", .opset = 10, .inputs = narrow, .input_count = 8};
    if (!p.quantizer)
        by = (ingot_replacement){
            .domain = MS_DOMAIN, .op_type = "MatMulIntegerToFloat", .opset = 1, .inputs = wide, .input_count = 6};
    *changed = true;
    return ingot_replace_node(last_node(node, &p), &by, NULL, error);
}

static ingot_status make_gemm(ingot_node *node, ingot_error *error, bool *changed)
{
    product p = {0};
    ingot_graph_value *c = ingot_operand(node, 2);
    bool transposed = ingot_int_attribute(node, "transB", 0) != 0;
    if (!take_operands(node, transposed ? 0 : 1, &p) || (!p.quantizer && is_read_by_quantizer(node->outputs[0])) ||
        !ingot_is_quantized_bias(c, &p.x, &p.w, &p.bias) ||
        (c && (ingot_float_attribute(node, "alpha", 1) != 1 || ingot_float_attribute(node, "beta", 1) != 1)))
        return INGOT_OK;
    INGOT_TRY(set_zero_points(node->graph, &p, error));
    ingot_graph_value *inputs[9] = {p.x.tensor, p.x.scale, p.x.zero,  p.w.tensor, p.w.scale,
                                    p.w.zero,   p.bias,    p.y.scale, p.y.zero};
    static const char *const names[] = {"alpha", "transA", "transB"};
    ingot_attribute attributes[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        const ingot_attribute *a = ingot_node_attribute(node, names[i]);
        if (a)
            attributes[count++] = *a;
    }
    ingot_replacement by = {.domain = MS_DOMAIN,
                            .op_type = "QGemm",
                            .opset = 1,
                            .inputs = inputs,
                            .input_count = p.quantizer ? 9
                                           : p.bias    ? 7
                                                       : 6,
                            .attributes = attributes,
                            .attribute_count = count};
    *changed = true;
    return ingot_replace_node(last_node(node, &p), &by, NULL, error);
}

static const struct {
    const char *op_type;
    ingot_status (*make)(ingot_node *node, ingot_error *error, bool *changed);
} products[] = {{"Conv", make_conv}, {"Gemm", make_gemm}, {"MatMul", make_matmul}};

ingot_status ingot_pass_integer_products(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first, *next; n; n = next) {
        next = n->next;
        for (size_t i = 0; i < sizeof products / sizeof *products; i++)
            if (ingot_node_is(n, products[i].op_type) && ingot_value_is_read(n->outputs[0]))
                INGOT_TRY(products[i].make(n, context->error, changed));
    }
    return INGOT_OK;
}
