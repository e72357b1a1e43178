#include "ops/tree.h"

#include <stddef.h>

#define FIELD(attribute, kind, field)                                \
    {                                                                \
        attribute, kind, offsetof(ingot_tree_params, field), NULL, 0 \
    }
#define FIELD_WORD(attribute, field, words)                                       \
    {                                                                             \
        attribute, INGOT_PARAM_WORD, offsetof(ingot_tree_params, field), words, 0 \
    }

#define NODE_FIELDS                                                                                                   \
    FIELD("nodes_treeids", INGOT_PARAM_INTS, tree_ids), FIELD("nodes_nodeids", INGOT_PARAM_INTS, node_ids),           \
        FIELD("nodes_featureids", INGOT_PARAM_INTS, feature_ids),                                                     \
        FIELD("nodes_truenodeids", INGOT_PARAM_INTS, yes_ids), FIELD("nodes_falsenodeids", INGOT_PARAM_INTS, no_ids), \
        FIELD("nodes_missing_value_tracks_true", INGOT_PARAM_INTS, missing),                                          \
        FIELD("nodes_modes", INGOT_PARAM_TEXTS, modes), FIELD("nodes_values", INGOT_PARAM_FLOATS, thresholds),        \
        FIELD("nodes_values_as_tensor", INGOT_PARAM_TENSOR, threshold_tensor),                                        \
        FIELD("base_values", INGOT_PARAM_FLOATS, base),                                                               \
        FIELD("base_values_as_tensor", INGOT_PARAM_TENSOR, base_tensor),                                              \
        FIELD_WORD("post_transform", post_transform, ingot_post_transform_words)

static const ingot_param_field classifier_fields[] = {
    NODE_FIELDS,
    FIELD("class_treeids", INGOT_PARAM_INTS, vote_tree_ids),
    FIELD("class_nodeids", INGOT_PARAM_INTS, vote_node_ids),
    FIELD("class_ids", INGOT_PARAM_INTS, vote_outputs),
    FIELD("class_weights", INGOT_PARAM_FLOATS, weights),
    FIELD("class_weights_as_tensor", INGOT_PARAM_TENSOR, weight_tensor),
    FIELD("classlabels_int64s", INGOT_PARAM_INTS, labels.ints),
    FIELD("classlabels_strings", INGOT_PARAM_TEXTS, labels.texts),
    {NULL, 0, 0, NULL, 0},
};

static const char *const aggregate_words[] = {"SUM", "AVERAGE", "MIN", "MAX", NULL};

static const ingot_param_field regressor_fields[] = {
    NODE_FIELDS,
    FIELD("target_treeids", INGOT_PARAM_INTS, vote_tree_ids),
    FIELD("target_nodeids", INGOT_PARAM_INTS, vote_node_ids),
    FIELD("target_ids", INGOT_PARAM_INTS, vote_outputs),
    FIELD("target_weights", INGOT_PARAM_FLOATS, weights),
    FIELD("target_weights_as_tensor", INGOT_PARAM_TENSOR, weight_tensor),
    FIELD("n_targets", INGOT_PARAM_INT, target_count),
    FIELD_WORD("aggregate_function", aggregate, aggregate_words),
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_classifier(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_tree_params *p = params;
    INGOT_TRY(ingot_class_labels_check(node, &p->labels, "classlabels_int64s", "classlabels_strings", error));
    INGOT_TRY(ingot_trees_build(node, p, p->labels.count, "class", error));
    p->one_class = p->labels.count == 2 && p->trees.vote_count > 0;
    p->not_negative = true;
    for (size_t i = 0; i < p->trees.vote_count; i++) {
        p->one_class = p->one_class && p->trees.votes[i].output == p->trees.votes[0].output;
        p->not_negative = p->not_negative && p->trees.votes[i].weight >= 0;
    }
    return INGOT_OK;
}

static ingot_status check_regressor(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_tree_params *p = params;
    if (p->target_count < 1 || p->target_count >= INT32_MAX)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "n_targets is %lld, expected 1 or more",
                               (long long)p->target_count);
    return ingot_trees_build(node, p, (size_t)p->target_count, "target", error);
}

/* Rows of the input, whose columns must hold every feature that is read. */
static ingot_status infer_input(ingot_infer *c, ingot_dim *rows)
{
    const ingot_tree_params *p = c->params;
    ingot_dim columns;
    INGOT_TRY(ingot_infer_rows(c, 0, rows, &columns));
    if (ingot_dim_is_number(columns) && columns <= p->trees.max_feature)
        return ingot_infer_fail(c, "nodes_featureids reads column %d, but the input has %lld columns",
                                (int)p->trees.max_feature, (long long)columns);
    return INGOT_OK;
}

static ingot_status infer_classifier(ingot_infer *c)
{
    const ingot_tree_params *p = c->params;
    ingot_dim rows;
    INGOT_TRY(infer_input(c, &rows));
    ingot_infer_set(c, 0, p->labels.element, 1, &rows);
    ingot_infer_set(c, 1, INGOT_FLOAT, 2, (ingot_dim[]){rows, (ingot_dim)p->labels.count});
    return INGOT_OK;
}

static ingot_status infer_regressor(ingot_infer *c)
{
    const ingot_tree_params *p = c->params;
    ingot_dim rows;
    INGOT_TRY(infer_input(c, &rows));
    ingot_infer_set(c, 0, INGOT_FLOAT, 2, (ingot_dim[]){rows, p->target_count});
    return INGOT_OK;
}

const ingot_op ingot_op_tree_ensemble_classifier = {
    .summary = "Decision trees that vote for classes.",
    .params_size = sizeof(ingot_tree_params),
    .fields = classifier_fields,
    .check = check_classifier,
    .infer = infer_classifier,
};

const ingot_op ingot_op_tree_ensemble_regressor = {
    .summary = "Decision trees whose leaves are summed, averaged, or compared, for each target.",
    .params_size = sizeof(ingot_tree_params),
    .fields = regressor_fields,
    .check = check_regressor,
    .infer = infer_regressor,
};
