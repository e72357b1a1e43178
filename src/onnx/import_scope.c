#include <string.h>

#include "onnx/importer.h"

/* Names in functions are made of the caller's and the function's; longer ones are cut, so that they stay in proportion. */
#define MAX_EXPANDED_NAME 256

ingot_graph_value ingot_absent_value = {.name = ""};

void ingot_scope_clear(ingot_scope *scope)
{
    ingot_map_clear(&scope->names);
    ingot_free(scope->captures);
    scope->captures = NULL;
}

bool ingot_scope_in_function(const ingot_scope *scope)
{
    for (; scope != NULL; scope = scope->enclosing)
        if (scope->function != NULL)
            return true;
    return false;
}

ingot_status ingot_scope_define(ingot_importer *importer, ingot_scope *scope, ingot_span name, ingot_graph_value *value,
                                const char *what)
{
    if (name.size == 0)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "%s has no name", what);
    if (memchr(name.data, '\0', name.size) != NULL)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "the name of %s '%.*s' holds a NUL byte", what,
                          INGOT_SPAN_ARG(name));
    void *previous = NULL;
    INGOT_TRY(ingot_map_put(&scope->names, name.data, name.size, value, &previous, importer->error));
    if (previous == NULL)
        return INGOT_OK;
    return ingot_fail(importer->error, INGOT_INVALID_MODEL, "%s '%.*s': the name is defined twice in one graph", what,
                      INGOT_SPAN_ARG(name));
}

/* Makes a value of the enclosing graph known in a body: a constant stands in both graphs, all else is a capture. */
static ingot_status capture(ingot_importer *importer, ingot_scope *scope, ingot_graph_value *outer,
                            ingot_graph_value **inner)
{
    if (outer->constant != NULL && !outer->is_input)
        return ingot_graph_add_constant(scope->graph, outer->name, outer->constant, inner, importer->error);
    INGOT_TRY(ingot_grow(&scope->captures, &scope->capture_capacity, scope->capture_count + 1, sizeof *scope->captures,
                         importer->error));
    INGOT_TRY(ingot_graph_add_value(scope->graph, outer->name, strlen(outer->name), inner, importer->error));
    INGOT_TRY(ingot_graph_add_input(scope->graph, *inner, importer->error));
    scope->captures[scope->capture_count++] = outer;
    return INGOT_OK;
}

ingot_status ingot_scope_resolve(ingot_importer *importer, ingot_scope *scope, ingot_span name,
                                 ingot_graph_value **value)
{
    *value = ingot_map_get(&scope->names, name.data, name.size);
    if (*value != NULL || scope->enclosing == NULL || scope->function != NULL)
        return INGOT_OK;
    ingot_graph_value *outer; /* recursion is as deep as scopes are, which INGOT_MAX_DEPTH bounds */
    INGOT_TRY(ingot_scope_resolve(importer, scope->enclosing, name, &outer));
    if (outer == NULL || outer == &ingot_absent_value) {
        *value = outer;
        return INGOT_OK;
    }
    INGOT_TRY(capture(importer, scope, outer, value));
    return ingot_map_put(&scope->names, name.data, name.size, *value, NULL, importer->error);
}

/* The name that the caller gives to an output of the function; else the name itself. */
static bool callers_name(const ingot_scope *scope, ingot_span *name)
{
    if (scope->function == NULL)
        return false;
    const ingot_span *formal = scope->function->outputs.items, *actual = scope->call_outputs->items;
    for (size_t i = 0; i < scope->function->outputs.count && i < scope->call_outputs->count; i++) {
        if (!ingot_span_equal(formal[i], *name) || actual[i].size == 0)
            continue;
        *name = actual[i];
        return true;
    }
    return false;
}

ingot_status ingot_scope_new_value(ingot_importer *importer, const ingot_scope *scope, ingot_span name,
                                   ingot_graph_value **value)
{
    char text[MAX_EXPANDED_NAME];
    const ingot_scope *named = scope; /* where the name comes from */
    while (callers_name(named, &name))
        named = named->enclosing;
    if (named->prefix[0] == '\0')
        return ingot_graph_add_value(scope->graph, name.data, name.size, value, importer->error);
    size_t prefix = strlen(named->prefix);
    size_t size = name.size < sizeof text - prefix ? name.size : sizeof text - prefix;
    memcpy(text, named->prefix, prefix);
    memcpy(text + prefix, name.data, size);
    return ingot_graph_add_value(scope->graph, text, prefix + size, value, importer->error);
}
