/* NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"
#include "ops/loss.h"

typedef struct loss_sums {
    double loss, weight;
} loss_sums;

/* Log-probabilities of the classes of one sample, in place. */
static void log_softmax(double *x, size_t classes)
{
    double largest = x[0], sum = 0;
    for (size_t i = 1; i < classes; i++)
        largest = x[i] > largest || isnan(x[i]) ? x[i] : largest;
    for (size_t i = 0; i < classes; i++)
        sum += exp(x[i] - largest);
    double log_sum = log(sum);
    for (size_t i = 0; i < classes; i++)
        x[i] = x[i] - largest - log_sum;
}

/* Loss and weight of sample index, whose log-probabilities are row. */
static ingot_status sample_loss(const ingot_kernel_call *call, size_t index, size_t classes, const double *row,
                                loss_sums *sample)
{
    const ingot_loss_params *p = call->params;
    int64_t label = ingot_ref_integer(call->inputs[1], index);
    *sample = (loss_sums){0, 0};
    if (p->ignores && label == p->ignore)
        return INGOT_OK;
    if (label < 0 || (uint64_t)label >= classes)
        return ingot_kernel_fail(call, "label %lld at element %zu of input 1 is not among the %zu classes",
                                 (long long)label, index, classes);
    sample->weight = 1;
    if (ingot_kernel_has(call, 2))
        sample->weight = ingot_load_double(call->inputs[2]->element, call->inputs[2]->data, (size_t)label);
    sample->loss = -row[label] * sample->weight;
    return INGOT_OK;
}

static ingot_status run_sample(const ingot_kernel_call *call, ingot_split split, size_t index, double *row,
                               loss_sums *sample)
{
    const ingot_loss_params *p = call->params;
    const ingot_value *scores = call->inputs[0];
    int64_t first = (int64_t)(index / split.inner * split.size * split.inner + index % split.inner);
    ingot_read_doubles(scores->element, scores->data, first, (int64_t)split.inner, split.size, row);
    if (p->of_scores && split.size > 0)
        log_softmax(row, split.size);
    if (ingot_kernel_wants(call, 1))
        ingot_write_doubles(scores->element, call->outputs[1]->data, first, (int64_t)split.inner, split.size, row);
    return sample_loss(call, index, split.size, row, sample);
}

ingot_status ingot_ref_loss(const ingot_kernel_call *call)
{
    const ingot_loss_params *p = call->params;
    const ingot_value *scores = call->inputs[0];
    ingot_split split = ingot_split_at(scores->rank, scores->dims, 1);
    size_t bytes, count = split.outer * split.inner;
    void *row;
    loss_sums sums = {0, 0};
    if (!ingot_mul_size(split.size, sizeof(double), &bytes))
        return ingot_kernel_fail(call, "there are too many classes");
    INGOT_TRY(ingot_kernel_scratch(call, bytes, &row));
    for (size_t i = 0; i < count; i++) {
        loss_sums sample;
        INGOT_TRY(run_sample(call, split, i, row, &sample));
        sums.loss += sample.loss;
        sums.weight += sample.weight;
        if (p->reduction == INGOT_LOSS_NONE && ingot_kernel_wants(call, 0))
            ingot_store_double(scores->element, call->outputs[0]->data, i, sample.loss);
    }
    if (p->reduction != INGOT_LOSS_NONE && ingot_kernel_wants(call, 0))
        ingot_store_double(scores->element, call->outputs[0]->data, 0,
                           p->reduction == INGOT_LOSS_MEAN ? sums.loss / sums.weight : sums.loss);
    return INGOT_OK;
}
