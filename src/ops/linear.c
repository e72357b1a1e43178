#include "ops/linear.h"

#include <stddef.h>

/* ---- LinearClassifier and LinearRegressor ---- */

#define LINEAR_FIELD(attribute, kind, field, words)                     \
    {                                                                   \
        attribute, kind, offsetof(ingot_linear_params, field), words, 0 \
    }

static const ingot_param_field linear_fields[] = {
    LINEAR_FIELD("coefficients", INGOT_PARAM_FLOATS, coefficients, NULL),
    LINEAR_FIELD("intercepts", INGOT_PARAM_FLOATS, intercepts, NULL),
    LINEAR_FIELD("post_transform", INGOT_PARAM_WORD, post_transform, ingot_post_transform_words),
    LINEAR_FIELD("multi_class", INGOT_PARAM_BOOL, multi_class, NULL),
    LINEAR_FIELD("classlabels_ints", INGOT_PARAM_INTS, labels.ints, NULL),
    LINEAR_FIELD("classlabels_strings", INGOT_PARAM_TEXTS, labels.texts, NULL),
    LINEAR_FIELD("targets", INGOT_PARAM_INT, targets, NULL),
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_coefficients(const ingot_node *node, ingot_linear_params *p, ingot_error *error)
{
    if (p->intercepts.count && p->intercepts.count != p->outputs)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "intercepts has %zu values, expected %zu",
                               p->intercepts.count, p->outputs);
    if (p->coefficients.count == 0 || p->coefficients.count % p->outputs)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "coefficients has %zu values, expected a multiple of %zu", p->coefficients.count,
                               p->outputs);
    p->columns = p->coefficients.count / p->outputs;
    return INGOT_OK;
}

/* Two classes may share one row of coefficients: the score is the second class's. */
static ingot_status check_classifier(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_linear_params *p = params;
    INGOT_TRY(ingot_class_labels_check(node, &p->labels, "classlabels_ints", "classlabels_strings", error));
    p->outputs = p->labels.count == 2 && p->intercepts.count == 1 ? 1 : p->labels.count;
    return check_coefficients(node, p, error);
}

static ingot_status check_regressor(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_linear_params *p = params;
    if (p->targets < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "targets is %lld, expected 1 or more",
                               (long long)p->targets);
    p->outputs = (size_t)p->targets;
    return check_coefficients(node, p, error);
}

static ingot_status infer_linear_input(ingot_infer *c, ingot_dim *rows)
{
    const ingot_linear_params *p = c->params;
    ingot_dim columns;
    INGOT_TRY(ingot_infer_rows(c, 0, rows, &columns));
    if (ingot_dim_is_number(columns) && columns != (ingot_dim)p->columns)
        return ingot_infer_fail(c,
                                "the input has %lld columns, but coefficients are for %zu (%zu values for %zu outputs)",
                                (long long)columns, p->columns, p->coefficients.count, p->outputs);
    return INGOT_OK;
}

static ingot_status infer_linear_classifier(ingot_infer *c)
{
    const ingot_linear_params *p = c->params;
    ingot_dim rows;
    INGOT_TRY(infer_linear_input(c, &rows));
    ingot_infer_set(c, 0, p->labels.element, 1, &rows);
    ingot_infer_set(c, 1, INGOT_FLOAT, 2, (ingot_dim[]){rows, (ingot_dim)p->labels.count});
    return INGOT_OK;
}

static ingot_status infer_linear_regressor(ingot_infer *c)
{
    const ingot_linear_params *p = c->params;
    ingot_dim rows;
    INGOT_TRY(infer_linear_input(c, &rows));
    ingot_infer_set(c, 0, INGOT_FLOAT, 2, (ingot_dim[]){rows, p->targets});
    return INGOT_OK;
}

/* ---- Normalizer and Scaler ---- */

static const char *const norm_words[] = {"MAX", "L1", "L2", NULL};

static const ingot_param_field normalizer_fields[] = {
    {"norm", INGOT_PARAM_WORD, offsetof(ingot_normalizer_params, norm), norm_words, 0},
    {NULL, 0, 0, NULL, 0},
};

static const ingot_param_field scaler_fields[] = {
    {"offset", INGOT_PARAM_FLOATS, offsetof(ingot_scaler_params, offset), NULL, 0},
    {"scale", INGOT_PARAM_FLOATS, offsetof(ingot_scaler_params, scale), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static void set_float_like_input(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    if (x->rank < 0)
        ingot_infer_set_unranked(c, 0, INGOT_FLOAT);
    else
        ingot_infer_set(c, 0, INGOT_FLOAT, x->rank, x->dims);
}

static ingot_status infer_normalizer(ingot_infer *c)
{
    INGOT_TRY(ingot_infer_rank(c, 0, 1, 2));
    set_float_like_input(c);
    return INGOT_OK;
}

static ingot_status check_column_list(ingot_infer *c, const char *name, const ingot_floats *list, ingot_dim columns)
{
    if (list->count <= 1 || !ingot_dim_is_number(columns) || (ingot_dim)list->count == columns)
        return INGOT_OK;
    return ingot_infer_fail(c, "%s has %zu values, expected 1 or %lld, one for each column", name, list->count,
                            (long long)columns);
}

static ingot_status infer_scaler(ingot_infer *c)
{
    const ingot_scaler_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    ingot_dim columns = x->rank > 0 ? x->dims[x->rank - 1] : INGOT_DIM_UNKNOWN;
    INGOT_TRY(check_column_list(c, "offset", &p->offset, columns));
    INGOT_TRY(check_column_list(c, "scale", &p->scale, columns));
    set_float_like_input(c);
    return INGOT_OK;
}

/* ---- ZipMap ---- */

static const ingot_param_field zip_map_fields[] = {
    {"classlabels_int64s", INGOT_PARAM_INTS, offsetof(ingot_zip_map_params, labels.ints), NULL, 0},
    {"classlabels_strings", INGOT_PARAM_TEXTS, offsetof(ingot_zip_map_params, labels.texts), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_zip_map(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_zip_map_params *p = params;
    return ingot_class_labels_check(node, &p->labels, "classlabels_int64s", "classlabels_strings", error);
}

static ingot_status infer_zip_map(ingot_infer *c)
{
    static const ingot_type score = {.kind = INGOT_KIND_TENSOR, .element = INGOT_FLOAT, .rank = 0};
    static const ingot_type int_map = {.kind = INGOT_KIND_MAP, .element = INGOT_INT64, .rank = -1, .item = &score};
    static const ingot_type text_map = {.kind = INGOT_KIND_MAP, .element = INGOT_STRING, .rank = -1, .item = &score};
    const ingot_zip_map_params *p = c->params;
    ingot_dim rows, columns;
    INGOT_TRY(ingot_infer_rows(c, 0, &rows, &columns));
    if (ingot_dim_is_number(columns) && columns != (ingot_dim)p->labels.count)
        return ingot_infer_fail(c, "the input has %lld columns, but the attributes hold %zu keys", (long long)columns,
                                p->labels.count);
    if (ingot_infer_wants(c, 0))
        c->outputs[0].type = (ingot_type){
            .kind = INGOT_KIND_SEQUENCE, .rank = -1, .item = p->labels.element == INGOT_INT64 ? &int_map : &text_map};
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_linear_classifier = {
    .summary = "Scores of classes that are linear in the input, and the class of the greatest.",
    .params_size = sizeof(ingot_linear_params),
    .fields = linear_fields,
    .check = check_classifier,
    .infer = infer_linear_classifier,
};

const ingot_op ingot_op_linear_regressor = {
    .summary = "Targets that are linear in the input.",
    .params_size = sizeof(ingot_linear_params),
    .fields = linear_fields,
    .check = check_regressor,
    .infer = infer_linear_regressor,
};

const ingot_op ingot_op_normalizer = {
    .summary = "Each row over its norm.",
    .params_size = sizeof(ingot_normalizer_params),
    .fields = normalizer_fields,
    .infer = infer_normalizer,
};

const ingot_op ingot_op_scaler = {
    .summary = "Each column less an offset, times a scale.",
    .params_size = sizeof(ingot_scaler_params),
    .fields = scaler_fields,
    .infer = infer_scaler,
};

const ingot_op ingot_op_zip_map = {
    .summary = "Each row as a map from the keys of the attributes to its values.",
    .params_size = sizeof(ingot_zip_map_params),
    .fields = zip_map_fields,
    .check = check_zip_map,
    .infer = infer_zip_map,
    .flags = INGOT_OP_SIZES_OUTPUT,
};
