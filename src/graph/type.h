/* Types of graph values: what ONNX's TypeProto says, with sizes as ingot_dim. */
#ifndef INGOT_GRAPH_TYPE_H
#define INGOT_GRAPH_TYPE_H

#include "base/value.h"
#include "graph/dims.h"

typedef struct ingot_type {
    ingot_kind kind;       /* INGOT_KIND_NONE: not known yet */
    ingot_element element; /* tensor, sparse; key type of a map; INGOT_UNDEFINED: not known yet */
    int rank;              /* tensor, sparse; -1: not known */
    ingot_dim dims[INGOT_MAX_RANK];
    const struct ingot_type *item; /* of a sequence, optional, or the values of a map; lives as long as the module */
} ingot_type;

/* A tensor type of unknown rank, and one of known shape. */
ingot_type ingot_type_tensor(ingot_element element);
ingot_type ingot_type_shaped(ingot_element element, int rank, const ingot_dim *dims);

/* The type of a run-time value; item types of containers are left NULL. */
ingot_type ingot_type_of_value(const ingot_value *value);

/* "float[N,3,224,224]", "seq(map(int64,float))": for people. dims may be NULL. Writes at most size bytes; returns text. */
const char *ingot_type_describe(const ingot_dims *dims, const ingot_type *type, char *text, size_t size);

#endif
