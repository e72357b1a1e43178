#include "ops/ml_common.h"

const char *const ingot_post_transform_words[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT", NULL};

ingot_status ingot_class_labels_check(const ingot_node *node, ingot_class_labels *labels, const char *ints_name,
                                      const char *texts_name, ingot_error *error)
{
    if ((labels->ints.count > 0) == (labels->texts.count > 0))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "%s of %s and %s must be there",
                               labels->ints.count ? "only one" : "one", ints_name, texts_name);
    labels->element = labels->ints.count ? INGOT_INT64 : INGOT_STRING;
    labels->count = labels->ints.count ? labels->ints.count : labels->texts.count;
    return INGOT_OK;
}

ingot_status ingot_infer_rows(ingot_infer *c, size_t input, ingot_dim *rows, ingot_dim *columns)
{
    const ingot_type *type = &c->inputs[input].type;
    INGOT_TRY(ingot_infer_rank(c, input, 1, 2));
    *rows = type->rank == 2 ? type->dims[0] : type->rank == 1 ? 1 : INGOT_DIM_UNKNOWN;
    *columns = type->rank > 0 ? type->dims[type->rank - 1] : INGOT_DIM_UNKNOWN;
    return INGOT_OK;
}
