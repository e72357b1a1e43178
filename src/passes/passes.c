/* The ordered table of rewrites, and what runs them. */
#include "passes/passes.h"

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "passes/rewrite.h"

/* Content comes to where it is used, then what it decides is done, then what has become needless goes; only then are nodes made
 * into others, so that these meet the graph in its plainest form. What folds into weights asks how many nodes read a value,
 * so it comes when the dead ones are gone. */
const ingot_pass ingot_passes[] = {
    {"constants-into-bodies", "a constant that a subgraph captures becomes the subgraph's own", INGOT_OPT_EXACT,
     ingot_pass_constants_into_bodies},
    {"fold-if", "an If whose condition is constant is replaced by the branch taken", INGOT_OPT_EXACT,
     ingot_pass_fold_if},
    {"fold-constants", "nodes of constant inputs are run once, here", INGOT_OPT_EXACT, ingot_pass_fold_constants},
    {"fold-shapes", "what arithmetic on fixed shapes gives becomes constant", INGOT_OPT_EXACT, ingot_pass_fold_shapes},
    {"remove-identity", "nodes that give their input as it is are left out", INGOT_OPT_EXACT,
     ingot_pass_remove_identity},
    {"merge-views", "chains of Reshape, Squeeze, Unsqueeze, Flatten and chains of Transpose become one node",
     INGOT_OPT_EXACT, ingot_pass_merge_views},
    {"move-transposes", "a Transpose goes where it and another become one", INGOT_OPT_EXACT,
     ingot_pass_move_transposes},
    {"merge-duplicates", "equal nodes and equal constants are kept once", INGOT_OPT_EXACT, ingot_pass_merge_duplicates},
    {"shrink-constants", "constants that broadcasting spreads anyhow hold their numbers once", INGOT_OPT_EXACT,
     ingot_pass_shrink_constants},
    {"move-quantizers", "nodes that only move elements do so on 8 bits; quantizing what was dequantized goes",
     INGOT_OPT_EXACT, ingot_pass_move_quantizers},
    {"integer-products", "products between DequantizeLinear and QuantizeLinear become products of 8-bit integers",
     INGOT_OPT_ALL, ingot_pass_integer_products},
    {"integer-arithmetic", "sums, products and functions of elements between them become operators on 8 bits",
     INGOT_OPT_ALL, ingot_pass_integer_arithmetic},
    {"fold-dequantized", "constants that are dequantized for float arithmetic become floats", INGOT_OPT_EXACT,
     ingot_pass_fold_dequantized},
    {"gather-one-hot", "products with one-hot rows spelled out become Gather", INGOT_OPT_ALL,
     ingot_pass_gather_one_hot},
    {"widen-half", "what is FP16 or BF16 is computed in FP32", INGOT_OPT_ALL, ingot_pass_widen_half},
    {"fuse-layer-norm", "layer normalization spelled out becomes LayerNormalization", INGOT_OPT_ALL,
     ingot_pass_fuse_layer_norm},
    {"fuse-gelu", "GELU spelled out with Erf or Tanh becomes Gelu", INGOT_OPT_ALL, ingot_pass_fuse_gelu},
    {"fuse-hard-swish", "x times its Sigmoid becomes Swish, x times its HardSigmoid becomes HardSwish", INGOT_OPT_ALL,
     ingot_pass_fuse_hard_swish},
    {"remove-dead", "nodes, outputs and captures that nothing reads go", INGOT_OPT_EXACT, ingot_pass_remove_dead},
    {"fold-batch-norm", "normalization and constant scales go into the weights before them", INGOT_OPT_ALL,
     ingot_pass_fold_batch_norm},
    {"conv-of-phases", "a convolution of every s-th pixels, side by side as channels, becomes one of the image",
     INGOT_OPT_ALL, ingot_pass_conv_of_phases},
    {NULL, NULL, INGOT_OPT_NONE, NULL},
};

#define PASS_COUNT (sizeof ingot_passes / sizeof *ingot_passes - 1)
#define MAX_ROUNDS 8

/* ---- Names of passes to leave out ---- */

static size_t find_pass(const char *name, size_t length)
{
    size_t i = 0;
    while (i < PASS_COUNT && (strlen(ingot_passes[i].name) != length || memcmp(ingot_passes[i].name, name, length)))
        i++;
    return i;
}

static ingot_status refuse_name(const char *name, size_t length, ingot_error *error)
{
    char names[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < PASS_COUNT && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", ingot_passes[i].name);
    return ingot_fail(error, INGOT_INVALID_ARGUMENT, "there is no pass '%.*s' to disable; the passes are: %s",
                      (int)(length < 64 ? length : 64), name, names);
}

static ingot_status read_disabled(const char *list, bool *disabled, ingot_error *error)
{
    const char *separators = ", \t";
    for (const char *at = list ? list : ""; *at;) {
        at += strspn(at, separators);
        size_t length = strcspn(at, separators);
        if (length == 0)
            break;
        size_t pass = find_pass(at, length);
        if (pass == PASS_COUNT)
            return refuse_name(at, length, error);
        disabled[pass] = true;
        at += length;
    }
    return INGOT_OK;
}

/* ---- Running ---- */

/* Bodies before the graph that holds them. */
static ingot_status run_on_graph(const ingot_pass *pass, ingot_graph *graph, const ingot_pass_context *context,
                                 int depth, bool *changed)
{
    if (ingot_cancelled(context->cancel))
        return ingot_fail(context->error, INGOT_CANCELLED, "optimizing was cancelled");
    if (depth > INGOT_MAX_DEPTH)
        return ingot_fail(context->error, INGOT_INTERNAL, "bodies are nested deeper than %d", INGOT_MAX_DEPTH);
    for (ingot_node *n = graph->first; n; n = n->next)
        for (size_t i = 0; i < n->body_count; i++)
            INGOT_TRY(run_on_graph(pass, n->bodies[i].graph, context, depth + 1, changed));
    return pass->run(graph, context, changed);
}

/* Types again, from what the graph has become. More is known now than at import, so what is wrong in a part that may never
 * run can come to light here: such a node keeps the types it had, and the run that reaches it will tell. */
static ingot_status infer_again(ingot_graph *graph, ingot_error *error)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        ingot_error found = {0};
        ingot_status status = ingot_op_infer(n, &found);
        if (status == INGOT_OUT_OF_MEMORY || status == INGOT_INTERNAL)
            return ingot_fail(error, status, "%s", found.message);
    }
    return INGOT_OK;
}

static ingot_status run_pass(const ingot_pass *pass, ingot_module *module, const ingot_pass_context *context,
                             bool *changed)
{
    bool here = false;
    ingot_status status = run_on_graph(pass, module->main, context, 0, &here);
#ifndef NDEBUG
    if (status == INGOT_OK)
        status = ingot_graph_verify(module->main, context->error);
#endif
    if (status != INGOT_OK && status != INGOT_CANCELLED && context->error)
        ingot_fail_at(context->error, "pass %s", pass->name);
    *changed |= here;
    return status;
}

ingot_status ingot_passes_run(ingot_module *module, ingot_opt_level level, const char *disabled,
                              const ingot_pass_context *context)
{
    bool left_out[PASS_COUNT] = {false};
    INGOT_TRY(read_disabled(disabled, left_out, context->error));
    bool changed = true;
    for (int round = 0; round < MAX_ROUNDS && changed; round++) {
        changed = false;
        for (size_t i = 0; i < PASS_COUNT; i++)
            if (ingot_passes[i].level <= level && !left_out[i])
                INGOT_TRY(run_pass(&ingot_passes[i], module, context, &changed));
        if (changed)
            INGOT_TRY(infer_again(module->main, context->error));
    }
    return INGOT_OK;
}
