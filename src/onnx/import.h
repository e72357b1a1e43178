/* From a model file to a checked, typed module: what ingot_model is. */
#ifndef INGOT_ONNX_IMPORT_H
#define INGOT_ONNX_IMPORT_H

#include <stdatomic.h>

#include "base/file.h"
#include "graph/graph.h"
#include "ops/op.h"

typedef struct ingot_opset {
    const char *domain; /* "ai.onnx" for the default one */
    int64_t version;
} ingot_opset;

typedef struct ingot_metadata {
    const char *key, *value;
} ingot_metadata;

typedef struct ingot_operator_count {
    const char *name; /* "Conv", "com.microsoft::FusedConv" */
    size_t nodes;
} ingot_operator_count;

/* Immutable once opened. Strings and arrays live in module->arena. */
struct ingot_model {
    atomic_size_t references;
    ingot_budget budget;
    ingot_module *module; /* resolved and inferred; functions are inlined, captures explicit, bodies nested */
    struct ingot_model_files *files; /* mapped files that constants point into; private to src/onnx */
    const char *path;                /* for messages; "model in memory" */
    int64_t ir_version, version;
    const char *producer, *producer_name, *domain, *graph_name, *graph_description, *description;
    ingot_opset *opsets;
    size_t opset_count;
    ingot_metadata *metadata;
    size_t metadata_count;
    ingot_operator_count *operators;
    size_t operator_count;
    size_t initializer_count, initializer_bytes;
    ingot_value_info *inputs, *outputs; /* inputs that are initializers come with has_default */
    size_t input_count, output_count;
};

void ingot_model_retain(ingot_model *model);

/* Bytes of a constant that were read for the last time: where they lie in a mapped file, their pages need not stay. */
void ingot_model_forget(ingot_model *model, const void *data, size_t size);

/* Fills info for people from graph values: names, kinds, sizes (-1 where free), symbols. Strings go to the arena. Symbols are
 * those that the inferred type holds, by name; output names are the declared ones. */
ingot_status ingot_value_info_fill(ingot_module *module, const char *name, const ingot_type *type, bool has_default,
                                   ingot_value_info *info, ingot_error *error);

/* How import goes, one step a function (import*.c), in this order:
 *   read     bytes -> proto structs (proto.h)
 *   check    IR version, opset imports, names, what the standard forbids
 *   functions  model-local functions are inlined where they are called (depth-bounded; a recursive one is refused)
 *   graph    nodes in data-flow order, initializers and Constant nodes as constants, bodies with explicit captures
 *   resolve  ingot_op_resolve on every node, as inference comes to it: attributes, upgrades
 *   infer    ingot_graph_infer; declared output types are checked against the result: element types must agree, declared
 *            shapes are hints only and never believed over what was inferred
 * A failure says file, then node. */

#endif
