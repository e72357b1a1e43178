/* TreeEnsembleClassifier, TreeEnsembleRegressor, TreeEnsemble. */
#ifndef INGOT_OPS_TREE_H
#define INGOT_OPS_TREE_H

#include "ops/ml_common.h"

typedef enum ingot_tree_mode { /* the comparison of a feature with the threshold */
                               INGOT_TREE_LEAF,
                               INGOT_TREE_LEQ,
                               INGOT_TREE_LT,
                               INGOT_TREE_GTE,
                               INGOT_TREE_GT,
                               INGOT_TREE_EQ,
                               INGOT_TREE_NEQ,
                               INGOT_TREE_MEMBER, /* is one of the members that begin at index threshold */
} ingot_tree_mode;

typedef struct ingot_tree_node {
    double threshold;
    int32_t feature;
    int32_t yes, no;     /* nodes to go on to; of a leaf: its first vote, and the number of its votes */
    uint8_t mode;        /* ingot_tree_mode */
    bool missing_is_yes; /* NaN goes to yes */
} ingot_tree_node;

typedef struct ingot_tree_vote {
    int32_t output; /* class or target */
    double weight;
} ingot_tree_vote;

/* All trees, checked: every walk from a root ends at a leaf, every index is in range (features against max_feature). */
typedef struct ingot_trees {
    const ingot_tree_node *nodes;
    size_t node_count;
    const int32_t *roots; /* in the order in which the model lists the trees */
    size_t tree_count;
    const ingot_tree_vote *votes; /* those of a leaf lie together, in the model's order */
    size_t vote_count;
    const double *members; /* lists that each end with a NaN */
    int32_t max_feature;   /* -1: none is read */
    bool doubles;          /* sums in double; else in float, tree by tree */
    const double *base;    /* base_count values */
    size_t base_count;     /* 0, 1 or outputs */
    size_t outputs;        /* classes or targets */
} ingot_trees;

typedef enum ingot_tree_aggregate {
    INGOT_TREE_SUM,
    INGOT_TREE_AVERAGE,
    INGOT_TREE_MIN,
    INGOT_TREE_MAX,
} ingot_tree_aggregate;

typedef struct ingot_tree_params {
    /* As the model gives them. The votes' lists are named class_... or target_... */
    ingot_ints tree_ids, node_ids, feature_ids, yes_ids, no_ids, missing;
    ingot_texts modes;
    ingot_floats thresholds, weights, base;
    const ingot_value *threshold_tensor, *weight_tensor, *base_tensor;
    ingot_ints vote_tree_ids, vote_node_ids, vote_outputs;
    int64_t target_count;
    int aggregate;      /* regressor: ingot_tree_aggregate */
    int post_transform; /* ingot_post_transform */
    ingot_class_labels labels;
    /* Filled by check: */
    ingot_trees trees;
    int lone_class;    /* classifier of two classes where all votes go to one: that one; else -1 */
    bool not_negative; /* no vote has a negative weight */
} ingot_tree_params;

/* TreeEnsemble: the kernels read common alone. Its lists of numbers are tensors. */
typedef struct ingot_tree_ensemble_params {
    ingot_tree_params
        common; /* trees, target_count and feature_ids, yes_ids, no_ids, missing; aggregate as in the enum */
    int64_t aggregate_number, post_transform_number;
    ingot_ints roots, yes_is_leaf, no_is_leaf, leaf_targets;
    const ingot_value *modes, *splits, *members, *leaf_weights;
} ingot_tree_ensemble_params;

/* Builds params->trees in the module's arena; outputs is the number of classes or targets, votes how their attributes begin
 * ("class"). Refuses what is not a forest, naming the attribute. */
ingot_status ingot_trees_build(const ingot_node *node, ingot_tree_params *params, size_t outputs, const char *votes,
                               ingot_error *error);

/* The same for TreeEnsemble. */
ingot_status ingot_tree_ensemble_build(const ingot_node *node, ingot_tree_ensemble_params *params, ingot_error *error);

/* *found: a node that lies on, or behind, a circle of branches; count where there is none. All branches must lead to nodes. */
ingot_status ingot_trees_find_circle(ingot_arena *arena, const ingot_tree_node *nodes, size_t count, size_t *found,
                                     ingot_error *error);

#endif
