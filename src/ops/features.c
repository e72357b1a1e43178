#include "ops/features.h"

#include <stddef.h>

#include "base/number.h"

/* ---- Imputer and Binarizer ---- */

static const ingot_param_field imputer_fields[] = {
    {"imputed_value_floats", INGOT_PARAM_FLOATS, offsetof(ingot_imputer_params, floats), NULL, 0},
    {"imputed_value_int64s", INGOT_PARAM_INTS, offsetof(ingot_imputer_params, ints), NULL, 0},
    {"replaced_value_float", INGOT_PARAM_FLOAT, offsetof(ingot_imputer_params, replaced_float), NULL, 0},
    {"replaced_value_int64", INGOT_PARAM_INT, offsetof(ingot_imputer_params, replaced_int), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static const ingot_param_field binarizer_fields[] = {
    {"threshold", INGOT_PARAM_FLOAT, offsetof(ingot_binarizer_params, threshold), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status infer_imputer(ingot_infer *c)
{
    const ingot_imputer_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    bool floats = ingot_element_is_float(x->element);
    size_t count = floats ? p->floats.count : p->ints.count;
    const char *name = floats ? "imputed_value_floats" : "imputed_value_int64s";
    if (count == 0)
        return ingot_infer_fail(c, "%s is needed for an input of type %s", name, ingot_element_name(x->element));
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    if (count > 1 && x->rank > 0 && ingot_dim_is_number(x->dims[x->rank - 1]) &&
        x->dims[x->rank - 1] != (ingot_dim)count)
        return ingot_infer_fail(c, "%s has %zu values, expected 1 or %lld, one for each column", name, count,
                                (long long)x->dims[x->rank - 1]);
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

static ingot_status infer_binarizer(ingot_infer *c)
{
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

/* ---- ArrayFeatureExtractor ---- */

static ingot_status infer_array_feature_extractor(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type, *indices = &c->inputs[1].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, x->element);
        return INGOT_OK;
    }
    ingot_dim count = indices->rank < 0 ? INGOT_DIM_UNKNOWN : 1;
    for (int i = 0; i < indices->rank; i++)
        count = ingot_dim_mul(c->dims, count, indices->dims[i]);
    ingot_dim out[INGOT_MAX_RANK] = {1}; /* a vector counts as one row */
    int rank = x->rank < 2 ? 2 : x->rank;
    for (int i = 0; i < x->rank - 1; i++)
        out[i] = x->dims[i];
    out[rank - 1] = count;
    ingot_infer_set(c, 0, x->element, rank, out);
    return INGOT_OK;
}

/* ---- FeatureVectorizer ---- */

static const ingot_param_field feature_vectorizer_fields[] = {
    {"inputdimensions", INGOT_PARAM_INTS, offsetof(ingot_feature_vectorizer_params, dimensions), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_feature_vectorizer(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_feature_vectorizer_params *p = params;
    if (p->dimensions.count && p->dimensions.count != node->operand_count)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "inputdimensions has %zu values, but there are %zu inputs", p->dimensions.count,
                               node->operand_count);
    for (size_t i = 0; i < p->dimensions.count; i++) {
        if (p->dimensions.data[i] < 0)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "inputdimensions[%zu] is %lld, expected 0 or more",
                                   i, (long long)p->dimensions.data[i]);
    }
    return INGOT_OK;
}

static ingot_status infer_feature_vectorizer(ingot_infer *c)
{
    const ingot_feature_vectorizer_params *p = c->params;
    ingot_dim rows = INGOT_DIM_UNKNOWN, total = 0;
    for (size_t i = 0; i < c->input_count; i++) {
        ingot_dim input_rows, columns;
        INGOT_TRY(ingot_infer_rows(c, i, &input_rows, &columns));
        if (i == 0)
            rows = input_rows;
        else
            INGOT_TRY(ingot_infer_same_dim(c, "the rows of all inputs", rows, input_rows, &rows));
        total = ingot_dim_add(c->dims, total, p->dimensions.count ? p->dimensions.data[i] : columns);
    }
    ingot_infer_set(c, 0, INGOT_FLOAT, 2, (ingot_dim[]){rows, total});
    return INGOT_OK;
}

/* ---- DictVectorizer ---- */

static const ingot_param_field dict_vectorizer_fields[] = {
    {"int64_vocabulary", INGOT_PARAM_INTS, offsetof(ingot_dict_vectorizer_params, vocabulary.ints), NULL, 0},
    {"string_vocabulary", INGOT_PARAM_TEXTS, offsetof(ingot_dict_vectorizer_params, vocabulary.texts), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_dict_vectorizer(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_dict_vectorizer_params *p = params;
    INGOT_TRY(ingot_class_labels_check(node, &p->vocabulary, "int64_vocabulary", "string_vocabulary", error));
    ingot_key_list keys = {p->vocabulary.element, p->vocabulary.count, p->vocabulary.ints.data,
                           p->vocabulary.texts.data};
    return ingot_key_table_build(node->graph->module->arena, &keys, &p->table, error);
}

static ingot_status infer_dict_vectorizer(ingot_infer *c)
{
    const ingot_dict_vectorizer_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    if (x->kind != INGOT_KIND_MAP || !x->item)
        return ingot_infer_fail(c, "the input must be a map");
    if (x->element != p->vocabulary.element)
        return ingot_infer_fail(c, "the keys of the input are of type %s, but the vocabulary is of type %s",
                                ingot_element_name(x->element), ingot_element_name(p->vocabulary.element));
    ingot_infer_set(c, 0, x->item->element, 1, (ingot_dim[]){(ingot_dim)p->vocabulary.count});
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_imputer = {
    .summary = "Replaces elements of one value, such as NaN, by others.",
    .params_size = sizeof(ingot_imputer_params),
    .fields = imputer_fields,
    .infer = infer_imputer,
    .flags = INGOT_OP_IN_PLACE,
};

const ingot_op ingot_op_binarizer = {
    .summary = "1 for elements above a threshold, 0 for others.",
    .params_size = sizeof(ingot_binarizer_params),
    .fields = binarizer_fields,
    .infer = infer_binarizer,
    .flags = INGOT_OP_IN_PLACE,
};

const ingot_op ingot_op_array_feature_extractor = {
    .summary = "The columns of the given indices.",
    .infer = infer_array_feature_extractor,
};

const ingot_op ingot_op_feature_vectorizer = {
    .summary = "The columns of all inputs side by side, as floats.",
    .params_size = sizeof(ingot_feature_vectorizer_params),
    .fields = feature_vectorizer_fields,
    .check = check_feature_vectorizer,
    .infer = infer_feature_vectorizer,
};

const ingot_op ingot_op_dict_vectorizer = {
    .summary = "The values of a map in the order of a vocabulary.",
    .params_size = sizeof(ingot_dict_vectorizer_params),
    .fields = dict_vectorizer_fields,
    .check = check_dict_vectorizer,
    .infer = infer_dict_vectorizer,
};
