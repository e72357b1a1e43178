/* What the file alone shows: exporter slips that are gone, or cannot be told any more, once the model is opened. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "tools/doctor.h"

static const ingot_doctor_rule old_opset = {"old-opset", INGOT_NOTE,
                                            "export again with opset 17 or later: newer operators say in one node "
                                            "(LayerNormalization, GELU) what old ones spell out"};
static const ingot_doctor_rule overridable = {
    "overridable-weights", INGOT_WARNING,
    "take the initializers out of graph.input (in PyTorch: "
    "keep_initializers_as_inputs=False), unless runs are meant to give them: "
    "a run that replaces one is planned anew, and neither folds nor packs any"};
static const ingot_doctor_rule unused = {"unused-initializers", INGOT_NOTE,
                                         "remove them from the file: they cost size and load time"};
static const ingot_doctor_rule duplicates = {"duplicate-weights", INGOT_NOTE,
                                             "let the nodes share one initializer: tied weights were exported twice"};

/* Initializers smaller than this are not worth a word when they come twice. */
#define DUPLICATE_BYTES (64u << 10)

static ingot_status check_opsets(ingot_diagnosis *d, const ingot_model_proto *proto, ingot_error *error)
{
    const ingot_opset_proto *opsets = proto->opsets.items;
    for (size_t i = 0; i < proto->opsets.count; i++)
        if ((opsets[i].domain.size == 0 || ingot_span_is(opsets[i].domain, "ai.onnx")) && opsets[i].version < 11)
            return ingot_doctor_add(d, &old_opset, NULL, error, "it is written for opset %lld of ai.onnx",
                                    (long long)opsets[i].version);
    return INGOT_OK;
}

static void describe(ingot_doctor_tally *tally, const ingot_tensor_proto *tensor)
{
    char text[256];
    snprintf(text, sizeof text, "initializer '%.*s'", INGOT_SPAN_ARG(tensor->name));
    ingot_doctor_count(tally, text);
}

/* ---- Uses of names ---- */

/* Names that anything reads, in whatever graph: a name that is reused only hides a finding. */
static ingot_status collect(const ingot_graph_proto *graph, ingot_map *used, ingot_error *error);

static ingot_status collect_node(const ingot_node_proto *node, ingot_map *used, ingot_error *error)
{
    static char there;
    const ingot_span *inputs = node->inputs.items;
    const ingot_attribute_proto *attributes = node->attributes.items;
    for (size_t i = 0; i < node->inputs.count; i++)
        if (inputs[i].size > 0)
            INGOT_TRY(ingot_map_put(used, inputs[i].data, inputs[i].size, &there, NULL, error));
    for (size_t i = 0; i < node->attributes.count; i++) {
        const ingot_graph_proto *graphs = attributes[i].graphs.items;
        if (attributes[i].g)
            INGOT_TRY(collect(attributes[i].g, used, error));
        for (size_t k = 0; k < attributes[i].graphs.count; k++)
            INGOT_TRY(collect(&graphs[k], used, error));
    }
    return INGOT_OK;
}

/* Recursion is bounded by the reader: INGOT_PROTO_MAX_GRAPHS. */
static ingot_status collect(const ingot_graph_proto *graph, ingot_map *used, ingot_error *error)
{
    static char there;
    const ingot_node_proto *nodes = graph->nodes.items;
    const ingot_value_info_proto *outputs = graph->outputs.items;
    for (size_t i = 0; i < graph->nodes.count; i++)
        INGOT_TRY(collect_node(&nodes[i], used, error));
    for (size_t i = 0; i < graph->outputs.count; i++)
        if (outputs[i].name.size > 0)
            INGOT_TRY(ingot_map_put(used, outputs[i].name.data, outputs[i].name.size, &there, NULL, error));
    return INGOT_OK;
}

static ingot_status check_unused(ingot_diagnosis *d, const ingot_graph_proto *graph, const ingot_map *used,
                                 ingot_error *error)
{
    const ingot_tensor_proto *tensors = graph->initializers.items;
    ingot_doctor_tally tally = {0};
    size_t bytes = 0;
    for (size_t i = 0; i < graph->initializers.count; i++) {
        if (tensors[i].name.size == 0 || ingot_map_get(used, tensors[i].name.data, tensors[i].name.size))
            continue;
        describe(&tally, &tensors[i]);
        bytes += tensors[i].raw_data.size;
    }
    return ingot_doctor_add(d, &unused, &tally, error, "%zu initializers are read by no node (%zu bytes)", tally.count,
                            bytes);
}

/* ---- Initializers that are inputs, or come twice ---- */

static ingot_status check_overridable(ingot_diagnosis *d, const ingot_model_proto *proto, ingot_error *error)
{
    static char there;
    const ingot_graph_proto *graph = proto->graph;
    const ingot_tensor_proto *tensors = graph->initializers.items;
    const ingot_value_info_proto *inputs = graph->inputs.items;
    ingot_doctor_tally tally = {0};
    ingot_map names = {0};
    ingot_status status = INGOT_OK;
    for (size_t i = 0; i < graph->inputs.count && status == INGOT_OK; i++)
        if (inputs[i].name.size > 0)
            status = ingot_map_put(&names, inputs[i].name.data, inputs[i].name.size, &there, NULL, error);
    for (size_t i = 0; i < graph->initializers.count; i++)
        if (tensors[i].name.size > 0 && ingot_map_get(&names, tensors[i].name.data, tensors[i].name.size))
            describe(&tally, &tensors[i]);
    ingot_map_clear(&names);
    INGOT_TRY(status);
    if (proto->ir_version < 4) /* there every initializer must be an input, which means nothing */
        return INGOT_OK;
    return ingot_doctor_add(d, &overridable, &tally, error, "%zu initializers are inputs too, which a run may replace",
                            tally.count);
}

static bool same_tensor(const ingot_tensor_proto *a, const ingot_tensor_proto *b)
{
    return a->data_type == b->data_type && a->raw_data.size == b->raw_data.size &&
           memcmp(a->raw_data.data, b->raw_data.data, a->raw_data.size) == 0;
}

/* The map's keys are contents: it compares them itself. */
static ingot_status check_duplicates(ingot_diagnosis *d, const ingot_graph_proto *graph, ingot_error *error)
{
    const ingot_tensor_proto *tensors = graph->initializers.items;
    ingot_doctor_tally tally = {0};
    ingot_map seen = {0};
    ingot_status status = INGOT_OK;
    size_t bytes = 0;
    for (size_t i = 0; i < graph->initializers.count && status == INGOT_OK; i++) {
        const ingot_span content = tensors[i].raw_data;
        if (content.size < DUPLICATE_BYTES)
            continue;
        const ingot_tensor_proto *other = ingot_map_get(&seen, content.data, content.size);
        if (!other) {
            status = ingot_map_put(&seen, content.data, content.size, (void *)(uintptr_t)&tensors[i], NULL, error);
        } else if (same_tensor(other, &tensors[i])) {
            describe(&tally, &tensors[i]);
            bytes += content.size;
        }
    }
    ingot_map_clear(&seen);
    INGOT_TRY(status);
    return ingot_doctor_add(d, &duplicates, &tally, error, "%zu initializers repeat another one's content (%zu bytes)",
                            tally.count, bytes);
}

/* ---- The file ---- */

static ingot_status check_proto(ingot_diagnosis *d, const ingot_model_proto *proto, ingot_error *error)
{
    ingot_map used = {0};
    INGOT_TRY(check_opsets(d, proto, error));
    if (!proto->graph)
        return INGOT_OK;
    INGOT_TRY(ingot_doctor_check_operators(d, proto, error));
    INGOT_TRY(check_overridable(d, proto, error));
    INGOT_TRY(check_duplicates(d, proto->graph, error));
    ingot_status status = collect(proto->graph, &used, error);
    if (status == INGOT_OK)
        status = check_unused(d, proto->graph, &used, error);
    ingot_map_clear(&used);
    return status;
}

ingot_status ingot_doctor_check_file(ingot_diagnosis *d, const char *path, bool no_mmap, ingot_error *error)
{
    ingot_file *file = NULL;
    ingot_budget budget;
    ingot_model_proto proto = {0};
    ingot_error unreadable = {0}; /* opening says it again, better */
    INGOT_TRY(ingot_file_open(path, no_mmap, &file, error));
    ingot_arena *arena = ingot_arena_create();
    ingot_budget_init(&budget, 0);
    ingot_status status = arena ? INGOT_OK : ingot_fail_memory(error, 0, "a diagnosis");
    if (status == INGOT_OK && ingot_proto_read(&ingot_proto_model, (ingot_span){(const char *)file->data, file->size},
                                               arena, &budget, &proto, &unreadable) == INGOT_OK)
        status = check_proto(d, &proto, error);
    ingot_arena_release(arena);
    ingot_file_close(file);
    return status;
}
