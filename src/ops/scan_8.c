/* Scan of version 8, over the samples of a batch: a Scan over the batch whose graph is a Scan over the sequence. */
#include <string.h>

#include "ops/control.h"
#include "ops/upgrade.h"

typedef struct scan_8 {
    ingot_node *node;
    ingot_error *error;
    ingot_arena *arena;
    const ingot_body *body;
    size_t operands, inputs, states, outputs; /* operands: without the lengths; inputs: that are scanned */
    ingot_graph *sample;                      /* what is run for every sample */
    ingot_graph_value **values;               /* inputs of sample: lengths where given, operands, captures */
    ingot_graph_value *length, *room;         /* of this sample's sequence; of the longest: int64 [1] */
} scan_8;

static bool has_lengths(const scan_8 *s)
{
    return s->node->inputs[0] != NULL;
}

static ingot_status check_counts(scan_8 *s)
{
    const ingot_attribute *count = ingot_node_attribute(s->node, "num_scan_inputs");
    s->operands = s->node->operand_count - 1;
    if (!s->body || !count)
        return ingot_fail(s->error, INGOT_INVALID_MODEL, "the attributes 'body' and 'num_scan_inputs' must be given");
    if (count->i < 1 || (uint64_t)count->i > s->operands)
        return ingot_fail(s->error, INGOT_INVALID_MODEL,
                          "attribute 'num_scan_inputs' is %lld, but %zu inputs could be scanned", (long long)count->i,
                          s->operands);
    s->inputs = (size_t)count->i;
    s->states = s->operands - s->inputs;
    s->outputs = s->node->output_count;
    if (s->outputs < s->states || s->body->graph->output_count < s->outputs)
        return ingot_fail(s->error, INGOT_INVALID_MODEL, "%zu values are carried, but there are %zu outputs of %zu",
                          s->states, s->outputs, s->body->graph->output_count);
    return INGOT_OK;
}

static ingot_status add_inputs(scan_8 *s)
{
    size_t count = has_lengths(s) + s->operands + s->body->capture_count;
    s->values = ingot_arena_alloc_array(s->arena, count + 1, sizeof *s->values);
    if (!s->values)
        return ingot_fail_memory(s->error, count * sizeof *s->values, "a graph");
    for (size_t i = 0; i < count; i++) {
        INGOT_TRY(ingot_graph_add_value(s->sample, "", 0, &s->values[i], s->error));
        INGOT_TRY(ingot_graph_add_input(s->sample, s->values[i], s->error));
    }
    return INGOT_OK;
}

/* The part of a scanned input that belongs to the sequence. */
static ingot_graph_value *used_part(scan_8 *s, ingot_builder *b, ingot_graph_value *x)
{
    static const int64_t zero[] = {0};
    if (!s->length)
        return x;
    ingot_graph_value *start = ingot_build_ints(b, zero, 1);
    return INGOT_BUILD(b, "Slice", x, start, s->length, start);
}

/* An output as long as the longest sequence may be. */
static ingot_graph_value *padded(scan_8 *s, ingot_builder *b, ingot_graph_value *y)
{
    static const int64_t zero[] = {0};
    ingot_graph_value *start = ingot_build_ints(b, zero, 1);
    ingot_attribute axis = {.name = "axis", .type = INGOT_ATTRIBUTE_INT, .i = 0};
    ingot_graph_value *const ends[] = {start, INGOT_BUILD(b, "Sub", s->room, s->length)};
    return INGOT_BUILD(b, "Pad", y, ingot_build_with(b, "Concat", ends, 2, &axis, 1), NULL, start);
}

static void scan_attributes(const scan_8 *s, ingot_attribute *attributes, size_t *count)
{
    const ingot_attribute *given = ingot_node_attribute(s->node, "directions");
    attributes[0] = (ingot_attribute){.name = "body", .type = INGOT_ATTRIBUTE_GRAPH, .body = 0};
    attributes[1] = (ingot_attribute){.name = "num_scan_inputs", .type = INGOT_ATTRIBUTE_INT, .i = (int64_t)s->inputs};
    *count = 2;
    if (!given)
        return;
    attributes[2] = *given;
    attributes[2].name = "scan_input_directions";
    *count = 3;
}

/* The Scan over the sequence of one sample. */
static ingot_status add_inner(scan_8 *s, ingot_builder *b, ingot_graph_value **outputs)
{
    size_t first = has_lengths(s), count = s->operands + s->body->capture_count, attribute_count;
    ingot_graph_value **inputs = ingot_arena_alloc_array(s->arena, count + 1, sizeof *inputs);
    ingot_attribute attributes[3];
    if (!inputs)
        return ingot_fail_memory(s->error, count * sizeof *inputs, "a node");
    for (size_t i = 0; i < count; i++)
        inputs[i] = i >= s->states && i < s->operands ? used_part(s, b, s->values[first + i]) : s->values[first + i];
    for (size_t i = 0; i < s->outputs; i++)
        outputs[i] = ingot_build_value(b, "");
    scan_attributes(s, attributes, &attribute_count);
    const ingot_body body = {"body", s->body->graph, s->operands, s->operands, s->body->capture_count};
    ingot_build_node(b, &(ingot_node_spec){.op_type = "Scan",
                                           .name = s->node->name,
                                           .opset = INGOT_BUILD_OPSET,
                                           .inputs = inputs,
                                           .input_count = count,
                                           .operand_count = s->operands,
                                           .outputs = outputs,
                                           .output_count = s->outputs,
                                           .attributes = attributes,
                                           .attribute_count = attribute_count,
                                           .bodies = &body,
                                           .body_count = 1});
    return b->status;
}

static ingot_status fill_sample(scan_8 *s)
{
    static const int64_t one[] = {1};
    ingot_builder b = {.graph = s->sample, .name = s->node->name, .error = s->error};
    ingot_graph_value **outputs = ingot_arena_alloc_array(s->arena, s->outputs + 1, sizeof *outputs);
    if (!outputs)
        return ingot_fail_memory(s->error, s->outputs * sizeof *outputs, "a node");
    if (has_lengths(s)) {
        s->length = INGOT_BUILD(&b, "Reshape", s->values[0], ingot_build_ints(&b, one, 1));
        s->room = ingot_build_sizes(&b, s->values[1 + s->states], 0, 1);
    }
    INGOT_TRY(add_inner(s, &b, outputs));
    for (size_t i = s->states; i < s->outputs && s->length; i++)
        outputs[i] = padded(s, &b, outputs[i]);
    INGOT_TRY(b.status);
    for (size_t i = 0; i < s->outputs; i++)
        INGOT_TRY(ingot_graph_add_output(s->sample, outputs[i], "", s->error));
    for (ingot_node *n = s->sample->first; n; n = n->next)
        INGOT_TRY(ingot_op_resolve(n, s->error));
    return INGOT_OK;
}

/* The node becomes the Scan over the batch. */
static ingot_status become_outer(scan_8 *s)
{
    size_t skipped = !has_lengths(s), operands = s->node->operand_count - skipped;
    size_t count = operands + s->body->capture_count;
    ingot_graph_value **inputs = ingot_arena_alloc_array(s->arena, count + 1, sizeof *inputs);
    if (!inputs)
        return ingot_fail_memory(s->error, count * sizeof *inputs, "a node");
    memcpy(inputs, s->node->inputs + skipped, operands * sizeof *inputs);
    for (size_t i = 0; i < s->body->capture_count; i++)
        inputs[operands + i] = s->node->inputs[s->body->capture_first + i];
    const ingot_attribute attributes[] = {
        {.name = "body", .type = INGOT_ATTRIBUTE_GRAPH, .body = 0},
        {.name = "num_scan_inputs", .type = INGOT_ATTRIBUTE_INT, .i = (int64_t)operands}};
    const ingot_body body = {"body", s->sample, operands, operands, s->body->capture_count};
    return ingot_node_become(s->node,
                             &(ingot_node_spec){.op_type = "Scan",
                                                .opset = INGOT_BUILD_OPSET,
                                                .inputs = inputs,
                                                .input_count = count,
                                                .operand_count = operands,
                                                .attributes = attributes,
                                                .attribute_count = 2,
                                                .bodies = &body,
                                                .body_count = 1},
                             s->error);
}

ingot_status ingot_upgrade_scan_8(ingot_node *node, ingot_error *error)
{
    scan_8 s = {.node = node, .error = error, .arena = node->graph->module->arena};
    s.body = ingot_node_body(node, "body");
    INGOT_TRY(check_counts(&s));
    INGOT_TRY(ingot_graph_create(node->graph->module, "", &s.sample, error));
    INGOT_TRY(add_inputs(&s));
    INGOT_TRY(fill_sample(&s));
    return become_outer(&s);
}
