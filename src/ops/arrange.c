#include "ops/arrange.h"

#include "ops/movement.h"

/* ---- Transpose ---- */

static const ingot_param_field transpose_fields[] = {
    {"perm", INGOT_PARAM_INTS, offsetof(ingot_transpose_params, perm), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_transpose(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_ints *perm = &((const ingot_transpose_params *)data)->perm;
    uint32_t seen = 0;
    if (perm->count > INGOT_MAX_RANK)
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED, "perm has %zu elements; at most %d are possible",
                               perm->count, INGOT_MAX_RANK);
    for (size_t i = 0; i < perm->count; i++) {
        int64_t from = perm->data[i];
        if (from < 0 || from >= (int64_t)perm->count || (seen >> from & 1))
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                                   "perm must hold each of 0 ... %zu once, but element %zu of it is %lld",
                                   perm->count - 1, i, (long long)from);
        seen |= UINT32_C(1) << from;
    }
    return INGOT_OK;
}

static ingot_status infer_transpose(ingot_infer *c)
{
    const ingot_transpose_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    int rank = input->rank;
    if (rank < 0 && params->perm.given) {
        rank = (int)params->perm.count;
        for (int i = 0; i < rank; i++)
            dims[i] = INGOT_DIM_UNKNOWN;
        return ingot_movement_set(c, 0, input->element, rank, dims);
    }
    if (rank >= 0 && params->perm.given && params->perm.count != (size_t)rank)
        return ingot_infer_fail(c, "perm has %zu elements, but the data has %d dimensions", params->perm.count, rank);
    for (int i = 0; i < rank; i++)
        dims[i] = input->dims[ingot_transpose_source(params, rank, i)];
    INGOT_TRY(ingot_movement_set(c, 0, input->element, rank, dims));
    if (rank == 0 || rank == 1)
        ingot_movement_keep_content(c, 0, 0);
    return INGOT_OK;
}

const ingot_op ingot_op_transpose = {
    .summary = "the dimensions in another order",
    .params_size = sizeof(ingot_transpose_params),
    .fields = transpose_fields,
    .check = check_transpose,
    .infer = infer_transpose,
};

/* ---- DepthToSpace and SpaceToDepth ---- */

static const char *const depth_modes[] = {"DCR", "CRD", NULL};

static const ingot_param_field depth_fields[] = {
    {"blocksize", INGOT_PARAM_INT, offsetof(ingot_depth_params, blocksize), NULL, 0},
    {"mode", INGOT_PARAM_WORD, offsetof(ingot_depth_params, mode), depth_modes, 0},
    {.attribute = NULL},
};

static ingot_status check_depth(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_depth_params *params = data;
    if (params->blocksize < 1 || params->blocksize > 1 << 20)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "blocksize is %lld, but must be from 1 to %d",
                               (long long)params->blocksize, 1 << 20);
    return INGOT_OK;
}

static ingot_status check_multiple(ingot_infer *c, int dimension, ingot_dim size, int64_t divisor)
{
    if (ingot_dim_is_number(size) && size % divisor != 0)
        return ingot_infer_fail(c,
                                "dimension %d of the input has size %lld, which blocksize needs to be a multiple of "
                                "%lld",
                                dimension, (long long)size, (long long)divisor);
    return INGOT_OK;
}

static ingot_status infer_depth_to_space(ingot_infer *c)
{
    const ingot_depth_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[4] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN};
    int64_t block = params->blocksize;
    INGOT_TRY(ingot_infer_rank(c, 0, 4, 4));
    if (input->rank == 4) {
        INGOT_TRY(check_multiple(c, 1, input->dims[1], block * block));
        dims[0] = input->dims[0];
        dims[1] = ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, input->dims[1], block * block);
        INGOT_TRY(ingot_movement_mul(c, "height", input->dims[2], block, &dims[2]));
        INGOT_TRY(ingot_movement_mul(c, "width", input->dims[3], block, &dims[3]));
    }
    return ingot_movement_set(c, 0, input->element, 4, dims);
}

const ingot_op ingot_op_depth_to_space = {
    .summary = "moves blocks of channels into space",
    .params_size = sizeof(ingot_depth_params),
    .fields = depth_fields,
    .check = check_depth,
    .infer = infer_depth_to_space,
};

static ingot_status infer_space_to_depth(ingot_infer *c)
{
    const ingot_depth_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[4] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN};
    int64_t block = params->blocksize;
    INGOT_TRY(ingot_infer_rank(c, 0, 4, 4));
    if (input->rank == 4) {
        dims[0] = input->dims[0];
        INGOT_TRY(ingot_movement_mul(c, "number of channels", input->dims[1], block * block, &dims[1]));
        for (int i = 2; i < 4; i++) {
            INGOT_TRY(check_multiple(c, i, input->dims[i], block));
            dims[i] = ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, input->dims[i], block);
        }
    }
    return ingot_movement_set(c, 0, input->element, 4, dims);
}

const ingot_op ingot_op_space_to_depth = {
    .summary = "moves blocks of space into channels",
    .params_size = sizeof(ingot_depth_params),
    .fields = depth_fields,
    .check = check_depth,
    .infer = infer_space_to_depth,
};

/* ---- ReverseSequence ---- */

static const ingot_param_field reverse_sequence_fields[] = {
    {"batch_axis", INGOT_PARAM_INT, offsetof(ingot_reverse_sequence_params, batch_axis), NULL, 0},
    {"time_axis", INGOT_PARAM_INT, offsetof(ingot_reverse_sequence_params, time_axis), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_reverse_sequence(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_reverse_sequence_params *params = data;
    bool good =
        (params->batch_axis == 0 && params->time_axis == 1) || (params->batch_axis == 1 && params->time_axis == 0);
    if (!good)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "batch_axis is %lld and time_axis is %lld, but one must be 0 and the other 1",
                               (long long)params->batch_axis, (long long)params->time_axis);
    return INGOT_OK;
}

static ingot_status infer_reverse_sequence(ingot_infer *c)
{
    const ingot_reverse_sequence_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type, *lengths = &c->inputs[1].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 1, 1, 1));
    if (input->rank >= 2 && lengths->rank == 1)
        INGOT_TRY(ingot_infer_same_dim(c, "the batch size of the input and the number of sequence_lens",
                                       input->dims[params->batch_axis], lengths->dims[0], NULL));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

const ingot_op ingot_op_reverse_sequence = {
    .summary = "reverses the first elements of each sequence of a batch",
    .params_size = sizeof(ingot_reverse_sequence_params),
    .fields = reverse_sequence_fields,
    .check = check_reverse_sequence,
    .infer = infer_reverse_sequence,
};

/* ---- Trilu ---- */

static const ingot_param_field trilu_fields[] = {
    {"upper", INGOT_PARAM_BOOL, offsetof(ingot_trilu_params, upper), NULL, 0},
    {.attribute = NULL},
};

static ingot_status infer_trilu(ingot_infer *c)
{
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    INGOT_TRY(ingot_movement_one(c, 1));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

const ingot_op ingot_op_trilu = {
    .summary = "the upper or lower triangle of matrices, zeros elsewhere",
    .params_size = sizeof(ingot_trilu_params),
    .fields = trilu_fields,
    .infer = infer_trilu,
};
