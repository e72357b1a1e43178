/* What a model says of itself, for people. */
#include <stdlib.h>
#include <string.h>

#include "onnx/importer.h"

static void *allocate(ingot_module *module, size_t count, size_t size, ingot_error *error)
{
    void *memory = ingot_arena_alloc_array(module->arena, count + 1, size);
    if (memory == NULL)
        ingot_fail_memory(error, count, "what a model says of itself");
    return memory;
}

/* ---- Inputs and outputs ---- */

static ingot_status fill_sizes(ingot_module *module, const ingot_type *type, ingot_type_info *info, ingot_error *error)
{
    int64_t *dims = allocate(module, (size_t)type->rank, sizeof *dims, error);
    const char **symbols = allocate(module, (size_t)type->rank, sizeof *symbols, error);
    if (dims == NULL || symbols == NULL)
        return INGOT_OUT_OF_MEMORY;
    for (int i = 0; i < type->rank; i++) {
        dims[i] = ingot_dim_is_number(type->dims[i]) ? type->dims[i] : -1;
        const ingot_dim_expression *e = dims[i] < 0 ? ingot_dims_expression(module->dims, type->dims[i]) : NULL;
        if (e == NULL || e->kind != INGOT_DIM_SYMBOL)
            continue;
        symbols[i] = ingot_arena_strndup(module->arena, e->name, strlen(e->name));
        if (symbols[i] == NULL)
            return ingot_fail_memory(error, strlen(e->name), "the name of a size");
    }
    info->dims = dims;
    info->symbols = symbols;
    return INGOT_OK;
}

static ingot_status fill_type(ingot_module *module, const ingot_type *type, const ingot_type_info **result,
                              ingot_error *error)
{
    ingot_type_info *outer = NULL;
    for (const ingot_type *t = type; t != NULL; t = t->item) {
        ingot_type_info *info = allocate(module, 1, sizeof *info, error);
        if (info == NULL)
            return INGOT_OUT_OF_MEMORY;
        *info = (ingot_type_info){.kind = t->kind, .element = t->element, .rank = t->rank};
        bool sized = t->kind == INGOT_KIND_TENSOR || t->kind == INGOT_KIND_SPARSE;
        if (sized && t->rank >= 0)
            INGOT_TRY(fill_sizes(module, t, info, error));
        if (!sized)
            info->rank = -1;
        if (outer != NULL)
            outer->item = info;
        else
            *result = info;
        outer = info;
    }
    return INGOT_OK;
}

ingot_status ingot_value_info_fill(ingot_module *module, const char *name, const ingot_type *type, bool has_default,
                                   ingot_value_info *info, ingot_error *error)
{
    info->name = ingot_arena_strndup(module->arena, name, strlen(name));
    if (info->name == NULL)
        return ingot_fail_memory(error, strlen(name), "a name");
    info->has_default = has_default;
    return fill_type(module, type, &info->type, error);
}

static ingot_status fill_values(ingot_importer *importer)
{
    ingot_model *model = importer->model;
    ingot_module *module = importer->module;
    const ingot_graph *graph = module->main;
    model->inputs = allocate(module, graph->input_count, sizeof *model->inputs, importer->error);
    model->outputs = allocate(module, graph->output_count, sizeof *model->outputs, importer->error);
    if (model->inputs == NULL || model->outputs == NULL)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < graph->input_count; i++) {
        const ingot_graph_value *v = graph->inputs[i];
        INGOT_TRY(
            ingot_value_info_fill(module, v->name, &v->type, v->constant != NULL, &model->inputs[i], importer->error));
    }
    for (size_t i = 0; i < graph->output_count; i++)
        INGOT_TRY(ingot_value_info_fill(module, graph->output_names[i], &graph->outputs[i]->type, false,
                                        &model->outputs[i], importer->error));
    model->input_count = graph->input_count;
    model->output_count = graph->output_count;
    return INGOT_OK;
}

/* ---- Texts ---- */

static ingot_status fill_texts(ingot_importer *importer)
{
    const ingot_model_proto *proto = importer->proto;
    ingot_model *model = importer->model;
    ingot_span name = proto->producer_name, version = proto->producer_version;
    char *producer = allocate(importer->module, name.size + version.size + 1, 1, importer->error);
    if (producer == NULL)
        return INGOT_OUT_OF_MEMORY;
    if (name.size > 0)
        memcpy(producer, name.data, name.size);
    if (version.size > 0) {
        producer[name.size] = ' ';
        memcpy(producer + name.size + 1, version.data, version.size);
    }
    model->producer = producer;
    model->version = proto->model_version;
    INGOT_TRY(ingot_import_text(importer, name, &model->producer_name));
    INGOT_TRY(ingot_import_text(importer, proto->domain, &model->domain));
    INGOT_TRY(ingot_import_text(importer, proto->graph->doc_string, &model->graph_description));
    INGOT_TRY(ingot_import_text(importer, proto->graph->name, &model->graph_name));
    return ingot_import_text(importer, proto->doc_string.size > 0 ? proto->doc_string : proto->graph->doc_string,
                             &model->description);
}

static ingot_status fill_opsets(ingot_importer *importer)
{
    ingot_model *model = importer->model;
    const ingot_opset_proto *opsets = importer->proto->opsets.items;
    size_t count = importer->proto->opsets.count;
    model->opsets = allocate(importer->module, count, sizeof *model->opsets, importer->error);
    if (model->opsets == NULL)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        model->opsets[i].version = opsets[i].version;
        INGOT_TRY(ingot_import_text(importer, ingot_import_domain(opsets[i].domain), &model->opsets[i].domain));
    }
    model->opset_count = count;
    return INGOT_OK;
}

static ingot_status fill_metadata(ingot_importer *importer)
{
    ingot_model *model = importer->model;
    const ingot_entry_proto *entries = importer->proto->metadata.items;
    size_t count = importer->proto->metadata.count;
    model->metadata = allocate(importer->module, count, sizeof *model->metadata, importer->error);
    if (model->metadata == NULL)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        INGOT_TRY(ingot_import_text(importer, entries[i].key, &model->metadata[i].key));
        INGOT_TRY(ingot_import_text(importer, entries[i].value, &model->metadata[i].value));
    }
    model->metadata_count = count;
    return INGOT_OK;
}

/* ---- Operators ---- */

static ingot_status count_operator(ingot_importer *importer, ingot_map *counts, const ingot_node_proto *node)
{
    ingot_span domain = ingot_import_domain(node->domain), name = node->op_type;
    bool standard = ingot_span_is(domain, "ai.onnx");
    size_t size = standard ? name.size : domain.size + 2 + name.size;
    char *key = ingot_arena_alloc(importer->scratch, size + 1);
    if (key == NULL)
        return ingot_fail_memory(importer->error, size, "the name of an operator");
    if (!standard) {
        memcpy(key, domain.data, domain.size);
        memcpy(key + domain.size, "::", 2);
    }
    memcpy(key + size - name.size, name.data, name.size);
    size_t *count = ingot_map_get(counts, key, size);
    if (count == NULL) {
        count = ingot_arena_alloc(importer->scratch, sizeof *count);
        if (count == NULL)
            return ingot_fail_memory(importer->error, sizeof *count, "the count of an operator");
        INGOT_TRY(ingot_map_put(counts, key, size, count, NULL, importer->error));
    }
    ++*count;
    return INGOT_OK;
}

/* Recursion is as deep as graphs nest, which the reader has bounded. */
static ingot_status count_operators(ingot_importer *importer, ingot_map *counts, const ingot_proto_list *nodes)
{
    const ingot_node_proto *node = nodes->items;
    for (size_t i = 0; i < nodes->count; i++) {
        const ingot_attribute_proto *attributes = node[i].attributes.items;
        if (node[i].op_type.size > 0)
            INGOT_TRY(count_operator(importer, counts, &node[i]));
        for (size_t j = 0; j < node[i].attributes.count; j++)
            if (attributes[j].g != NULL)
                INGOT_TRY(count_operators(importer, counts, &attributes[j].g->nodes));
    }
    return INGOT_OK;
}

static int compare_operators(const void *a, const void *b)
{
    return strcmp(((const ingot_operator_count *)a)->name, ((const ingot_operator_count *)b)->name);
}

static ingot_status list_operators(ingot_importer *importer, const ingot_map *counts)
{
    ingot_model *model = importer->model;
    model->operators = allocate(importer->module, counts->count, sizeof *model->operators, importer->error);
    if (model->operators == NULL)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < counts->capacity; i++) {
        const ingot_map_entry *entry = &counts->entries[i];
        if (entry->key == NULL)
            continue;
        ingot_operator_count *found = &model->operators[model->operator_count++];
        INGOT_TRY(ingot_import_text(importer, (ingot_span){entry->key, entry->length}, &found->name));
        found->nodes = *(const size_t *)entry->value;
    }
    qsort(model->operators, model->operator_count, sizeof *model->operators, compare_operators);
    return INGOT_OK;
}

/* Operators as the file uses them: functions are counted where they are called, and their nodes once. */
static ingot_status fill_operators(ingot_importer *importer)
{
    ingot_map counts = {0};
    const ingot_function_proto *functions = importer->proto->functions.items;
    ingot_status status = count_operators(importer, &counts, &importer->proto->graph->nodes);
    for (size_t i = 0; i < importer->proto->functions.count && status == INGOT_OK; i++)
        status = count_operators(importer, &counts, &functions[i].nodes);
    if (status == INGOT_OK)
        status = list_operators(importer, &counts);
    ingot_map_clear(&counts);
    return status;
}

ingot_status ingot_import_info(ingot_importer *importer)
{
    INGOT_TRY(fill_texts(importer));
    INGOT_TRY(fill_opsets(importer));
    INGOT_TRY(fill_metadata(importer));
    INGOT_TRY(fill_operators(importer));
    return fill_values(importer);
}
