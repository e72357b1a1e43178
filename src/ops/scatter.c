#include "ops/scatter.h"

#include <stdio.h>

#include "ops/movement.h"

static const char *const reductions[] = {"none", "add", "mul", "max", "min", NULL};

static const ingot_param_field scatter_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_scatter_params, axis), NULL, 0},
    {"reduction", INGOT_PARAM_WORD, offsetof(ingot_scatter_params, reduction), reductions, 0},
    {.attribute = NULL},
};

/* Strings and complex numbers can be moved, but not reduced. */
static ingot_status check_reduction(ingot_infer *c)
{
    const ingot_scatter_params *params = c->params;
    ingot_element element = c->inputs[0].type.element;
    bool plain = element == INGOT_STRING || element == INGOT_COMPLEX64 || element == INGOT_COMPLEX128;
    if (params->reduction != INGOT_SCATTER_NONE && plain)
        return ingot_infer_fail(c, "reduction '%s' is not defined for elements of type %s",
                                reductions[params->reduction], ingot_element_name(element));
    return INGOT_OK;
}

static ingot_status infer_scatter_elements(ingot_infer *c)
{
    const ingot_scatter_params *params = c->params;
    const ingot_type *data = &c->inputs[0].type, *indices = &c->inputs[1].type, *updates = &c->inputs[2].type;
    int axis = -1;
    char what[96];
    INGOT_TRY(check_reduction(c));
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    if (data->rank >= 0) {
        INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, data->rank, 0, &axis));
        INGOT_TRY(ingot_infer_rank(c, 1, data->rank, data->rank));
        INGOT_TRY(ingot_infer_rank(c, 2, data->rank, data->rank));
    }
    for (int i = 0; data->rank >= 0 && i < indices->rank; i++) {
        if (i != axis && ingot_dim_is_number(data->dims[i]) && ingot_dim_is_number(indices->dims[i]) &&
            indices->dims[i] > data->dims[i])
            return ingot_infer_fail(c, "dimension %d of indices has size %lld, which is more than the data's %lld", i,
                                    (long long)indices->dims[i], (long long)data->dims[i]);
        snprintf(what, sizeof what, "sizes of dimension %d of indices and updates", i);
        if (updates->rank >= 0)
            INGOT_TRY(ingot_infer_same_dim(c, what, indices->dims[i], updates->dims[i], NULL));
    }
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

const ingot_op ingot_op_scatter_elements = {
    .summary = "a tensor with elements replaced or reduced by index along an axis",
    .params_size = sizeof(ingot_scatter_params),
    .fields = scatter_fields,
    .infer = infer_scatter_elements,
};

static ingot_status infer_scatter_nd(ingot_infer *c)
{
    const ingot_type *data = &c->inputs[0].type, *indices = &c->inputs[1].type, *updates = &c->inputs[2].type;
    char what[96];
    INGOT_TRY(check_reduction(c));
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 1, 1, INGOT_MAX_RANK));
    ingot_infer_copy(c, 0, 0, false);
    if (data->rank < 0 || indices->rank < 0 || !ingot_dim_is_number(indices->dims[indices->rank - 1]))
        return INGOT_OK;
    int64_t depth = indices->dims[indices->rank - 1];
    if (depth < 1 || depth > data->rank)
        return ingot_infer_fail(c, "the last dimension of indices has size %lld, but must be from 1 to %d",
                                (long long)depth, data->rank);
    int tuples = indices->rank - 1, rank = tuples + data->rank - (int)depth;
    INGOT_TRY(ingot_infer_rank(c, 2, rank, rank));
    for (int i = 0; i < updates->rank; i++) {
        ingot_dim wanted = i < tuples ? indices->dims[i] : data->dims[(int)depth + i - tuples];
        snprintf(what, sizeof what, "dimension %d of updates and what it must be by data and indices", i);
        INGOT_TRY(ingot_infer_same_dim(c, what, updates->dims[i], wanted, NULL));
    }
    return INGOT_OK;
}

const ingot_op ingot_op_scatter_nd = {
    .summary = "a tensor with slices replaced or reduced by tuples of indices",
    .params_size = sizeof(ingot_scatter_params),
    .fields = scatter_fields,
    .infer = infer_scatter_nd,
};
