/* Chains of nodes that only give another shape become one Reshape, chains of Transpose one Transpose, and a Transpose that
 * moves no element a Reshape. What is in between stays for others that read it. */
#include <string.h>

#include "passes/views.h"

static ingot_status merge_views(ingot_node *node, ingot_error *error, bool *changed)
{
    const ingot_node *before = ingot_made_by_view(node->inputs[0]);
    int64_t shape[INGOT_MAX_RANK];
    if (!before || !ingot_shape_of_type(&node->outputs[0]->type, shape))
        return INGOT_OK;
    ingot_graph_value *from = before->inputs[0];
    while ((before = ingot_made_by_view(from)))
        from = before->inputs[0];
    *changed = true;
    return ingot_make_reshape(node, from, shape, node->outputs[0]->type.rank, NULL, error);
}

/* A shape that is put together anew in every run becomes constant where it is known enough. */
static ingot_status settle_shape(ingot_node *node, ingot_error *error, bool *changed)
{
    int64_t shape[INGOT_MAX_RANK];
    const ingot_graph_value *given = ingot_operand(node, 1);
    if (!given || given->constant ||
        !ingot_shape_between(node->graph->module->dims, &node->inputs[0]->type, &node->outputs[0]->type, shape))
        return INGOT_OK;
    *changed = true;
    return ingot_make_reshape(node, node->inputs[0], shape, node->outputs[0]->type.rank, NULL, error);
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
    if (!ingot_read_perm(node, second, &rank))
        return INGOT_OK;
    const ingot_node *before = ingot_made_by(node->inputs[0], "Transpose");
    if (before && ingot_read_perm(before, first, &first_rank) && first_rank == rank) {
        for (int i = 0; i < rank; i++)
            second[i] = first[second[i]];
        *changed = true;
        return ingot_make_transpose(node, before->inputs[0], second, rank, NULL, error);
    }
    if (is_identity(second, rank) || !moves_nothing(&node->inputs[0]->type, second, rank) ||
        !ingot_shape_of_type(&node->outputs[0]->type, shape))
        return INGOT_OK;
    *changed = true;
    return ingot_make_reshape(node, node->inputs[0], shape, rank, NULL, error);
}

ingot_status ingot_pass_merge_views(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        if (n->output_count == 0 || n->operand_count == 0 || !n->inputs[0] || !ingot_value_is_read(n->outputs[0]))
            continue;
        if (ingot_node_is(n, "Transpose"))
            INGOT_TRY(merge_transposes(n, context->error, changed));
        else if (ingot_made_by_view(n->outputs[0]) == n)
            INGOT_TRY(merge_views(n, context->error, changed));
        if (ingot_node_is(n, "Reshape") && ingot_value_is_read(n->outputs[0]))
            INGOT_TRY(settle_shape(n, context->error, changed));
    }
    return INGOT_OK;
}
