/* Nodes whose output has every bit of an operand, type and shape included, in every run: readers take the operand instead. */
#include "base/number.h"
#include "passes/rewrite.h"

/* Whether output 0 is operand 0; each function knows one kind of node. */
typedef bool (*identity_rule)(const ingot_node *node);

static bool always(const ingot_node *node)
{
    return true;
}

static bool one_operand(const ingot_node *node)
{
    return node->operand_count == 1;
}

static bool one_output(const ingot_node *node)
{
    return node->output_count == 1;
}

static bool same_element(const ingot_node *node)
{
    const ingot_type *from = &node->inputs[0]->type, *to = &node->outputs[0]->type;
    return from->element != INGOT_UNDEFINED && from->element == to->element;
}

/* Dropout drops nothing unless it is told to train. */
static bool not_training(const ingot_node *node)
{
    const ingot_graph_value *training = ingot_operand(node, 2);
    return !training ||
           (ingot_graph_value_is_constant(training) && training->constant->element == INGOT_BOOL &&
            ingot_value_count(training->constant) == 1 && ingot_load_i64(INGOT_BOOL, training->constant->data, 0) == 0);
}

static bool ordered_perm(const ingot_node *node)
{
    int64_t perm[INGOT_MAX_RANK];
    size_t count;
    if (!ingot_node_attribute(node, "perm"))
        return node->inputs[0]->type.rank == 0 || node->inputs[0]->type.rank == 1;
    if (!ingot_int_list(node, "perm", SIZE_MAX, perm, INGOT_MAX_RANK, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (perm[i] != (int64_t)i)
            return false;
    return true;
}

static bool same_shape(const ingot_node *node)
{
    return ingot_same_static_shape(&node->inputs[0]->type, &node->outputs[0]->type);
}

/* The elements stay as they are, in number too: where all sizes but one are equal, so is that one. A fixed size in place of a
 * free one is kept, since it refuses others. */
static bool same_view(const ingot_node *node)
{
    const ingot_type *from = &node->inputs[0]->type, *to = &node->outputs[0]->type;
    int open = 0;
    if (from->rank < 0 || from->rank != to->rank)
        return false;
    for (int i = 0; i < from->rank; i++) {
        if (ingot_dim_is_number(to->dims[i]) && (to->dims[i] == 0 || to->dims[i] != from->dims[i]))
            return same_shape(node);
        open += !ingot_dim_is_number(to->dims[i]);
    }
    return open <= 1;
}

static bool all_equal(const ingot_node *node, const char *attribute, size_t operand, int64_t wanted)
{
    int64_t values[2 * INGOT_MAX_RANK];
    size_t count;
    if (!ingot_int_list(node, attribute, operand, values, 2 * INGOT_MAX_RANK, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (values[i] != wanted)
            return false;
    return true;
}

static bool no_pads(const ingot_node *node)
{
    return all_equal(node, ingot_node_attribute(node, "paddings") ? "paddings" : "pads", 1, 0);
}

static bool one_repeat(const ingot_node *node)
{
    return node->operand_count == 2 && all_equal(node, "", 1, 1);
}

/* All of it, and none of it backwards. */
static bool whole_slice(const ingot_node *node)
{
    return same_shape(node) && (!ingot_operand(node, 4) || all_equal(node, "", 4, 1));
}

static bool no_bounds(const ingot_node *node)
{
    return node->opset >= 11 && !ingot_operand(node, 1) && !ingot_operand(node, 2);
}

static const struct {
    const char *op_type;
    identity_rule rule;
} rules[] = {
    {"Cast", same_element},    {"CastLike", same_element}, {"Clip", no_bounds},         {"Concat", one_operand},
    {"Dropout", not_training}, {"Expand", same_shape},     {"Flatten", same_view},      {"Identity", always},
    {"Max", one_operand},      {"Mean", one_operand},      {"Min", one_operand},        {"Pad", no_pads},
    {"Reshape", same_view},    {"Slice", whole_slice},     {"Split", one_output},       {"Squeeze", same_view},
    {"Sum", one_operand},      {"Tile", one_repeat},       {"Transpose", ordered_perm}, {"Unsqueeze", same_view},
};

/* x * 1, x / 1, x - 0: exact for every x, signed zeros and NaN included, which x + 0 is not for floats. The constant must not
 * raise the rank. Before opset 7 the operand has the result's shape, so the same holds. */
static ingot_graph_value *neutral(const ingot_node *node)
{
    static const struct {
        const char *op_type;
        double constant;
        bool commutes;
    } neutrals[] = {{"Mul", 1, true}, {"Div", 1, false}, {"Sub", 0, false}};
    for (size_t i = 0; i < sizeof neutrals / sizeof *neutrals; i++) {
        double number;
        if (!ingot_node_is(node, neutrals[i].op_type))
            continue;
        for (int side = 0; side < (neutrals[i].commutes ? 2 : 1); side++) {
            ingot_graph_value *x = node->inputs[side], *constant = node->inputs[1 - side];
            bool negative_zero = false;
            if (!ingot_constant_beside(constant, x, &number) || number != neutrals[i].constant)
                continue;
            if (number == 0)
                negative_zero = 1 / number < 0;
            return negative_zero ? NULL : x;
        }
    }
    return NULL;
}

static ingot_graph_value *same_as(const ingot_node *node)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (ingot_node_is(node, rules[i].op_type))
            return rules[i].rule(node) ? node->inputs[0] : NULL;
    return neutral(node);
}

ingot_status ingot_pass_remove_identity(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        if (n->output_count == 0 || n->operand_count == 0 || !n->inputs[0] ||
            n->inputs[0]->type.kind != INGOT_KIND_TENSOR || !ingot_value_is_read(n->outputs[0]) ||
            n->outputs[0]->type.kind != INGOT_KIND_TENSOR)
            continue;
        ingot_graph_value *same = same_as(n);
        if (!same)
            continue;
        INGOT_TRY(ingot_graph_replace_value(n->outputs[0], same, context->error));
        *changed = true;
    }
    return INGOT_OK;
}
