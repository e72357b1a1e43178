/* MaxPool, AveragePool, LpPool, their global forms, MaxUnpool. */
#ifndef INGOT_OPS_POOL_H
#define INGOT_OPS_POOL_H

#include "ops/window.h"

/* MaxPool, AveragePool, LpPool and MaxUnpool. */
typedef struct ingot_pool_params {
    ingot_window_params window;
    bool count_include_pad; /* AveragePool: padding counts in the divisor, the overhang of ceil_mode does not */
    bool column_major;      /* MaxPool: indices count so within a plane */
    int64_t p_int;          /* LpPool from version 2 */
    float p_float;          /* LpPool-1 */
    double p;               /* LpPool: one of the two */
} ingot_pool_params;

typedef struct ingot_global_pool_params {
    int64_t p_int; /* GlobalLpPool from version 2 */
    float p_float; /* GlobalLpPool-1 */
    double p;      /* GlobalLpPool: one of the two; 0 for the others */
} ingot_global_pool_params;

/* Kernel, strides, pads and output sizes for an input x [N, C, spatial...]. dims NULL: plain numbers, as at run time. */
ingot_status ingot_pool_geometry(const ingot_node *node, const ingot_pool_params *params, ingot_dims *dims, int rank,
                                 const ingot_dim *x, ingot_window *window, ingot_error *error);

/* MaxUnpool: the shape whose cells the indices count: [N, C, (in - 1) * stride + kernel - pads...]. */
ingot_status ingot_max_unpool_shape(const ingot_node *node, const ingot_pool_params *params, ingot_dims *dims, int rank,
                                    const ingot_dim *x, ingot_dim *out, ingot_error *error);

#endif
