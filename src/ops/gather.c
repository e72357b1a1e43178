#include "ops/gather.h"

#include "ops/content.h"
#include "ops/movement.h"

static const ingot_param_field axis_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_axis_params, axis), NULL, 0},
    {.attribute = NULL},
};

/* ---- Gather ---- */

/* Elements of a vector whose content is known. */
static ingot_status gather_content(ingot_infer *c)
{
    ingot_dim data[INGOT_MAX_KNOWN], indices[INGOT_MAX_KNOWN];
    size_t size, count;
    if (!ingot_content_of(c, 0, data, &size) || !ingot_infer_numbers(c, 1, indices, INGOT_MAX_KNOWN, &count))
        return INGOT_OK;
    for (size_t i = 0; i < count; i++) {
        int64_t index = indices[i] < 0 ? indices[i] + (int64_t)size : indices[i];
        if (index < 0 || index >= (int64_t)size)
            return ingot_infer_fail(c, "index %lld is out of range for a dimension of size %zu", (long long)indices[i],
                                    size);
        indices[i] = data[index];
    }
    ingot_content_set(c, 0, indices, count);
    return INGOT_OK;
}

static ingot_status infer_gather(ingot_infer *c)
{
    const ingot_axis_params *params = c->params;
    const ingot_type *data = &c->inputs[0].type, *indices = &c->inputs[1].type;
    ingot_dim dims[2 * INGOT_MAX_RANK];
    int axis, rank = 0;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    if (data->rank < 0 || indices->rank < 0) {
        ingot_infer_set_unranked(c, 0, data->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, data->rank, 0, &axis));
    for (int i = 0; i < axis; i++)
        dims[rank++] = data->dims[i];
    for (int i = 0; i < indices->rank; i++)
        dims[rank++] = indices->dims[i];
    for (int i = axis + 1; i < data->rank; i++)
        dims[rank++] = data->dims[i];
    INGOT_TRY(ingot_movement_set(c, 0, data->element, rank, dims));
    return data->rank == 1 ? gather_content(c) : INGOT_OK;
}

const ingot_op ingot_op_gather = {
    .summary = "slices of a tensor by their indices along an axis",
    .params_size = sizeof(ingot_axis_params),
    .fields = axis_fields,
    .infer = infer_gather,
};

/* ---- GatherElements ---- */

static ingot_status infer_gather_elements(ingot_infer *c)
{
    const ingot_axis_params *params = c->params;
    const ingot_type *data = &c->inputs[0].type, *indices = &c->inputs[1].type;
    int axis;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    if (data->rank >= 0)
        INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, data->rank, 0, &axis));
    if (data->rank >= 0 && indices->rank >= 0) {
        INGOT_TRY(ingot_infer_rank(c, 1, data->rank, data->rank));
        for (int i = 0; i < data->rank; i++)
            if (i != axis && ingot_dim_is_number(data->dims[i]) && ingot_dim_is_number(indices->dims[i]) &&
                indices->dims[i] > data->dims[i])
                return ingot_infer_fail(c, "dimension %d of indices has size %lld, which is more than the data's %lld",
                                        i, (long long)indices->dims[i], (long long)data->dims[i]);
    }
    return ingot_movement_set(c, 0, data->element, indices->rank, indices->dims);
}

const ingot_op ingot_op_gather_elements = {
    .summary = "elements of a tensor by their indices along an axis",
    .params_size = sizeof(ingot_axis_params),
    .fields = axis_fields,
    .infer = infer_gather_elements,
};

/* ---- GatherND ---- */

static const ingot_param_field gather_nd_fields[] = {
    {"batch_dims", INGOT_PARAM_INT, offsetof(ingot_gather_nd_params, batch_dims), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_gather_nd(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_gather_nd_params *params = data;
    if (params->batch_dims < 0 || params->batch_dims >= INGOT_MAX_RANK)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "batch_dims is %lld, but must be at least 0 and below the ranks of data and indices",
                               (long long)params->batch_dims);
    return INGOT_OK;
}

static ingot_status infer_gather_nd(ingot_infer *c)
{
    const ingot_gather_nd_params *params = c->params;
    const ingot_type *data = &c->inputs[0].type, *indices = &c->inputs[1].type;
    ingot_dim dims[2 * INGOT_MAX_RANK];
    int batch = (int)params->batch_dims, rank = 0;
    INGOT_TRY(ingot_infer_rank(c, 0, batch + 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 1, batch + 1, INGOT_MAX_RANK));
    if (data->rank < 0 || indices->rank < 0 || !ingot_dim_is_number(indices->dims[indices->rank - 1])) {
        ingot_infer_set_unranked(c, 0, data->element);
        return INGOT_OK;
    }
    int64_t depth = indices->dims[indices->rank - 1];
    if (depth < 1 || depth > data->rank - batch)
        return ingot_infer_fail(c, "the last dimension of indices has size %lld, but must be from 1 to %d",
                                (long long)depth, data->rank - batch);
    for (int i = 0; i < indices->rank - 1; i++)
        dims[rank++] = indices->dims[i];
    for (int i = 0; i < batch; i++)
        INGOT_TRY(
            ingot_infer_same_dim(c, "the batch sizes of data and indices", data->dims[i], indices->dims[i], &dims[i]));
    for (int i = batch + (int)depth; i < data->rank; i++)
        dims[rank++] = data->dims[i];
    return ingot_movement_set(c, 0, data->element, rank, dims);
}

const ingot_op ingot_op_gather_nd = {
    .summary = "slices of a tensor by tuples of indices",
    .params_size = sizeof(ingot_gather_nd_params),
    .fields = gather_nd_fields,
    .check = check_gather_nd,
    .infer = infer_gather_nd,
};
