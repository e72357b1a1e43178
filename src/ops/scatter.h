/* Operators that write updates into a copy of a tensor by index: ScatterElements (and Scatter, its older name), ScatterND. */
#ifndef INGOT_OPS_SCATTER_H
#define INGOT_OPS_SCATTER_H

#include "ops/op.h"

enum {
    INGOT_SCATTER_NONE, /* the update takes the element's place */
    INGOT_SCATTER_ADD,
    INGOT_SCATTER_MUL,
    INGOT_SCATTER_MAX,
    INGOT_SCATTER_MIN,
};

typedef struct ingot_scatter_params {
    int64_t axis;  /* not of ScatterND */
    int reduction; /* INGOT_SCATTER_NONE ... */
} ingot_scatter_params;

#endif
