/* Rewrites of the graph that hold on any hardware: standard ONNX in, standard ONNX out.
 *
 * A pass is a static descriptor in the ordered table of passes.c. Level EXACT keeps every bit of every output; level ALL may
 * change rounding. No pass asks whether a value is a graph output: where it swallows one, the old chain stays beside the new. */
#ifndef INGOT_PASSES_PASSES_H
#define INGOT_PASSES_PASSES_H

#include "ops/op.h"

/* Runs one node on constant inputs: handed in by the runtime, so that folding uses the reference kernels without this room
 * knowing them. outputs[i] come empty (ingot_value_init) and are filled; INGOT_UNSUPPORTED where the node cannot be run. */
typedef struct ingot_evaluator {
    ingot_status (*run)(struct ingot_evaluator *evaluator, const ingot_node *node, const ingot_value *const *inputs,
                        ingot_value *const *outputs, ingot_error *error);
} ingot_evaluator;

typedef struct ingot_pass_context {
    ingot_evaluator *evaluator;
    const ingot_cancel *cancel;
    ingot_error *error;
} ingot_pass_context;

typedef struct ingot_pass {
    const char *name; /* "fold-constants": for --disable-passes and messages */
    const char *summary;
    ingot_opt_level level; /* the lowest level that runs it */
    /* Works on one graph; bodies are visited by the driver, inner ones first. Sets *changed. */
    ingot_status (*run)(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
} ingot_pass;

/* The table, in the order of running; ended by a pass without name. */
extern const ingot_pass ingot_passes[];

/* Runs all passes of the level over the module's graphs until nothing changes (a bounded number of rounds), but those whose names
 * stand in disabled (separated by commas; an unknown name is refused). Types are inferred again where nodes changed. */
ingot_status ingot_passes_run(ingot_module *module, ingot_opt_level level, const char *disabled,
                              const ingot_pass_context *context);

#endif
