/* CastMap: the values of a map as a tensor [1, n]. */
#ifndef INGOT_OPS_CAST_MAP_H
#define INGOT_OPS_CAST_MAP_H

#include "ops/op.h"

typedef enum ingot_map_form {
    INGOT_MAP_DENSE,  /* the values in the order of their keys */
    INGOT_MAP_SPARSE, /* each value at its key, zeros or empty strings elsewhere */
} ingot_map_form;

typedef struct ingot_cast_map_params {
    int form;              /* ingot_map_form */
    int64_t sparse_length; /* max_map: length of the output where the form is SPARSE */
    int cast_to;           /* as a word; filled by check: */
    ingot_element element;
} ingot_cast_map_params;

#endif
