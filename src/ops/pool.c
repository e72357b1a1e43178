#include "ops/pool.h"

#include <stddef.h>

static const ingot_param_field pool_fields[] = {
    INGOT_WINDOW_FIELDS(ingot_pool_params, window),
    {"count_include_pad", INGOT_PARAM_BOOL, offsetof(ingot_pool_params, count_include_pad), NULL, 0},
    {"storage_order", INGOT_PARAM_BOOL, offsetof(ingot_pool_params, column_major), NULL, 0},
    {"p", INGOT_PARAM_INT, offsetof(ingot_pool_params, p_int), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static const ingot_param_field lp_pool_1_fields[] = {
    INGOT_WINDOW_FIELDS(ingot_pool_params, window),
    {"p", INGOT_PARAM_FLOAT, offsetof(ingot_pool_params, p_float), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static const ingot_param_field global_lp_pool_fields[] = {
    {"p", INGOT_PARAM_INT, offsetof(ingot_global_pool_params, p_int), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static const ingot_param_field global_lp_pool_1_fields[] = {
    {"p", INGOT_PARAM_FLOAT, offsetof(ingot_global_pool_params, p_float), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

/* ---- Checks ---- */

static ingot_status check_pool(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_pool_params *p = params;
    if (p->window.kernel_shape.count == 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "kernel_shape is missing or empty");
    return ingot_window_check(node, &p->window, error);
}

static ingot_status check_power(const ingot_node *node, int64_t p_int, float p_float, double *p, ingot_error *error)
{
    *p = p_int ? (double)p_int : (double)p_float;
    if (*p > 0)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "p is %g, expected more than 0", *p);
}

static ingot_status check_lp_pool(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_pool_params *p = params;
    INGOT_TRY(check_pool(node, params, error));
    return check_power(node, p->p_int, p->p_float, &p->p, error);
}

static ingot_status check_global_lp_pool(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_global_pool_params *p = params;
    return check_power(node, p->p_int, p->p_float, &p->p, error);
}

/* ---- Shapes ---- */

ingot_status ingot_pool_geometry(const ingot_node *node, const ingot_pool_params *params, ingot_dims *dims, int rank,
                                 const ingot_dim *x, ingot_window *window, ingot_error *error)
{
    return ingot_window_resolve(node, &params->window, dims, rank - 2, x + 2, NULL, window, error);
}

ingot_status ingot_max_unpool_shape(const ingot_node *node, const ingot_pool_params *params, ingot_dims *dims, int rank,
                                    const ingot_dim *x, ingot_dim *out, ingot_error *error)
{
    ingot_window window;
    INGOT_TRY(ingot_window_fill(node, &params->window, dims, rank - 2, NULL, &window, error));
    out[0] = x[0];
    out[1] = x[1];
    for (int i = 0; i < rank - 2; i++) {
        ingot_dim reach = ingot_dim_mul(dims, ingot_dim_sub(dims, x[2 + i], 1), window.stride[i]);
        ingot_dim room = ingot_dim_sub(dims, window.kernel[i], ingot_dim_add(dims, window.begin[i], window.end[i]));
        out[2 + i] = ingot_dim_add(dims, reach, room);
        if (ingot_dim_is_number(out[2 + i]) && out[2 + i] < 0)
            return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                                   "pads leave %lld output cells on spatial axis %d", (long long)out[2 + i], i);
    }
    return INGOT_OK;
}

static ingot_status infer_pool(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    const ingot_pool_params *p = c->params;
    INGOT_TRY(ingot_infer_rank(c, 0, 3, INGOT_MAX_RANK));
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, x->element);
        ingot_infer_set_unranked(c, 1, INGOT_INT64);
        return INGOT_OK;
    }
    ingot_window window;
    ingot_dim out[INGOT_MAX_RANK] = {x->dims[0], x->dims[1]};
    INGOT_TRY(ingot_pool_geometry(c->node, p, c->dims, x->rank, x->dims, &window, c->error));
    for (int i = 2; i < x->rank; i++)
        out[i] = window.out[i - 2];
    ingot_infer_set(c, 0, x->element, x->rank, out);
    ingot_infer_set(c, 1, INGOT_INT64, x->rank, out);
    return INGOT_OK;
}

static ingot_status infer_global_pool(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, x->element);
        return INGOT_OK;
    }
    ingot_dim out[INGOT_MAX_RANK] = {x->dims[0], x->dims[1]};
    for (int i = 2; i < x->rank; i++)
        out[i] = 1;
    ingot_infer_set(c, 0, x->element, x->rank, out);
    return INGOT_OK;
}

/* output_shape, where given, may only add cells at the ends of the natural shape. */
static ingot_status take_output_shape(ingot_infer *c, int rank, ingot_dim *out)
{
    ingot_dim wanted[INGOT_MAX_RANK];
    size_t count;
    if (!ingot_infer_integers(c, 2, wanted, INGOT_MAX_RANK, &count)) {
        for (int i = 0; i < rank; i++)
            out[i] = INGOT_DIM_UNKNOWN;
        return INGOT_OK;
    }
    if (count != (size_t)rank)
        return ingot_infer_fail(c, "output_shape has %zu values, expected %d as the input has dimensions", count, rank);
    for (int i = 0; i < rank; i++) {
        if (ingot_dim_is_number(wanted[i]) && ingot_dim_is_number(out[i]) &&
            (wanted[i] < out[i] || (i < 2 && wanted[i] != out[i])))
            return ingot_infer_fail(c, "output_shape[%d] is %lld, but the unpooled input takes %lld", i,
                                    (long long)wanted[i], (long long)out[i]);
        out[i] = wanted[i];
    }
    return INGOT_OK;
}

static ingot_status infer_max_unpool(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 3, INGOT_MAX_RANK));
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, x->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_rank(c, 1, x->rank, x->rank));
    for (int i = 0; c->inputs[1].type.rank == x->rank && i < x->rank; i++)
        INGOT_TRY(ingot_infer_same_dim(c, "the sizes of the input and of its indices", x->dims[i],
                                       c->inputs[1].type.dims[i], NULL));
    ingot_dim out[INGOT_MAX_RANK];
    INGOT_TRY(ingot_max_unpool_shape(c->node, c->params, c->dims, x->rank, x->dims, out, c->error));
    if (ingot_infer_has(c, 2))
        INGOT_TRY(take_output_shape(c, x->rank, out));
    ingot_infer_set(c, 0, x->element, x->rank, out);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_max_pool = {
    .summary = "Greatest element of each window, with its index where wanted.",
    .params_size = sizeof(ingot_pool_params),
    .fields = pool_fields,
    .check = check_pool,
    .infer = infer_pool,
};

const ingot_op ingot_op_average_pool = {
    .summary = "Mean of each window.",
    .params_size = sizeof(ingot_pool_params),
    .fields = pool_fields,
    .check = check_pool,
    .infer = infer_pool,
};

const ingot_op ingot_op_lp_pool = {
    .summary = "p-norm of each window.",
    .params_size = sizeof(ingot_pool_params),
    .fields = pool_fields,
    .check = check_lp_pool,
    .infer = infer_pool,
};

const ingot_op ingot_op_lp_pool_1 = {
    .summary = "p-norm of each window; p is a float.",
    .params_size = sizeof(ingot_pool_params),
    .fields = lp_pool_1_fields,
    .check = check_lp_pool,
    .infer = infer_pool,
};

const ingot_op ingot_op_global_average_pool = {
    .summary = "Mean of each plane.",
    .infer = infer_global_pool,
};

const ingot_op ingot_op_global_max_pool = {
    .summary = "Greatest element of each plane.",
    .infer = infer_global_pool,
};

const ingot_op ingot_op_global_lp_pool = {
    .summary = "p-norm of each plane.",
    .params_size = sizeof(ingot_global_pool_params),
    .fields = global_lp_pool_fields,
    .check = check_global_lp_pool,
    .infer = infer_global_pool,
};

const ingot_op ingot_op_global_lp_pool_1 = {
    .summary = "p-norm of each plane; p is a float.",
    .params_size = sizeof(ingot_global_pool_params),
    .fields = global_lp_pool_1_fields,
    .check = check_global_lp_pool,
    .infer = infer_global_pool,
};

const ingot_op ingot_op_max_unpool = {
    .summary = "Puts each element where its index from MaxPool says, zeros elsewhere.",
    .params_size = sizeof(ingot_pool_params),
    .fields = pool_fields,
    .check = check_pool,
    .infer = infer_max_unpool,
};
