/* x times a gate made of x becomes one operator: Swish from Sigmoid, HardSwish from HardSigmoid or a clipped x + 3. */
#include "base/number.h"
#include "passes/rewrite.h"

#define SWISH_OPSET      24
#define HARD_SWISH_OPSET 14

static bool is_gate_of(const ingot_graph_value *value, const ingot_graph_value *x, const char *op_type)
{
    const ingot_node *gate = ingot_made_by(value, op_type);
    return gate && gate->inputs[0] == x;
}

/* A sixth and a half, as the operator rounds them. */
static bool is_hard_sigmoid(const ingot_graph_value *value, const ingot_graph_value *x)
{
    const ingot_node *gate = ingot_made_by(value, "HardSigmoid");
    if (!gate || gate->inputs[0] != x)
        return false;
    float alpha = ingot_float_attribute(gate, "alpha", .2f), beta = ingot_float_attribute(gate, "beta", .5f);
    return alpha > 1 / 6.f - 1e-7f && alpha < 1 / 6.f + 1e-7f && beta == .5f;
}

/* clip(x + 3, 0, 6) */
static bool is_clipped(const ingot_graph_value *value, const ingot_graph_value *x)
{
    const ingot_node *clip = ingot_made_by(value, "Clip");
    double low, high;
    if (!clip || ingot_other_than_number(ingot_made_by(clip->inputs[0], "Add"), 3) != x)
        return false;
    if (clip->opset < 11)
        return ingot_float_attribute(clip, "min", -1) == 0 && ingot_float_attribute(clip, "max", -1) == 6;
    return ingot_constant_number(ingot_operand(clip, 1), &low) && low == 0 &&
           ingot_constant_number(ingot_operand(clip, 2), &high) && high == 6;
}

/* What is divided by 6, or NULL. */
static ingot_graph_value *times_six(const ingot_node *node)
{
    if (ingot_node_is(node, "Div"))
        return ingot_is_number_beside(node->inputs[1], node->inputs[0], 6) ? node->inputs[0] : NULL;
    return ingot_node_is(node, "Mul") ? ingot_other_than_number(node, 1 / 6.) : NULL;
}

/* x where the node is x * clip(x + 3, 0, 6) / 6, divided last, or in the gate. */
static ingot_graph_value *match_clipped(const ingot_node *node)
{
    const ingot_node *product = ingot_made_by(times_six(node), "Mul");
    for (int side = 0; product && side < 2; side++)
        if (is_clipped(product->inputs[side], product->inputs[1 - side]))
            return product->inputs[1 - side];
    for (int side = 0; ingot_node_is(node, "Mul") && side < 2; side++) {
        const ingot_graph_value *gate = node->inputs[side];
        const ingot_graph_value *clipped = gate->producer ? times_six(gate->producer) : NULL;
        if (clipped && is_clipped(clipped, node->inputs[1 - side]))
            return node->inputs[1 - side];
    }
    return NULL;
}

static ingot_graph_value *match_hard_swish(const ingot_node *node)
{
    for (int side = 0; ingot_node_is(node, "Mul") && side < 2; side++)
        if (is_hard_sigmoid(node->inputs[side], node->inputs[1 - side]))
            return node->inputs[1 - side];
    return match_clipped(node);
}

static ingot_graph_value *match_swish(const ingot_node *node)
{
    for (int side = 0; ingot_node_is(node, "Mul") && side < 2; side++)
        if (is_gate_of(node->inputs[side], node->inputs[1 - side], "Sigmoid"))
            return node->inputs[1 - side];
    return NULL;
}

static ingot_status make(ingot_node *node, const char *op_type, int opset, ingot_graph_value *x, ingot_error *error,
                         bool *changed)
{
    ingot_replacement by = {.op_type = op_type, .opset = opset, .inputs = &x, .input_count = 1};
    *changed = true;
    return ingot_replace_node(node, &by, NULL, error);
}

ingot_status ingot_pass_fuse_hard_swish(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    bool swish = ingot_can_make("Swish", SWISH_OPSET), hard = ingot_can_make("HardSwish", HARD_SWISH_OPSET);
    for (ingot_node *n = graph->first; n; n = n->next) {
        if ((!ingot_node_is(n, "Mul") && !ingot_node_is(n, "Div")) || !ingot_value_is_read(n->outputs[0]) ||
            n->outputs[0]->type.element != INGOT_FLOAT)
            continue;
        ingot_graph_value *x = hard ? match_hard_swish(n) : NULL;
        if (x) {
            INGOT_TRY(make(n, "HardSwish", HARD_SWISH_OPSET, x, context->error, changed));
            continue;
        }
        x = swish ? match_swish(n) : NULL;
        if (x)
            INGOT_TRY(make(n, "Swish", SWISH_OPSET, x, context->error, changed));
    }
    return INGOT_OK;
}
