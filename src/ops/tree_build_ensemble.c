/* TreeEnsemble's attributes, made into trees: inner nodes first, then the leaves. */
#include <math.h>

#include "base/number.h"
#include "ops/tree.h"

typedef struct builder {
    const ingot_node *node;
    ingot_tree_ensemble_params *params;
    size_t inner, leaves;
    ingot_tree_node *nodes;
    ingot_error *error;
} builder;

static void *allocate(const builder *b, size_t count, size_t size)
{
    void *memory = ingot_arena_alloc_array(b->node->graph->module->arena, count + 1, size);
    if (!memory)
        ingot_fail_memory(b->error, size, "the trees of an ensemble");
    return memory;
}

static ingot_status check_length(const builder *b, const char *name, size_t found, size_t expected)
{
    if (found == expected)
        return INGOT_OK;
    return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "%s has %zu values, expected %zu", name, found,
                           expected);
}

static ingot_status check_tensor(const builder *b, const char *name, const ingot_value *tensor, size_t expected)
{
    size_t count;
    if (!tensor || !ingot_count_elements(tensor->rank, tensor->dims, &count))
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "%s is missing or too large", name);
    if (tensor->element != INGOT_UINT8 && !ingot_element_is_float(tensor->element))
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "%s is of type %s, which it cannot have", name,
                               ingot_element_name(tensor->element));
    return check_length(b, name, count, expected);
}

static ingot_status check_lists(const builder *b)
{
    const ingot_tree_ensemble_params *p = b->params;
    if (b->inner + b->leaves >= INT32_MAX)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                               "the nodes and leaves are more than can be counted");
    INGOT_TRY(check_length(b, "nodes_truenodeids", p->common.yes_ids.count, b->inner));
    INGOT_TRY(check_length(b, "nodes_falsenodeids", p->common.no_ids.count, b->inner));
    INGOT_TRY(check_length(b, "nodes_trueleafs", p->yes_is_leaf.count, b->inner));
    INGOT_TRY(check_length(b, "nodes_falseleafs", p->no_is_leaf.count, b->inner));
    if (p->common.missing.count)
        INGOT_TRY(check_length(b, "nodes_missing_value_tracks_true", p->common.missing.count, b->inner));
    INGOT_TRY(check_tensor(b, "nodes_modes", p->modes, b->inner));
    INGOT_TRY(check_tensor(b, "nodes_splits", p->splits, b->inner));
    return check_tensor(b, "leaf_weights", p->leaf_weights, b->leaves);
}

static ingot_status take_branch(const builder *b, const char *name, size_t at, int64_t id, bool leaf, int32_t *branch)
{
    size_t count = leaf ? b->leaves : b->inner;
    if (id < 0 || (uint64_t)id >= count)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "%s[%zu] is %lld, but there are %zu %s", name,
                               at, (long long)id, count, leaf ? "leaves" : "nodes");
    *branch = (int32_t)(leaf ? b->inner + (size_t)id : (size_t)id);
    return INGOT_OK;
}

/* Copies the members behind an end of their own, so that a list that is not ended is none the longer. */
static ingot_status take_members(const builder *b, size_t *count)
{
    const ingot_value *members = b->params->members;
    *count = 0;
    if (members &&
        (!ingot_element_is_float(members->element) || !ingot_count_elements(members->rank, members->dims, count)))
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "membership_values must be floats");
    double *values = allocate(b, *count, sizeof *values);
    if (!values)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < *count; i++)
        values[i] = ingot_load_double(members->element, members->data, i);
    values[*count] = (double)NAN;
    b->params->common.trees.members = values;
    return INGOT_OK;
}

static ingot_status add_inner(const builder *b)
{
    static const uint8_t modes[] = {INGOT_TREE_LEQ, INGOT_TREE_LT,  INGOT_TREE_GTE,   INGOT_TREE_GT,
                                    INGOT_TREE_EQ,  INGOT_TREE_NEQ, INGOT_TREE_MEMBER};
    ingot_tree_ensemble_params *p = b->params;
    ingot_trees *t = &p->common.trees;
    size_t member = 0, member_count;
    INGOT_TRY(take_members(b, &member_count));
    for (size_t i = 0; i < b->inner; i++) {
        ingot_tree_node *n = &b->nodes[i];
        int64_t mode = ingot_load_i64(p->modes->element, p->modes->data, i), feature = p->common.feature_ids.data[i];
        if (mode < 0 || (size_t)mode >= sizeof modes)
            return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "nodes_modes[%zu] is %lld, expected 0 to 6",
                                   i, (long long)mode);
        if (feature < 0 || feature >= INT32_MAX)
            return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                                   "nodes_featureids[%zu] is %lld, which is no column", i, (long long)feature);
        n->mode = modes[mode];
        n->feature = (int32_t)feature;
        n->threshold = ingot_load_double(p->splits->element, p->splits->data, i);
        n->missing_is_yes = p->common.missing.count && p->common.missing.data[i] != 0;
        t->max_feature = n->feature > t->max_feature ? n->feature : t->max_feature;
        if (n->mode == INGOT_TREE_MEMBER) {
            n->threshold = (double)member;
            while (member < member_count && !isnan(t->members[member]))
                member++;
            member += member < member_count;
        }
        INGOT_TRY(
            take_branch(b, "nodes_truenodeids", i, p->common.yes_ids.data[i], p->yes_is_leaf.data[i] != 0, &n->yes));
        INGOT_TRY(
            take_branch(b, "nodes_falsenodeids", i, p->common.no_ids.data[i], p->no_is_leaf.data[i] != 0, &n->no));
    }
    return INGOT_OK;
}

static ingot_status add_leaves(const builder *b)
{
    ingot_tree_ensemble_params *p = b->params;
    ingot_tree_vote *votes = allocate(b, b->leaves, sizeof *votes);
    if (!votes)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < b->leaves; i++) {
        int64_t target = p->leaf_targets.data[i];
        if (target < 0 || target >= p->common.target_count)
            return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                                   "leaf_targetids[%zu] is %lld, expected 0 to %lld", i, (long long)target,
                                   (long long)p->common.target_count - 1);
        votes[i] =
            (ingot_tree_vote){(int32_t)target, ingot_load_double(p->leaf_weights->element, p->leaf_weights->data, i)};
        b->nodes[b->inner + i] = (ingot_tree_node){.mode = INGOT_TREE_LEAF, .yes = (int32_t)i, .no = 1};
    }
    p->common.trees.votes = votes;
    p->common.trees.vote_count = b->leaves;
    return INGOT_OK;
}

static ingot_status add_roots(const builder *b)
{
    ingot_tree_ensemble_params *p = b->params;
    int32_t *roots = allocate(b, p->roots.count, sizeof *roots);
    if (!roots)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < p->roots.count; i++)
        INGOT_TRY(take_branch(b, "tree_roots", i, p->roots.data[i], false, &roots[i]));
    p->common.trees.roots = roots;
    p->common.trees.tree_count = p->roots.count;
    return INGOT_OK;
}

ingot_status ingot_tree_ensemble_build(const ingot_node *node, ingot_tree_ensemble_params *params, ingot_error *error)
{
    builder b = {.node = node, .params = params, .error = error};
    ingot_trees *t = &params->common.trees;
    size_t circle;
    b.inner = params->common.feature_ids.count;
    b.leaves = params->leaf_targets.count;
    *t = (ingot_trees){.outputs = (size_t)params->common.target_count, .max_feature = -1};
    INGOT_TRY(check_lists(&b));
    t->doubles = params->splits->element == INGOT_DOUBLE;
    t->node_count = b.inner + b.leaves;
    t->nodes = b.nodes = allocate(&b, t->node_count, sizeof *b.nodes);
    if (!b.nodes)
        return INGOT_OUT_OF_MEMORY;
    INGOT_TRY(add_inner(&b));
    INGOT_TRY(add_leaves(&b));
    INGOT_TRY(add_roots(&b));
    INGOT_TRY(ingot_trees_find_circle(node->graph->module->arena, b.nodes, t->node_count, &circle, error));
    if (circle < t->node_count)
        return ingot_node_fail(b.node, b.error, INGOT_INVALID_MODEL,
                               "nodes_truenodeids and nodes_falsenodeids: the branches from node %zu lead in a circle",
                               circle);
    return INGOT_OK;
}
