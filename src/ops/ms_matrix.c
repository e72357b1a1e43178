#include "ops/ms_matrix.h"

#include <stddef.h>

/* ---- CDist ---- */

static const char *const metrics[] = {"sqeuclidean", "euclidean", NULL};

static const ingot_param_field cdist_fields[] = {
    {"metric", INGOT_PARAM_WORD, offsetof(ingot_cdist_params, root), metrics, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status infer_cdist(ingot_infer *c)
{
    const ingot_type *a = &c->inputs[0].type, *b = &c->inputs[1].type;
    for (size_t i = 0; i < 2; i++)
        INGOT_TRY(ingot_infer_rank(c, i, 2, 2));
    if (a->rank == 2 && b->rank == 2)
        INGOT_TRY(ingot_infer_same_dim(c, "the numbers of columns of A and B", a->dims[1], b->dims[1], NULL));
    ingot_infer_set(
        c, 0, a->element, 2,
        (ingot_dim[]){a->rank == 2 ? a->dims[0] : INGOT_DIM_UNKNOWN, b->rank == 2 ? b->dims[0] : INGOT_DIM_UNKNOWN});
    return INGOT_OK;
}

/* ---- Inverse ---- */

static ingot_status infer_inverse(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    if (x->rank >= 2)
        INGOT_TRY(ingot_infer_same_dim(c, "the numbers of rows and columns", x->dims[x->rank - 2], x->dims[x->rank - 1],
                                       NULL));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

/* ---- DynamicTimeWarping ---- */

static ingot_status infer_time_warping(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 3));
    if (x->rank == 3)
        INGOT_TRY(ingot_infer_same_dim(c, "the first size and 1", x->dims[0], 1, NULL));
    ingot_infer_set(c, 0, INGOT_INT32, 2, (ingot_dim[]){2, INGOT_DIM_UNKNOWN});
    return INGOT_OK;
}

/* ---- UnfoldTensor ---- */

static const ingot_param_field unfold_fields[] = {
    {"dim", INGOT_PARAM_INT, offsetof(ingot_unfold_params, axis), NULL, 0},
    {"size", INGOT_PARAM_INT, offsetof(ingot_unfold_params, size), NULL, 0},
    {"step", INGOT_PARAM_INT, offsetof(ingot_unfold_params, step), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_unfold(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_unfold_params *p = params;
    if (p->size > 0 && p->step > 0)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                           "attributes 'size' and 'step' are %lld and %lld, but must be positive", (long long)p->size,
                           (long long)p->step);
}

static ingot_status infer_unfold(ingot_infer *c)
{
    const ingot_unfold_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    int axis;
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, x->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK - 1));
    INGOT_TRY(ingot_infer_axis(c, "dim", p->axis, x->rank, 0, &axis));
    if (ingot_dim_is_number(x->dims[axis]) && x->dims[axis] < p->size)
        return ingot_infer_fail(c, "attribute 'size' is %lld, but axis %d has %lld elements", (long long)p->size, axis,
                                (long long)x->dims[axis]);
    for (int i = 0; i < x->rank; i++)
        dims[i] = x->dims[i];
    ingot_dim last = ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, ingot_dim_sub(c->dims, dims[axis], p->size), p->step);
    dims[axis] = ingot_dim_add(c->dims, last, 1);
    dims[x->rank] = p->size;
    ingot_infer_set(c, 0, x->element, x->rank + 1, dims);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_cdist = {
    .summary = "Distances between the rows of two matrices",
    .params_size = sizeof(ingot_cdist_params),
    .fields = cdist_fields,
    .infer = infer_cdist,
};

const ingot_op ingot_op_inverse = {
    .summary = "Inverses of matrices",
    .infer = infer_inverse,
};

const ingot_op ingot_op_dynamic_time_warping = {
    .summary = "The cheapest path through a matrix of costs",
    .infer = infer_time_warping,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

const ingot_op ingot_op_unfold_tensor = {
    .summary = "All slices of one size along an axis, as a last axis",
    .params_size = sizeof(ingot_unfold_params),
    .fields = unfold_fields,
    .check = check_unfold,
    .infer = infer_unfold,
};
