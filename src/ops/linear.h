/* LinearClassifier, LinearRegressor, Normalizer, Scaler, ZipMap. */
#ifndef INGOT_OPS_LINEAR_H
#define INGOT_OPS_LINEAR_H

#include "ops/ml_common.h"

typedef struct ingot_linear_params {
    ingot_floats coefficients; /* [outputs, columns] */
    ingot_floats intercepts;   /* outputs values, or none */
    int post_transform;        /* ingot_post_transform */
    bool multi_class;          /* classifier; read, of no effect */
    ingot_class_labels labels; /* classifier */
    int64_t targets;           /* regressor */
    /* Filled by check: */
    size_t outputs; /* rows of coefficients */
    size_t columns;
} ingot_linear_params;

typedef enum ingot_norm {
    INGOT_NORM_MAX, /* over the greatest absolute value */
    INGOT_NORM_L1,
    INGOT_NORM_L2,
} ingot_norm;

typedef struct ingot_normalizer_params {
    int norm; /* ingot_norm */
} ingot_normalizer_params;

typedef struct ingot_scaler_params { /* (x - offset) * scale, by column */
    ingot_floats offset, scale;      /* one value, one a column, or none: 0 and 1 */
} ingot_scaler_params;

typedef struct ingot_zip_map_params {
    ingot_class_labels labels;
} ingot_zip_map_params;

#endif
