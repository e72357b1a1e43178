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
    p->lone_class = p->labels.count == 2 && p->trees.vote_count > 0 ? p->trees.votes[0].output : -1;
    p->not_negative = true;
    for (size_t i = 0; i < p->trees.vote_count; i++) {
        if (p->trees.votes[i].output != p->lone_class)
            p->lone_class = -1;
        p->not_negative = p->not_negative && p->trees.votes[i].weight >= 0;
    }
    return INGOT_OK;
}

static ingot_status check_target_count(const ingot_node *node, int64_t count, ingot_error *error)
{
    if (count >= 1 && count < INT32_MAX)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "n_targets is %lld, expected 1 or more", (long long)count);
}

static ingot_status check_regressor(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_tree_params *p = params;
    INGOT_TRY(check_target_count(node, p->target_count, error));
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

/* ---- TreeEnsemble ---- */

#define ENSEMBLE_FIELD(attribute, kind, field)                                \
    {                                                                         \
        attribute, kind, offsetof(ingot_tree_ensemble_params, field), NULL, 0 \
    }

static const ingot_param_field ensemble_fields[] = {
    ENSEMBLE_FIELD("n_targets", INGOT_PARAM_INT, common.target_count),
    ENSEMBLE_FIELD("nodes_featureids", INGOT_PARAM_INTS, common.feature_ids),
    ENSEMBLE_FIELD("nodes_truenodeids", INGOT_PARAM_INTS, common.yes_ids),
    ENSEMBLE_FIELD("nodes_falsenodeids", INGOT_PARAM_INTS, common.no_ids),
    ENSEMBLE_FIELD("nodes_missing_value_tracks_true", INGOT_PARAM_INTS, common.missing),
    ENSEMBLE_FIELD("nodes_trueleafs", INGOT_PARAM_INTS, yes_is_leaf),
    ENSEMBLE_FIELD("nodes_falseleafs", INGOT_PARAM_INTS, no_is_leaf),
    ENSEMBLE_FIELD("nodes_modes", INGOT_PARAM_TENSOR, modes),
    ENSEMBLE_FIELD("nodes_splits", INGOT_PARAM_TENSOR, splits),
    ENSEMBLE_FIELD("membership_values", INGOT_PARAM_TENSOR, members),
    ENSEMBLE_FIELD("tree_roots", INGOT_PARAM_INTS, roots),
    ENSEMBLE_FIELD("leaf_targetids", INGOT_PARAM_INTS, leaf_targets),
    ENSEMBLE_FIELD("leaf_weights", INGOT_PARAM_TENSOR, leaf_weights),
    ENSEMBLE_FIELD("aggregate_function", INGOT_PARAM_INT, aggregate_number),
    ENSEMBLE_FIELD("post_transform", INGOT_PARAM_INT, post_transform_number),
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_ensemble(const ingot_node *node, void *params, ingot_error *error)
{
    static const ingot_tree_aggregate aggregates[] = {INGOT_TREE_AVERAGE, INGOT_TREE_SUM, INGOT_TREE_MIN,
                                                      INGOT_TREE_MAX};
    ingot_tree_ensemble_params *p = params;
    if (p->aggregate_number < 0 || p->aggregate_number > 3)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "aggregate_function is %lld, expected 0 to 3",
                               (long long)p->aggregate_number);
    if (p->post_transform_number < 0 || p->post_transform_number > INGOT_POST_PROBIT)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "post_transform is %lld, expected 0 to %d",
                               (long long)p->post_transform_number, INGOT_POST_PROBIT);
    p->common.aggregate = aggregates[p->aggregate_number];
    p->common.post_transform = (int)p->post_transform_number; /* numbered alike */
    INGOT_TRY(check_target_count(node, p->common.target_count, error));
    return ingot_tree_ensemble_build(node, p, error);
}

static ingot_status infer_ensemble(ingot_infer *c)
{
    const ingot_tree_ensemble_params *p = c->params;
    ingot_dim rows;
    INGOT_TRY(infer_input(c, &rows));
    ingot_infer_set(c, 0, c->inputs[0].type.element, 2, (ingot_dim[]){rows, p->common.target_count});
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_tree_ensemble = {
    .summary = "Decision trees whose leaves are summed, averaged, or compared, for each target.",
    .params_size = sizeof(ingot_tree_ensemble_params),
    .fields = ensemble_fields,
    .check = check_ensemble,
    .infer = infer_ensemble,
};

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
