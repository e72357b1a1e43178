/* Constants that a body captures become its own, so that folding and packing see them; what it captures twice comes in once. */
#include <string.h>

#include "passes/rewrite.h"

/* What the captures of one node need while they are looked through. */
typedef struct captures {
    ingot_node *node;
    ingot_graph_value **inner; /* by id of an outer value: the capture that it feeds in the body at hand */
    bool *drop;                /* by node input */
    ingot_error *error;
    bool found;
} captures;

static ingot_status move_constant(captures *c, ingot_graph *body, ingot_graph_value *outer, ingot_graph_value *inner)
{
    ingot_graph_value *constant;
    INGOT_TRY(ingot_graph_add_constant(body, inner->name, outer->constant, &constant, c->error));
    constant->type = outer->type;
    return ingot_graph_replace_value(inner, constant, c->error);
}

static ingot_status visit_body(captures *c, const ingot_body *body)
{
    for (size_t i = 0; i < body->capture_count; i++) {
        ingot_graph_value *outer = c->node->inputs[body->capture_first + i];
        ingot_graph_value *inner = body->graph->inputs[body->formal_count + i], **first = &c->inner[outer->id];
        bool constant = ingot_graph_value_is_constant(outer);
        if (constant)
            INGOT_TRY(move_constant(c, body->graph, outer, inner));
        else if (*first)
            INGOT_TRY(ingot_graph_replace_value(inner, *first, c->error));
        else
            *first = inner;
        c->drop[body->capture_first + i] = constant || *first != inner;
        c->found |= c->drop[body->capture_first + i];
    }
    for (size_t i = 0; i < body->capture_count; i++)
        c->inner[c->node->inputs[body->capture_first + i]->id] = NULL;
    return INGOT_OK;
}

static ingot_status visit_node(captures *c)
{
    ingot_status status = INGOT_OK;
    c->found = false;
    c->drop = ingot_calloc(c->node->input_count + 1, sizeof *c->drop);
    if (!c->drop)
        return ingot_fail_memory(c->error, c->node->input_count, "a pass");
    for (size_t i = 0; i < c->node->body_count && status == INGOT_OK; i++)
        status = visit_body(c, &c->node->bodies[i]);
    if (status == INGOT_OK && c->found)
        status = ingot_drop_captures(c->node, c->drop, c->error);
    ingot_free(c->drop);
    return status;
}

/* The driver comes to inner graphs first, but constants come from outside: a body that got some is looked through again. */
ingot_status ingot_pass_constants_into_bodies(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    captures c = {.error = context->error};
    ingot_status status = INGOT_OK;
    for (c.node = graph->first; c.node && status == INGOT_OK; c.node = c.node->next) {
        if (c.node->body_count == 0)
            continue;
        if (!c.inner)
            c.inner = ingot_calloc(graph->value_count + 1, sizeof *c.inner);
        status = c.inner ? visit_node(&c) : ingot_fail_memory(context->error, graph->value_count, "a pass");
        *changed |= c.found;
        for (size_t i = 0; i < c.node->body_count && status == INGOT_OK && c.found; i++)
            status = ingot_pass_constants_into_bodies(c.node->bodies[i].graph, context, changed);
    }
    ingot_free(c.inner);
    return status;
}
