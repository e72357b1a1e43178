/* LabelEncoder, CategoryMapper, OneHotEncoder: elements looked up among keys. */
#ifndef INGOT_OPS_ENCODE_H
#define INGOT_OPS_ENCODE_H

#include "ops/key_table.h"
#include "ops/ml_common.h"

/* LabelEncoder from version 2. */
typedef struct ingot_label_encoder_params {
    struct ingot_label_lists {
        ingot_ints ints;
        ingot_floats floats;
        ingot_texts texts;
        const ingot_value *tensor;
    } keys_given, values_given;
    int64_t default_int;
    float default_float;
    ingot_text default_text;
    const ingot_value *default_tensor; /* one element of the values' type, or NULL */
    /* Filled by check: */
    ingot_key_table table;
    ingot_key_list values; /* as many as keys */
} ingot_label_encoder_params;

/* CategoryMapper and LabelEncoder-1, where the integers are the strings' indices: both ways. */
typedef struct ingot_category_params {
    ingot_ints ints;
    ingot_texts texts;
    int64_t default_int;
    ingot_text default_text;
    /* Filled by check: */
    ingot_key_table by_int, by_text;
} ingot_category_params;

typedef struct ingot_one_hot_params {
    ingot_class_labels categories;
    bool zeros; /* an unknown element gives zeros; else it is refused */
    /* Filled by check: */
    ingot_key_table table;
} ingot_one_hot_params;

#endif
