/* What the operators of ai.onnx.ml share: class labels and what is done to scores. */
#ifndef INGOT_OPS_ML_COMMON_H
#define INGOT_OPS_ML_COMMON_H

#include "ops/op.h"

typedef enum ingot_post_transform {
    INGOT_POST_NONE,
    INGOT_POST_SOFTMAX,
    INGOT_POST_LOGISTIC,
    INGOT_POST_SOFTMAX_ZERO, /* as SOFTMAX, but zeros stay apart: see the kernels */
    INGOT_POST_PROBIT,
} ingot_post_transform;

extern const char *const ingot_post_transform_words[];

/* Names of classes, or keys: integers or strings. */
typedef struct ingot_class_labels {
    ingot_ints ints;
    ingot_texts texts;
    size_t count;          /* filled by check */
    ingot_element element; /* INGOT_INT64 or INGOT_STRING */
} ingot_class_labels;

/* Exactly one of the two lists must be there; fills count and element. The names are those of the attributes. */
ingot_status ingot_class_labels_check(const ingot_node *node, ingot_class_labels *labels, const char *ints_name,
                                      const char *texts_name, ingot_error *error);

/* Rows and columns of an input [N, columns] or [columns] (one row). Refuses other ranks; unknown where the rank is. */
ingot_status ingot_infer_rows(ingot_infer *c, size_t input, ingot_dim *rows, ingot_dim *columns);

#endif
