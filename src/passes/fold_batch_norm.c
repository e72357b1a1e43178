/* What scales and shifts each channel after a layer with constant weights goes into the weights: BatchNormalization, and Mul,
 * Div, Add, Sub with a constant for each channel. Only where no other node reads the layer's output, which would have to be
 * computed twice; where it is an output of the graph, the old layer stays beside the new one. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "passes/rewrite.h"

/* y[channel] = scale[channel] * x[channel] + shift[channel] */
typedef struct affine {
    double *scale, *shift;
    size_t channels;
    bool scales; /* false: all scales are 1 */
} affine;

/* A layer y = x * weights + bias. Its weights are runs of `run` elements that belong to one output channel. */
typedef struct layer {
    ingot_node *node;
    const ingot_value *weights, *bias; /* bias NULL: none; one element or one a channel */
    int rank;                          /* of its output, whose axis 1 has the channels */
    size_t channels, run;
    size_t group_runs;     /* ConvTranspose: runs of one input group; else 0 */
    size_t group_channels; /* and output channels of one group */
    double bias_scale;     /* beta of Gemm */
    const char *becomes;   /* operator of the new node */
    int opset;
} layer;

/* ---- The layer ---- */

static const ingot_value *constant_of(const ingot_graph_value *value)
{
    bool constant = ingot_graph_value_is_constant(value) && value->constant->kind == INGOT_KIND_TENSOR;
    return constant && (value->constant->element == INGOT_FLOAT || value->constant->element == INGOT_DOUBLE)
               ? value->constant
               : NULL;
}

static void describe_conv(layer *l)
{
    l->channels = (size_t)l->weights->dims[0];
    l->run = l->channels ? ingot_value_count(l->weights) / l->channels : 0;
}

static void describe_conv_transpose(layer *l)
{
    size_t group = (size_t)ingot_int_attribute(l->node, "group", 1);
    l->group_channels = (size_t)l->weights->dims[1];
    l->channels = l->group_channels * group;
    size_t runs = (size_t)l->weights->dims[0] * l->group_channels;
    l->run = runs ? ingot_value_count(l->weights) / runs : 0;
    l->group_runs = group ? runs / group : 0;
}

static void describe_gemm(layer *l)
{
    bool transposed = ingot_node_is(l->node, "Gemm") && ingot_int_attribute(l->node, "transB", 0) != 0;
    l->channels = (size_t)l->weights->dims[transposed ? 0 : 1];
    l->run = transposed ? (size_t)l->weights->dims[1] : 1;
    l->bias_scale = ingot_float_attribute(l->node, "beta", 1);
}

static size_t channel_of_run(const layer *l, size_t run)
{
    if (l->group_runs)
        return run / l->group_runs * l->group_channels + run % l->group_channels;
    return run % l->channels;
}

static const struct layer_kind {
    const char *op_type, *becomes;
    int min_rank, max_rank, opset; /* of the weights; opset 0: as the node has it */
    void (*describe)(layer *l);
} layer_kinds[] = {
    {"Conv", "Conv", 3, INGOT_MAX_RANK, 0, describe_conv},
    {"ConvTranspose", "ConvTranspose", 3, INGOT_MAX_RANK, 0, describe_conv_transpose},
    {"Gemm", "Gemm", 2, 2, 0, describe_gemm},
    {"MatMul", "Gemm", 2, 2, 13, describe_gemm},
};

static bool take_bias(layer *l)
{
    const ingot_graph_value *value = ingot_operand(l->node, 2);
    if (!value)
        return true;
    l->bias = constant_of(value);
    if (!l->bias || l->bias->element != l->weights->element)
        return false;
    size_t count = ingot_value_count(l->bias);
    return count == 1 || (count == l->channels && (size_t)l->bias->dims[l->bias->rank - 1] == count);
}

static bool find_layer(const ingot_graph_value *value, layer *l)
{
    for (size_t i = 0; i < sizeof layer_kinds / sizeof *layer_kinds; i++) {
        const struct layer_kind *kind = &layer_kinds[i];
        ingot_node *node = ingot_made_by(value, kind->op_type);
        if (!node)
            continue;
        *l = (layer){.node = node, .bias_scale = 1, .becomes = kind->becomes};
        l->opset = kind->opset ? kind->opset : node->opset;
        l->weights = constant_of(ingot_operand(node, 1));
        if (!l->weights || l->weights->rank < kind->min_rank || l->weights->rank > kind->max_rank ||
            node->inputs[0]->type.rank != l->weights->rank || l->opset < 7)
            return false;
        l->rank = l->weights->rank;
        kind->describe(l);
        return l->channels > 0 && l->run > 0 && take_bias(l) && ingot_can_make(l->becomes, l->opset);
    }
    return false;
}

/* ---- What comes after it ---- */

static ingot_status open_affine(affine *a, size_t channels, ingot_error *error)
{
    *a = (affine){.channels = channels};
    a->scale = ingot_calloc(channels, 2 * sizeof *a->scale);
    if (!a->scale)
        return ingot_fail_memory(error, channels * 2 * sizeof *a->scale, "a pass");
    a->shift = a->scale + channels;
    return INGOT_OK;
}

/* One number a channel from a constant; false: it has another shape. */
static bool is_per_channel(const ingot_value *content, const layer *l)
{
    if (!content || content->rank > l->rank)
        return false;
    for (int i = 0; i < content->rank; i++) {
        bool channel_axis = i + l->rank - content->rank == 1;
        if (content->dims[i] != 1 && !(channel_axis && (size_t)content->dims[i] == l->channels))
            return false;
    }
    return true;
}

static double channel_number(const ingot_value *content, size_t channel)
{
    return ingot_load_double(content->element, content->data, ingot_value_count(content) == 1 ? 0 : channel);
}

/* x op c, and where op commutes also c op x. */
static bool read_arithmetic(const ingot_node *node, const layer *l, size_t side, affine *a)
{
    const ingot_value *content = constant_of(node->inputs[1 - side]);
    bool mul = ingot_node_is(node, "Mul"), div = ingot_node_is(node, "Div"), sub = ingot_node_is(node, "Sub");
    if (!is_per_channel(content, l) || content->element != l->weights->element || node->opset < 7)
        return false;
    a->scales = mul || div;
    for (size_t i = 0; i < a->channels; i++) {
        double number = channel_number(content, i);
        a->scale[i] = mul ? number : div ? 1 / number : 1;
        a->shift[i] = a->scales ? 0 : sub ? -number : number;
    }
    return true;
}

static bool read_batch_norm(const ingot_node *node, affine *a)
{
    const ingot_value *statistics[4];
    if (node->operand_count != 5 || ingot_int_attribute(node, "training_mode", 0) != 0 ||
        ingot_int_attribute(node, "spatial", 1) != 1 ||
        (node->opset < 7 && ingot_int_attribute(node, "is_test", 0) == 0))
        return false;
    for (size_t i = 1; i < node->output_count; i++)
        if (ingot_value_is_read(node->outputs[i]))
            return false;
    for (size_t i = 0; i < 4; i++) {
        statistics[i] = constant_of(node->inputs[i + 1]);
        if (!statistics[i] || statistics[i]->rank != 1 || (size_t)statistics[i]->dims[0] != a->channels)
            return false;
    }
    a->scales = true;
    for (size_t i = 0; i < a->channels; i++) {
        double variance = channel_number(statistics[3], i) + (double)ingot_float_attribute(node, "epsilon", 1e-5f);
        a->scale[i] = channel_number(statistics[0], i) / sqrt(variance);
        a->shift[i] = channel_number(statistics[1], i) - channel_number(statistics[2], i) * a->scale[i];
    }
    return true;
}

/* ---- The new layer ---- */

static bool fits_float(double number, ingot_element element)
{
    return isfinite(element == INGOT_FLOAT ? (double)(float)number : number);
}

/* false: a number got out of range, where the two steps might not. The weights may lie in the file, not aligned. */
static bool scale_weights(const layer *l, const affine *a, void *data)
{
    size_t runs = ingot_value_count(l->weights) / l->run;
    bool finite = true;
    for (size_t r = 0; r < runs; r++) {
        double scale = a->scale[channel_of_run(l, r)];
        size_t bytes = l->run * ingot_element_size(l->weights->element);
        char *row = (char *)data + r * bytes;
        memcpy(row, (const char *)l->weights->data + r * bytes, bytes);
        for (size_t i = 0; i < l->run; i++) {
            if (l->weights->element == INGOT_FLOAT) {
                ((float *)row)[i] = (float)(((float *)row)[i] * scale);
                finite &= isfinite(((float *)row)[i]) != 0;
            } else {
                ((double *)row)[i] *= scale;
                finite &= isfinite(((double *)row)[i]) != 0;
            }
        }
    }
    return finite;
}

static bool shift_bias(const layer *l, const affine *a, void *data)
{
    bool finite = true;
    for (size_t i = 0; i < l->channels; i++) {
        double bias = l->bias ? channel_number(l->bias, i) * l->bias_scale : 0;
        double number = bias * a->scale[i] + a->shift[i];
        finite &= fits_float(number, l->weights->element);
        ingot_store_double(l->weights->element, data, i, number);
    }
    return finite;
}

/* The layer's attributes but beta, which is in the bias now. */
static ingot_status copy_attributes(const layer *l, ingot_replacement *by, ingot_error *error)
{
    const ingot_node *node = l->node;
    ingot_attribute *attributes =
        ingot_arena_alloc_array(node->graph->module->arena, node->attribute_count + 1, sizeof *attributes);
    if (!attributes)
        return ingot_fail_memory(error, node->attribute_count * sizeof *attributes, "a pass");
    for (size_t i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, "beta") != 0)
            attributes[by->attribute_count++] = node->attributes[i];
    by->attributes = attributes;
    return INGOT_OK;
}

static ingot_status make_layer(const layer *l, const affine *a, ingot_node *after, ingot_error *error, bool *changed)
{
    ingot_graph *graph = after->graph;
    ingot_graph_value *old_bias = ingot_operand(l->node, 2);
    ingot_graph_value *inputs[3] = {l->node->inputs[0], l->node->inputs[1], NULL};
    int64_t channels = (int64_t)l->channels;
    ingot_element element = l->weights->element;
    void *data;
    INGOT_TRY(ingot_new_tensor(graph, old_bias ? old_bias->name : "", element, 1, &channels, &inputs[2], &data, error));
    if (!shift_bias(l, a, data))
        return INGOT_OK;
    if (a->scales) {
        INGOT_TRY(ingot_new_tensor(graph, inputs[1]->name, element, l->weights->rank, l->weights->dims, &inputs[1],
                                   &data, error));
        if (!scale_weights(l, a, data))
            return INGOT_OK;
    }
    ingot_replacement by = {.op_type = l->becomes, .opset = l->opset, .inputs = inputs, .input_count = 3};
    INGOT_TRY(copy_attributes(l, &by, error));
    *changed = true;
    return ingot_replace_node(after, &by, NULL, error);
}

static ingot_status fold(ingot_node *node, size_t side, bool normalizes, ingot_error *error, bool *changed)
{
    layer l;
    affine a;
    if (!node->inputs[side] || node->inputs[side]->use_count != 1 || !find_layer(node->inputs[side], &l) ||
        (!normalizes && ingot_node_is(l.node, "MatMul")))
        return INGOT_OK;
    INGOT_TRY(open_affine(&a, l.channels, error));
    bool read = normalizes ? read_batch_norm(node, &a) : read_arithmetic(node, &l, side, &a);
    ingot_status status = read ? make_layer(&l, &a, node, error, changed) : INGOT_OK;
    ingot_free(a.scale);
    return status;
}

ingot_status ingot_pass_fold_batch_norm(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        if (n->output_count == 0 || !ingot_value_is_read(n->outputs[0]))
            continue;
        bool commutes = ingot_node_is(n, "Mul") || ingot_node_is(n, "Add");
        if (ingot_node_is(n, "BatchNormalization"))
            INGOT_TRY(fold(n, 0, true, context->error, changed));
        else if (commutes || ingot_node_is(n, "Div") || ingot_node_is(n, "Sub"))
            INGOT_TRY(fold(n, 0, false, context->error, changed));
        if (commutes && ingot_value_is_read(n->outputs[0]))
            INGOT_TRY(fold(n, 1, false, context->error, changed));
    }
    return INGOT_OK;
}
