/* TreeEnsembleClassifier, TreeEnsembleRegressor, TreeEnsemble. */
#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_ml.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/tree.h"

/* One row at a time. */
typedef struct forest_job {
    const ingot_trees *trees;
    ingot_tree_aggregate aggregate;
    size_t rows, columns;
    double *features; /* [columns] */
    double *scores;   /* [outputs] */
    bool *voted;      /* [outputs] */
} forest_job;

static ingot_status prepare(const ingot_kernel_call *call, const ingot_trees *trees, forest_job *job)
{
    const ingot_value *x = call->inputs[0];
    job->trees = trees;
    job->columns = (size_t)x->dims[x->rank - 1];
    job->rows = x->rank == 2 ? (size_t)x->dims[0] : 1;
    if (trees->max_feature >= 0 && (size_t)trees->max_feature >= job->columns)
        return ingot_kernel_fail(call, "nodes_featureids reads column %d, but the input has %zu columns",
                                 (int)trees->max_feature, job->columns);
    size_t elements[] = {job->columns, trees->outputs, trees->outputs};
    size_t sizes[] = {sizeof(double), sizeof(double), sizeof(bool)};
    void *parts[3];
    INGOT_TRY(ingot_ref_scratch(call, 3, elements, sizes, parts));
    job->features = parts[0];
    job->scores = parts[1];
    job->voted = parts[2];
    return INGOT_OK;
}

static bool is_member(const double *members, double x)
{
    while (!isnan(*members) && *members != x)
        members++;
    return !isnan(*members);
}

static const ingot_tree_node *find_leaf(const ingot_trees *trees, int32_t root, const double *features)
{
    const ingot_tree_node *n = &trees->nodes[root];
    while (n->mode != INGOT_TREE_LEAF) {
        double x = features[n->feature];
        bool yes = n->missing_is_yes;
        if (!isnan(x)) {
            switch ((ingot_tree_mode)n->mode) {
            case INGOT_TREE_LEAF:
                break;
            case INGOT_TREE_LEQ:
                yes = x <= n->threshold;
                break;
            case INGOT_TREE_LT:
                yes = x < n->threshold;
                break;
            case INGOT_TREE_GTE:
                yes = x >= n->threshold;
                break;
            case INGOT_TREE_GT:
                yes = x > n->threshold;
                break;
            case INGOT_TREE_EQ:
                yes = x == n->threshold;
                break;
            case INGOT_TREE_NEQ:
                yes = x != n->threshold;
                break;
            case INGOT_TREE_MEMBER:
                yes = is_member(trees->members + (size_t)n->threshold, x);
                break;
            }
        }
        n = &trees->nodes[yes ? n->yes : n->no];
    }
    return n;
}

static double add(const ingot_trees *trees, double a, double b)
{
    return trees->doubles ? a + b : (double)((float)a + (float)b);
}

static void count_vote(const forest_job *job, const ingot_tree_vote *vote)
{
    double *score = &job->scores[vote->output];
    bool first = !job->voted[vote->output];
    job->voted[vote->output] = true;
    switch (job->aggregate) {
    case INGOT_TREE_SUM:
    case INGOT_TREE_AVERAGE:
        *score = add(job->trees, *score, vote->weight);
        return;
    case INGOT_TREE_MIN:
        *score = first || vote->weight < *score ? vote->weight : *score;
        return;
    case INGOT_TREE_MAX:
        *score = first || vote->weight > *score ? vote->weight : *score;
    }
}

/* The votes of all trees on a row, in the order of the trees. */
static void score_row(const forest_job *job, const ingot_value *x, size_t row)
{
    const ingot_trees *trees = job->trees;
    ingot_ref_to_doubles(x, row * job->columns, job->columns, job->features);
    memset(job->scores, 0, trees->outputs * sizeof *job->scores);
    memset(job->voted, 0, trees->outputs * sizeof *job->voted);
    for (size_t t = 0; t < trees->tree_count; t++) {
        const ingot_tree_node *leaf = find_leaf(trees, trees->roots[t], job->features);
        for (int32_t v = 0; v < leaf->no; v++)
            count_vote(job, &trees->votes[leaf->yes + v]);
    }
    if (job->aggregate == INGOT_TREE_AVERAGE && trees->tree_count)
        for (size_t i = 0; i < trees->outputs; i++)
            job->scores[i] /= (double)trees->tree_count;
}

static void add_base(const ingot_trees *trees, double *scores)
{
    for (size_t i = 0; trees->base_count && i < trees->outputs; i++)
        scores[i] = add(trees, scores[i], trees->base[trees->base_count > 1 ? i : 0]);
}

static void store_scores(ingot_value *z, size_t row, const double *scores, size_t count)
{
    ingot_write_doubles(z->element, z->data, (int64_t)(row * count), 1, count, scores);
}

/* ---- Classifier ---- */

/* Two classes with votes for one alone. Votes that cannot be negative, and are not transformed, are a probability: the class
 * above a half is the top one, else the one above zero. Votes for the first class are the second one's score, from which the
 * first one's follows; of votes for the second class the first has none. Returns the top class. */
static size_t score_lone_class(const ingot_tree_params *p, double *scores)
{
    const ingot_trees *t = &p->trees;
    bool probability =
        p->post_transform == INGOT_POST_PROBIT || (p->post_transform == INGOT_POST_NONE && p->not_negative);
    double score = scores[p->lone_class];
    if (t->base_count)
        score = add(t, score, t->base[t->base_count - 1]);
    scores[1] = score;
    if (p->lone_class == 0)
        scores[0] = probability ? add(t, 1, -score) : -score;
    return score > (probability ? .5 : 0) ? 1 : 0;
}

/* Adds what holds for all rows, and tells the top class. */
static size_t finish_scores(const ingot_tree_params *p, double *scores)
{
    const ingot_trees *t = &p->trees;
    if (p->lone_class >= 0)
        return score_lone_class(p, scores);
    add_base(t, scores);
    return ingot_ref_top(scores, t->outputs);
}

ingot_status ingot_ref_tree_ensemble_classifier(const ingot_kernel_call *call)
{
    const ingot_tree_params *p = call->params;
    const ingot_trees *t = &p->trees;
    forest_job job = {.aggregate = INGOT_TREE_SUM};
    INGOT_TRY(prepare(call, t, &job));
    INGOT_TRY(ingot_ref_reset_strings(call, 0));
    for (size_t row = 0; row < job.rows; row++) {
        score_row(&job, call->inputs[0], row);
        size_t top = finish_scores(p, job.scores);
        if (ingot_kernel_wants(call, 0))
            INGOT_TRY(ingot_ref_set_label(call, 0, row, &p->labels, top));
        if (!ingot_kernel_wants(call, 1))
            continue;
        ingot_ref_post_transform((ingot_post_transform)p->post_transform, job.scores, t->outputs);
        store_scores(call->outputs[1], row, job.scores, t->outputs);
    }
    return INGOT_OK;
}

/* ---- Regressor and TreeEnsemble, whose params begin with the same ---- */

ingot_status ingot_ref_tree_ensemble_regressor(const ingot_kernel_call *call)
{
    const ingot_tree_params *p = call->params;
    const ingot_trees *t = &p->trees;
    forest_job job = {.aggregate = (ingot_tree_aggregate)p->aggregate};
    INGOT_TRY(prepare(call, t, &job));
    for (size_t row = 0; row < job.rows; row++) {
        score_row(&job, call->inputs[0], row);
        add_base(t, job.scores);
        ingot_ref_post_transform((ingot_post_transform)p->post_transform, job.scores, t->outputs);
        store_scores(call->outputs[0], row, job.scores, t->outputs);
    }
    return INGOT_OK;
}
