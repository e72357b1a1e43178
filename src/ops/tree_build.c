/* The lists of a tree ensemble's attributes, made into trees. */
#include <string.h>

#include "base/map.h"
#include "ops/tree.h"

typedef struct node_key {
    int64_t tree, node;
} node_key;

typedef struct builder {
    const ingot_node *node;
    ingot_tree_params *params;
    const char *votes; /* "class" or "target" */
    ingot_arena *arena;
    ingot_map map; /* node_key to ingot_tree_node */
    ingot_tree_node *nodes;
    size_t count;
    ingot_error *error;
} builder;

/* Zeroed memory of the module; NULL after filling the error. */
static void *allocate(const builder *b, size_t count, size_t size)
{
    void *memory = ingot_arena_alloc_array(b->arena, count + 1, size);
    if (!memory)
        ingot_fail_memory(b->error, size, "the trees of an ensemble");
    return memory;
}

/* ---- Lists of numbers, as floats or as a tensor of doubles ---- */

static ingot_status take_numbers(const builder *b, const char *name, ingot_floats list, const ingot_value *tensor,
                                 const double **numbers, size_t *count)
{
    if (tensor && list.count)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "%s and %s_as_tensor must not be there both",
                               name, name);
    if (tensor && tensor->element != INGOT_DOUBLE && tensor->element != INGOT_FLOAT)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                               "%s_as_tensor is of type %s, expected float or double", name,
                               ingot_element_name(tensor->element));
    if (!tensor) {
        *count = list.count;
    } else if (!ingot_count_elements(tensor->rank, tensor->dims, count)) {
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "%s_as_tensor has too many elements", name);
    }
    double *values = allocate(b, *count, sizeof *values);
    if (!values)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < *count; i++) {
        if (!tensor)
            values[i] = (double)list.data[i];
        else if (tensor->element == INGOT_FLOAT)
            values[i] = (double)((const float *)tensor->data)[i];
        else
            values[i] = ((const double *)tensor->data)[i];
    }
    b->params->trees.doubles = b->params->trees.doubles || (tensor && tensor->element == INGOT_DOUBLE);
    *numbers = values;
    return INGOT_OK;
}

static ingot_status check_length(const builder *b, const char *prefix, const char *name, size_t found, size_t expected)
{
    if (found == expected)
        return INGOT_OK;
    return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                           "%s_%s has %zu values, expected %zu as the other %s_ lists have", prefix, name, found,
                           expected, prefix);
}

/* ---- Nodes ---- */

static bool find_mode(ingot_text text, uint8_t *mode)
{
    static const char *const words[] = {"LEAF",      "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                        "BRANCH_GT", "BRANCH_EQ",  "BRANCH_NEQ"};
    for (uint8_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == text.size && memcmp(words[i], text.data, text.size) == 0) {
            *mode = i;
            return true;
        }
    }
    return false;
}

static ingot_status check_node_lists(const builder *b, size_t thresholds)
{
    const ingot_tree_params *p = b->params;
    if (b->count >= INT32_MAX)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                               "nodes_nodeids has %zu values, more than can be counted", b->count);
    INGOT_TRY(check_length(b, "nodes", "treeids", p->tree_ids.count, b->count));
    INGOT_TRY(check_length(b, "nodes", "featureids", p->feature_ids.count, b->count));
    INGOT_TRY(check_length(b, "nodes", "truenodeids", p->yes_ids.count, b->count));
    INGOT_TRY(check_length(b, "nodes", "falsenodeids", p->no_ids.count, b->count));
    INGOT_TRY(check_length(b, "nodes", "modes", p->modes.count, b->count));
    INGOT_TRY(check_length(b, "nodes", "values", thresholds, b->count));
    if (p->missing.count)
        INGOT_TRY(check_length(b, "nodes", "missing_value_tracks_true", p->missing.count, b->count));
    return INGOT_OK;
}

static ingot_status add_nodes(builder *b)
{
    const ingot_tree_params *p = b->params;
    const double *thresholds;
    size_t threshold_count;
    INGOT_TRY(take_numbers(b, "nodes_values", p->thresholds, p->threshold_tensor, &thresholds, &threshold_count));
    INGOT_TRY(check_node_lists(b, threshold_count));
    node_key *keys = allocate(b, b->count, sizeof *keys);
    b->nodes = allocate(b, b->count, sizeof *b->nodes);
    if (!keys || !b->nodes)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < b->count; i++) {
        ingot_tree_node *n = &b->nodes[i];
        void *previous;
        keys[i] = (node_key){p->tree_ids.data[i], p->node_ids.data[i]};
        INGOT_TRY(ingot_map_put(&b->map, (const char *)&keys[i], sizeof keys[i], n, &previous, b->error));
        if (previous)
            return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                                   "nodes_nodeids: node %lld of tree %lld is there twice", (long long)keys[i].node,
                                   (long long)keys[i].tree);
        if (!find_mode(p->modes.data[i], &n->mode))
            return ingot_node_fail(
                b->node, b->error, INGOT_INVALID_MODEL, "nodes_modes[%zu] is '%.*s', which is no mode", i,
                (int)(p->modes.data[i].size < 64 ? p->modes.data[i].size : 64), p->modes.data[i].data);
        n->threshold = thresholds[i];
        n->missing_is_yes = p->missing.count && p->missing.data[i] != 0;
        if (n->mode == INGOT_TREE_LEAF)
            continue;
        int64_t feature = p->feature_ids.data[i];
        if (feature < 0 || feature >= INT32_MAX)
            return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                                   "nodes_featureids[%zu] is %lld, which is no column", i, (long long)feature);
        n->feature = (int32_t)feature;
        if (n->feature > b->params->trees.max_feature)
            b->params->trees.max_feature = n->feature;
    }
    return INGOT_OK;
}

static ingot_status find_child(const builder *b, size_t from, const char *list, int64_t id, int32_t *child)
{
    node_key key = {b->params->tree_ids.data[from], id};
    const ingot_tree_node *n = ingot_map_get(&b->map, (const char *)&key, sizeof key);
    if (!n)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                               "nodes_%s[%zu] is %lld, but tree %lld has no such node", list, from, (long long)id,
                               (long long)key.tree);
    *child = (int32_t)(n - b->nodes);
    return INGOT_OK;
}

/* Takes away nodes that nothing leads to until none is left; what stays then lies on or behind a circle. */
ingot_status ingot_trees_find_circle(ingot_arena *arena, const ingot_tree_node *nodes, size_t count, size_t *found,
                                     ingot_error *error)
{
    size_t ready = 0;
    int32_t *parents = ingot_arena_alloc_array(arena, count + 1, sizeof *parents);
    int32_t *stack = ingot_arena_alloc_array(arena, count + 1, sizeof *stack);
    if (!parents || !stack)
        return ingot_fail_memory(error, count * sizeof *stack, "the trees of an ensemble");
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].mode != INGOT_TREE_LEAF) {
            parents[nodes[i].yes]++;
            parents[nodes[i].no]++;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (parents[i] == 0)
            stack[ready++] = (int32_t)i;
    while (ready > 0) {
        const ingot_tree_node *n = &nodes[stack[--ready]];
        if (n->mode == INGOT_TREE_LEAF)
            continue;
        if (--parents[n->yes] == 0)
            stack[ready++] = n->yes;
        if (--parents[n->no] == 0)
            stack[ready++] = n->no;
    }
    *found = 0;
    while (*found < count && parents[*found] == 0)
        ++*found;
    return INGOT_OK;
}

static ingot_status check_circles(const builder *b)
{
    size_t found;
    INGOT_TRY(ingot_trees_find_circle(b->arena, b->nodes, b->count, &found, b->error));
    if (found == b->count)
        return INGOT_OK;
    return ingot_node_fail(
        b->node, b->error, INGOT_INVALID_MODEL,
        "nodes_truenodeids and nodes_falsenodeids: the branches from node %lld of tree %lld lead in a circle",
        (long long)b->params->node_ids.data[found], (long long)b->params->tree_ids.data[found]);
}

static ingot_status link_nodes(const builder *b)
{
    const ingot_tree_params *p = b->params;
    for (size_t i = 0; i < b->count; i++) {
        ingot_tree_node *n = &b->nodes[i];
        if (n->mode == INGOT_TREE_LEAF)
            continue;
        INGOT_TRY(find_child(b, i, "truenodeids", p->yes_ids.data[i], &n->yes));
        INGOT_TRY(find_child(b, i, "falsenodeids", p->no_ids.data[i], &n->no));
    }
    return check_circles(b);
}

/* The first node that the model lists of each tree is its root. */
static ingot_status find_roots(const builder *b)
{
    ingot_trees *t = &b->params->trees;
    const int64_t *ids = b->params->tree_ids.data;
    ingot_map seen = {0};
    ingot_status status = INGOT_OK;
    int32_t *roots = allocate(b, b->count, sizeof *roots);
    if (!roots)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < b->count && status == INGOT_OK; i++) {
        if (i > 0 && ids[i] == ids[i - 1])
            continue;
        if (ingot_map_get(&seen, (const char *)&ids[i], sizeof ids[i]))
            continue;
        status = ingot_map_put(&seen, (const char *)&ids[i], sizeof ids[i], &b->nodes[i], NULL, b->error);
        roots[t->tree_count++] = (int32_t)i;
    }
    ingot_map_clear(&seen);
    t->roots = roots;
    return status;
}

/* ---- Votes ---- */

static ingot_status find_voter(const builder *b, size_t vote, ingot_tree_node **voter)
{
    const ingot_tree_params *p = b->params;
    node_key key = {p->vote_tree_ids.data[vote], p->vote_node_ids.data[vote]};
    *voter = ingot_map_get(&b->map, (const char *)&key, sizeof key);
    if (!*voter)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                               "%s_nodeids[%zu] is %lld, but tree %lld has no such node", b->votes, vote,
                               (long long)key.node, (long long)key.tree);
    int64_t output = p->vote_outputs.data[vote];
    if (output < 0 || (uint64_t)output >= p->trees.outputs)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "%s_ids[%zu] is %lld, expected 0 to %zu",
                               b->votes, vote, (long long)output, p->trees.outputs - 1);
    return INGOT_OK;
}

/* Votes of inner nodes never count. Where there is one target a leaf has one vote, its first: converters write it once for each
 * of several columns that the tree had before, and count on that. */
static bool counts(const builder *b, const ingot_tree_node *voter)
{
    bool lone_target = b->params->trees.outputs == 1 && strcmp(b->votes, "target") == 0;
    return voter->mode == INGOT_TREE_LEAF && !(lone_target && voter->no > 0);
}

/* Sorts the votes that count by their leaves. */
static ingot_status add_votes(const builder *b)
{
    ingot_tree_params *p = b->params;
    ingot_tree_node *voter;
    const double *weights;
    size_t count = p->vote_outputs.count, weight_count;
    char list[32];
    memcpy(list, b->votes, strlen(b->votes));
    memcpy(list + strlen(b->votes), "_weights", sizeof "_weights");
    INGOT_TRY(take_numbers(b, list, p->weights, p->weight_tensor, &weights, &weight_count));
    INGOT_TRY(check_length(b, b->votes, "weights", weight_count, count));
    INGOT_TRY(check_length(b, b->votes, "nodeids", p->vote_node_ids.count, count));
    INGOT_TRY(check_length(b, b->votes, "treeids", p->vote_tree_ids.count, count));
    if (count >= INT32_MAX)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL,
                               "%s_ids has %zu values, more than can be counted", b->votes, count);
    ingot_tree_vote *votes = allocate(b, count, sizeof *votes);
    if (!votes)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        INGOT_TRY(find_voter(b, i, &voter));
        if (counts(b, voter))
            voter->no++;
    }
    int32_t next = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (b->nodes[i].mode == INGOT_TREE_LEAF) {
            b->nodes[i].yes = next;
            next += b->nodes[i].no;
            b->nodes[i].no = 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        INGOT_TRY(find_voter(b, i, &voter));
        if (counts(b, voter))
            votes[voter->yes + voter->no++] = (ingot_tree_vote){(int32_t)p->vote_outputs.data[i], weights[i]};
    }
    p->trees.votes = votes;
    p->trees.vote_count = (size_t)next;
    return INGOT_OK;
}

static ingot_status build(builder *b)
{
    ingot_trees *t = &b->params->trees;
    INGOT_TRY(add_nodes(b));
    INGOT_TRY(link_nodes(b));
    INGOT_TRY(find_roots(b));
    INGOT_TRY(add_votes(b));
    INGOT_TRY(take_numbers(b, "base_values", b->params->base, b->params->base_tensor, &t->base, &t->base_count));
    if (t->base_count > 1 && t->base_count != t->outputs)
        return ingot_node_fail(b->node, b->error, INGOT_INVALID_MODEL, "base_values has %zu values, expected %zu",
                               t->base_count, t->outputs);
    t->nodes = b->nodes;
    t->node_count = b->count;
    return INGOT_OK;
}

ingot_status ingot_trees_build(const ingot_node *node, ingot_tree_params *params, size_t outputs, const char *votes,
                               ingot_error *error)
{
    builder b = {.node = node, .params = params, .votes = votes, .arena = node->graph->module->arena, .error = error};
    b.count = params->node_ids.count;
    params->trees = (ingot_trees){.outputs = outputs, .max_feature = -1};
    ingot_status status = build(&b);
    ingot_map_clear(&b.map);
    return status;
}
