/* Imputer, Binarizer, ArrayFeatureExtractor, FeatureVectorizer, DictVectorizer. */
#ifndef INGOT_OPS_FEATURES_H
#define INGOT_OPS_FEATURES_H

#include "ops/key_table.h"
#include "ops/ml_common.h"

typedef struct ingot_imputer_params { /* the floats serve float inputs, the integers integer ones */
    ingot_floats floats;              /* one value, or one for each column */
    ingot_ints ints;
    float replaced_float; /* may be NaN */
    int64_t replaced_int;
} ingot_imputer_params;

typedef struct ingot_binarizer_params {
    float threshold; /* above it: 1, else 0 */
} ingot_binarizer_params;

typedef struct ingot_feature_vectorizer_params {
    ingot_ints dimensions; /* columns of each input: cut, or filled up with zeros; none: as many as it has */
} ingot_feature_vectorizer_params;

typedef struct ingot_dict_vectorizer_params {
    ingot_class_labels vocabulary;
    ingot_key_table table; /* filled by check */
} ingot_dict_vectorizer_params;

#endif
