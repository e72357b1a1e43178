/* Chains of nodes that only give another shape become one Reshape, chains of Transpose one Transpose, and a Transpose that
 * moves no element a Reshape. What is in between stays for others that read it. */
#include <string.h>

#include "passes/rewrite.h"

#define RESHAPE_OPSET 25 /* with allowzero, of every type */

static ingot_node *made_by_view(const ingot_graph_value *value)
{
    static const char *const views[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        ingot_node *node = ingot_made_by(value, views[i]);
        if (node)
            return node;
    }
    return NULL;
}

/* A shape for Reshape that any input of as many elements can be given: at most one size is left open. */
static bool shape_of_type(const ingot_type *type, int64_t *shape)
{
    int open = 0;
    if (type->kind != INGOT_KIND_TENSOR || type->rank < 0)
        return false;
    for (int i = 0; i < type->rank; i++) {
        bool number = ingot_dim_is_number(type->dims[i]);
        if (number && type->dims[i] == 0)
            return false;
        shape[i] = number ? type->dims[i] : -1;
        open += !number;
    }
    return open <= 1;
}

static ingot_status reshape_instead(ingot_node *node, ingot_graph_value *from, const int64_t *shape, int rank,
                                    ingot_error *error)
{
    ingot_graph_value *inputs[2] = {from, NULL};
    INGOT_TRY(ingot_graph_add_constant_i64(node->graph, "", shape, rank, &inputs[1], error));
    ingot_replacement reshape = {.op_type = "Reshape", .opset = RESHAPE_OPSET, .inputs = inputs, .input_count = 2};
    return ingot_replace_node(node, &reshape, NULL, error);
}

static ingot_status merge_views(ingot_node *node, ingot_error *error, bool *changed)
{
    const ingot_node *before = made_by_view(node->inputs[0]);
    int64_t shape[INGOT_MAX_RANK];
    if (!before || !shape_of_type(&node->outputs[0]->type, shape))
        return INGOT_OK;
    ingot_graph_value *from = before->inputs[0];
    while ((before = made_by_view(from)))
        from = before->inputs[0];
    *changed = true;
    return reshape_instead(node, from, shape, node->outputs[0]->type.rank, error);
}

/* Whether both have as many elements in every run: the fixed sizes have one product, the free ones pair up. */
static bool same_count(const ingot_type *from, const ingot_type *to)
{
    int64_t product[2] = {1, 1};
    bool paired[INGOT_MAX_RANK] = {false};
    for (int i = 0; i < from->rank; i++)
        if (ingot_dim_is_number(from->dims[i]) && !ingot_mul_i64(product[0], from->dims[i], &product[0]))
            return false;
    for (int i = 0; i < to->rank; i++) {
        if (ingot_dim_is_number(to->dims[i])) {
            if (!ingot_mul_i64(product[1], to->dims[i], &product[1]))
                return false;
            continue;
        }
        int k = 0;
        while (k < from->rank && (paired[k] || from->dims[k] != to->dims[i]))
            k++;
        if (k == from->rank)
            return false;
        paired[k] = true;
    }
    for (int i = 0; i < from->rank; i++)
        if (!ingot_dim_is_number(from->dims[i]) && !paired[i])
            return false;
    return product[0] == product[1];
}

/* A shape for Reshape that gives from the sizes of to: free ones are kept where they stand, one more is left open. */
static bool shape_between(const ingot_type *from, const ingot_type *to, int64_t *shape)
{
    int open = 0;
    if (from->rank < 0 || to->rank < 0 || !same_count(from, to))
        return false;
    for (int i = 0; i < to->rank; i++) {
        bool number = ingot_dim_is_number(to->dims[i]), kept = i < from->rank && from->dims[i] == to->dims[i];
        if (number && to->dims[i] == 0)
            return false;
        shape[i] = number ? to->dims[i] : kept ? 0 : -1;
        open += !number && !kept;
    }
    return open <= 1;
}

/* A shape that is put together anew in every run becomes constant where it is known enough. */
static ingot_status settle_shape(ingot_node *node, ingot_error *error, bool *changed)
{
    int64_t shape[INGOT_MAX_RANK];
    const ingot_graph_value *given = ingot_operand(node, 1);
    if (!given || given->constant || !shape_between(&node->inputs[0]->type, &node->outputs[0]->type, shape))
        return INGOT_OK;
    *changed = true;
    return reshape_instead(node, node->inputs[0], shape, node->outputs[0]->type.rank, error);
}

/* Where each dimension of a Transpose's output comes from; false: the rank is not known. */
static bool read_perm(const ingot_node *node, int64_t *perm, int *rank)
{
    size_t count;
    if (ingot_int_list(node, "perm", SIZE_MAX, perm, INGOT_MAX_RANK, &count)) {
        *rank = (int)count;
        return true;
    }
    *rank = node->inputs[0]->type.rank;
    for (int i = 0; i < *rank; i++)
        perm[i] = *rank - 1 - i;
    return *rank >= 0;
}

/* Whether only sizes of 1 change their place. */
static bool moves_nothing(const ingot_type *from, const int64_t *perm, int rank)
{
    int64_t last = -1;
    if (from->rank != rank)
        return false;
    for (int i = 0; i < rank; i++) {
        if (from->dims[perm[i]] == 1)
            continue;
        if (perm[i] < last)
            return false;
        last = perm[i];
    }
    return true;
}

static bool is_identity(const int64_t *perm, int rank)
{
    for (int i = 0; i < rank; i++)
        if (perm[i] != i)
            return false;
    return true;
}

static ingot_status merge_transposes(ingot_node *node, ingot_error *error, bool *changed)
{
    int64_t first[INGOT_MAX_RANK], second[INGOT_MAX_RANK], shape[INGOT_MAX_RANK];
    int rank, first_rank;
    if (!read_perm(node, second, &rank))
        return INGOT_OK;
    const ingot_node *before = ingot_made_by(node->inputs[0], "Transpose");
    if (before && read_perm(before, first, &first_rank) && first_rank == rank) {
        for (int i = 0; i < rank; i++)
            second[i] = first[second[i]];
        ingot_attribute perm;
        ingot_graph_value *from = before->inputs[0];
        INGOT_TRY(ingot_ints_attribute(node->graph, "perm", second, (size_t)rank, &perm, error));
        ingot_replacement transpose = {.op_type = "Transpose",
                                       .opset = node->opset,
                                       .inputs = &from,
                                       .input_count = 1,
                                       .attributes = &perm,
                                       .attribute_count = 1};
        *changed = true;
        return ingot_replace_node(node, &transpose, NULL, error);
    }
    if (is_identity(second, rank) || !moves_nothing(&node->inputs[0]->type, second, rank) ||
        !shape_of_type(&node->outputs[0]->type, shape))
        return INGOT_OK;
    *changed = true;
    return reshape_instead(node, node->inputs[0], shape, rank, error);
}

ingot_status ingot_pass_merge_views(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        if (n->output_count == 0 || n->operand_count == 0 || !n->inputs[0] || !ingot_value_is_read(n->outputs[0]))
            continue;
        if (ingot_node_is(n, "Transpose"))
            INGOT_TRY(merge_transposes(n, context->error, changed));
        else if (made_by_view(n->outputs[0]) == n)
            INGOT_TRY(merge_views(n, context->error, changed));
        if (ingot_node_is(n, "Reshape") && ingot_value_is_read(n->outputs[0]))
            INGOT_TRY(settle_shape(n, context->error, changed));
    }
    return INGOT_OK;
}
