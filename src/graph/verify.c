#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

const char *ingot_node_describe(const ingot_node *node, char *text, size_t size)
{
    bool standard = strcmp(node->domain, "ai.onnx") == 0;
    const char *domain = standard ? "" : node->domain, *mark = standard ? "" : "::";
    if (node->name[0]) {
        snprintf(text, size, "node '%s' (%s%s%s)", node->name, domain, mark, node->op_type);
        return text;
    }
    const char *output = "";
    for (size_t i = 0; i < node->output_count && !output[0]; i++)
        if (node->outputs[i])
            output = node->outputs[i]->name;
    snprintf(text, size, "node %s%s%s -> '%s'", domain, mark, node->op_type, output);
    return text;
}

ingot_status ingot_node_fail_at(const ingot_node *node, ingot_error *error)
{
    char where[256];
    if (!error)
        return INGOT_INTERNAL;
    ingot_node_describe(node, where, sizeof where);
    if (strncmp(error->message, "node ", 5) == 0) /* an inner node is the better place */
        return error->status;
    return ingot_fail_at(error, "%s", where);
}

ingot_status ingot_node_fail(const ingot_node *node, ingot_error *error, ingot_status status, const char *format, ...)
{
    char where[256], message[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ingot_fail(error, status, "%s: %s", ingot_node_describe(node, where, sizeof where), message);
}

static ingot_status broken(const ingot_node *node, ingot_error *error, const char *what)
{
    return ingot_node_fail(node, error, INGOT_INTERNAL, "the graph is broken: %s", what);
}

static bool lists_use(const ingot_graph_value *value, const ingot_node *node, size_t index)
{
    for (size_t i = 0; i < value->use_count; i++)
        if (value->uses[i].node == node && value->uses[i].index == index)
            return true;
    return false;
}

/* seen[id]: defined by an earlier node, or not by a node at all. */
static ingot_status verify_node(const ingot_node *node, bool *seen, ingot_error *error)
{
    if (node->operand_count > node->input_count)
        return broken(node, error, "more operands than inputs");
    for (size_t i = 0; i < node->input_count; i++) {
        const ingot_graph_value *v = node->inputs[i];
        if (!v)
            continue;
        if (v->graph != node->graph)
            return broken(node, error, "an input belongs to another graph");
        if (!seen[v->id])
            return broken(node, error, "an input is used before it is defined");
        if (!lists_use(v, node, i))
            return broken(node, error, "a use is not listed");
    }
    for (size_t i = 0; i < node->output_count; i++) {
        const ingot_graph_value *v = node->outputs[i];
        if (!v)
            continue;
        if (v->producer != node || v->producer_index != i || v->graph != node->graph || seen[v->id])
            return broken(node, error, "an output is not its own");
        seen[v->id] = true;
    }
    for (size_t i = 0; i < node->body_count; i++) {
        const ingot_body *b = &node->bodies[i];
        if (b->formal_count + b->capture_count != b->graph->input_count ||
            b->capture_first + b->capture_count > node->input_count || b->capture_first < node->operand_count)
            return broken(node, error, "the captures of a body do not fit its inputs");
        INGOT_TRY(ingot_graph_verify(b->graph, error));
    }
    return INGOT_OK;
}

static ingot_status verify_uses(const ingot_graph *graph, ingot_error *error)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        const ingot_graph_value *v = graph->values[i];
        for (size_t u = 0; u < v->use_count; u++) {
            const ingot_node *node = v->uses[u].node;
            if (v->uses[u].index >= node->input_count || node->inputs[v->uses[u].index] != v)
                return broken(node, error, "a listed use does not exist");
        }
    }
    return INGOT_OK;
}

ingot_status ingot_graph_verify(const ingot_graph *graph, ingot_error *error)
{
    bool *seen = ingot_calloc(graph->value_count + 1, sizeof *seen);
    if (!seen)
        return ingot_fail_memory(error, graph->value_count, "the check of the graph");
    for (size_t i = 0; i < graph->value_count; i++)
        seen[i] = graph->values[i]->is_input || graph->values[i]->constant;
    ingot_status status = INGOT_OK;
    size_t count = 0;
    for (const ingot_node *n = graph->first; n && status == INGOT_OK; n = n->next, count++)
        status = verify_node(n, seen, error);
    if (status == INGOT_OK && count != graph->node_count)
        status = ingot_fail(error, INGOT_INTERNAL, "the graph is broken: its list holds another number of nodes");
    for (size_t i = 0; i < graph->output_count && status == INGOT_OK; i++)
        if (!seen[graph->outputs[i]->id])
            status = ingot_fail(error, INGOT_INTERNAL, "the graph is broken: output '%s' is not defined",
                                graph->output_names[i]);
    ingot_free(seen);
    INGOT_TRY(status);
    return verify_uses(graph, error);
}
