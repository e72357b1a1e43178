#include <string.h>

#include "graph/graph.h"

/* Old objects to new ones: values and graphs by address would need a map; both keep dense ids, so arrays do. */
typedef struct copier {
    ingot_module *to;
    ingot_graph_value **values; /* of the graph being copied, by id */
    ingot_error *error;
} copier;

static ingot_status copy_graph(copier *c, const ingot_graph *from, ingot_graph **to, int depth);

static ingot_status copy_values(copier *c, const ingot_graph *from, ingot_graph *to)
{
    for (size_t i = 0; i < from->value_count; i++) {
        const ingot_graph_value *v = from->values[i];
        ingot_graph_value *copy;
        INGOT_TRY(ingot_graph_add_value(to, v->name, strlen(v->name), &copy, c->error));
        copy->type = v->type;
        copy->constant = v->constant;
        copy->known = v->known;
        copy->known_count = v->known_count;
        c->values[i] = copy;
    }
    for (size_t i = 0; i < from->input_count; i++)
        INGOT_TRY(ingot_graph_add_input(to, c->values[from->inputs[i]->id], c->error));
    return INGOT_OK;
}

static ingot_status copy_bodies(copier *c, const ingot_node *node, ingot_body *bodies, int depth)
{
    for (size_t i = 0; i < node->body_count; i++) {
        bodies[i] = node->bodies[i];
        INGOT_TRY(copy_graph(c, node->bodies[i].graph, &bodies[i].graph, depth + 1));
    }
    return INGOT_OK;
}

static ingot_status copy_node(copier *c, const ingot_node *node, ingot_graph *to, int depth)
{
    ingot_arena *arena = c->to->arena;
    ingot_graph_value **inputs = ingot_arena_alloc_array(arena, node->input_count + 1, sizeof *inputs);
    ingot_graph_value **outputs = ingot_arena_alloc_array(arena, node->output_count + 1, sizeof *outputs);
    ingot_body *bodies = ingot_arena_alloc_array(arena, node->body_count + 1, sizeof *bodies);
    if (!inputs || !outputs || !bodies)
        return ingot_fail_memory(c->error, 0, "the graph");
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = node->inputs[i] ? c->values[node->inputs[i]->id] : NULL;
    for (size_t i = 0; i < node->output_count; i++)
        outputs[i] = node->outputs[i] ? c->values[node->outputs[i]->id] : NULL;
    ingot_graph_value **values = c->values; /* bodies have their own */
    ingot_status status = copy_bodies(c, node, bodies, depth);
    c->values = values;
    INGOT_TRY(status);
    ingot_node_spec spec = {.domain = node->domain,
                            .op_type = node->op_type,
                            .name = node->name,
                            .opset = node->opset,
                            .inputs = inputs,
                            .input_count = node->input_count,
                            .operand_count = node->operand_count,
                            .outputs = outputs,
                            .output_count = node->output_count,
                            .attributes = node->attributes,
                            .attribute_count = node->attribute_count,
                            .bodies = bodies,
                            .body_count = node->body_count};
    ingot_node *copy;
    INGOT_TRY(ingot_graph_add_node(to, &spec, NULL, &copy, c->error));
    copy->op = node->op;
    copy->params = node->params;
    return INGOT_OK;
}

static ingot_status copy_graph(copier *c, const ingot_graph *from, ingot_graph **to, int depth)
{
    if (depth > INGOT_MAX_DEPTH)
        return ingot_fail(c->error, INGOT_INTERNAL, "bodies are nested deeper than %d", INGOT_MAX_DEPTH);
    c->values = ingot_arena_alloc_array(c->to->arena, from->value_count + 1, sizeof(ingot_graph_value *));
    if (!c->values)
        return ingot_fail_memory(c->error, from->value_count * sizeof(ingot_graph_value *), "the graph");
    INGOT_TRY(ingot_graph_create(c->to, from->name, to, c->error));
    INGOT_TRY(copy_values(c, from, *to));
    for (const ingot_node *n = from->first; n; n = n->next)
        INGOT_TRY(copy_node(c, n, *to, depth));
    for (size_t i = 0; i < from->output_count; i++)
        INGOT_TRY(ingot_graph_add_output(*to, c->values[from->outputs[i]->id], from->output_names[i], c->error));
    return INGOT_OK;
}

ingot_status ingot_module_copy(const ingot_module *from, ingot_budget *budget, ingot_module **copy, ingot_error *error)
{
    *copy = NULL;
    ingot_module *to;
    INGOT_TRY(ingot_module_create(budget, &to, error));
    ingot_dims *dims = ingot_dims_copy(from->dims);
    if (!dims) {
        ingot_module_release(to);
        return ingot_fail_memory(error, 0, "the graph's sizes");
    }
    ingot_dims_release(to->dims);
    to->dims = dims;
    copier c = {.to = to, .error = error};
    ingot_status status = copy_graph(&c, from->main, &to->main, 0);
    if (status != INGOT_OK) {
        ingot_module_release(to);
        return status;
    }
    *copy = to;
    return INGOT_OK;
}
