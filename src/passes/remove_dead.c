/* What nothing reads goes: nodes, outputs that an operator may leave out, captures that a body does not use. */
#include "passes/rewrite.h"

static bool is_dead(const ingot_node *node)
{
    for (size_t i = 0; i < node->output_count; i++)
        if (ingot_value_is_read(node->outputs[i]))
            return false;
    return true;
}

/* Left out as if the model had never asked for them, so that kernels need not compute them. */
static void drop_outputs(ingot_node *node, bool *changed)
{
    const ingot_schema *schema = ingot_op_schema(node);
    for (size_t i = 0; schema && i < node->output_count; i++) {
        const ingot_schema_value *output = ingot_schema_output(schema, i);
        if (!node->outputs[i] || ingot_value_is_read(node->outputs[i]) || !output ||
            output->option != INGOT_SCHEMA_OPTIONAL)
            continue;
        node->outputs[i]->producer = NULL;
        node->outputs[i] = NULL;
        *changed = true;
    }
    while (node->output_count > 1 && !node->outputs[node->output_count - 1])
        node->output_count--;
}

static ingot_status drop_captures(ingot_node *node, ingot_error *error, bool *changed)
{
    bool found = false, *drop = ingot_calloc(node->input_count + 1, sizeof *drop);
    if (!drop)
        return ingot_fail_memory(error, node->input_count, "a pass");
    for (size_t b = 0; b < node->body_count; b++) {
        const ingot_body *body = &node->bodies[b];
        for (size_t i = 0; i < body->capture_count; i++) {
            drop[body->capture_first + i] = !ingot_value_is_read(body->graph->inputs[body->formal_count + i]);
            found |= drop[body->capture_first + i];
        }
    }
    ingot_status status = found ? ingot_drop_captures(node, drop, error) : INGOT_OK;
    ingot_free(drop);
    *changed |= found;
    return status;
}

ingot_status ingot_pass_remove_dead(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->last, *previous; n; n = previous) {
        previous = n->previous;
        if (is_dead(n)) {
            ingot_graph_remove_node(n);
            *changed = true;
            continue;
        }
        drop_outputs(n, changed);
        if (n->body_count > 0)
            INGOT_TRY(drop_captures(n, context->error, changed));
    }
    return INGOT_OK;
}
