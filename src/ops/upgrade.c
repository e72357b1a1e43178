#include "ops/upgrade.h"

#include <string.h>

#include "base/number.h"

void ingot_build_node(ingot_builder *b, const ingot_node_spec *spec)
{
    if (b->status == INGOT_OK)
        b->status = ingot_graph_add_node(b->graph, spec, b->before, NULL, b->error);
}

ingot_graph_value *ingot_build_value(ingot_builder *b, const char *name)
{
    ingot_graph_value *value = NULL;
    if (b->status == INGOT_OK)
        b->status = ingot_graph_add_value(b->graph, name, strlen(name), &value, b->error);
    return b->status == INGOT_OK ? value : NULL;
}

ingot_graph_value *ingot_build_with(ingot_builder *b, const char *op_type, ingot_graph_value *const *inputs,
                                    size_t count, const ingot_attribute *attributes, size_t attribute_count)
{
    ingot_graph_value *output = ingot_build_value(b, "");
    ingot_node_spec spec = {.op_type = op_type,
                            .name = b->name,
                            .opset = INGOT_BUILD_OPSET,
                            .inputs = inputs,
                            .input_count = count,
                            .operand_count = count,
                            .outputs = &output,
                            .output_count = 1,
                            .attributes = attributes,
                            .attribute_count = attribute_count};
    ingot_build_node(b, &spec);
    return b->status == INGOT_OK ? output : NULL;
}

ingot_graph_value *ingot_build_ints(ingot_builder *b, const int64_t *values, size_t count)
{
    ingot_graph_value *value = NULL;
    if (b->status == INGOT_OK)
        b->status = ingot_graph_add_constant_i64(b->graph, "", values, (int)count, &value, b->error);
    return b->status == INGOT_OK ? value : NULL;
}

static ingot_status add_number(ingot_builder *b, ingot_element element, double number, ingot_graph_value **value)
{
    ingot_value *content;
    INGOT_TRY(ingot_value_create_tensor(element, 0, NULL, NULL, 0, &content, b->error));
    ingot_store_double(element, content->data, 0, number);
    INGOT_TRY(ingot_module_own(b->graph->module, content, b->error));
    return ingot_graph_add_constant(b->graph, "", content, value, b->error);
}

ingot_graph_value *ingot_build_number(ingot_builder *b, ingot_element element, double value)
{
    ingot_graph_value *result = NULL;
    if (b->status == INGOT_OK)
        b->status = add_number(b, element, value, &result);
    return b->status == INGOT_OK ? result : NULL;
}

ingot_graph_value *ingot_build_sizes(ingot_builder *b, ingot_graph_value *value, int64_t first, int64_t end)
{
    const ingot_attribute range[] = {{.name = "start", .type = INGOT_ATTRIBUTE_INT, .i = first},
                                     {.name = "end", .type = INGOT_ATTRIBUTE_INT, .i = end}};
    return ingot_build_with(b, "Shape", &value, 1, range, 2);
}

/* ---- A node in another's place ---- */

static char *copy_text(ingot_node *node, const char *text)
{
    return ingot_arena_strndup(node->graph->module->arena, text, strlen(text));
}

static ingot_status set_inputs(ingot_node *node, const ingot_node_spec *spec, ingot_error *error)
{
    ingot_graph_value **inputs =
        ingot_arena_alloc_array(node->graph->module->arena, spec->input_count + 1, sizeof *inputs);
    if (!inputs)
        return ingot_fail_memory(error, spec->input_count * sizeof *inputs, "a node");
    for (size_t i = 0; i < node->input_count; i++)
        INGOT_TRY(ingot_node_set_input(node, i, NULL, error));
    node->inputs = inputs;
    node->input_count = spec->input_count;
    node->operand_count = spec->operand_count;
    for (size_t i = 0; i < spec->input_count; i++)
        INGOT_TRY(ingot_node_set_input(node, i, spec->inputs[i], error));
    return INGOT_OK;
}

ingot_status ingot_node_become(ingot_node *node, const ingot_node_spec *spec, ingot_error *error)
{
    ingot_arena *arena = node->graph->module->arena;
    node->domain = copy_text(node, spec->domain ? spec->domain : "ai.onnx");
    node->op_type = copy_text(node, spec->op_type);
    node->opset = spec->opset;
    node->attributes = ingot_arena_copy(arena, spec->attributes, spec->attribute_count * sizeof *node->attributes);
    node->attribute_count = spec->attribute_count;
    node->bodies = ingot_arena_copy(arena, spec->bodies, spec->body_count * sizeof *node->bodies);
    node->body_count = spec->body_count;
    if (!node->domain || !node->op_type || !node->attributes || !node->bodies)
        return ingot_fail_memory(error, sizeof *node, "a node");
    for (size_t i = 0; i < node->body_count; i++)
        node->bodies[i].graph->owner = node;
    return set_inputs(node, spec, error);
}
