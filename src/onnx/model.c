/* Models as the public header offers them. */
#include <string.h>

#include "onnx/importer.h"

void ingot_model_options_init(ingot_model_options *options)
{
    if (options != NULL)
        *options = (ingot_model_options){.size = sizeof *options};
}

/* The caller's options, or the defaults for what the caller's version of the struct does not have. */
static ingot_status read_options(const ingot_model_options *given, ingot_model_options *options, ingot_error *error)
{
    ingot_model_options_init(options);
    if (given == NULL)
        return INGOT_OK;
    if (given->size < sizeof given->size || given->size > sizeof *options)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "the size of the model options is %zu; fill them with ingot_model_options_init", given->size);
    memcpy(options, given, given->size);
    return INGOT_OK;
}

static void destroy(ingot_model *model)
{
    ingot_module_release(model->module);
    ingot_model_files_release(model->files);
    ingot_free((void *)(uintptr_t)model->path);
    ingot_free(model);
}

static ingot_status create(const char *path, const ingot_model_options *options, const char *folder,
                           ingot_model **model, ingot_error *error)
{
    ingot_model *created = ingot_calloc(1, sizeof *created);
    if (created == NULL)
        return ingot_fail_memory(error, sizeof *created, "a model");
    atomic_init(&created->references, 1);
    ingot_budget_init(&created->budget, options->memory_limit);
    created->path = ingot_strndup(path, strlen(path));
    ingot_status status = created->path != NULL ? INGOT_OK : ingot_fail_memory(error, strlen(path), "a path");
    if (status == INGOT_OK)
        status = ingot_model_files_create(folder, options->no_mmap, &created->files, error);
    if (status != INGOT_OK) {
        destroy(created);
        return status;
    }
    *model = created;
    return INGOT_OK;
}

/* Gives the model to the caller, or destroys it where status is a failure. */
static ingot_status finish(ingot_status status, ingot_model *created, ingot_model **model)
{
    if (status == INGOT_OK)
        *model = created;
    else
        destroy(created);
    return status;
}

static ingot_status open_path(const char *path, const ingot_model_options *options, ingot_model **model,
                              ingot_error *error)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = length > 0 ? ingot_strndup(path, length) : ingot_strndup(".", 1);
    if (folder == NULL)
        return ingot_fail_memory(error, length, "the name of a folder");
    ingot_model *created = NULL;
    ingot_span content;
    ingot_status status =
        create(path, options, options->data_folder != NULL ? options->data_folder : folder, &created, error);
    ingot_free(folder);
    INGOT_TRY(status);
    status = ingot_model_files_open(created->files, path, &content, error);
    if (status == INGOT_OK)
        status = ingot_import_model(created, content, error);
    return finish(status, created, model);
}

ingot_status ingot_model_open(const char *path, const ingot_model_options *options, ingot_model **model,
                              ingot_error *error)
{
    ingot_error unread = {0};
    ingot_model_options read;
    if (error == NULL)
        error = &unread;
    if (path == NULL || model == NULL)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_model_open: path and model must be given");
    *model = NULL;
    INGOT_TRY(read_options(options, &read, error));
    return open_path(path, &read, model, error);
}

ingot_status ingot_model_open_memory(const void *data, size_t size, const ingot_model_options *options,
                                     ingot_model **model, ingot_error *error)
{
    ingot_error unread = {0};
    ingot_model_options read;
    ingot_model *created = NULL;
    if (error == NULL)
        error = &unread;
    if (data == NULL || model == NULL)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_model_open_memory: data and model must be given");
    *model = NULL;
    INGOT_TRY(read_options(options, &read, error));
    INGOT_TRY(create("model in memory", &read, read.data_folder, &created, error));
    return finish(ingot_import_model(created, (ingot_span){data, size}, error), created, model);
}

void ingot_model_retain(ingot_model *model)
{
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
}

void ingot_model_forget(ingot_model *model, const void *data, size_t size)
{
    if (model->files != NULL)
        ingot_model_files_forget(model->files, data, size);
}

void ingot_model_release(ingot_model *model)
{
    if (model != NULL && atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) == 1)
        destroy(model);
}

/* ---- What a model says of itself ---- */

size_t ingot_model_input_count(const ingot_model *model)
{
    return model != NULL ? model->input_count : 0;
}

const ingot_value_info *ingot_model_input(const ingot_model *model, size_t index)
{
    return model != NULL && index < model->input_count ? &model->inputs[index] : NULL;
}

size_t ingot_model_output_count(const ingot_model *model)
{
    return model != NULL ? model->output_count : 0;
}

const ingot_value_info *ingot_model_output(const ingot_model *model, size_t index)
{
    return model != NULL && index < model->output_count ? &model->outputs[index] : NULL;
}

int64_t ingot_model_ir_version(const ingot_model *model)
{
    return model != NULL ? model->ir_version : 0;
}

const char *ingot_model_producer(const ingot_model *model)
{
    return model != NULL ? model->producer : "";
}

const char *ingot_model_producer_name(const ingot_model *model)
{
    return model != NULL ? model->producer_name : "";
}

const char *ingot_model_domain(const ingot_model *model)
{
    return model != NULL ? model->domain : "";
}

int64_t ingot_model_version(const ingot_model *model)
{
    return model != NULL ? model->version : 0;
}

const char *ingot_model_graph_name(const ingot_model *model)
{
    return model != NULL ? model->graph_name : "";
}

const char *ingot_model_graph_description(const ingot_model *model)
{
    return model != NULL ? model->graph_description : "";
}

const char *ingot_model_description(const ingot_model *model)
{
    return model != NULL ? model->description : "";
}

size_t ingot_model_opset_count(const ingot_model *model)
{
    return model != NULL ? model->opset_count : 0;
}

const char *ingot_model_opset(const ingot_model *model, size_t index, int64_t *version)
{
    if (model == NULL || index >= model->opset_count)
        return NULL;
    if (version != NULL)
        *version = model->opsets[index].version;
    return model->opsets[index].domain;
}

size_t ingot_model_metadata_count(const ingot_model *model)
{
    return model != NULL ? model->metadata_count : 0;
}

const char *ingot_model_metadata(const ingot_model *model, size_t index, const char **value)
{
    bool exists = model != NULL && index < model->metadata_count;
    if (value != NULL)
        *value = exists ? model->metadata[index].value : NULL;
    return exists ? model->metadata[index].key : NULL;
}

size_t ingot_model_operator_count(const ingot_model *model)
{
    return model != NULL ? model->operator_count : 0;
}

const char *ingot_model_operator(const ingot_model *model, size_t index, size_t *nodes)
{
    if (model == NULL || index >= model->operator_count)
        return NULL;
    if (nodes != NULL)
        *nodes = model->operators[index].nodes;
    return model->operators[index].name;
}

size_t ingot_model_initializer_count(const ingot_model *model)
{
    return model != NULL ? model->initializer_count : 0;
}

size_t ingot_model_initializer_bytes(const ingot_model *model)
{
    return model != NULL ? model->initializer_bytes : 0;
}
