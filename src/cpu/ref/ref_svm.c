/* SVMClassifier and SVMRegressor. */
#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_ml.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/svm.h"

typedef struct svm_job {
    const ingot_svm_params *params;
    size_t rows;
    double *features; /* [columns] */
    double *kernels;  /* [vectors]: of the row with each support vector */
    double *scores;   /* classifier: as many as it has classes or pairs of them */
    double *votes;    /* classifier: [classes] */
    double *pairs;    /* classifier with probabilities: [classes, classes], twice, and [classes] */
} svm_job;

static ingot_status prepare(const ingot_kernel_call *call, svm_job *job)
{
    const ingot_svm_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    size_t classes = p->labels.count, most = classes > p->pairs ? classes : p->pairs;
    job->params = p;
    job->rows = x->rank == 2 ? (size_t)x->dims[0] : 1;
    size_t elements[] = {p->columns, p->vectors, most + 1, classes, p->prob_a.count ? (2 * classes + 1) * classes : 0};
    size_t sizes[] = {8, 8, 8, 8, 8};
    void *parts[5];
    INGOT_TRY(ingot_ref_scratch(call, 5, elements, sizes, parts));
    job->features = parts[0];
    job->kernels = parts[1];
    job->scores = parts[2];
    job->votes = parts[3];
    job->pairs = parts[4];
    return INGOT_OK;
}

static double kernel_of(const ingot_svm_params *p, const double *x, const float *vector)
{
    double sum = 0;
    for (size_t i = 0; i < p->columns; i++) {
        double v = (double)vector[i];
        sum += p->kernel == INGOT_SVM_RBF ? (x[i] - v) * (x[i] - v) : x[i] * v;
    }
    switch ((ingot_svm_kernel)p->kernel) {
    case INGOT_SVM_LINEAR:
        break;
    case INGOT_SVM_POLY:
        return pow(p->gamma * sum + p->coef0, p->degree);
    case INGOT_SVM_RBF:
        return exp(-p->gamma * sum);
    case INGOT_SVM_SIGMOID:
        return tanh(p->gamma * sum + p->coef0);
    }
    return sum;
}

static void load_row(const svm_job *job, const ingot_value *x, size_t row)
{
    const ingot_svm_params *p = job->params;
    ingot_ref_to_doubles(x, row * p->columns, p->columns, job->features);
    for (size_t i = 0; i < p->vectors; i++)
        job->kernels[i] = kernel_of(p, job->features, p->support_vectors.data + i * p->columns);
}

/* ---- Regressor ---- */

ingot_status ingot_ref_svm_regressor(const ingot_kernel_call *call)
{
    const ingot_svm_params *p = call->params;
    float *y = call->outputs[0]->data;
    svm_job job;
    INGOT_TRY(prepare(call, &job));
    for (size_t row = 0; row < job.rows; row++) {
        load_row(&job, call->inputs[0], row);
        double sum = (double)p->rho.data[0];
        for (size_t i = 0; i < p->vectors; i++)
            sum += (double)p->coefficients.data[i] * job.kernels[i];
        if (!p->vectors)
            sum += kernel_of(p, job.features, p->coefficients.data);
        if (p->one_class)
            sum = sum > 0 ? 1 : -1;
        ingot_ref_post_transform((ingot_post_transform)p->post_transform, &sum, 1);
        y[row] = (float)sum;
    }
    return INGOT_OK;
}

/* ---- Classifier ---- */

/* A score for each pair of classes, and a vote for the one that it favours. */
static void score_pairs(const svm_job *job)
{
    const ingot_svm_params *p = job->params;
    size_t classes = p->labels.count, pair = 0, first_i = 0;
    memset(job->votes, 0, classes * sizeof *job->votes);
    for (size_t i = 0; i < classes; i++) {
        size_t count_i = (size_t)p->vectors_per_class.data[i], first_j = first_i + count_i;
        for (size_t j = i + 1; j < classes; j++, pair++) {
            size_t count_j = (size_t)p->vectors_per_class.data[j];
            double sum = (double)p->rho.data[pair];
            for (size_t v = first_i; v < first_i + count_i; v++)
                sum += (double)p->coefficients.data[(j - 1) * p->vectors + v] * job->kernels[v];
            for (size_t v = first_j; v < first_j + count_j; v++)
                sum += (double)p->coefficients.data[i * p->vectors + v] * job->kernels[v];
            job->scores[pair] = sum;
            job->votes[sum > 0 ? i : j] += 1;
            first_j += count_j;
        }
        first_i += count_i;
    }
}

/* Probabilities of n classes from those of each pair (r[i, j]: of i against j), by the iteration of Wu, Lin and Weng. */
static void couple(size_t n, const double *r, double *q, double *qp, double *p)
{
    for (size_t t = 0; t < n; t++) {
        p[t] = 1 / (double)n;
        q[t * n + t] = 0;
        for (size_t j = 0; j < n; j++) {
            if (j != t) {
                q[t * n + t] += r[j * n + t] * r[j * n + t];
                q[t * n + j] = -r[j * n + t] * r[t * n + j];
            }
        }
    }
    size_t most = n > 100 ? n : 100;
    for (size_t iteration = 0; iteration < most; iteration++) {
        double pqp = 0, error = 0;
        for (size_t t = 0; t < n; t++) {
            qp[t] = 0;
            for (size_t j = 0; j < n; j++)
                qp[t] += q[t * n + j] * p[j];
            pqp += p[t] * qp[t];
        }
        for (size_t t = 0; t < n; t++)
            error = fmax(error, fabs(qp[t] - pqp));
        if (error < .005 / (double)n)
            return;
        for (size_t t = 0; t < n; t++) {
            double difference = (pqp - qp[t]) / q[t * n + t];
            p[t] += difference;
            pqp = (pqp + difference * (difference * q[t * n + t] + 2 * qp[t])) / ((1 + difference) * (1 + difference));
            for (size_t j = 0; j < n; j++) {
                qp[j] = (qp[j] + difference * q[t * n + j]) / (1 + difference);
                p[j] /= 1 + difference;
            }
        }
    }
}

static void make_probabilities(const svm_job *job)
{
    const ingot_svm_params *p = job->params;
    size_t n = p->labels.count, pair = 0;
    double *r = job->pairs, *q = r + n * n, *qp = q + n * n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++, pair++) {
            double value = job->scores[pair] * (double)p->prob_a.data[pair] + (double)p->prob_b.data[pair];
            double probability = 1 / (1 + exp(value));
            probability = fmin(fmax(probability, 1e-7), 1 - 1e-7);
            r[i * n + j] = probability;
            r[j * n + i] = 1 - probability;
        }
    couple(n, r, q, qp, job->scores);
}

/* Scores of the second output, before their transform, and the class of the first one. */
static size_t classify(const svm_job *job)
{
    const ingot_svm_params *p = job->params;
    size_t classes = p->labels.count;
    if (!p->vectors) {
        for (size_t i = 0; i < classes; i++)
            job->scores[i] =
                (double)p->rho.data[0] + kernel_of(p, job->features, p->coefficients.data + i * p->columns);
        return ingot_ref_top(job->scores, classes);
    }
    score_pairs(job);
    if (p->prob_a.count) {
        make_probabilities(job);
    } else if (classes == 2) {
        job->scores[1] = job->scores[0];
        job->scores[0] = -job->scores[1];
    }
    return ingot_ref_top(job->votes, classes);
}

ingot_status ingot_ref_svm_classifier(const ingot_kernel_call *call)
{
    const ingot_svm_params *p = call->params;
    svm_job job;
    INGOT_TRY(prepare(call, &job));
    INGOT_TRY(ingot_ref_reset_strings(call, 0));
    for (size_t row = 0; row < job.rows; row++) {
        load_row(&job, call->inputs[0], row);
        size_t top = classify(&job);
        if (ingot_kernel_wants(call, 0))
            INGOT_TRY(ingot_ref_set_label(call, 0, row, &p->labels, top));
        if (!ingot_kernel_wants(call, 1))
            continue;
        ingot_ref_post_transform((ingot_post_transform)p->post_transform, job.scores, p->scores);
        ingot_write_doubles(INGOT_FLOAT, call->outputs[1]->data, (int64_t)(row * p->scores), 1, p->scores, job.scores);
    }
    return INGOT_OK;
}
