/* If with a constant condition: the nodes of the branch taken move into the graph. The other branch is never looked at. */
#include <string.h>

#include "base/number.h"
#include "ops/control.h"
#include "passes/rewrite.h"

typedef struct inlining {
    ingot_node *node;           /* the If */
    ingot_graph_value **values; /* of the graph, by id of the branch's value */
    ingot_error *error;
} inlining;

static bool known_condition(const ingot_graph_value *value, bool *condition)
{
    if (ingot_graph_value_is_constant(value) && value->constant->kind == INGOT_KIND_TENSOR &&
        value->constant->element == INGOT_BOOL && ingot_value_count(value->constant) == 1) {
        *condition = ingot_load_i64(INGOT_BOOL, value->constant->data, 0) != 0;
        return true;
    }
    if (!value || !value->known || value->known_count != 1 || !ingot_dim_is_number(value->known[0]))
        return false;
    *condition = value->known[0] != 0;
    return true;
}

/* A stand-in in the graph for every value of the branch. */
static ingot_status map_values(inlining *in, const ingot_body *body)
{
    for (size_t i = 0; i < body->capture_count; i++)
        in->values[body->graph->inputs[body->formal_count + i]->id] = in->node->inputs[body->capture_first + i];
    for (size_t i = 0; i < body->graph->value_count; i++) {
        const ingot_graph_value *v = body->graph->values[i];
        if (in->values[i] || !(v->producer || (v->constant && ingot_value_is_read(v))))
            continue;
        INGOT_TRY(ingot_graph_add_value(in->node->graph, v->name, strlen(v->name), &in->values[i], in->error));
        in->values[i]->type = v->type;
        in->values[i]->constant = v->constant;
        in->values[i]->known = v->known;
        in->values[i]->known_count = v->known_count;
    }
    return INGOT_OK;
}

static ingot_status move_node(inlining *in, const ingot_node *n)
{
    ingot_arena *arena = n->graph->module->arena;
    ingot_graph_value **inputs = ingot_arena_alloc_array(arena, n->input_count + n->output_count + 1, sizeof *inputs);
    if (!inputs)
        return ingot_fail_memory(in->error, 0, "a pass");
    ingot_graph_value **outputs = inputs + n->input_count;
    for (size_t i = 0; i < n->input_count; i++)
        inputs[i] = n->inputs[i] ? in->values[n->inputs[i]->id] : NULL;
    for (size_t i = 0; i < n->output_count; i++)
        outputs[i] = n->outputs[i] ? in->values[n->outputs[i]->id] : NULL;
    ingot_node_spec spec = {.domain = n->domain,
                            .op_type = n->op_type,
                            .name = n->name,
                            .opset = n->opset,
                            .inputs = inputs,
                            .input_count = n->input_count,
                            .operand_count = n->operand_count,
                            .outputs = outputs,
                            .output_count = n->output_count,
                            .attributes = n->attributes,
                            .attribute_count = n->attribute_count,
                            .bodies = n->bodies,
                            .body_count = n->body_count};
    ingot_node *moved;
    INGOT_TRY(ingot_graph_add_node(in->node->graph, &spec, in->node, &moved, in->error));
    moved->op = n->op;
    moved->params = n->params;
    return INGOT_OK;
}

static ingot_status inline_body(inlining *in, const ingot_body *body)
{
    INGOT_TRY(map_values(in, body));
    for (const ingot_node *n = body->graph->first; n; n = n->next)
        INGOT_TRY(move_node(in, n));
    for (size_t i = 0; i < in->node->output_count; i++)
        if (in->node->outputs[i])
            INGOT_TRY(
                ingot_graph_replace_value(in->node->outputs[i], in->values[body->graph->outputs[i]->id], in->error));
    ingot_graph_remove_node(in->node);
    return INGOT_OK;
}

static ingot_status inline_branch(ingot_node *node, bool condition, ingot_error *error, bool *changed)
{
    const ingot_body *body = ingot_node_body(node, condition ? "then_branch" : "else_branch");
    if (!body || body->formal_count != 0 || body->graph->output_count < node->output_count)
        return INGOT_OK;
    inlining in = {.node = node, .error = error};
    in.values = ingot_calloc(body->graph->value_count + 1, sizeof *in.values);
    if (!in.values)
        return ingot_fail_memory(error, body->graph->value_count * sizeof *in.values, "a pass");
    ingot_status status = inline_body(&in, body);
    ingot_free(in.values);
    *changed = true;
    return status;
}

ingot_status ingot_pass_fold_if(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first, *next; n; n = next) {
        bool condition;
        next = n->next;
        if (ingot_node_is(n, "If") && known_condition(n->inputs[0], &condition))
            INGOT_TRY(inline_branch(n, condition, context->error, changed));
    }
    return INGOT_OK;
}
