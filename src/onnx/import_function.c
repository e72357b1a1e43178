/* Model-local functions: every call becomes the function's nodes, as if they had stood there. */
#include <stdio.h>
#include <string.h>

#include "onnx/importer.h"

/* Of a function: domain, name and overload, with a NUL behind each. */
#define MAX_KEY 768

/* Of the names that calls put before those in the function; longer ones are cut. */
#define MAX_PREFIX 128

/* false: too long to be the key of a function. */
static bool make_key(ingot_span domain, ingot_span name, ingot_span overload, char *key, size_t *size)
{
    const ingot_span parts[] = {ingot_import_domain(domain), name, overload};
    *size = 0;
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].size >= MAX_KEY - *size)
            return false;
        if (parts[i].size > 0)
            memcpy(key + *size, parts[i].data, parts[i].size);
        *size += parts[i].size;
        key[(*size)++] = '\0';
    }
    return true;
}

static ingot_status add_function(ingot_importer *importer, const ingot_function_proto *function)
{
    char key[MAX_KEY + 1];
    size_t size;
    void *previous = NULL;
    if (function->name.size == 0)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "a function has no name");
    if (!make_key(function->domain, function->name, function->overload, key, &size))
        return ingot_fail(importer->error, INGOT_UNSUPPORTED, "the name of the function '%.*s' is too long",
                          INGOT_SPAN_ARG(function->name));
    const char *copy = ingot_arena_copy(importer->scratch, key, size);
    if (copy == NULL)
        return ingot_fail_memory(importer->error, size, "a function");
    /* The map hands values out as they were put in; functions are not written through it. */
    INGOT_TRY(ingot_map_put(&importer->functions, copy, size, (void *)(uintptr_t)function, &previous, importer->error));
    if (previous != NULL)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "the function '%.*s' of domain '%.*s' is defined twice",
                          INGOT_SPAN_ARG(function->name), INGOT_SPAN_ARG(function->domain));
    return INGOT_OK;
}

ingot_status ingot_import_functions(ingot_importer *importer)
{
    const ingot_function_proto *functions = importer->proto->functions.items;
    for (size_t i = 0; i < importer->proto->functions.count; i++)
        INGOT_TRY(add_function(importer, &functions[i]));
    return INGOT_OK;
}

ingot_status ingot_import_find_function(ingot_importer *importer, const ingot_node_proto *node,
                                        const ingot_function_proto **function)
{
    char key[MAX_KEY + 1];
    size_t size;
    *function = NULL;
    if (importer->functions.count > 0 && make_key(node->domain, node->op_type, node->overload, key, &size))
        *function = ingot_map_get(&importer->functions, key, size);
    if (*function == NULL && node->overload.size > 0)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "it calls the overload '%.*s' of a function that the model does not define",
                          INGOT_SPAN_ARG(node->overload));
    return INGOT_OK;
}

/* ---- A call ---- */

static bool lists_name(const ingot_proto_list *list, ingot_span name)
{
    const ingot_span *names = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (ingot_span_equal(names[i], name))
            return true;
    return false;
}

static const ingot_attribute_proto *find_attribute(const ingot_proto_list *list, ingot_span name)
{
    const ingot_attribute_proto *attributes = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (ingot_span_equal(attributes[i].name, name))
            return &attributes[i];
    return NULL;
}

/* One attribute that the call gives. */
static ingot_status bind(ingot_importer *importer, const ingot_scope *caller, ingot_scope *callee,
                         const ingot_attribute_proto *given, ingot_binding *bindings)
{
    const ingot_function_proto *function = callee->function;
    if (!lists_name(&function->attributes, given->name) &&
        find_attribute(&function->default_attributes, given->name) == NULL)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "the function '%.*s' has no attribute '%.*s'",
                          INGOT_SPAN_ARG(function->name), INGOT_SPAN_ARG(given->name));
    const ingot_attribute_proto *value = given;
    INGOT_TRY(ingot_import_reference(importer, caller, &value));
    if (value == NULL)
        return INGOT_OK;
    if (value->type == INGOT_ATTRIBUTE_GRAPH || value->type == INGOT_ATTRIBUTE_GRAPHS)
        return ingot_fail(importer->error, INGOT_UNSUPPORTED,
                          "attribute '%.*s' hands a graph to a function, which is not supported",
                          INGOT_SPAN_ARG(given->name));
    for (size_t i = 0; i < callee->binding_count; i++)
        if (ingot_span_equal(bindings[i].name, given->name))
            return ingot_fail(importer->error, INGOT_INVALID_MODEL, "attribute '%.*s' is given twice",
                              INGOT_SPAN_ARG(given->name));
    bindings[callee->binding_count++] = (ingot_binding){given->name, value};
    return INGOT_OK;
}

static bool is_bound(const ingot_binding *bindings, size_t count, ingot_span name)
{
    for (size_t i = 0; i < count; i++)
        if (ingot_span_equal(bindings[i].name, name))
            return true;
    return false;
}

/* What attributes mean in the function: what the call gives, else the function's defaults. */
static ingot_status bind_all(ingot_importer *importer, const ingot_scope *caller, const ingot_node_proto *node,
                             ingot_scope *callee)
{
    const ingot_proto_list *defaults = &callee->function->default_attributes;
    const ingot_attribute_proto *given = node->attributes.items, *fallback = defaults->items;
    ingot_binding *bindings =
        ingot_arena_alloc_array(importer->scratch, node->attributes.count + defaults->count + 1, sizeof *bindings);
    if (bindings == NULL)
        return ingot_fail_memory(importer->error, defaults->count, "the attributes of a function");
    callee->bindings = bindings;
    for (size_t i = 0; i < node->attributes.count; i++)
        INGOT_TRY(bind(importer, caller, callee, &given[i], bindings));
    for (size_t i = 0; i < defaults->count; i++)
        if (!is_bound(bindings, callee->binding_count, fallback[i].name))
            bindings[callee->binding_count++] = (ingot_binding){fallback[i].name, &fallback[i]};
    return INGOT_OK;
}

static ingot_status check_call(ingot_importer *importer, const ingot_scope *caller, const ingot_node_proto *node,
                               const ingot_function_proto *function)
{
    for (const ingot_scope *s = caller; s != NULL; s = s->enclosing)
        if (s->function == function)
            return ingot_fail(importer->error, INGOT_INVALID_MODEL, "the function '%.*s' calls itself",
                              INGOT_SPAN_ARG(function->name));
    if (importer->depth == INGOT_MAX_DEPTH)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "the call of function '%.*s': calls and graphs nest deeper than %d levels",
                          INGOT_SPAN_ARG(function->name), INGOT_MAX_DEPTH);
    if (node->inputs.count > function->inputs.count || node->outputs.count > function->outputs.count)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "it has %zu inputs and %zu outputs, but the function '%.*s' has %zu and %zu",
                          node->inputs.count, node->outputs.count, INGOT_SPAN_ARG(function->name),
                          function->inputs.count, function->outputs.count);
    return INGOT_OK;
}

static ingot_status pass_inputs(ingot_importer *importer, ingot_scope *caller, const ingot_node_proto *node,
                                ingot_scope *callee)
{
    const ingot_span *formal = callee->function->inputs.items, *actual = node->inputs.items;
    for (size_t i = 0; i < callee->function->inputs.count; i++) {
        ingot_graph_value *value = &ingot_absent_value;
        if (i < node->inputs.count && actual[i].size > 0) {
            INGOT_TRY(ingot_scope_resolve(importer, caller, actual[i], &value));
            if (value == NULL)
                return ingot_fail(
                    importer->error, INGOT_INVALID_MODEL,
                    "input %zu, '%.*s', is defined by nothing: no node, input or initializer has that name", i,
                    INGOT_SPAN_ARG(actual[i]));
        }
        INGOT_TRY(ingot_scope_define(importer, callee, formal[i], value, "an input of a function"));
    }
    return INGOT_OK;
}

static ingot_status pass_outputs(ingot_importer *importer, ingot_scope *caller, const ingot_node_proto *node,
                                 ingot_scope *callee)
{
    const ingot_span *formal = callee->function->outputs.items, *actual = node->outputs.items;
    for (size_t i = 0; i < node->outputs.count; i++) {
        ingot_graph_value *value;
        if (actual[i].size == 0)
            continue;
        INGOT_TRY(ingot_scope_resolve(importer, callee, formal[i], &value));
        if (value == NULL || value == &ingot_absent_value)
            return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                              "the function '%.*s' never defines its output '%.*s'",
                              INGOT_SPAN_ARG(callee->function->name), INGOT_SPAN_ARG(formal[i]));
        INGOT_TRY(ingot_scope_define(importer, caller, actual[i], value, "an output"));
    }
    return INGOT_OK;
}

static ingot_status expand(ingot_importer *importer, ingot_scope *caller, const ingot_node_proto *node,
                           ingot_scope *callee)
{
    INGOT_TRY(bind_all(importer, caller, node, callee));
    INGOT_TRY(pass_inputs(importer, caller, node, callee));
    INGOT_TRY(ingot_import_nodes(importer, callee, &callee->function->nodes));
    return pass_outputs(importer, caller, node, callee);
}

ingot_status ingot_import_call(ingot_importer *importer, ingot_scope *scope, const ingot_node_proto *node,
                               const ingot_function_proto *function)
{
    char prefix[MAX_PREFIX];
    ingot_span name = node->name.size > 0 ? node->name : node->op_type;
    INGOT_TRY(check_call(importer, scope, node, function));
    snprintf(prefix, sizeof prefix, "%s%.*s/", scope->prefix, INGOT_SPAN_ARG(name));
    ingot_scope callee = {.enclosing = scope,
                          .function = function,
                          .graph = scope->graph,
                          .opsets = &function->opsets,
                          .call_outputs = &node->outputs,
                          .prefix = prefix};
    importer->depth++;
    ingot_status status = expand(importer, scope, node, &callee);
    importer->depth--;
    ingot_scope_clear(&callee);
    return status;
}
