/* Layer normalization as exporters spell it out becomes LayerNormalization:
 *     d = x - mean(x);  d / sqrt(mean(d^2) + epsilon) * scale + bias
 * with the means over the last axes. scale and bias are constants of the normalized shape; a part that another reads stays. */
#include <string.h>

#include "passes/rewrite.h"

#define LAYER_NORM_OPSET 17

typedef struct layer_norm {
    ingot_graph_value *x, *scale, *bias; /* bias NULL: none */
    double epsilon;
    int axes; /* how many of the last axes are normalized */
} layer_norm;

/* How many of the last axes the mean is over, keeping them as sizes of 1; 0: other axes. */
static int last_axes(const ingot_node *mean)
{
    int64_t axes[INGOT_MAX_RANK];
    size_t count;
    int rank = mean->inputs[0]->type.rank;
    bool seen[INGOT_MAX_RANK] = {false};
    if (rank < 1 || ingot_int_attribute(mean, "keepdims", 1) != 1 ||
        !ingot_int_list(mean, "axes", 1, axes, INGOT_MAX_RANK, &count) || count == 0 || count > (size_t)rank)
        return 0;
    for (size_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < rank - (int64_t)count || axis >= rank || seen[axis])
            return 0;
        seen[axis] = true;
    }
    return (int)count;
}

/* x - mean(x): gives x and the number of axes. */
static bool match_centered(const ingot_graph_value *value, layer_norm *norm)
{
    const ingot_node *sub = ingot_made_by(value, "Sub");
    const ingot_node *mean = sub ? ingot_made_by(sub->inputs[1], "ReduceMean") : NULL;
    if (!mean || mean->inputs[0] != sub->inputs[0] || sub->inputs[0]->type.element != INGOT_FLOAT)
        return false;
    norm->x = sub->inputs[0];
    norm->axes = last_axes(mean);
    return norm->axes > 0;
}

static bool is_square_of(const ingot_graph_value *value, const ingot_graph_value *d)
{
    double exponent;
    const ingot_node *pow = ingot_made_by(value, "Pow"), *mul = ingot_made_by(value, "Mul");
    if (pow)
        return pow->inputs[0] == d && ingot_constant_beside(pow->inputs[1], d, &exponent) && exponent == 2;
    return mul && mul->inputs[0] == d && mul->inputs[1] == d;
}

/* sqrt(mean(d^2) + epsilon) over the same axes. */
static bool match_deviation(const ingot_graph_value *value, const ingot_graph_value *d, layer_norm *norm)
{
    const ingot_node *sqrt = ingot_made_by(value, "Sqrt");
    const ingot_node *add = sqrt ? ingot_made_by(sqrt->inputs[0], "Add") : NULL;
    for (int side = 0; add && side < 2; side++) {
        const ingot_node *mean = ingot_made_by(add->inputs[side], "ReduceMean");
        if (mean && is_square_of(mean->inputs[0], d) && last_axes(mean) == norm->axes &&
            ingot_constant_beside(add->inputs[1 - side], add->inputs[side], &norm->epsilon))
            return norm->epsilon >= 0;
    }
    return false;
}

static bool match_normalized(const ingot_graph_value *value, layer_norm *norm)
{
    const ingot_node *div = ingot_made_by(value, "Div");
    return div && match_centered(div->inputs[0], norm) && match_deviation(div->inputs[1], div->inputs[0], norm);
}

/* A constant with just the sizes of the normalized axes; before opset 7 the node could place it at others. */
static bool has_normalized_shape(const ingot_node *node, const ingot_graph_value *value, const layer_norm *norm)
{
    const ingot_type *x = &norm->x->type;
    if (ingot_node_attribute(node, "axis") || !ingot_graph_value_is_constant(value) ||
        value->type.element != INGOT_FLOAT || value->type.rank != norm->axes)
        return false;
    return memcmp(value->type.dims, x->dims + x->rank - norm->axes, (size_t)norm->axes * sizeof *x->dims) == 0;
}

static bool match_scaled(const ingot_graph_value *value, layer_norm *norm)
{
    const ingot_node *mul = ingot_made_by(value, "Mul");
    for (int side = 0; mul && side < 2; side++) {
        norm->scale = mul->inputs[1 - side];
        if (match_normalized(mul->inputs[side], norm) && has_normalized_shape(mul, norm->scale, norm))
            return true;
    }
    return false;
}

static bool match_shifted(const ingot_graph_value *value, layer_norm *norm)
{
    const ingot_node *add = ingot_made_by(value, "Add");
    for (int side = 0; add && side < 2; side++) {
        norm->bias = add->inputs[1 - side];
        if (match_scaled(add->inputs[side], norm) && has_normalized_shape(add, norm->bias, norm))
            return true;
    }
    return false;
}

/* Without a scale of its own: ones, where the sizes are fixed. */
static ingot_status make_ones(ingot_graph *graph, layer_norm *norm, ingot_error *error)
{
    const ingot_type *x = &norm->x->type;
    const ingot_dim *dims = x->dims + x->rank - norm->axes;
    size_t count;
    void *data;
    INGOT_TRY(ingot_new_tensor(graph, "", INGOT_FLOAT, norm->axes, dims, &norm->scale, &data, error));
    count = ingot_value_count(norm->scale->constant);
    for (size_t i = 0; i < count; i++)
        ((float *)data)[i] = 1;
    return INGOT_OK;
}

static bool fixed_axes(const layer_norm *norm)
{
    const ingot_type *x = &norm->x->type;
    for (int i = x->rank - norm->axes; i < x->rank; i++)
        if (!ingot_dim_is_number(x->dims[i]))
            return false;
    return true;
}

static ingot_status make_layer_norm(ingot_node *node, layer_norm *norm, ingot_error *error, bool *changed)
{
    if (!norm->scale)
        INGOT_TRY(make_ones(node->graph, norm, error));
    ingot_graph_value *inputs[3] = {norm->x, norm->scale, norm->bias};
    ingot_attribute attributes[2] = {
        {.name = "axis", .type = INGOT_ATTRIBUTE_INT, .i = -norm->axes},
        {.name = "epsilon", .type = INGOT_ATTRIBUTE_FLOAT, .f = (float)norm->epsilon},
    };
    ingot_replacement by = {.op_type = "LayerNormalization",
                            .opset = LAYER_NORM_OPSET,
                            .inputs = inputs,
                            .input_count = norm->bias ? 3 : 2,
                            .attributes = attributes,
                            .attribute_count = 2};
    *changed = true;
    return ingot_replace_node(node, &by, NULL, error);
}

/* From the last node to the first: the longest form is found before the shorter ones in it, and these only where another
 * reads them. */
ingot_status ingot_pass_fuse_layer_norm(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    if (!ingot_can_make("LayerNormalization", LAYER_NORM_OPSET))
        return INGOT_OK;
    for (ingot_node *n = graph->last, *previous; n; n = previous) {
        previous = n->previous;
        if (!ingot_node_is(n, "Add") && !ingot_node_is(n, "Mul") && !ingot_node_is(n, "Div"))
            continue;
        if (!ingot_value_is_read(n->outputs[0])) {
            ingot_graph_remove_node(n);
            continue;
        }
        layer_norm shifted = {0}, scaled = {0}, plain = {0};
        if (match_shifted(n->outputs[0], &shifted))
            INGOT_TRY(make_layer_norm(n, &shifted, context->error, changed));
        else if (match_scaled(n->outputs[0], &scaled))
            INGOT_TRY(make_layer_norm(n, &scaled, context->error, changed));
        else if (match_normalized(n->outputs[0], &plain) && fixed_axes(&plain))
            INGOT_TRY(make_layer_norm(n, &plain, context->error, changed));
        if (!ingot_value_is_read(n->outputs[0]))
            ingot_graph_remove_node(n);
    }
    return INGOT_OK;
}
