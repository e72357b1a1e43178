/* A constant operand that broadcasting spreads anyhow need not hold the same numbers many times: along an axis where all its slices
 * are equal, and where the other operand has that size, size 1 does. Exporters expand slopes and scales so. */
#include <string.h>

#include "passes/rewrite.h"

/* Operators of two operands that broadcast, with the first operand that may shrink. */
static const struct {
    const char *op_type;
    size_t first;
} operators[] = {{"Add", 0}, {"Sub", 0}, {"Mul", 0},   {"Div", 0},  {"Pow", 0},    {"PRelu", 1},
                 {"Min", 0}, {"Max", 0}, {"Equal", 0}, {"Less", 0}, {"Greater", 0}};

/* A vector along the last axis stays: kernels take it as they take one number, and products as their bias. */
static bool may_shrink(const ingot_graph_value *value)
{
    if (!ingot_graph_value_is_constant(value) || value->constant->kind != INGOT_KIND_TENSOR ||
        value->constant->element == INGOT_STRING)
        return false;
    const ingot_value *content = value->constant;
    return ingot_element_size(content->element) > 0 && content->rank > 0 &&
           ingot_value_count(content) > (size_t)content->dims[content->rank - 1];
}

/* Whether the slices along the axis are equal in every bit. */
static bool repeats(const char *data, const int64_t *dims, int rank, int axis, size_t size)
{
    size_t outer = 1, slice = size;
    for (int i = 0; i < rank; i++)
        if (i < axis)
            outer *= (size_t)dims[i];
        else if (i > axis)
            slice *= (size_t)dims[i];
    size_t count = (size_t)dims[axis];
    for (size_t o = 0; o < outer; o++, data += count * slice)
        if (memcmp(data, data + slice, (count - 1) * slice) != 0)
            return false;
    return true;
}

/* Keeps the first slice along the axis, in place. */
static void keep_first(char *data, int64_t *dims, int rank, int axis, size_t size)
{
    size_t outer = 1, slice = size;
    for (int i = 0; i < rank; i++)
        if (i < axis)
            outer *= (size_t)dims[i];
        else if (i > axis)
            slice *= (size_t)dims[i];
    for (size_t o = 1; o < outer; o++)
        memmove(data + o * slice, data + o * (size_t)dims[axis] * slice, slice);
    dims[axis] = 1;
}

/* Whether the other operand alone gives the result this size there. */
static bool other_has(const ingot_type *other, int axis_from_end, int64_t size)
{
    int axis = other->rank - axis_from_end;
    return other->rank >= 0 && axis >= 0 && other->dims[axis] == size;
}

/* The axes of the constant that may go; returns how many. */
static int find_axes(const ingot_value *content, const ingot_type *other, bool *axes)
{
    int found = 0;
    size_t size = ingot_element_size(content->element);
    for (int i = 0; i < content->rank; i++) {
        axes[i] = content->dims[i] > 1 && other_has(other, content->rank - i, content->dims[i]) &&
                  repeats(content->data, content->dims, content->rank, i, size);
        found += axes[i];
    }
    return found;
}

static ingot_status shrink(ingot_node *node, size_t operand, bool *changed, ingot_error *error)
{
    ingot_graph_value *value = node->inputs[operand], *made;
    const ingot_graph_value *other = node->inputs[1 - operand];
    bool axes[INGOT_MAX_RANK];
    if (!may_shrink(value) || !other || other->type.kind != INGOT_KIND_TENSOR ||
        find_axes(value->constant, &other->type, axes) == 0)
        return INGOT_OK;
    const ingot_value *content = value->constant;
    size_t bytes = ingot_value_bytes(content), size = ingot_element_size(content->element);
    int64_t dims[INGOT_MAX_RANK];
    char *copy = ingot_malloc(bytes);
    if (!copy)
        return ingot_fail_memory(error, bytes, "a pass");
    memcpy(copy, content->data, bytes);
    memcpy(dims, content->dims, sizeof dims);
    for (int i = 0; i < content->rank; i++)
        if (axes[i])
            keep_first(copy, dims, content->rank, i, size);
    void *data;
    ingot_status status =
        ingot_new_tensor(node->graph, value->name, content->element, content->rank, dims, &made, &data, error);
    if (status == INGOT_OK) {
        memcpy(data, copy, ingot_value_bytes(made->constant));
        status = ingot_node_set_input(node, operand, made, error);
        *changed = true;
    }
    ingot_free(copy);
    return status;
}

ingot_status ingot_pass_shrink_constants(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next)
        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
            if (!ingot_node_is(n, operators[i].op_type) || n->operand_count != 2 || n->opset < 7)
                continue;
            for (size_t operand = operators[i].first; operand < 2; operand++)
                INGOT_TRY(shrink(n, operand, changed, context->error));
        }
    return INGOT_OK;
}
