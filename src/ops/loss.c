/* NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. */
#include "ops/loss.h"

static const char *const reduction_words[] = {"none", "sum", "mean", NULL};

static const ingot_param_field loss_fields[] = {
    {"reduction", INGOT_PARAM_WORD, offsetof(ingot_loss_params, reduction), reduction_words, 0},
    {"ignore_index", INGOT_PARAM_INT, offsetof(ingot_loss_params, ignore), NULL, offsetof(ingot_loss_params, ignores)},
    {0},
};

static ingot_status check_scores(const ingot_node *node, void *params, ingot_error *error)
{
    ((ingot_loss_params *)params)->of_scores = true;
    return INGOT_OK;
}

/* Shape of the labels, [N, d...], as far as scores and labels tell; *rank -1: neither does. */
static ingot_status label_shape(ingot_infer *c, int *rank, ingot_dim *dims)
{
    const ingot_type *scores = &c->inputs[0].type, *labels = &c->inputs[1].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 1, 1, INGOT_MAX_RANK - 1));
    *rank = scores->rank >= 0 ? scores->rank - 1 : labels->rank;
    if (scores->rank >= 0 && labels->rank >= 0 && labels->rank != *rank)
        return ingot_infer_fail(c, "input 1 has rank %d, but must have %d, one less than input 0", labels->rank, *rank);
    for (int i = 0; i < *rank; i++) {
        ingot_dim of_scores = scores->rank >= 0 ? scores->dims[i ? i + 1 : 0] : labels->dims[i];
        dims[i] = labels->rank >= 0 ? labels->dims[i] : of_scores;
        INGOT_TRY(ingot_infer_same_dim(c, "the sizes of input 1 and those of input 0 without its axis 1", dims[i],
                                       of_scores, &dims[i]));
    }
    return INGOT_OK;
}

static ingot_status infer_loss(ingot_infer *c)
{
    const ingot_loss_params *p = c->params;
    const ingot_type *scores = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    int rank;
    INGOT_TRY(label_shape(c, &rank, dims));
    INGOT_TRY(ingot_infer_rank(c, 2, 1, 1));
    if (ingot_infer_has(c, 2) && c->inputs[2].type.rank == 1 && scores->rank >= 0)
        INGOT_TRY(ingot_infer_same_dim(c, "the number of weights and the number of classes", c->inputs[2].type.dims[0],
                                       scores->dims[1], NULL));
    ingot_infer_set(c, 0, scores->element, p->reduction == INGOT_LOSS_NONE ? rank : 0, dims);
    ingot_infer_set(c, 1, scores->element, scores->rank, scores->dims);
    return INGOT_OK;
}

const ingot_op ingot_op_nll_loss = {
    .summary = "minus the log-probabilities of the labels, weighted and averaged",
    .params_size = sizeof(ingot_loss_params),
    .fields = loss_fields,
    .infer = infer_loss,
};
const ingot_op ingot_op_softmax_cross_entropy_loss = {
    .summary = "minus the logarithm of the softmax at the labels, weighted and averaged",
    .params_size = sizeof(ingot_loss_params),
    .fields = loss_fields,
    .check = check_scores,
    .infer = infer_loss,
};
