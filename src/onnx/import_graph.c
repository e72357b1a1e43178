#include "onnx/importer.h"

/* From this IR version on initializers need not be inputs, and those that are have a value that a run may replace. */
#define IR_WITH_DEFAULTS 4

/* A graph while it is imported: the main one, or a body. */
typedef struct graph_import {
    ingot_importer *importer;
    ingot_scope *scope;
    const ingot_graph_proto *proto;
    bool is_body;
} graph_import;

/* ---- Inputs and initializers ---- */

/* The operator says what it feeds to a body; what the body declares is a hint. */
static void hint_type(ingot_importer *importer, const ingot_value_info_proto *info, ingot_graph_value *value)
{
    ingot_error ignored = {0}, *error = importer->error;
    importer->error = &ignored;
    if (ingot_import_type(importer, info->type, &value->type) != INGOT_OK)
        value->type = (ingot_type){.kind = INGOT_KIND_NONE, .rank = -1};
    importer->error = error;
}

static ingot_status define_input(const graph_import *g, const ingot_value_info_proto *info)
{
    ingot_importer *importer = g->importer;
    ingot_graph_value *value;
    INGOT_TRY(ingot_scope_new_value(importer, g->scope, info->name, &value));
    INGOT_TRY(ingot_scope_define(importer, g->scope, info->name, value, "an input"));
    if (g->is_body) {
        hint_type(importer, info, value);
        return INGOT_OK;
    }
    if (ingot_import_type(importer, info->type, &value->type) != INGOT_OK)
        return ingot_fail_at(importer->error, "input '%.*s'", INGOT_SPAN_ARG(info->name));
    return INGOT_OK;
}

static ingot_status define_inputs(const graph_import *g)
{
    const ingot_value_info_proto *infos = g->proto->inputs.items;
    for (size_t i = 0; i < g->proto->inputs.count; i++)
        INGOT_TRY(define_input(g, &infos[i]));
    return INGOT_OK;
}

/* An initializer that is an input as well. */
static ingot_status set_default(const graph_import *g, ingot_span name, ingot_graph_value *input,
                                const ingot_value *content)
{
    ingot_error *error = g->importer->error;
    char declared[160], given[160];
    if (g->is_body)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "initializer '%.*s' has the name of an input of its graph, which the operator feeds",
                          INGOT_SPAN_ARG(name));
    ingot_type type = ingot_type_of_value(content);
    if (input->type.kind == INGOT_KIND_NONE)
        input->type = type;
    bool fits = input->type.kind == type.kind && input->type.element == type.element &&
                (input->type.rank < 0 || input->type.rank == type.rank);
    for (int i = 0; i < input->type.rank && fits; i++)
        fits = !ingot_dim_is_number(input->type.dims[i]) || input->type.dims[i] == type.dims[i];
    if (!fits)
        return ingot_fail(error, INGOT_INVALID_MODEL, "input '%.*s' is declared %s, but its initializer is %s",
                          INGOT_SPAN_ARG(name),
                          ingot_type_describe(g->importer->module->dims, &input->type, declared, sizeof declared),
                          ingot_type_describe(g->importer->module->dims, &type, given, sizeof given));
    if (g->importer->model->ir_version < IR_WITH_DEFAULTS)
        input->type = type; /* a constant: no run can replace it */
    input->constant = content;
    return INGOT_OK;
}

static void count_initializer(const graph_import *g, const ingot_value *content)
{
    if (ingot_scope_in_function(g->scope))
        return;
    g->importer->model->initializer_count++;
    g->importer->model->initializer_bytes += ingot_value_bytes(content);
}

static ingot_status add_initializer(const graph_import *g, const ingot_tensor_proto *tensor,
                                    const ingot_sparse_proto *sparse)
{
    ingot_importer *importer = g->importer;
    const ingot_value *content;
    ingot_span name = tensor != NULL ? tensor->name : sparse->values != NULL ? sparse->values->name : (ingot_span){0};
    if (name.size == 0)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "an initializer has no name");
    ingot_graph_value *value = ingot_map_get(&g->scope->names, name.data, name.size);
    if (value != NULL && value->constant != NULL)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "two initializers have the name '%.*s'",
                          INGOT_SPAN_ARG(name));
    INGOT_TRY(ingot_import_tensor(importer, g->scope, tensor, sparse, &content));
    count_initializer(g, content);
    if (value != NULL)
        return set_default(g, name, value, content);
    if (!g->is_body && importer->model->ir_version < IR_WITH_DEFAULTS)
        return ingot_fail(
            importer->error, INGOT_INVALID_MODEL,
            "initializer '%.*s' is no input of the graph, as IR version %lld wants it (from 4 on it need not)",
            INGOT_SPAN_ARG(name), (long long)importer->model->ir_version);
    INGOT_TRY(ingot_scope_new_value(importer, g->scope, name, &value));
    value->constant = content;
    value->type = ingot_type_of_value(content);
    return ingot_scope_define(importer, g->scope, name, value, "an initializer");
}

static ingot_status add_initializers(const graph_import *g)
{
    const ingot_tensor_proto *tensors = g->proto->initializers.items;
    const ingot_sparse_proto *sparses = g->proto->sparse_initializers.items;
    for (size_t i = 0; i < g->proto->initializers.count; i++)
        INGOT_TRY(add_initializer(g, &tensors[i], NULL));
    for (size_t i = 0; i < g->proto->sparse_initializers.count; i++)
        INGOT_TRY(add_initializer(g, NULL, &sparses[i]));
    return INGOT_OK;
}

/* Of the inputs in the file's order those that a run may give. */
static ingot_status add_inputs(const graph_import *g)
{
    const ingot_value_info_proto *infos = g->proto->inputs.items;
    for (size_t i = 0; i < g->proto->inputs.count; i++) {
        ingot_graph_value *value = ingot_map_get(&g->scope->names, infos[i].name.data, infos[i].name.size);
        if (value->constant != NULL && g->importer->model->ir_version < IR_WITH_DEFAULTS)
            continue;
        if (!g->is_body && value->type.kind == INGOT_KIND_NONE)
            return ingot_fail(g->importer->error, INGOT_INVALID_MODEL, "input '%.*s' has no type",
                              INGOT_SPAN_ARG(infos[i].name));
        INGOT_TRY(ingot_graph_add_input(g->scope->graph, value, g->importer->error));
    }
    return INGOT_OK;
}

/* ---- Outputs ---- */

static ingot_status add_output(const graph_import *g, ingot_span name)
{
    ingot_importer *importer = g->importer;
    ingot_graph_value *value = NULL;
    const char *text;
    if (name.size > 0)
        INGOT_TRY(ingot_scope_resolve(importer, g->scope, name, &value));
    if (value == NULL || value == &ingot_absent_value)
        return ingot_fail(
            importer->error, INGOT_INVALID_MODEL,
            "output '%.*s' of the graph '%.*s' is defined by nothing: no node, input or initializer has that "
            "name",
            INGOT_SPAN_ARG(name), INGOT_SPAN_ARG(g->proto->name));
    for (size_t i = 0; i < g->scope->graph->output_count && !g->is_body; i++)
        if (ingot_span_is(name, g->scope->graph->output_names[i]))
            return ingot_fail(importer->error, INGOT_INVALID_MODEL, "two outputs of the graph have the name '%.*s'",
                              INGOT_SPAN_ARG(name));
    INGOT_TRY(ingot_import_text(importer, name, &text));
    return ingot_graph_add_output(g->scope->graph, value, text, importer->error);
}

static ingot_status import_graph(const graph_import *g)
{
    const ingot_value_info_proto *outputs = g->proto->outputs.items;
    INGOT_TRY(define_inputs(g));
    INGOT_TRY(add_initializers(g));
    INGOT_TRY(add_inputs(g));
    INGOT_TRY(ingot_import_nodes(g->importer, g->scope, &g->proto->nodes));
    for (size_t i = 0; i < g->proto->outputs.count; i++)
        INGOT_TRY(add_output(g, outputs[i].name));
    return INGOT_OK;
}

/* ---- Bodies and the main graph ---- */

static ingot_status create_graph(ingot_importer *importer, const ingot_graph_proto *proto, ingot_graph **graph)
{
    const char *name;
    INGOT_TRY(ingot_import_text(importer, proto->name, &name));
    return ingot_graph_create(importer->module, name, graph, importer->error);
}

static ingot_status import_body(ingot_importer *importer, ingot_scope *scope, const ingot_graph_proto *proto,
                                ingot_body *body, ingot_graph_value ***captures)
{
    graph_import g = {.importer = importer, .scope = scope, .proto = proto, .is_body = true};
    INGOT_TRY(import_graph(&g));
    body->graph = scope->graph;
    body->formal_count = proto->inputs.count;
    body->capture_count = scope->capture_count;
    *captures = ingot_arena_copy(importer->scratch, scope->captures, scope->capture_count * sizeof **captures);
    if (*captures == NULL && scope->capture_count > 0)
        return ingot_fail_memory(importer->error, scope->capture_count * sizeof **captures, "captures");
    return INGOT_OK;
}

ingot_status ingot_import_body(ingot_importer *importer, ingot_scope *scope, const ingot_graph_proto *proto,
                               ingot_body *body, ingot_graph_value ***captures)
{
    if (importer->depth == INGOT_MAX_DEPTH)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "graphs and calls of functions nest deeper than %d levels", INGOT_MAX_DEPTH);
    ingot_scope inner = {.enclosing = scope,
                         .opsets = scope->opsets,
                         .bindings = scope->bindings,
                         .binding_count = scope->binding_count,
                         .prefix = scope->prefix};
    INGOT_TRY(create_graph(importer, proto, &inner.graph));
    importer->depth++;
    ingot_status status = import_body(importer, &inner, proto, body, captures);
    importer->depth--;
    ingot_scope_clear(&inner);
    return status;
}

ingot_status ingot_import_main(ingot_importer *importer)
{
    ingot_scope scope = {.opsets = &importer->proto->opsets, .prefix = ""};
    INGOT_TRY(create_graph(importer, importer->proto->graph, &scope.graph));
    importer->module->main = scope.graph;
    graph_import g = {.importer = importer, .scope = &scope, .proto = importer->proto->graph};
    ingot_status status = import_graph(&g);
    ingot_scope_clear(&scope);
    return status;
}
