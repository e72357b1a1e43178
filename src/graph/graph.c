#include "graph/graph.h"

#include <string.h>

#include "base/block.h"

ingot_status ingot_module_create(ingot_budget *budget, ingot_module **module, ingot_error *error)
{
    *module = NULL;
    ingot_module *m = ingot_calloc(1, sizeof *m);
    if (!m)
        return ingot_fail_memory(error, sizeof *m, "the graph");
    m->budget = budget;
    m->arena = ingot_arena_create();
    m->dims = ingot_dims_create();
    if (!m->arena || !m->dims) {
        ingot_module_release(m);
        return ingot_fail_memory(error, sizeof *m, "the graph");
    }
    *module = m;
    return INGOT_OK;
}

/* Use lists and value tables grow, so they are not in the arena; they hang on the graphs, which the arena lists. */
static void release_graph_tables(ingot_graph *graph)
{
    for (size_t i = 0; i < graph->value_count; i++)
        ingot_free(graph->values[i]->uses);
    ingot_free(graph->values);
    ingot_free(graph->inputs);
    ingot_free(graph->outputs);
    ingot_free(graph->output_names);
}

void ingot_module_release(ingot_module *module)
{
    if (!module)
        return;
    for (size_t i = 0; i < module->graph_count; i++)
        release_graph_tables(module->graphs[i]);
    ingot_free(module->graphs);
    for (size_t i = 0; i < module->owned_count; i++)
        ingot_value_release(module->owned_values[i]);
    ingot_free(module->owned_values);
    ingot_dims_release(module->dims);
    ingot_arena_release(module->arena);
    ingot_free(module);
}

static void *module_alloc(ingot_module *module, size_t count, size_t size, ingot_error *error)
{
    void *memory = ingot_arena_alloc_array(module->arena, count, size);
    if (!memory)
        ingot_fail_memory(error, count * size, "the graph");
    return memory;
}

static const char *copy_text(ingot_module *module, const char *text, size_t length, ingot_error *error)
{
    if (!text || length == 0)
        return "";
    const char *copy = ingot_arena_strndup(module->arena, text, length);
    if (!copy)
        ingot_fail_memory(error, length, "a name");
    return copy;
}

ingot_status ingot_graph_create(ingot_module *module, const char *name, ingot_graph **graph, ingot_error *error)
{
    ingot_graph *g = module_alloc(module, 1, sizeof *g, error);
    if (!g)
        return INGOT_OUT_OF_MEMORY;
    g->module = module;
    g->name = copy_text(module, name, name ? strlen(name) : 0, error);
    if (!g->name)
        return INGOT_OUT_OF_MEMORY;
    INGOT_TRY(
        ingot_grow(&module->graphs, &module->graph_capacity, module->graph_count + 1, sizeof *module->graphs, error));
    module->graphs[module->graph_count++] = g;
    *graph = g;
    return INGOT_OK;
}

ingot_status ingot_graph_add_value(ingot_graph *graph, const char *name, size_t length, ingot_graph_value **value,
                                   ingot_error *error)
{
    INGOT_TRY(ingot_grow(&graph->values, &graph->value_capacity, graph->value_count + 1, sizeof *graph->values, error));
    ingot_graph_value *v = module_alloc(graph->module, 1, sizeof *v, error);
    if (!v)
        return INGOT_OUT_OF_MEMORY;
    v->name = copy_text(graph->module, name, length, error);
    if (!v->name)
        return INGOT_OUT_OF_MEMORY;
    v->graph = graph;
    v->type.rank = -1;
    v->id = graph->value_count;
    graph->values[graph->value_count++] = v;
    *value = v;
    return INGOT_OK;
}

ingot_status ingot_graph_add_input(ingot_graph *graph, ingot_graph_value *value, ingot_error *error)
{
    INGOT_TRY(ingot_grow(&graph->inputs, &graph->input_capacity, graph->input_count + 1, sizeof *graph->inputs, error));
    graph->inputs[graph->input_count++] = value;
    value->is_input = true;
    return INGOT_OK;
}

void ingot_graph_assume_defaults(ingot_graph *graph)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->input_count; i++) {
        if (graph->inputs[i]->constant)
            graph->inputs[i]->is_input = false;
        else
            graph->inputs[count++] = graph->inputs[i];
    }
    graph->input_count = count;
}

ingot_status ingot_graph_add_output(ingot_graph *graph, ingot_graph_value *value, const char *name, ingot_error *error)
{
    size_t count = graph->output_count;
    INGOT_TRY(ingot_grow(&graph->outputs, &graph->output_capacity, count + 1, sizeof *graph->outputs, error));
    INGOT_TRY(
        ingot_grow(&graph->output_names, &graph->output_name_capacity, count + 1, sizeof *graph->output_names, error));
    const char *copy = copy_text(graph->module, name, strlen(name), error);
    if (!copy)
        return INGOT_OUT_OF_MEMORY;
    graph->outputs[count] = value;
    graph->output_names[count] = copy;
    graph->output_count++;
    value->output_count++;
    return INGOT_OK;
}

ingot_status ingot_graph_add_constant(ingot_graph *graph, const char *name, const ingot_value *content,
                                      ingot_graph_value **value, ingot_error *error)
{
    INGOT_TRY(ingot_graph_add_value(graph, name, name ? strlen(name) : 0, value, error));
    (*value)->constant = content;
    (*value)->type = ingot_type_of_value(content);
    return INGOT_OK;
}

ingot_status ingot_module_own(ingot_module *module, ingot_value *content, ingot_error *error)
{
    ingot_status status = ingot_grow(&module->owned_values, &module->owned_capacity, module->owned_count + 1,
                                     sizeof *module->owned_values, error);
    if (status != INGOT_OK) {
        ingot_value_release(content);
        return status;
    }
    module->owned_values[module->owned_count++] = content;
    return INGOT_OK;
}

ingot_status ingot_module_align(ingot_module *module, const ingot_value **content, ingot_error *error)
{
    if (ingot_value_is_aligned(*content))
        return INGOT_OK;
    ingot_value *copy = NULL;
    const ingot_value *from = *content;
    size_t bytes = ingot_value_bytes(from);
    if (module->budget)
        INGOT_TRY(ingot_budget_take(module->budget, bytes, "a constant", error));
    INGOT_TRY(ingot_value_create_like(from, &copy, error));
    ingot_memory_touch(copy->data, bytes, 1, 0);
    memcpy(copy->data, from->data, bytes);
    *content = copy;
    return ingot_module_own(module, copy, error);
}

ingot_status ingot_graph_add_constant_i64(ingot_graph *graph, const char *name, const int64_t *values, int count,
                                          ingot_graph_value **value, ingot_error *error)
{
    ingot_value *content = NULL;
    int64_t dims[1] = {count};
    size_t elements = count < 0 ? 1 : (size_t)count;
    INGOT_TRY(ingot_value_create_tensor(INGOT_INT64, count < 0 ? 0 : 1, dims, NULL, 0, &content, error));
    if (elements > 0)
        memcpy(content->data, values, elements * sizeof *values);
    INGOT_TRY(ingot_module_own(graph->module, content, error));
    return ingot_graph_add_constant(graph, name, content, value, error);
}

/* ---- Uses ---- */

static ingot_status add_use(ingot_graph_value *value, ingot_node *node, size_t index, ingot_error *error)
{
    INGOT_TRY(ingot_grow(&value->uses, &value->use_capacity, value->use_count + 1, sizeof *value->uses, error));
    value->uses[value->use_count++] = (ingot_use){.node = node, .index = index};
    return INGOT_OK;
}

static void remove_use(ingot_graph_value *value, const ingot_node *node, size_t index)
{
    for (size_t i = 0; i < value->use_count; i++) {
        if (value->uses[i].node != node || value->uses[i].index != index)
            continue;
        value->uses[i] = value->uses[--value->use_count];
        return;
    }
}

static void move_use(ingot_graph_value *value, const ingot_node *node, size_t from, size_t to)
{
    for (size_t i = 0; i < value->use_count; i++) {
        if (value->uses[i].node != node || value->uses[i].index != from)
            continue;
        value->uses[i].index = to;
        return;
    }
}

/* ---- Nodes ---- */

static void link_before(ingot_graph *graph, ingot_node *node, ingot_node *before)
{
    node->next = before;
    node->previous = before ? before->previous : graph->last;
    *(node->previous ? &node->previous->next : &graph->first) = node;
    *(before ? &before->previous : &graph->last) = node;
    graph->node_count++;
}

static ingot_status fill_node(ingot_graph *graph, const ingot_node_spec *spec, ingot_node *n, ingot_error *error)
{
    ingot_module *m = graph->module;
    const char *domain = spec->domain && spec->domain[0] ? spec->domain : "ai.onnx";
    n->graph = graph;
    n->id = m->next_id++;
    n->opset = spec->opset;
    n->domain = copy_text(m, domain, strlen(domain), error);
    n->op_type = copy_text(m, spec->op_type, strlen(spec->op_type), error);
    n->name = copy_text(m, spec->name, spec->name ? strlen(spec->name) : 0, error);
    n->inputs = module_alloc(m, spec->input_count + 1, sizeof *n->inputs, error);
    n->outputs = module_alloc(m, spec->output_count + 1, sizeof *n->outputs, error);
    n->attributes = module_alloc(m, spec->attribute_count + 1, sizeof *n->attributes, error);
    n->bodies = module_alloc(m, spec->body_count + 1, sizeof *n->bodies, error);
    if (!n->domain || !n->op_type || !n->name || !n->inputs || !n->outputs || !n->attributes || !n->bodies)
        return INGOT_OUT_OF_MEMORY;
    n->input_count = spec->input_count;
    n->operand_count = spec->operand_count;
    n->output_count = spec->output_count;
    n->attribute_count = spec->attribute_count;
    n->body_count = spec->body_count;
    if (spec->attribute_count)
        memcpy(n->attributes, spec->attributes, spec->attribute_count * sizeof *n->attributes);
    if (spec->body_count)
        memcpy(n->bodies, spec->bodies, spec->body_count * sizeof *n->bodies);
    for (size_t i = 0; i < n->body_count; i++)
        n->bodies[i].graph->owner = n;
    return INGOT_OK;
}

ingot_status ingot_graph_add_node(ingot_graph *graph, const ingot_node_spec *spec, ingot_node *before,
                                  ingot_node **node, ingot_error *error)
{
    ingot_node *n = module_alloc(graph->module, 1, sizeof *n, error);
    if (!n)
        return INGOT_OUT_OF_MEMORY;
    INGOT_TRY(fill_node(graph, spec, n, error));
    for (size_t i = 0; i < n->input_count; i++) {
        n->inputs[i] = spec->inputs[i];
        if (n->inputs[i])
            INGOT_TRY(add_use(n->inputs[i], n, i, error));
    }
    for (size_t i = 0; i < n->output_count; i++) {
        n->outputs[i] = spec->outputs[i];
        if (!n->outputs[i])
            continue;
        n->outputs[i]->producer = n;
        n->outputs[i]->producer_index = i;
    }
    link_before(graph, n, before);
    if (node)
        *node = n;
    return INGOT_OK;
}

ingot_status ingot_node_set_input(ingot_node *node, size_t index, ingot_graph_value *value, ingot_error *error)
{
    if (index >= node->input_count)
        return ingot_node_fail(node, error, INGOT_INTERNAL, "input %zu does not exist", index);
    if (node->inputs[index] == value)
        return INGOT_OK;
    if (value)
        INGOT_TRY(add_use(value, node, index, error));
    if (node->inputs[index])
        remove_use(node->inputs[index], node, index);
    node->inputs[index] = value;
    return INGOT_OK;
}

ingot_status ingot_node_add_input(ingot_node *node, ingot_graph_value *value, ingot_error *error)
{
    size_t count = node->input_count;
    ingot_graph_value **inputs = module_alloc(node->graph->module, count + 2, sizeof *inputs, error);
    if (!inputs)
        return INGOT_OUT_OF_MEMORY;
    size_t at = node->operand_count;
    if (value)
        INGOT_TRY(ingot_grow(&value->uses, &value->use_capacity, value->use_count + 1, sizeof *value->uses, error));
    memcpy(inputs, node->inputs, at * sizeof *inputs);
    memcpy(inputs + at + 1, node->inputs + at, (count - at) * sizeof *inputs);
    for (size_t i = count; i-- > at;) /* downwards, so that no use is moved twice */
        if (node->inputs[i])
            move_use(node->inputs[i], node, i, i + 1);
    if (value)
        value->uses[value->use_count++] = (ingot_use){.node = node, .index = at};
    inputs[at] = value;
    node->inputs = inputs;
    node->input_count++;
    node->operand_count++;
    for (size_t i = 0; i < node->body_count; i++)
        node->bodies[i].capture_first++;
    return INGOT_OK;
}

ingot_status ingot_graph_replace_value(ingot_graph_value *from, ingot_graph_value *to, ingot_error *error)
{
    if (from == to)
        return INGOT_OK;
    INGOT_TRY(ingot_grow(&to->uses, &to->use_capacity, to->use_count + from->use_count, sizeof *to->uses, error));
    for (size_t i = 0; i < from->use_count; i++) {
        from->uses[i].node->inputs[from->uses[i].index] = to;
        to->uses[to->use_count++] = from->uses[i];
    }
    from->use_count = 0;
    for (size_t i = 0; from->output_count > 0 && i < from->graph->output_count; i++) {
        if (from->graph->outputs[i] != from)
            continue;
        from->graph->outputs[i] = to;
        from->output_count--;
        to->output_count++;
    }
    return INGOT_OK;
}

void ingot_graph_remove_node(ingot_node *node)
{
    ingot_graph *graph = node->graph;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i])
            remove_use(node->inputs[i], node, i);
    for (size_t i = 0; i < node->output_count; i++)
        if (node->outputs[i])
            node->outputs[i]->producer = NULL;
    *(node->previous ? &node->previous->next : &graph->first) = node->next;
    *(node->next ? &node->next->previous : &graph->last) = node->previous;
    node->previous = node->next = NULL;
    graph->node_count--;
}

const ingot_attribute *ingot_node_attribute(const ingot_node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, name) == 0)
            return &node->attributes[i];
    return NULL;
}
