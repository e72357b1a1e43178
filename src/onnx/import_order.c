/* The order of nodes. Depth-first over what each node needs, on a stack of our own, so that a long chain that stands
 * backwards in the file takes no C stack. */
#include "onnx/importer.h"

typedef enum node_state { WAITING, OPEN, DONE } node_state;

typedef struct visit {
    size_t node;
    size_t next; /* the name to look at next: below end in names */
    size_t end;
} visit;

typedef struct names {
    ingot_span *items;
    size_t count, capacity;
} names;

typedef struct orderer {
    ingot_importer *importer;
    const ingot_scope *scope;
    const ingot_node_proto *nodes;
    size_t node_count;
    ingot_map producers; /* name -> number of its node + 1, as a pointer */
    node_state *states;
    visit *visits;
    size_t visit_count, visit_capacity;
    names needed; /* of the open visits, one behind the other */
    size_t *order;
    size_t ordered;
} orderer;

static ingot_status add_name(ingot_importer *importer, names *list, ingot_span name)
{
    if (name.size == 0)
        return INGOT_OK;
    INGOT_TRY(ingot_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, importer->error));
    list->items[list->count++] = name;
    return INGOT_OK;
}

/* ---- What a node needs ---- */

static ingot_status add_node_names(ingot_importer *importer, const ingot_node_proto *node, names *list);

static ingot_status mark(ingot_importer *importer, ingot_map *defined, ingot_span name)
{
    static char here;
    return name.size == 0 ? INGOT_OK : ingot_map_put(defined, name.data, name.size, &here, NULL, importer->error);
}

/* The names that a graph defines itself. */
static ingot_status collect_defined(ingot_importer *importer, const ingot_graph_proto *graph, ingot_map *defined)
{
    const ingot_value_info_proto *inputs = graph->inputs.items;
    const ingot_tensor_proto *tensors = graph->initializers.items;
    const ingot_sparse_proto *sparses = graph->sparse_initializers.items;
    const ingot_node_proto *nodes = graph->nodes.items;
    for (size_t i = 0; i < graph->inputs.count; i++)
        INGOT_TRY(mark(importer, defined, inputs[i].name));
    for (size_t i = 0; i < graph->initializers.count; i++)
        INGOT_TRY(mark(importer, defined, tensors[i].name));
    for (size_t i = 0; i < graph->sparse_initializers.count; i++)
        if (sparses[i].values != NULL)
            INGOT_TRY(mark(importer, defined, sparses[i].values->name));
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const ingot_span *outputs = nodes[i].outputs.items;
        for (size_t j = 0; j < nodes[i].outputs.count; j++)
            INGOT_TRY(mark(importer, defined, outputs[j]));
    }
    return INGOT_OK;
}

/* Adds the names that a graph needs from outside. Recursion is as deep as graphs nest, which the reader has bounded. */
static ingot_status add_graph_names(ingot_importer *importer, const ingot_graph_proto *graph, names *list)
{
    ingot_map defined = {0};
    const ingot_node_proto *nodes = graph->nodes.items;
    const ingot_value_info_proto *outputs = graph->outputs.items;
    size_t first = list->count;
    ingot_status status = collect_defined(importer, graph, &defined);
    for (size_t i = 0; i < graph->nodes.count && status == INGOT_OK; i++)
        status = add_node_names(importer, &nodes[i], list);
    for (size_t i = 0; i < graph->outputs.count && status == INGOT_OK; i++)
        status = add_name(importer, list, outputs[i].name);
    size_t kept = first;
    for (size_t i = first; i < list->count; i++)
        if (ingot_map_get(&defined, list->items[i].data, list->items[i].size) == NULL)
            list->items[kept++] = list->items[i];
    list->count = kept;
    ingot_map_clear(&defined);
    return status;
}

static ingot_status add_node_names(ingot_importer *importer, const ingot_node_proto *node, names *list)
{
    const ingot_span *inputs = node->inputs.items;
    const ingot_attribute_proto *attributes = node->attributes.items;
    for (size_t i = 0; i < node->inputs.count; i++)
        INGOT_TRY(add_name(importer, list, inputs[i]));
    for (size_t i = 0; i < node->attributes.count; i++) {
        const ingot_graph_proto *graphs = attributes[i].graphs.items;
        if (attributes[i].g != NULL)
            INGOT_TRY(add_graph_names(importer, attributes[i].g, list));
        for (size_t j = 0; j < attributes[i].graphs.count; j++)
            INGOT_TRY(add_graph_names(importer, &graphs[j], list));
    }
    return INGOT_OK;
}

/* ---- The order ---- */

static ingot_status add_producer(orderer *o, size_t node, ingot_span name)
{
    ingot_error *error = o->importer->error;
    void *previous = NULL;
    if (name.size == 0)
        return INGOT_OK;
    if (ingot_map_get(&o->scope->names, name.data, name.size) != NULL)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "output '%.*s' has the name of an input or initializer of the graph", INGOT_SPAN_ARG(name));
    INGOT_TRY(ingot_map_put(&o->producers, name.data, name.size, (void *)(uintptr_t)(node + 1), &previous, error));
    if (previous == (void *)(uintptr_t)(node + 1))
        return ingot_fail(error, INGOT_INVALID_MODEL, "it names the output '%.*s' twice", INGOT_SPAN_ARG(name));
    if (previous != NULL)
        return ingot_fail(error, INGOT_INVALID_MODEL, "output '%.*s' is the output of another node, too",
                          INGOT_SPAN_ARG(name));
    return INGOT_OK;
}

static ingot_status find_producers(orderer *o)
{
    for (size_t i = 0; i < o->node_count; i++) {
        const ingot_span *outputs = o->nodes[i].outputs.items;
        for (size_t j = 0; j < o->nodes[i].outputs.count; j++)
            if (add_producer(o, i, outputs[j]) != INGOT_OK)
                return ingot_import_fail_at_node(o->importer, o->scope, &o->nodes[i]);
    }
    return INGOT_OK;
}

static ingot_status open_node(orderer *o, size_t node)
{
    size_t first = o->needed.count;
    INGOT_TRY(ingot_grow(&o->visits, &o->visit_capacity, o->visit_count + 1, sizeof *o->visits, o->importer->error));
    INGOT_TRY(add_node_names(o->importer, &o->nodes[node], &o->needed));
    o->visits[o->visit_count++] = (visit){.node = node, .next = first, .end = o->needed.count};
    o->states[node] = OPEN;
    return INGOT_OK;
}

static void close_node(orderer *o, size_t first)
{
    size_t node = o->visits[--o->visit_count].node;
    o->needed.count = first;
    o->states[node] = DONE;
    o->order[o->ordered++] = node;
}

static ingot_status fail_cycle(orderer *o, size_t node, ingot_span name)
{
    ingot_fail(o->importer->error, INGOT_INVALID_MODEL,
               "it is part of a cycle: its output '%.*s' is needed to compute it", INGOT_SPAN_ARG(name));
    return ingot_import_fail_at_node(o->importer, o->scope, &o->nodes[node]);
}

/* Opens nodes until the first one and all that it needs is done. */
static ingot_status order_from(orderer *o, size_t root)
{
    INGOT_TRY(open_node(o, root));
    while (o->visit_count > 0) {
        visit *v = &o->visits[o->visit_count - 1];
        if (v->next == v->end) {
            close_node(o, o->visit_count > 1 ? o->visits[o->visit_count - 2].end : 0);
            continue;
        }
        ingot_span name = o->needed.items[v->next++];
        uintptr_t producer = (uintptr_t)ingot_map_get(&o->producers, name.data, name.size);
        if (producer == 0 || o->states[producer - 1] == DONE)
            continue;
        if (o->states[producer - 1] == OPEN)
            return fail_cycle(o, producer - 1, name);
        INGOT_TRY(open_node(o, producer - 1));
    }
    return INGOT_OK;
}

static ingot_status order_all(orderer *o)
{
    INGOT_TRY(find_producers(o));
    for (size_t i = 0; i < o->node_count; i++)
        if (o->states[i] == WAITING)
            INGOT_TRY(order_from(o, i));
    return INGOT_OK;
}

ingot_status ingot_import_order(ingot_importer *importer, const ingot_scope *scope, const ingot_proto_list *nodes,
                                size_t *order)
{
    orderer o = {.importer = importer,
                 .scope = scope,
                 .nodes = nodes->items,
                 .node_count = nodes->count,
                 .states = ingot_calloc(nodes->count, sizeof *o.states),
                 .order = order};
    ingot_status status =
        o.states != NULL ? order_all(&o) : ingot_fail_memory(importer->error, nodes->count, "the order of nodes");
    ingot_map_clear(&o.producers);
    ingot_free(o.states);
    ingot_free(o.visits);
    ingot_free(o.needed.items);
    return status;
}
