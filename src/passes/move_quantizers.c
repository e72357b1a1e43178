/* Nodes that only move elements work on 8 bits: DequantizeLinear comes after them instead of before, QuantizeLinear before them
 * instead of after, and a QuantizeLinear that takes a DequantizeLinear back goes. A Relu or Clip that only cuts off what the
 * QuantizeLinear behind it cuts off goes too. All of it keeps every bit. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "passes/quantized.h"

#define QUANTIZE_OPSET 21

/* What moves elements of its operand 0 (Concat: of all) to its outputs. */
static const struct mover {
    const char *op_type;
    int since;        /* earlier opsets take no 8 bits */
    bool keeps_count; /* of elements: QuantizeLinear may come before it */
} movers[] = {
    {"Concat", 4, false},   {"Expand", 8, false}, {"Flatten", 9, true},   {"Gather", 1, false},
    {"MaxPool", 12, false}, {"Reshape", 5, true}, {"Slice", 1, false},    {"Split", 2, false},
    {"Squeeze", 1, true},   {"Tile", 6, false},   {"Transpose", 1, true}, {"Unsqueeze", 1, true},
};

static const struct mover *mover_of(const ingot_node *node)
{
    for (size_t i = 0; node && i < sizeof movers / sizeof *movers; i++)
        if (ingot_node_is(node, movers[i].op_type))
            return node->opset >= movers[i].since ? &movers[i] : NULL;
    return NULL;
}

/* The mover before another, on other operands and outputs, and without its name for them. */
static ingot_status copy_mover(ingot_node *mover, ingot_graph_value *const *inputs, ingot_graph_value *const *outputs,
                               ingot_error *error)
{
    ingot_node_spec spec = {.op_type = mover->op_type,
                            .name = mover->name,
                            .opset = mover->opset,
                            .inputs = inputs,
                            .input_count = mover->operand_count,
                            .operand_count = mover->operand_count,
                            .outputs = outputs,
                            .output_count = mover->output_count,
                            .attributes = mover->attributes,
                            .attribute_count = mover->attribute_count};
    return ingot_insert_node(mover->graph, &spec, mover, NULL, error);
}

/* Operands and outputs for copy_mover: the mover's own operands, and new outputs. */
static ingot_status new_operands(ingot_node *mover, ingot_graph_value ***inputs, ingot_graph_value ***outputs,
                                 ingot_error *error)
{
    size_t count = mover->operand_count + mover->output_count;
    *inputs = ingot_arena_alloc_array(mover->graph->module->arena, count, sizeof(ingot_graph_value *));
    if (!*inputs)
        return ingot_fail_memory(error, count * sizeof(ingot_graph_value *), "a pass");
    memcpy(*inputs, mover->inputs, mover->operand_count * sizeof(ingot_graph_value *));
    *outputs = *inputs + mover->operand_count;
    for (size_t i = 0; i < mover->output_count; i++)
        INGOT_TRY(ingot_graph_add_value(mover->graph, "", 0, &(*outputs)[i], error));
    return INGOT_OK;
}

/* ---- DequantizeLinear after what it stood before ---- */

/* How many operands hold elements that are moved. */
static size_t moved_operands(const ingot_node *mover)
{
    return ingot_node_is(mover, "Concat") ? mover->operand_count : 1;
}

/* The largest of codes is the code of the largest, if the scale is above 0; where it lies is told of floats only. */
static bool keeps_order(const ingot_node *mover, const ingot_quantized *q)
{
    double scale;
    return !ingot_node_is(mover, "MaxPool") ||
           (mover->output_count == 1 && ingot_constant_number(q->scale, &scale) && scale > 0);
}

/* Whether all that is moved was dequantized in one way; q gets it. */
static bool moves_dequantized(const ingot_node *mover, ingot_quantized *q)
{
    if (mover->operand_count == 0 || !ingot_is_dequantized_by_one(mover->inputs[0], q))
        return false;
    for (size_t i = 1; i < moved_operands(mover); i++) {
        ingot_quantized other;
        if (!ingot_is_dequantized_by_one(mover->inputs[i], &other) || !ingot_same_quantization(q, &other))
            return false;
    }
    for (size_t i = 0; i < mover->output_count; i++)
        if (!mover->outputs[i])
            return false;
    return keeps_order(mover, q);
}

static ingot_status dequantize_output(ingot_node *mover, size_t output, ingot_graph_value *codes,
                                      const ingot_quantized *q, ingot_error *error)
{
    ingot_graph_value *before = mover->outputs[output], *made, *inputs[3] = {codes, q->scale, q->zero};
    INGOT_TRY(ingot_graph_add_value(mover->graph, before->name, strlen(before->name), &made, error));
    ingot_node_spec spec = {.op_type = "DequantizeLinear",
                            .name = mover->name,
                            .opset = QUANTIZE_OPSET,
                            .inputs = inputs,
                            .input_count = q->zero ? 3 : 2,
                            .operand_count = q->zero ? 3 : 2,
                            .outputs = &made,
                            .output_count = 1};
    INGOT_TRY(ingot_insert_node(mover->graph, &spec, mover, NULL, error));
    return ingot_graph_replace_value(before, made, error);
}

static ingot_status dequantize_later(ingot_node *mover, const ingot_quantized *q, ingot_error *error)
{
    ingot_graph_value **inputs, **codes;
    INGOT_TRY(new_operands(mover, &inputs, &codes, error));
    for (size_t i = 0; i < moved_operands(mover); i++)
        inputs[i] = inputs[i]->producer->inputs[0];
    INGOT_TRY(copy_mover(mover, inputs, codes, error));
    for (size_t i = 0; i < mover->output_count; i++)
        if (ingot_value_is_read(mover->outputs[i]))
            INGOT_TRY(dequantize_output(mover, i, codes[i], q, error));
    ingot_graph_remove_node(mover);
    return INGOT_OK;
}

/* ---- QuantizeLinear before what it stood after ---- */

static bool can_quantize_earlier(const ingot_node *mover)
{
    const struct mover *kind = mover_of(mover);
    return kind && kind->keeps_count && mover->outputs[0]->use_count == 1;
}

/* The old nodes go, as far as nothing else reads them; *earlier is the new QuantizeLinear. */
static ingot_status quantize_earlier(ingot_node *mover, ingot_node *quantizer, ingot_node **earlier, ingot_error *error)
{
    ingot_graph_value **inputs, **outputs, *codes;
    ingot_graph_value *floats[3] = {mover->inputs[0], quantizer->inputs[1], ingot_operand(quantizer, 2)};
    INGOT_TRY(new_operands(mover, &inputs, &outputs, error));
    INGOT_TRY(ingot_graph_add_value(mover->graph, "", 0, &codes, error));
    ingot_node_spec spec = {.domain = quantizer->domain,
                            .op_type = "QuantizeLinear",
                            .name = quantizer->name,
                            .opset = quantizer->opset,
                            .inputs = floats,
                            .input_count = quantizer->operand_count,
                            .operand_count = quantizer->operand_count,
                            .outputs = &codes,
                            .output_count = 1,
                            .attributes = quantizer->attributes,
                            .attribute_count = quantizer->attribute_count};
    INGOT_TRY(ingot_insert_node(mover->graph, &spec, mover, earlier, error));
    inputs[0] = codes;
    INGOT_TRY(copy_mover(mover, inputs, outputs, error));
    INGOT_TRY(ingot_graph_replace_value(quantizer->outputs[0], outputs[0], error));
    ingot_graph_remove_node(quantizer);
    if (!ingot_value_is_read(mover->outputs[0]))
        ingot_graph_remove_node(mover);
    return INGOT_OK;
}

/* ---- What a QuantizeLinear makes needless ---- */

/* Codes times a scale in this range, divided by it again, are rounded to themselves. */
static bool takes_back(const ingot_node *quantizer, const ingot_quantized *to, ingot_quantized *from)
{
    double scale;
    return ingot_is_dequantized_by_one(quantizer->inputs[0], from) && ingot_same_quantization(from, to) &&
           ingot_constant_number(to->scale, &scale) && scale >= FLT_MIN && scale <= FLT_MAX / 512;
}

/* A bound of a Clip, which may be left out; false: it is not known. */
static bool read_bound(const ingot_node *clip, size_t operand, const char *name, double *number)
{
    const ingot_graph_value *value = ingot_operand(clip, operand);
    const ingot_attribute *a = ingot_node_attribute(clip, name);
    if (a)
        *number = (double)a->f;
    return !value || ingot_constant_number(value, number);
}

/* Whether all that the Relu or Clip cuts off becomes the first or the last code anyhow. */
static bool cuts_less(const ingot_node *clip, const ingot_quantized *q)
{
    double low = -INFINITY, high = INFINITY, scale, zero = 0;
    if (ingot_node_is(clip, "Relu"))
        low = 0;
    else if (!ingot_node_is(clip, "Clip") || !read_bound(clip, 1, "min", &low) || !read_bound(clip, 2, "max", &high))
        return false;
    if (!ingot_constant_number(q->scale, &scale) || (q->zero && !ingot_constant_number(q->zero, &zero)))
        return false;
    bool is_signed = q->tensor->type.element == INGOT_INT8;
    double first = is_signed ? INT8_MIN : 0, last = is_signed ? INT8_MAX : UINT8_MAX;
    return scale > 0 && low <= (first - zero) * scale && high >= (last - zero) * scale;
}

/* ---- The pass ---- */

static ingot_status move_forward(ingot_graph *graph, ingot_error *error, bool *changed)
{
    for (ingot_node *n = graph->first, *next; n; n = next) {
        ingot_quantized q;
        next = n->next;
        if (!mover_of(n) || !moves_dequantized(n, &q))
            continue;
        INGOT_TRY(dequantize_later(n, &q, error));
        *changed = true;
    }
    return INGOT_OK;
}

static ingot_status move_backward(ingot_node *quantizer, ingot_quantized q, ingot_error *error, bool *changed)
{
    ingot_quantized from;
    for (;;) {
        ingot_node *before = quantizer->inputs[0]->producer;
        if (takes_back(quantizer, &q, &from)) {
            *changed = true;
            return ingot_graph_replace_value(quantizer->outputs[0], from.tensor, error);
        }
        if (before && cuts_less(before, &q)) {
            INGOT_TRY(ingot_node_set_input(quantizer, 0, before->inputs[0], error));
            if (!ingot_value_is_read(before->outputs[0]))
                ingot_graph_remove_node(before);
        } else if (before && can_quantize_earlier(before)) {
            INGOT_TRY(quantize_earlier(before, quantizer, &quantizer, error));
            q.tensor = quantizer->outputs[0];
        } else {
            return INGOT_OK;
        }
        *changed = true;
    }
}

ingot_status ingot_pass_move_quantizers(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    INGOT_TRY(move_forward(graph, context->error, changed));
    for (ingot_node *n = graph->last, *previous; n; n = previous) {
        ingot_node *after = n->next; /* stays where it is, while nodes before it come and go */
        ingot_quantized q;
        bool moved = false;
        if (ingot_is_quantizer(n, &q) && ingot_value_is_read(n->outputs[0]))
            INGOT_TRY(move_backward(n, q, context->error, &moved));
        previous = !moved ? n->previous : after ? after->previous : graph->last;
        *changed |= moved;
    }
    return INGOT_OK;
}
