/* Equal constants and equal nodes are kept once: all that read the later one read the first. */
#include "passes/rewrite.h"
#include "passes/twins.h"

/* Open addressing. What was met, under its hash: nodes or values. */
typedef struct slot {
    uint64_t hash;
    void *item; /* NULL: free */
} slot;

typedef struct table {
    slot *slots;
    size_t mask;
} table;

typedef bool (*same_function)(const void *met, const void *item);

static ingot_status open_table(table *t, size_t count, ingot_error *error)
{
    size_t capacity = 16;
    while (capacity / 2 < count)
        capacity *= 2;
    t->slots = ingot_calloc(capacity, sizeof *t->slots);
    t->mask = capacity - 1;
    return t->slots ? INGOT_OK : ingot_fail_memory(error, capacity * sizeof *t->slots, "a pass");
}

/* The equal item met before, or NULL: then item is kept for those to come. */
static void *meet(table *t, uint64_t hash, void *item, same_function same)
{
    size_t i = hash & t->mask;
    for (; t->slots[i].item; i = (i + 1) & t->mask)
        if (t->slots[i].hash == hash && same(t->slots[i].item, item))
            return t->slots[i].item;
    t->slots[i] = (slot){hash, item};
    return NULL;
}

static bool same_constants(const void *met, const void *item)
{
    return ingot_same_content(((const ingot_graph_value *)met)->constant, ((const ingot_graph_value *)item)->constant);
}

static bool same_nodes(const void *met, const void *item)
{
    return ingot_same_node(met, item);
}

static ingot_status merge_constants(ingot_graph *graph, table *t, ingot_error *error, bool *changed)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        ingot_graph_value *v = graph->values[i];
        if (!ingot_graph_value_is_constant(v) || !ingot_value_is_read(v) || v->constant->kind != INGOT_KIND_TENSOR)
            continue;
        ingot_graph_value *first = meet(t, ingot_hash_content(v->constant), v, same_constants);
        if (!first)
            continue;
        INGOT_TRY(ingot_graph_replace_value(v, first, error));
        *changed = true;
    }
    return INGOT_OK;
}

static ingot_status merge_nodes(ingot_graph *graph, table *t, ingot_error *error, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        if (!n->op || (n->op->flags & (INGOT_OP_RANDOM | INGOT_OP_CONTROL)) || n->body_count > 0)
            continue;
        const ingot_node *first = meet(t, ingot_hash_node(n), n, same_nodes);
        for (size_t i = 0; first && i < n->output_count; i++) {
            if (!ingot_value_is_read(n->outputs[i]))
                continue;
            INGOT_TRY(ingot_graph_replace_value(n->outputs[i], first->outputs[i], error));
            *changed = true;
        }
    }
    return INGOT_OK;
}

ingot_status ingot_pass_merge_duplicates(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    table constants = {0}, nodes = {0};
    ingot_status status = open_table(&constants, graph->value_count, context->error);
    if (status == INGOT_OK)
        status = open_table(&nodes, graph->node_count, context->error);
    if (status == INGOT_OK)
        status = merge_constants(graph, &constants, context->error, changed);
    if (status == INGOT_OK)
        status = merge_nodes(graph, &nodes, context->error, changed);
    ingot_free(constants.slots);
    ingot_free(nodes.slots);
    return status;
}
