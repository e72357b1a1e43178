#include "ops/select.h"

#include "ops/movement.h"

/* ---- TopK ---- */

static const ingot_param_field topk_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_topk_params, axis), NULL, 0},
    {"k", INGOT_PARAM_INT, offsetof(ingot_topk_params, k), NULL, offsetof(ingot_topk_params, has_k)},
    {"largest", INGOT_PARAM_BOOL, offsetof(ingot_topk_params, largest), NULL, 0},
    {.attribute = NULL},
};

/* Before opset 11 there is no attribute largest, and the largest are meant. */
static ingot_status check_topk(const ingot_node *node, void *data, ingot_error *error)
{
    ingot_topk_params *params = data;
    params->smallest = !params->largest && node->opset >= 11;
    if (params->has_k && params->k < 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "k is %lld; it must be at least 0",
                               (long long)params->k);
    return INGOT_OK;
}

static ingot_status infer_topk(ingot_infer *c)
{
    const ingot_topk_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK], k = params->k;
    size_t count;
    int axis;
    if (!params->has_k && (!ingot_infer_integers(c, 1, &k, 1, &count) || count != 1))
        k = INGOT_DIM_UNKNOWN;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_movement_one(c, 1));
    if (ingot_dim_is_number(k) && k < 0)
        return ingot_infer_fail(c, "k is %lld; it must be at least 0", (long long)k);
    if (input->rank < 0) {
        ingot_infer_set_unranked(c, 0, input->element);
        ingot_infer_set_unranked(c, 1, INGOT_INT64);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, input->rank, 0, &axis));
    for (int i = 0; i < input->rank; i++)
        dims[i] = input->dims[i];
    if (ingot_dim_is_number(k) && ingot_dim_is_number(dims[axis]) && k > dims[axis])
        return ingot_infer_fail(c, "k is %lld, but dimension %d has only %lld elements", (long long)k, axis,
                                (long long)dims[axis]);
    dims[axis] = k;
    INGOT_TRY(ingot_movement_set(c, 0, input->element, input->rank, dims));
    return ingot_movement_set(c, 1, INGOT_INT64, input->rank, dims);
}

const ingot_op ingot_op_topk = {
    .summary = "the largest or smallest elements along an axis, and where they are",
    .params_size = sizeof(ingot_topk_params),
    .fields = topk_fields,
    .check = check_topk,
    .infer = infer_topk,
};

/* ---- NonMaxSuppression ---- */

static const ingot_param_field nms_fields[] = {
    {"center_point_box", INGOT_PARAM_BOOL, offsetof(ingot_nms_params, center_point_box), NULL, 0},
    {.attribute = NULL},
};

static ingot_status infer_nms(ingot_infer *c)
{
    const ingot_type *boxes = &c->inputs[0].type, *scores = &c->inputs[1].type;
    ingot_dim dims[2] = {INGOT_DIM_UNKNOWN, 3};
    INGOT_TRY(ingot_infer_rank(c, 0, 3, 3));
    INGOT_TRY(ingot_infer_rank(c, 1, 3, 3));
    if (boxes->rank == 3)
        INGOT_TRY(ingot_infer_same_dim(c, "the last dimension of boxes and 4", boxes->dims[2], 4, NULL));
    if (boxes->rank == 3 && scores->rank == 3) {
        INGOT_TRY(
            ingot_infer_same_dim(c, "the batch sizes of boxes and scores", boxes->dims[0], scores->dims[0], NULL));
        INGOT_TRY(ingot_infer_same_dim(c, "the numbers of boxes and of scores", boxes->dims[1], scores->dims[2], NULL));
    }
    return ingot_movement_set(c, 0, INGOT_INT64, 2, dims);
}

const ingot_op ingot_op_nms = {
    .summary = "boxes that do not overlap a better one",
    .params_size = sizeof(ingot_nms_params),
    .fields = nms_fields,
    .infer = infer_nms,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

/* ---- NonZero ---- */

static ingot_status infer_nonzero(ingot_infer *c)
{
    int rank = c->inputs[0].type.rank;
    ingot_dim dims[2] = {rank < 0 ? INGOT_DIM_UNKNOWN : rank, INGOT_DIM_UNKNOWN};
    return ingot_movement_set(c, 0, INGOT_INT64, 2, dims);
}

const ingot_op ingot_op_nonzero = {
    .summary = "where a tensor is not zero",
    .infer = infer_nonzero,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

/* ---- Compress ---- */

static const ingot_param_field compress_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_axis_params, axis), NULL, offsetof(ingot_axis_params, given)},
    {.attribute = NULL},
};

static ingot_status infer_compress(ingot_infer *c)
{
    const ingot_axis_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    int axis = 0, rank = params->given ? input->rank : 1;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 1, 1, 1));
    if (params->given && rank >= 0)
        INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, rank, 0, &axis));
    for (int i = 0; i < rank; i++)
        dims[i] = i == axis ? INGOT_DIM_UNKNOWN : input->dims[i];
    return ingot_movement_set(c, 0, input->element, rank, dims);
}

const ingot_op ingot_op_compress = {
    .summary = "the slices whose condition is true",
    .params_size = sizeof(ingot_axis_params),
    .fields = compress_fields,
    .infer = infer_compress,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

/* ---- Unique ---- */

static const ingot_param_field unique_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_unique_params, axis), NULL, offsetof(ingot_unique_params, has_axis)},
    {"sorted", INGOT_PARAM_BOOL, offsetof(ingot_unique_params, sorted), NULL, 0},
    {.attribute = NULL},
};

static ingot_status infer_unique(ingot_infer *c)
{
    const ingot_unique_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK], unknown = INGOT_DIM_UNKNOWN, items = INGOT_DIM_UNKNOWN;
    int axis = 0, rank = params->has_axis ? input->rank : 1;
    if (params->has_axis && rank >= 0)
        INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, rank, 0, &axis));
    for (int i = 0; i < rank; i++)
        dims[i] = i == axis ? INGOT_DIM_UNKNOWN : input->dims[i];
    if (params->has_axis && rank >= 0) {
        items = input->dims[axis];
    } else if (!params->has_axis && input->rank >= 0) {
        items = 1;
        for (int i = 0; i < input->rank; i++)
            items = ingot_dim_mul(c->dims, items, input->dims[i]);
    }
    INGOT_TRY(ingot_movement_set(c, 0, input->element, rank, dims));
    INGOT_TRY(ingot_movement_set(c, 1, INGOT_INT64, 1, &unknown));
    INGOT_TRY(ingot_movement_set(c, 2, INGOT_INT64, 1, &items));
    return ingot_movement_set(c, 3, INGOT_INT64, 1, &unknown);
}

const ingot_op ingot_op_unique = {
    .summary = "the different elements or slices of a tensor",
    .params_size = sizeof(ingot_unique_params),
    .fields = unique_fields,
    .infer = infer_unique,
    .flags = INGOT_OP_SIZES_OUTPUT,
};
