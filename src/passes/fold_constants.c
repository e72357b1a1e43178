/* Nodes of constant inputs are run once; small integer tensors that shape arithmetic knows become constants. */
#include <string.h>

#include "base/number.h"
#include "passes/rewrite.h"

/* A result may be this large, or this many times as large as what it is made of: a model's file must not grow in memory
 * by what it would make anew, and free, in every run. */
#define SMALL_RESULT  ((size_t)1 << 20)
#define RESULT_GROWTH 8

static bool is_foldable(const ingot_node *node)
{
    if (!node->op || (node->op->flags & (INGOT_OP_RANDOM | INGOT_OP_CONTROL)) || node->body_count > 0)
        return false;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] && !ingot_graph_value_is_constant(node->inputs[i]))
            return false;
    for (size_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] && node->outputs[i]->type.kind != INGOT_KIND_TENSOR)
            return false;
    return true;
}

/* A large matrix that is transposed for one product is not made anew: who packs it for the product reads it as it lies. */
static bool is_for_product(const ingot_node *node)
{
    const ingot_graph_value *y = node->outputs[0];
    return strcmp(node->op_type, "Transpose") == 0 && strcmp(node->domain, "ai.onnx") == 0 && y && y->type.rank == 2 &&
           y->use_count == 1 && y->output_count == 0 && strcmp(y->uses[0].node->op_type, "MatMul") == 0 &&
           y->uses[0].node->inputs[1] == y && y->uses[0].node->inputs[0] != y &&
           ingot_value_bytes(node->inputs[0]->constant) > SMALL_RESULT;
}

static size_t largest_result(const ingot_node *node)
{
    size_t bytes = 0;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] && !ingot_add_size(bytes, ingot_value_bytes(node->inputs[i]->constant), &bytes))
            return SIZE_MAX;
    if (!ingot_mul_size(bytes, RESULT_GROWTH, &bytes))
        return SIZE_MAX;
    return bytes > SMALL_RESULT ? bytes : SMALL_RESULT;
}

/* Whether the sizes told beforehand, where they are, keep to the bound. */
static bool fits(const ingot_node *node, size_t limit)
{
    size_t total = 0;
    for (size_t i = 0; i < node->output_count; i++) {
        size_t bytes;
        if (!node->outputs[i] || !ingot_has_static_shape(&node->outputs[i]->type))
            continue;
        const ingot_type *type = &node->outputs[i]->type;
        if (!ingot_tensor_bytes(type->element, type->rank, type->dims, &bytes) ||
            !ingot_add_size(total, bytes, &total) || total > limit)
            return false;
    }
    return true;
}

/* The value becomes a constant, in place: its node is about to go. Takes content. */
static ingot_status settle(ingot_graph_value *value, ingot_value *content, ingot_error *error)
{
    INGOT_TRY(ingot_module_own(value->graph->module, content, error));
    value->constant = content;
    value->type = ingot_type_of_value(content);
    return INGOT_OK;
}

/* ---- Views: the same memory under another shape ---- */

static ingot_status fold_view(ingot_node *node, ingot_error *error, bool *changed)
{
    const ingot_value *from = node->inputs[0]->constant;
    const ingot_type *type = &node->outputs[0]->type;
    size_t count;
    ingot_value *content;
    if (from->kind != INGOT_KIND_TENSOR || !ingot_has_static_shape(type) ||
        !ingot_count_elements(type->rank, type->dims, &count) || count != ingot_value_count(from))
        return INGOT_OK;
    INGOT_TRY(ingot_new_content(&content, error));
    if (from->element == INGOT_STRING) {
        ingot_status status = ingot_value_copy(content, from, error);
        if (status != INGOT_OK) {
            ingot_value_release(content);
            return status;
        }
        content->rank = type->rank;
        memcpy(content->dims, type->dims, (size_t)type->rank * sizeof *type->dims);
    } else {
        ingot_value_set_view(content, from->element, type->rank, type->dims, from->data, ingot_value_bytes(from));
    }
    ingot_graph_value *value = node->outputs[0];
    ingot_graph_remove_node(node);
    *changed = true;
    return settle(value, content, error);
}

/* ---- All others: the evaluator runs them ---- */

typedef struct folding {
    const ingot_value **inputs;
    ingot_value **outputs;
    size_t output_count;
} folding;

static void release_folding(folding *f)
{
    for (size_t i = 0; f->outputs && i < f->output_count; i++)
        ingot_value_release(f->outputs[i]);
    ingot_free(f->inputs);
    ingot_free(f->outputs);
}

static ingot_status prepare(folding *f, const ingot_node *node, ingot_error *error)
{
    f->inputs = ingot_calloc(node->input_count + 1, sizeof *f->inputs);
    f->outputs = ingot_calloc(node->output_count + 1, sizeof *f->outputs);
    f->output_count = node->output_count;
    if (!f->inputs || !f->outputs)
        return ingot_fail_memory(error, (node->input_count + node->output_count) * sizeof *f->inputs, "a pass");
    for (size_t i = 0; i < node->input_count; i++)
        f->inputs[i] = node->inputs[i] ? node->inputs[i]->constant : NULL;
    for (size_t i = 0; i < node->output_count; i++)
        if (node->outputs[i])
            INGOT_TRY(ingot_new_content(&f->outputs[i], error));
    return INGOT_OK;
}

static bool is_usable(const folding *f, size_t limit, size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < f->output_count; i++)
        if (f->outputs[i] && (f->outputs[i]->kind != INGOT_KIND_TENSOR ||
                              !ingot_add_size(*total, ingot_value_bytes(f->outputs[i]), total) || *total > limit))
            return false;
    return true;
}

static ingot_status keep(folding *f, ingot_node *node, ingot_error *error)
{
    ingot_graph_remove_node(node);
    for (size_t i = 0; i < f->output_count; i++) {
        ingot_value *content = f->outputs[i];
        f->outputs[i] = NULL;
        if (content)
            INGOT_TRY(settle(node->outputs[i], content, error));
    }
    return INGOT_OK;
}

/* Whether the node ran and its results may stay. One that fails here may stand where no run comes by, and the run that does
 * will tell; nor is memory that folding cannot have an error. */
static bool evaluate(folding *f, const ingot_node *node, ingot_evaluator *evaluator, size_t limit)
{
    ingot_error ignored = {0};
    ingot_budget *budget = node->graph->module->budget;
    size_t bytes;
    return evaluator->run(evaluator, node, f->inputs, f->outputs, &ignored) == INGOT_OK &&
           is_usable(f, limit, &bytes) &&
           (!budget || ingot_budget_take(budget, bytes, "a folded constant", &ignored) == INGOT_OK);
}

static ingot_status fold_node(ingot_node *node, const ingot_pass_context *context, bool *changed)
{
    size_t limit = largest_result(node);
    if (!fits(node, limit))
        return INGOT_OK;
    folding f = {0};
    ingot_status status = prepare(&f, node, context->error);
    if (status == INGOT_OK && evaluate(&f, node, context->evaluator, limit)) {
        status = keep(&f, node, context->error);
        *changed = true;
    }
    release_folding(&f);
    return status;
}

/* Quantized weights and biases wait for the rewrites that have a use for them as they are. */
static bool is_dequantizer(const ingot_node *node)
{
    return strcmp(node->op_type, "DequantizeLinear") == 0;
}

static ingot_status fold_some(ingot_graph *graph, const ingot_pass_context *context, bool dequantizers, bool *changed)
{
    for (ingot_node *n = graph->first, *next; n; n = next) {
        next = n->next;
        if (is_dequantizer(n) != dequantizers || !is_foldable(n) || is_for_product(n))
            continue;
        if (n->op->flags & INGOT_OP_VIEW)
            INGOT_TRY(fold_view(n, context->error, changed));
        else if (context->evaluator)
            INGOT_TRY(fold_node(n, context, changed));
    }
    return INGOT_OK;
}

ingot_status ingot_pass_fold_constants(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    return fold_some(graph, context, false, changed);
}

ingot_status ingot_pass_fold_dequantized(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    return fold_some(graph, context, true, changed);
}

/* ---- Shapes ---- */

/* Below are references, and numbers that inference rounded up to be none. */
#define LOWEST_EXACT (INT64_MIN / 2)

static bool is_known(const ingot_graph_value *value)
{
    size_t count;
    if (!ingot_value_is_read(value) || value->constant || !value->known || !ingot_has_static_shape(&value->type) ||
        !ingot_element_is_integer(value->type.element) || ingot_element_bits(value->type.element) < 8 ||
        !ingot_count_elements(value->type.rank, value->type.dims, &count) || count != value->known_count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (value->known[i] < LOWEST_EXACT)
            return false;
    return true;
}

static ingot_status fold_known(ingot_graph_value *value, ingot_error *error)
{
    ingot_graph_value *constant;
    void *data;
    INGOT_TRY(ingot_new_tensor(value->graph, value->name, value->type.element, value->type.rank, value->type.dims,
                               &constant, &data, error));
    for (size_t i = 0; i < value->known_count; i++)
        ingot_store_i64(value->type.element, data, i, value->known[i]);
    return ingot_graph_replace_value(value, constant, error);
}

ingot_status ingot_pass_fold_shapes(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        if (!n->op || (n->op->flags & INGOT_OP_RANDOM))
            continue;
        for (size_t i = 0; i < n->output_count; i++) {
            if (!is_known(n->outputs[i]))
                continue;
            INGOT_TRY(fold_known(n->outputs[i], context->error));
            *changed = true;
        }
    }
    return INGOT_OK;
}
