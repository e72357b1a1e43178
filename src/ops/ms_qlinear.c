/* com.microsoft: operators on 8-bit tensors, rewritten as their float forms between DequantizeLinear and QuantizeLinear, which
 * ONNX Runtime's have the roundings of. Those that round otherwise are in ms_qlinear_ops.c. */
#include "ops/expand.h"

/* Inputs first, first + 1 and first + 2: a tensor, its scale and its zero point, which may be left out. */
static ingot_graph_value *dequantized(ingot_expansion *e, size_t first)
{
    return INGOT_EXPAND(e, "DequantizeLinear", 13, NULL, 0, ingot_expand_input(e, first),
                        ingot_expand_input(e, first + 1), ingot_expand_input(e, first + 2));
}

/* Output 0: value quantized by scale and zero point, to the element type of a tensor where there is no zero point. */
static ingot_status finish(ingot_expansion *e, ingot_graph_value *value, ingot_graph_value *scale,
                           ingot_graph_value *zero_point, const ingot_graph_value *like)
{
    ingot_attribute type = ingot_int_of("output_dtype", like->type.element);
    ingot_expand_result(e, 0,
                        INGOT_EXPAND(e, "QuantizeLinear", 21, &type, zero_point ? 0 : 1, value, scale, zero_point));
    return ingot_expand_end(e);
}

/* ---- One tensor: X, its scale and zero point, then those of Y ---- */

typedef ingot_graph_value *(*float_form)(ingot_expansion *e, ingot_graph_value *x);

static ingot_status upgrade_unary(ingot_node *node, ingot_error *error, float_form form)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *y = form(&e, dequantized(&e, 0));
    return finish(&e, y, ingot_expand_input(&e, 3), ingot_expand_input(&e, 4), ingot_expand_input(&e, 0));
}

static ingot_graph_value *reduce_mean(ingot_expansion *e, ingot_graph_value *x)
{
    static const char *const names[] = {"axes", "keepdims", NULL};
    ingot_attribute attributes[2];
    size_t count = ingot_expand_pass_on(e, names, attributes);
    return INGOT_EXPAND(e, "ReduceMean", 13, attributes, count, x);
}

static ingot_graph_value *pool(ingot_expansion *e, ingot_graph_value *x, const char *op_type, int opset,
                               const ingot_attribute *attributes, size_t count)
{
    if (ingot_expand_int(e, "channels_last", 0) == 0)
        return INGOT_EXPAND(e, op_type, opset, attributes, count, x);
    ingot_graph_value *y = INGOT_EXPAND(e, op_type, opset, attributes, count, ingot_expand_channels_first(e, x));
    return ingot_expand_channels_last(e, y);
}

static ingot_graph_value *average_pool(ingot_expansion *e, ingot_graph_value *x)
{
    static const char *const names[] = {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads",
                                        "strides",  NULL};
    ingot_attribute attributes[6];
    return pool(e, x, "AveragePool", 19, attributes, ingot_expand_pass_on(e, names, attributes));
}

#define DEFINE_UNARY(name, form)                                                    \
    ingot_status ingot_upgrade_qlinear_##name(ingot_node *node, ingot_error *error) \
    {                                                                               \
        return upgrade_unary(node, error, form);                                    \
    }
DEFINE_UNARY(reduce_mean, reduce_mean)
DEFINE_UNARY(average_pool, average_pool)

/* ---- Several tensors ---- */

ingot_status ingot_upgrade_qlinear_where(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *z =
        INGOT_EXPAND(&e, "Where", 16, NULL, 0, ingot_expand_input(&e, 0), dequantized(&e, 1), dequantized(&e, 4));
    return finish(&e, z, ingot_expand_input(&e, 7), ingot_expand_input(&e, 8), ingot_expand_input(&e, 1));
}

/* Scale and zero point of Y, then the parts, each with its own. */
ingot_status ingot_upgrade_qlinear_concat(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute axis = ingot_int_of("axis", ingot_expand_int(&e, "axis", 0));
    size_t count = (node->operand_count - 2) / 3;
    if (node->operand_count != 2 + 3 * count || count == 0)
        return ingot_node_fail(
            node, error, INGOT_INVALID_MODEL,
            "has %zu inputs, but must have 2 and 3 for each part: the part, its scale and zero point",
            node->operand_count);
    ingot_graph_value **parts = ingot_arena_alloc_array(node->graph->module->arena, count, sizeof(ingot_graph_value *));
    if (!parts)
        return ingot_fail_memory(error, count * sizeof(ingot_graph_value *), "a node");
    for (size_t i = 0; i < count; i++)
        parts[i] = dequantized(&e, 2 + 3 * i);
    ingot_graph_value *y = ingot_expand_add(&e, &(ingot_expand_spec){NULL, "Concat", 13, &axis, 1, parts, count});
    return finish(&e, y, ingot_expand_input(&e, 0), ingot_expand_input(&e, 1), ingot_expand_input(&e, 1));
}

/* The standard's own, but for channels_last. */
ingot_status ingot_upgrade_qlinear_conv(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides", NULL};
    ingot_expansion e = ingot_expand_begin(node, error);
    bool last = ingot_expand_int(&e, "channels_last", 0) != 0;
    ingot_attribute attributes[6];
    size_t count = ingot_expand_pass_on(&e, names, attributes);
    ingot_graph_value *inputs[9];
    for (size_t i = 0; i < 9; i++)
        inputs[i] = ingot_expand_input(&e, i);
    if (last)
        inputs[0] = ingot_expand_channels_first(&e, inputs[0]);
    ingot_graph_value *y =
        ingot_expand_add(&e, &(ingot_expand_spec){NULL, "QLinearConv", 10, attributes, count, inputs, 9});
    ingot_expand_result(&e, 0, last ? ingot_expand_channels_last(&e, y) : y);
    return ingot_expand_end(&e);
}
