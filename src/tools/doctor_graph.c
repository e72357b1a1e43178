/* What the typed graph shows, before any pass: sizes that only a run tells, wide arithmetic, leftovers of training, slips of exporters. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "ops/op.h"
#include "tools/doctor.h"

/* Integer tensors of so many elements are data, not shapes. */
#define DATA_ELEMENTS 1024

static bool is_number(const ingot_type *type, int axis)
{
    return type->rank > axis && ingot_dim_is_number(type->dims[axis]);
}

/* ---- One node at a time ---- */

/* What all rules below count, in the order of the table that reports them. */
enum {
    RUN_TIME_SIZES,
    DOUBLE_ARITHMETIC,
    INTEGER_ARITHMETIC,
    LAYOUT_CHANGES,
    NARROW_WIDE,
    TRAINING,
    RANDOM,
    OLD_SOFTMAX,
    RULES
};

static const struct {
    ingot_doctor_rule rule;
    const char *what;
} node_rules[RULES] = {
    [RUN_TIME_SIZES] = {{"run-time-sizes", INGOT_WARNING,
                         "where the size has a bound that is known, replace the node (NonZero by a mask and Where, "
                         "boolean indexing by "
                         "multiplication): memory of what follows cannot be laid out before the run"},
                        "sizes of outputs depend on the content of inputs"},
    [DOUBLE_ARITHMETIC] =
        {{"double-arithmetic", INGOT_WARNING,
          "convert the model to float32 (in NumPy and scikit-learn: cast inputs and parameters before the export); "
          "double precision runs on portable kernels"},
         "arithmetic is in float64"},
    [INTEGER_ARITHMETIC] = {{"int64-arithmetic", INGOT_NOTE,
                             "where the values are small, int32 or float32 is several times faster; for indices and "
                             "shapes int64 is right"},
                            "arithmetic on large int64 tensors"},
    [LAYOUT_CHANGES] = {{"layout-changes", INGOT_NOTE,
                         "export with channels first (in tf2onnx: --inputs-as-nchw and --outputs-as-nchw): Ingot picks "
                         "its own layout inside, "
                         "and each Transpose is a copy that remains"},
                        "a Transpose changes between channels first and channels last"},
    [NARROW_WIDE] = {{"precision-loss", INGOT_WARNING,
                      "remove the pair of Casts: it rounds to half precision for nothing"},
                     "a tensor is cast to a narrower float type and straight back"},
    [TRAINING] =
        {{"training-mode", INGOT_WARNING,
          "export in inference mode (model.eval()): these nodes compute batch statistics or drop values at random"},
         "a node runs in training mode"},
    [RANDOM] = {{"random", INGOT_NOTE, "results differ from run to run, unless a seed attribute is given"},
                "a node draws random numbers"},
    [OLD_SOFTMAX] = {{"flattening-softmax", INGOT_NOTE,
                      "before opset 13 Softmax works on all axes from `axis` on, flattened; if one axis was meant, "
                      "export with opset 13 or later"},
                     "Softmax of an old opset spans several axes"},
};

typedef struct survey {
    ingot_doctor_tally tallies[RULES];
} survey;

static const char *const arithmetic[] = {"Add",  "Sub",       "Mul",        "Div",  "Pow",    "MatMul",  "Gemm",
                                         "Conv", "ReduceSum", "ReduceMean", "Exp",  "Sqrt",   "Sigmoid", "Tanh",
                                         "Erf",  "Softmax",   "Mod",        "Clip", "CumSum", NULL};

static void look_at_types(survey *s, const ingot_node *node)
{
    const ingot_graph_value *x = node->operand_count > 0 ? node->inputs[0] : NULL;
    if (!x || x->type.kind != INGOT_KIND_TENSOR || !ingot_doctor_is_any(node, arithmetic))
        return;
    int64_t count = 1;
    for (int i = 0; i < x->type.rank; i++)
        count = is_number(&x->type, i) && x->type.dims[i] < DATA_ELEMENTS ? count * (x->type.dims[i] + !x->type.dims[i])
                                                                          : DATA_ELEMENTS;
    if (x->type.element == INGOT_DOUBLE)
        ingot_doctor_count_node(&s->tallies[DOUBLE_ARITHMETIC], node);
    if (x->type.element == INGOT_INT64 && !x->known && x->type.rank > 1 && count >= DATA_ELEMENTS)
        ingot_doctor_count_node(&s->tallies[INTEGER_ARITHMETIC], node);
}

/* What has a channel axis, and so cares for the layout. */
static const char *const spatial[] = {"Conv",   "ConvTranspose",      "MaxPool", "AveragePool", "GlobalAveragePool",
                                      "Resize", "BatchNormalization", NULL};

static bool beside_spatial(const ingot_node *node)
{
    const ingot_graph_value *x = node->inputs[0], *y = node->outputs[0];
    bool found = x && ingot_doctor_is_any(x->producer, spatial);
    for (size_t i = 0; y && i < y->use_count; i++)
        found = found || ingot_doctor_is_any(y->uses[i].node, spatial);
    return found;
}

static void look_at_transpose(survey *s, const ingot_node *node)
{
    static const int64_t layouts[][4] = {{0, 2, 3, 1}, {0, 3, 1, 2}};
    const ingot_attribute *perm = ingot_doctor_is(node, "Transpose") ? ingot_node_attribute(node, "perm") : NULL;
    for (size_t i = 0; perm && perm->count == 4 && i < 2; i++)
        if (memcmp(perm->ints, layouts[i], sizeof layouts[i]) == 0 && beside_spatial(node))
            ingot_doctor_count_node(&s->tallies[LAYOUT_CHANGES], node);
}

static bool narrower(ingot_element a, ingot_element b)
{
    return ingot_element_is_float(a) && ingot_element_is_float(b) && ingot_element_bits(a) < ingot_element_bits(b);
}

static void look_at_cast(survey *s, const ingot_node *node)
{
    const ingot_node *before = ingot_doctor_is(node, "Cast") && node->inputs[0] ? node->inputs[0]->producer : NULL;
    if (ingot_doctor_is(before, "Cast") && before->inputs[0] && node->outputs[0] &&
        before->inputs[0]->type.element == node->outputs[0]->type.element &&
        narrower(node->inputs[0]->type.element, node->outputs[0]->type.element))
        ingot_doctor_count_node(&s->tallies[NARROW_WIDE], node);
}

static void look_at_training(survey *s, const ingot_node *node)
{
    const ingot_attribute *mode = ingot_node_attribute(node, "training_mode");
    const ingot_graph_value *flag =
        ingot_doctor_is(node, "Dropout") && node->operand_count > 2 ? node->inputs[2] : NULL;
    bool dropout = ingot_graph_value_is_constant(flag) && flag->constant->data && *(const bool *)flag->constant->data;
    if (dropout || (ingot_doctor_is(node, "BatchNormalization") && mode && mode->i == 1))
        ingot_doctor_count_node(&s->tallies[TRAINING], node);
}

static void look_at_softmax(survey *s, const ingot_node *node)
{
    const ingot_attribute *axis = ingot_node_attribute(node, "axis");
    int rank = node->operand_count > 0 && node->inputs[0] ? node->inputs[0]->type.rank : -1;
    int64_t from = axis ? axis->i : 1;
    if (ingot_doctor_is(node, "Softmax") && node->opset < 13 && rank > 0 && (from < 0 ? from + rank : from) < rank - 1)
        ingot_doctor_count_node(&s->tallies[OLD_SOFTMAX], node);
}

static void look_at_node(survey *s, const ingot_node *node)
{
    bool tensor = node->output_count > 0 && node->outputs[0] && node->outputs[0]->type.kind == INGOT_KIND_TENSOR;
    if (tensor && node->op && (node->op->flags & (INGOT_OP_SIZES_OUTPUT | INGOT_OP_CONTROL)) == INGOT_OP_SIZES_OUTPUT)
        ingot_doctor_count_node(&s->tallies[RUN_TIME_SIZES], node);
    if (node->op && node->op->flags & INGOT_OP_RANDOM)
        ingot_doctor_count_node(&s->tallies[RANDOM], node);
    look_at_types(s, node);
    look_at_transpose(s, node);
    look_at_cast(s, node);
    look_at_training(s, node);
    look_at_softmax(s, node);
}

/* Recursion is bounded: INGOT_MAX_DEPTH. */
static void look_at_graph(survey *s, const ingot_graph *graph)
{
    for (const ingot_node *n = graph->first; n; n = n->next) {
        look_at_node(s, n);
        for (size_t i = 0; i < n->body_count; i++)
            look_at_graph(s, n->bodies[i].graph);
    }
}

/* ---- Inputs and outputs ---- */

static const ingot_doctor_rule free_sizes = {"free-sizes", INGOT_NOTE,
                                             "nothing need be done: each new set of sizes is planned once and kept; "
                                             "give the usual ones as warm-up shapes and the first request finds "
                                             "them ready"};
static const ingot_doctor_rule unknown_rank = {
    "unknown-rank", INGOT_WARNING,
    "declare the input's shape, with names for free sizes: without a rank little can be planned"};
static const ingot_doctor_rule fixed_batch = {"fixed-batch", INGOT_WARNING,
                                              "the batch was written into a Reshape or Expand as a number when the "
                                              "model was traced: use 0 or -1 there (in PyTorch: x.size(0), "
                                              "flatten(1), and dynamic axes), or only that batch will run"};

static ingot_status check_inputs(ingot_diagnosis *d, const ingot_graph *graph, ingot_error *error)
{
    ingot_doctor_tally sizes = {0}, ranks = {0};
    char where[256];
    for (size_t i = 0; i < graph->input_count; i++) {
        const ingot_type *type = &graph->inputs[i]->type;
        snprintf(where, sizeof where, "input '%s'", graph->inputs[i]->name);
        if (type->kind != INGOT_KIND_TENSOR)
            continue;
        if (type->rank < 0)
            ingot_doctor_count(&ranks, where);
        for (int axis = 0; axis < type->rank; axis++)
            if (!is_number(type, axis))
                ingot_doctor_count(&sizes, where);
    }
    INGOT_TRY(ingot_doctor_add(d, &free_sizes, &sizes, error, "%zu sizes of inputs are free", sizes.count));
    return ingot_doctor_add(d, &unknown_rank, &ranks, error, "%zu inputs have no rank", ranks.count);
}

static bool has_free_batch(const ingot_graph *graph)
{
    for (size_t i = 0; i < graph->input_count; i++)
        if (graph->inputs[i]->type.rank <= 0 || is_number(&graph->inputs[i]->type, 0))
            return false;
    return graph->input_count > 0;
}

/* A Reshape whose target has every size as a number. */
static bool fixes_all_sizes(const ingot_node *node)
{
    const ingot_graph_value *shape = ingot_doctor_is(node, "Reshape") ? node->inputs[1] : NULL;
    if (!ingot_graph_value_is_constant(shape) || ingot_value_count(shape->constant) < 2)
        return false;
    for (size_t i = 0; i < ingot_value_count(shape->constant); i++)
        if (ingot_load_i64(shape->constant->element, shape->constant->data, i) <= 0)
            return false;
    return true;
}

/* Marks what follows from the content of inputs, not only from their shapes. varies: by the values' ids. */
static bool follows_inputs(const ingot_node *node, const bool *varies)
{
    if (node->op && node->op->flags & INGOT_OP_READS_SHAPE)
        return false;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] && varies[node->inputs[i]->id])
            return true;
    return false;
}

static ingot_status check_batch(ingot_diagnosis *d, const ingot_graph *graph, ingot_error *error)
{
    ingot_doctor_tally tally = {0};
    if (!has_free_batch(graph))
        return INGOT_OK;
    bool *varies = ingot_calloc(graph->value_count + 1, sizeof *varies);
    if (!varies)
        return ingot_fail_memory(error, graph->value_count, "a diagnosis");
    for (size_t i = 0; i < graph->input_count; i++)
        varies[graph->inputs[i]->id] = true;
    for (const ingot_node *n = graph->first; n; n = n->next) {
        bool follows = follows_inputs(n, varies);
        for (size_t i = 0; i < n->output_count && follows; i++)
            if (n->outputs[i])
                varies[n->outputs[i]->id] = true;
        if (follows && n->inputs[0] && varies[n->inputs[0]->id] && fixes_all_sizes(n))
            ingot_doctor_count_node(&tally, n);
    }
    ingot_free(varies);
    return ingot_doctor_add(d, &fixed_batch, &tally, error,
                            "the batch is free, but %zu Reshape nodes have all sizes written as numbers", tally.count);
}

ingot_status ingot_doctor_check_graph(ingot_diagnosis *d, const ingot_model *model, ingot_error *error)
{
    const ingot_graph *graph = model->module->main;
    survey s = {0};
    look_at_graph(&s, graph);
    for (size_t i = 0; i < RULES; i++)
        INGOT_TRY(ingot_doctor_add(d, &node_rules[i].rule, &s.tallies[i], error, "%s", node_rules[i].what));
    INGOT_TRY(check_inputs(d, graph, error));
    INGOT_TRY(check_batch(d, graph, error));
    INGOT_TRY(ingot_doctor_check_quantization(d, graph, error));
    return ingot_doctor_check_weights(d, graph, error);
}
