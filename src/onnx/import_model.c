/* The steps of import, in order. */
#include <string.h>

#include "onnx/importer.h"

#define MIN_IR_VERSION 3
#define MAX_IR_VERSION 14

/* Of calls of functions: what they may expand to beyond the size of the file, in nodes, inputs, outputs and attributes. */
#define FREE_EXPANSION 200000

/* ---- The head of the model ---- */

ingot_span ingot_import_domain(ingot_span domain)
{
    static const char standard[] = "ai.onnx";
    return domain.size > 0 ? domain : (ingot_span){standard, sizeof standard - 1};
}

int64_t ingot_import_opset(const ingot_scope *scope, ingot_span domain)
{
    const ingot_opset_proto *opsets = scope->opsets->items;
    for (size_t i = 0; i < scope->opsets->count; i++)
        if (ingot_span_equal(ingot_import_domain(opsets[i].domain), domain))
            return opsets[i].version;
    return 0;
}

static ingot_status check_opset(ingot_importer *importer, const ingot_opset_proto *opset)
{
    char domain[64] = "";
    ingot_span name = ingot_import_domain(opset->domain);
    if (name.size < sizeof domain)
        memcpy(domain, name.data, name.size); /* longer ones are not known to the table */
    int newest = ingot_schema_max_opset(domain);
    int64_t limit = newest > 0 ? newest : INT32_MAX;
    if (opset->version < 1 || opset->version > limit)
        return ingot_fail(importer->error, opset->version < 1 ? INGOT_INVALID_MODEL : INGOT_UNSUPPORTED,
                          "opset version %lld of domain '%.*s' is imported; versions 1 to %lld are known",
                          (long long)opset->version, INGOT_SPAN_ARG(name), (long long)limit);
    return INGOT_OK;
}

static ingot_status check_opsets(ingot_importer *importer, const ingot_proto_list *list)
{
    const ingot_opset_proto *opsets = list->items;
    for (size_t i = 0; i < list->count; i++) {
        INGOT_TRY(check_opset(importer, &opsets[i]));
        ingot_scope before = {.opsets = &(ingot_proto_list){list->items, i}};
        int64_t other = ingot_import_opset(&before, ingot_import_domain(opsets[i].domain));
        if (other != 0 && other != opsets[i].version)
            return ingot_fail(
                importer->error, INGOT_INVALID_MODEL, "domain '%.*s' is imported in two opset versions, %lld and %lld",
                INGOT_SPAN_ARG(ingot_import_domain(opsets[i].domain)), (long long)other, (long long)opsets[i].version);
    }
    return INGOT_OK;
}

ingot_status ingot_import_check_head(ingot_importer *importer)
{
    const ingot_model_proto *proto = importer->proto;
    const ingot_function_proto *functions = proto->functions.items;
    if (proto->graph == NULL)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "the file holds no graph; it is no ONNX model");
    if (proto->ir_version < MIN_IR_VERSION || proto->ir_version > MAX_IR_VERSION)
        return ingot_fail(importer->error, proto->ir_version == 0 ? INGOT_INVALID_MODEL : INGOT_UNSUPPORTED,
                          "ir_version is %lld%s; versions %d to %d are supported", (long long)proto->ir_version,
                          proto->ir_version == 0 ? " (missing)" : "", MIN_IR_VERSION, MAX_IR_VERSION);
    if (proto->opsets.count == 0)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "the model imports no opset (opset_import), so its operators have no version");
    INGOT_TRY(check_opsets(importer, &proto->opsets));
    for (size_t i = 0; i < proto->functions.count; i++)
        if (check_opsets(importer, &functions[i].opsets) != INGOT_OK)
            return ingot_fail_at(importer->error, "function '%.*s'", INGOT_SPAN_ARG(functions[i].name));
    return INGOT_OK;
}

/* ---- After the graph is there ---- */

/* What is not known on one side agrees; sizes are hints and not compared. */
static bool types_agree(const ingot_type *declared, const ingot_type *inferred)
{
    while (declared != NULL && inferred != NULL) {
        if (declared->kind == INGOT_KIND_NONE || inferred->kind == INGOT_KIND_NONE)
            return true;
        if (declared->kind != inferred->kind)
            return false;
        if (declared->element != inferred->element && declared->element != INGOT_UNDEFINED &&
            inferred->element != INGOT_UNDEFINED)
            return false;
        declared = declared->item;
        inferred = inferred->item;
    }
    return true;
}

static ingot_status check_outputs(ingot_importer *importer)
{
    const ingot_value_info_proto *infos = importer->proto->graph->outputs.items;
    const ingot_graph *graph = importer->module->main;
    for (size_t i = 0; i < graph->output_count; i++) {
        ingot_type declared;
        char wanted[160], found[160];
        if (ingot_import_type(importer, infos[i].type, &declared) != INGOT_OK)
            return ingot_fail_at(importer->error, "output '%.*s'", INGOT_SPAN_ARG(infos[i].name));
        if (types_agree(&declared, &graph->outputs[i]->type))
            continue;
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "output '%.*s' is declared %s, but the graph computes %s", INGOT_SPAN_ARG(infos[i].name),
                          ingot_type_describe(importer->module->dims, &declared, wanted, sizeof wanted),
                          ingot_type_describe(importer->module->dims, &graph->outputs[i]->type, found, sizeof found));
    }
    return INGOT_OK;
}

/* ---- All steps ---- */

static ingot_status run_steps(ingot_importer *importer, ingot_span content, ingot_model_proto *proto)
{
    ingot_model *model = importer->model;
    ingot_error *error = importer->error;
    if (ingot_proto_read(&ingot_proto_model, content, importer->scratch, &model->budget, proto, error) != INGOT_OK)
        return ingot_fail_at(error, "cannot be read as an ONNX model");
    INGOT_TRY(ingot_import_check_head(importer));
    model->ir_version = proto->ir_version;
    INGOT_TRY(ingot_import_functions(importer));
    INGOT_TRY(ingot_import_main(importer));
    INGOT_TRY(ingot_graph_infer(model->module->main, error));
    INGOT_TRY(check_outputs(importer));
    return ingot_import_info(importer);
}

ingot_status ingot_import_model(ingot_model *model, ingot_span content, ingot_error *error)
{
    ingot_model_proto proto = {0};
    INGOT_TRY(ingot_module_create(&model->budget, &model->module, error));
    ingot_importer importer = {
        .model = model,
        .module = model->module,
        .proto = &proto,
        .source = {.files = model->files, .budget = &model->budget},
        .scratch = ingot_arena_create(),
        .cost_left = FREE_EXPANSION + content.size / 8,
        .error = error,
    };
    if (importer.scratch == NULL)
        return ingot_fail_memory(error, sizeof(void *), "reading a model");
    ingot_status status = run_steps(&importer, content, &proto);
    ingot_map_clear(&importer.functions);
    ingot_map_clear(&importer.cache);
    ingot_arena_release(importer.scratch);
    return status != INGOT_OK ? ingot_fail_at(error, "%.300s", model->path) : INGOT_OK;
}
