#include "cpu/ref/ref_ml.h"

#include <math.h>

static void softmax(double *scores, size_t count)
{
    double top = scores[ingot_ref_top(scores, count)], sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += scores[i] = exp(scores[i] - top);
    for (size_t i = 0; i < count; i++)
        scores[i] /= sum;
}

/* Scores of about zero are scaled instead of raised: they stay apart from the others. */
static void softmax_zero(double *scores, size_t count)
{
    double top = scores[ingot_ref_top(scores, count)], sum = 0;
    for (size_t i = 0; i < count; i++) {
        bool zero = fabs(scores[i]) <= 1e-7;
        sum += scores[i] = zero ? scores[i] * exp(-top) : exp(scores[i] - top);
    }
    for (size_t i = 0; i < count; i++)
        scores[i] = sum == 0 ? .5 : scores[i] / sum;
}

static double logistic(double x)
{
    double v = 1 / (1 + exp(-fabs(x)));
    return x < 0 ? 1 - v : v;
}

/* The approximation that the standard's reference has, not the exact inverse. */
static double inverse_erf(double x)
{
    double log_rest = log((1 - x) * (1 + x));
    if (isinf(log_rest))
        return 0;
    double v = 2 / (3.14159265358979323846 * .147) + log_rest / 2;
    double result = sqrt(sqrt(v * v - log_rest / .147) - v);
    return x < 0 ? -result : result;
}

static double probit(double x)
{
    return 1.41421356 * inverse_erf(2 * x - 1);
}

void ingot_ref_post_transform(ingot_post_transform kind, double *scores, size_t count)
{
    if (count == 0)
        return;
    switch (kind) {
    case INGOT_POST_NONE:
        return;
    case INGOT_POST_SOFTMAX:
        softmax(scores, count);
        return;
    case INGOT_POST_SOFTMAX_ZERO:
        softmax_zero(scores, count);
        return;
    case INGOT_POST_LOGISTIC:
        for (size_t i = 0; i < count; i++)
            scores[i] = logistic(scores[i]);
        return;
    case INGOT_POST_PROBIT:
        for (size_t i = 0; i < count; i++)
            scores[i] = probit(scores[i]);
    }
}

size_t ingot_ref_top(const double *scores, size_t count)
{
    size_t top = 0;
    for (size_t i = 1; i < count; i++)
        if (scores[i] > scores[top])
            top = i;
    return top;
}

ingot_status ingot_ref_reset_strings(const ingot_kernel_call *call, size_t output)
{
    if (!ingot_kernel_wants(call, output) || call->outputs[output]->element != INGOT_STRING)
        return INGOT_OK;
    ingot_value *value = call->outputs[output];
    int64_t dims[INGOT_MAX_RANK];
    for (int i = 0; i < value->rank; i++)
        dims[i] = value->dims[i];
    return ingot_kernel_set_output(call, output, INGOT_STRING, value->rank, dims);
}

ingot_status ingot_ref_set_label(const ingot_kernel_call *call, size_t output, size_t index,
                                 const ingot_class_labels *labels, size_t label)
{
    ingot_value *value = call->outputs[output];
    if (labels->element == INGOT_STRING)
        return ingot_value_set_string(value, index, labels->texts.data[label].data, labels->texts.data[label].size,
                                      call->error);
    ((int64_t *)value->data)[index] = labels->ints.data[label];
    return INGOT_OK;
}
