#include "ops/svm.h"

#include <stddef.h>

static const char *const kernel_words[] = {"LINEAR", "POLY", "RBF", "SIGMOID", NULL};

#define FIELD(attribute, kind, field, words)                         \
    {                                                                \
        attribute, kind, offsetof(ingot_svm_params, field), words, 0 \
    }

static const ingot_param_field svm_fields[] = {
    FIELD("kernel_type", INGOT_PARAM_WORD, kernel, kernel_words),
    FIELD("post_transform", INGOT_PARAM_WORD, post_transform, ingot_post_transform_words),
    FIELD("kernel_params", INGOT_PARAM_FLOATS, kernel_params, NULL),
    FIELD("coefficients", INGOT_PARAM_FLOATS, coefficients, NULL),
    FIELD("support_vectors", INGOT_PARAM_FLOATS, support_vectors, NULL),
    FIELD("rho", INGOT_PARAM_FLOATS, rho, NULL),
    FIELD("prob_a", INGOT_PARAM_FLOATS, prob_a, NULL),
    FIELD("prob_b", INGOT_PARAM_FLOATS, prob_b, NULL),
    FIELD("vectors_per_class", INGOT_PARAM_INTS, vectors_per_class, NULL),
    FIELD("classlabels_ints", INGOT_PARAM_INTS, labels.ints, NULL),
    FIELD("classlabels_strings", INGOT_PARAM_TEXTS, labels.texts, NULL),
    FIELD("n_supports", INGOT_PARAM_INT, support_count, NULL),
    FIELD("one_class", INGOT_PARAM_BOOL, one_class, NULL),
    {NULL, 0, 0, NULL, 0},
};

/* ---- Checks ---- */

static ingot_status check_count(const ingot_node *node, const char *name, size_t found, size_t expected,
                                ingot_error *error)
{
    if (found == expected)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "%s has %zu values, expected %zu", name, found, expected);
}

/* The columns that a list of count rows leaves. */
static ingot_status find_columns(const ingot_node *node, const char *name, size_t found, size_t rows, size_t *columns,
                                 ingot_error *error)
{
    if (found == 0 || found % rows)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "%s has %zu values, expected a multiple of %zu", name,
                               found, rows);
    *columns = found / rows;
    return INGOT_OK;
}

static ingot_status check_kernel(const ingot_node *node, ingot_svm_params *p, ingot_error *error)
{
    if (p->kernel_params.count) {
        INGOT_TRY(check_count(node, "kernel_params", p->kernel_params.count, 3, error));
        p->gamma = (double)p->kernel_params.data[0];
        p->coef0 = (double)p->kernel_params.data[1];
        p->degree = (double)p->kernel_params.data[2];
    }
    if (p->vectors)
        return find_columns(node, "support_vectors", p->support_vectors.count, p->vectors, &p->columns, error);
    p->kernel = INGOT_SVM_LINEAR;
    return INGOT_OK;
}

static ingot_status check_svm_regressor(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_svm_params *p = params;
    if (p->support_count < 0 || p->support_count >= INT32_MAX)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "n_supports is %lld, expected 0 or more",
                               (long long)p->support_count);
    p->vectors = (size_t)p->support_count;
    if (p->rho.count == 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "rho is missing");
    INGOT_TRY(check_kernel(node, p, error));
    if (p->vectors)
        return check_count(node, "coefficients", p->coefficients.count, p->vectors, error);
    return find_columns(node, "coefficients", p->coefficients.count, 1, &p->columns, error);
}

static ingot_status count_vectors(const ingot_node *node, ingot_svm_params *p, ingot_error *error)
{
    if (p->vectors_per_class.count)
        INGOT_TRY(check_count(node, "vectors_per_class", p->vectors_per_class.count, p->labels.count, error));
    for (size_t i = 0; i < p->vectors_per_class.count; i++) {
        int64_t count = p->vectors_per_class.data[i];
        if (count < 0 || count >= INT32_MAX)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                                   "vectors_per_class[%zu] is %lld, expected 0 or more", i, (long long)count);
        p->vectors += (size_t)count;
    }
    return INGOT_OK;
}

static ingot_status check_svm_classifier(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_svm_params *p = params;
    INGOT_TRY(ingot_class_labels_check(node, &p->labels, "classlabels_ints", "classlabels_strings", error));
    INGOT_TRY(count_vectors(node, p, error));
    INGOT_TRY(check_kernel(node, p, error));
    size_t classes = p->labels.count;
    p->pairs = classes * (classes - 1) / 2;
    if (!p->vectors) {
        if (p->rho.count == 0)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "rho is missing");
        p->scores = classes;
        return find_columns(node, "coefficients", p->coefficients.count, classes, &p->columns, error);
    }
    if (classes < 2)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "support vectors need two classes or more, found %zu",
                               classes);
    INGOT_TRY(check_count(node, "coefficients", p->coefficients.count, p->vectors * (classes - 1), error));
    INGOT_TRY(check_count(node, "rho", p->rho.count, p->pairs, error));
    if (p->prob_a.count) {
        INGOT_TRY(check_count(node, "prob_a", p->prob_a.count, p->pairs, error));
        INGOT_TRY(check_count(node, "prob_b", p->prob_b.count, p->pairs, error));
    }
    p->scores = p->prob_a.count || classes == 2 ? classes : p->pairs;
    return INGOT_OK;
}

/* ---- Shapes ---- */

static ingot_status infer_input(ingot_infer *c, ingot_dim *rows)
{
    const ingot_svm_params *p = c->params;
    ingot_dim columns;
    INGOT_TRY(ingot_infer_rows(c, 0, rows, &columns));
    if (ingot_dim_is_number(columns) && columns != (ingot_dim)p->columns)
        return ingot_infer_fail(c, "the input has %lld columns, but the model is for %zu", (long long)columns,
                                p->columns);
    return INGOT_OK;
}

static ingot_status infer_svm_classifier(ingot_infer *c)
{
    const ingot_svm_params *p = c->params;
    ingot_dim rows;
    INGOT_TRY(infer_input(c, &rows));
    ingot_infer_set(c, 0, p->labels.element, 1, &rows);
    ingot_infer_set(c, 1, INGOT_FLOAT, 2, (ingot_dim[]){rows, (ingot_dim)p->scores});
    return INGOT_OK;
}

static ingot_status infer_svm_regressor(ingot_infer *c)
{
    ingot_dim rows;
    INGOT_TRY(infer_input(c, &rows));
    ingot_infer_set(c, 0, INGOT_FLOAT, 2, (ingot_dim[]){rows, 1});
    return INGOT_OK;
}

const ingot_op ingot_op_svm_classifier = {
    .summary = "Support vector machine that votes for classes, pair by pair.",
    .params_size = sizeof(ingot_svm_params),
    .fields = svm_fields,
    .check = check_svm_classifier,
    .infer = infer_svm_classifier,
};

const ingot_op ingot_op_svm_regressor = {
    .summary = "Support vector machine for one target.",
    .params_size = sizeof(ingot_svm_params),
    .fields = svm_fields,
    .check = check_svm_regressor,
    .infer = infer_svm_regressor,
};
