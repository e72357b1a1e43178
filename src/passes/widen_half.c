/* What a model says in FP16 or BF16 is computed in FP32: precision fp32 asks for no less, and there are fast kernels for it. Nodes that
 * compute take their narrow operands widened and give wide results; casts stand where a narrow value comes in, is asked for,
 * or decides something (comparisons, ArgMax, casts to integers), and where the model itself casts. Values between are not
 * rounded. Nodes that only move data follow what they move. */
#include <string.h>

#include "base/number.h"
#include "passes/rewrite.h"

#define CAST_OPSET 13

static const char *const computing[] = {
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "Affine",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Attention",
    "AveragePool",
    "BatchNormalization",
    "Celu",
    "Clip",
    "Conv",
    "ConvTranspose",
    "Cos",
    "Cosh",
    "DeformConv",
    "Div",
    "Einsum",
    "Elu",
    "Erf",
    "Exp",
    "GRU",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "GridSample",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "ImageScaler",
    "InstanceNormalization",
    "LRN",
    "LSTM",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "LpPool",
    "MatMul",
    "Max",
    "MaxPool",
    "Mean",
    "MeanVarianceNormalization",
    "Min",
    "Mish",
    "Mul",
    "Neg",
    "PRelu",
    "Pow",
    "RMSNormalization",
    "RNN",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Resize",
    "RotaryEmbedding",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Sub",
    "Sum",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Upsample",
};

static const char *const moving[] = {
    "Compress",       "Concat",   "DepthToSpace", "Dropout",   "Expand",    "Flatten", "Gather",
    "GatherElements", "GatherND", "Identity",     "Pad",       "Reshape",   "Slice",   "SpaceToDepth",
    "Split",          "Squeeze",  "Tile",         "Transpose", "Unsqueeze", "Where",
};

typedef struct widener {
    ingot_graph *graph;
    ingot_graph_value **twins; /* [id]: the FP32 value of a narrow one; NULL: none yet */
    size_t capacity;
    ingot_error *error;
} widener;

static bool is_narrow(const ingot_graph_value *value)
{
    return value && value->type.kind == INGOT_KIND_TENSOR &&
           (value->type.element == INGOT_FLOAT16 || value->type.element == INGOT_BFLOAT16);
}

static ingot_graph_value *twin_of(const widener *w, const ingot_graph_value *value)
{
    return value->id < w->capacity ? w->twins[value->id] : NULL;
}

static ingot_status set_twin(widener *w, const ingot_graph_value *value, ingot_graph_value *twin)
{
    if (value->id >= w->capacity) {
        size_t capacity = 2 * w->graph->value_count;
        ingot_graph_value **twins = ingot_calloc(capacity, sizeof *twins);
        if (!twins)
            return ingot_fail_memory(w->error, capacity * sizeof *twins, "a pass");
        if (w->twins)
            memcpy(twins, w->twins, w->capacity * sizeof *twins);
        ingot_free(w->twins);
        w->twins = twins;
        w->capacity = capacity;
    }
    w->twins[value->id] = twin;
    return INGOT_OK;
}

static bool is_one_of(const ingot_node *node, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ingot_node_is(node, names[i]))
            return true;
    return false;
}

/* ---- Which nodes ---- */

/* Whether the operand or result may be FP32 in its place. */
static bool allows_float(const ingot_schema *schema, const ingot_schema_value *value)
{
    const ingot_schema_constraint *constraint = value ? ingot_schema_constraint_of(schema, value) : NULL;
    return constraint && (constraint->allowed[INGOT_FORM_TENSOR] & (1u << INGOT_FLOAT));
}

static bool all_may_widen(const ingot_node *node, const ingot_schema *schema)
{
    for (size_t i = 0; i < node->operand_count; i++)
        if (is_narrow(node->inputs[i]) && !allows_float(schema, ingot_schema_input(schema, i)))
            return false;
    for (size_t i = 0; i < node->output_count; i++)
        if (is_narrow(node->outputs[i]) && !allows_float(schema, ingot_schema_output(schema, i)))
            return false;
    return true;
}

static bool has_narrow_operand(const ingot_node *node)
{
    for (size_t i = 0; i < node->operand_count; i++)
        if (is_narrow(node->inputs[i]))
            return true;
    return false;
}

static bool has_twin(const widener *w, const ingot_node *node)
{
    for (size_t i = 0; i < node->operand_count; i++)
        if (is_narrow(node->inputs[i]) && twin_of(w, node->inputs[i]))
            return true;
    return false;
}

static bool is_cast_to_float(const ingot_node *node)
{
    return ingot_node_is(node, "Cast") && node->outputs[0]->type.element == INGOT_FLOAT;
}

static bool suits(const widener *w, const ingot_node *node)
{
    if (node->body_count > 0 || node->output_count == 0 || !has_narrow_operand(node))
        return false;
    bool computes = is_one_of(node, computing, sizeof computing / sizeof *computing);
    bool moves = is_one_of(node, moving, sizeof moving / sizeof *moving) || is_cast_to_float(node);
    if (!computes && !(moves && has_twin(w, node)))
        return false;
    const ingot_schema *schema = ingot_schema_find(node->domain, node->op_type, node->opset);
    return schema && all_may_widen(node, schema);
}

/* ---- Casts ---- */

static ingot_status add_cast(widener *w, ingot_graph_value *from, ingot_element to, ingot_node *before,
                             ingot_graph_value **made)
{
    ingot_attribute attribute = {.name = "to", .type = INGOT_ATTRIBUTE_INT, .i = to};
    ingot_node *node;
    INGOT_TRY(ingot_graph_add_value(w->graph, from->name, strlen(from->name), made, w->error));
    ingot_node_spec spec = {.op_type = "Cast",
                            .opset = CAST_OPSET,
                            .inputs = &from,
                            .input_count = 1,
                            .operand_count = 1,
                            .outputs = made,
                            .output_count = 1,
                            .attributes = &attribute,
                            .attribute_count = 1};
    INGOT_TRY(ingot_graph_add_node(w->graph, &spec, before, &node, w->error));
    INGOT_TRY(ingot_op_resolve(node, w->error));
    return ingot_op_infer(node, w->error);
}

static ingot_status widen_constant(widener *w, const ingot_graph_value *value, ingot_graph_value **made)
{
    const ingot_value *content = value->constant;
    void *data;
    INGOT_TRY(
        ingot_new_tensor(w->graph, value->name, INGOT_FLOAT, content->rank, content->dims, made, &data, w->error));
    const uint16_t *from = content->data;
    for (size_t i = 0, count = ingot_value_count(content); i < count; i++)
        ((float *)data)[i] =
            content->element == INGOT_FLOAT16 ? ingot_half_to_float(from[i]) : ingot_bfloat16_to_float(from[i]);
    return INGOT_OK;
}

/* The FP32 value of a narrow one, which reads it before the node. */
static ingot_status widen(widener *w, ingot_graph_value *value, ingot_node *before, ingot_graph_value **wide)
{
    *wide = twin_of(w, value);
    if (*wide)
        return INGOT_OK;
    if (ingot_graph_value_is_constant(value))
        INGOT_TRY(widen_constant(w, value, wide));
    else
        INGOT_TRY(add_cast(w, value, INGOT_FLOAT, before, wide));
    return set_twin(w, value, *wide);
}

/* ---- Nodes ---- */

/* The new node before the old one, with the same attributes. values: its operands, then its results. */
static ingot_status add_twin(widener *w, ingot_node *old, ingot_graph_value **values)
{
    ingot_graph_value **results = values + old->operand_count;
    ingot_node *node;
    for (size_t i = 0; i < old->operand_count; i++) {
        values[i] = old->inputs[i];
        if (is_narrow(values[i]))
            INGOT_TRY(widen(w, old->inputs[i], old, &values[i]));
    }
    for (size_t i = 0; i < old->output_count; i++)
        if (old->outputs[i])
            INGOT_TRY(ingot_graph_add_value(w->graph, old->outputs[i]->name, strlen(old->outputs[i]->name), &results[i],
                                            w->error));
    ingot_node_spec spec = {.domain = old->domain,
                            .op_type = old->op_type,
                            .name = old->name,
                            .opset = old->opset,
                            .inputs = values,
                            .input_count = old->operand_count,
                            .operand_count = old->operand_count,
                            .outputs = results,
                            .output_count = old->output_count,
                            .attributes = old->attributes,
                            .attribute_count = old->attribute_count};
    INGOT_TRY(ingot_graph_add_node(w->graph, &spec, old, &node, w->error));
    node->op = old->op;
    node->params = old->params;
    return ingot_op_infer(node, w->error);
}

/* Those who read a result of the old node now read the new one's: narrowed, until they are widened too. */
static ingot_status hand_over(widener *w, ingot_node *old, ingot_graph_value *before, ingot_graph_value *result)
{
    ingot_graph_value *narrow = result;
    if (!before || !ingot_value_is_read(before))
        return INGOT_OK;
    if (is_narrow(before)) {
        INGOT_TRY(add_cast(w, result, before->type.element, old, &narrow));
        INGOT_TRY(set_twin(w, narrow, result));
    }
    return ingot_graph_replace_value(before, narrow, w->error);
}

static ingot_status widen_node(widener *w, ingot_node *node)
{
    size_t count = node->operand_count + node->output_count;
    ingot_graph_value **values = ingot_calloc(count + 1, sizeof *values);
    if (!values)
        return ingot_fail_memory(w->error, count * sizeof *values, "a pass");
    ingot_status status = add_twin(w, node, values);
    for (size_t i = 0; i < node->output_count && status == INGOT_OK; i++)
        status = hand_over(w, node, node->outputs[i], values[node->operand_count + i]);
    ingot_free(values);
    if (status == INGOT_OK)
        ingot_graph_remove_node(node);
    return status;
}

ingot_status ingot_pass_widen_half(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    widener w = {.graph = graph, .error = context->error};
    ingot_status status = INGOT_OK;
    for (ingot_node *n = graph->first, *next; n && status == INGOT_OK; n = next) {
        next = n->next;
        if (!suits(&w, n))
            continue;
        *changed = true;
        status = widen_node(&w, n);
    }
    ingot_free(w.twins);
    return status;
}
