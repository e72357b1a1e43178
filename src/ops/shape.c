#include "ops/shape.h"

#include "ops/content.h"
#include "ops/movement.h"

/* ---- Shape and Size ---- */

static const ingot_param_field shape_fields[] = {
    {"start", INGOT_PARAM_INT, offsetof(ingot_shape_params, start), NULL, 0},
    {"end", INGOT_PARAM_INT, offsetof(ingot_shape_params, end), NULL, offsetof(ingot_shape_params, has_end)},
    {.attribute = NULL},
};

static int clamp_to_rank(int64_t index, int rank)
{
    if (index < -(int64_t)rank)
        return 0;
    if (index < 0)
        return (int)index + rank;
    return index > rank ? rank : (int)index;
}

void ingot_shape_range(const ingot_shape_params *params, int rank, int *first, int *end)
{
    *first = clamp_to_rank(params->start, rank);
    *end = params->has_end ? clamp_to_rank(params->end, rank) : rank;
    if (*end < *first)
        *end = *first;
}

static ingot_status infer_shape(ingot_infer *c)
{
    const ingot_type *type = &c->inputs[0].type;
    ingot_dim length = INGOT_DIM_UNKNOWN;
    if (type->rank < 0) {
        ingot_infer_set(c, 0, INGOT_INT64, 1, &length);
        return INGOT_OK;
    }
    int first, end;
    ingot_shape_range(c->params, type->rank, &first, &end);
    length = end - first;
    ingot_infer_set(c, 0, INGOT_INT64, 1, &length);
    ingot_content_set(c, 0, type->dims + first, (size_t)length);
    return INGOT_OK;
}

const ingot_op ingot_op_shape = {
    .summary = "the sizes of a tensor, or those from start to end",
    .params_size = sizeof(ingot_shape_params),
    .fields = shape_fields,
    .infer = infer_shape,
    .flags = INGOT_OP_READS_SHAPE,
};

static ingot_status infer_size(ingot_infer *c)
{
    const ingot_type *type = &c->inputs[0].type;
    ingot_infer_set(c, 0, INGOT_INT64, 0, NULL);
    if (type->rank < 0)
        return INGOT_OK;
    ingot_dim size = 1;
    for (int i = 0; i < type->rank; i++)
        size = ingot_dim_mul(c->dims, size, type->dims[i]);
    ingot_content_set(c, 0, &size, 1);
    return INGOT_OK;
}

const ingot_op ingot_op_size = {
    .summary = "the number of elements of a tensor",
    .infer = infer_size,
    .flags = INGOT_OP_READS_SHAPE,
};

/* ---- Reshape ---- */

static const ingot_param_field reshape_fields[] = {
    {"shape", INGOT_PARAM_INTS, offsetof(ingot_reshape_params, shape), NULL, 0},
    {"allowzero", INGOT_PARAM_BOOL, offsetof(ingot_reshape_params, allowzero), NULL, 0},
    {.attribute = NULL},
};

/* The size that stands for -1: what the input's elements leave over. Symbols on both sides cancel first. */
static ingot_dim leftover(ingot_infer *c, const ingot_type *input, int rank, const ingot_dim *dims, int skip)
{
    bool cancelled[INGOT_MAX_RANK] = {false};
    ingot_dim over = 1, under = 1;
    for (int i = 0; i < input->rank; i++) {
        int match = -1;
        for (int k = 0; k < rank && match < 0; k++)
            if (k != skip && !cancelled[k] && dims[k] == input->dims[i] && !ingot_dim_is_number(dims[k]) &&
                dims[k] != INGOT_DIM_UNKNOWN)
                match = k;
        if (match >= 0)
            cancelled[match] = true;
        else
            over = ingot_dim_mul(c->dims, over, input->dims[i]);
    }
    for (int k = 0; k < rank; k++)
        if (k != skip && !cancelled[k])
            under = ingot_dim_mul(c->dims, under, dims[k]);
    return ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, over, under);
}

/* Number of elements where all sizes are numbers. */
static bool count_of(int rank, const ingot_dim *dims, size_t *count)
{
    for (int i = 0; i < rank; i++)
        if (!ingot_dim_is_number(dims[i]) || dims[i] < 0)
            return false;
    return ingot_count_elements(rank, dims, count);
}

static ingot_status check_counts(ingot_infer *c, const ingot_type *input, int rank, const ingot_dim *dims)
{
    size_t have, want = 0;
    char from[256], to[256];
    if (input->rank < 0 || !count_of(input->rank, input->dims, &have))
        return INGOT_OK;
    for (int i = 0; i < rank; i++)
        if (!ingot_dim_is_number(dims[i]))
            return INGOT_OK;
    if (!count_of(rank, dims, &want) || want != have)
        return ingot_infer_fail(c, "cannot give the shape %s to data of shape %s, which has %zu elements",
                                ingot_dims_describe(rank, dims, to, sizeof to),
                                ingot_dims_describe(input->rank, input->dims, from, sizeof from), have);
    return INGOT_OK;
}

/* Sizes as asked for, with zeros and one -1 among them, to the sizes that they stand for. */
static ingot_status resolve_shape(ingot_infer *c, const ingot_type *input, int rank, ingot_dim *dims)
{
    const ingot_reshape_params *params = c->params;
    int open = -1;
    bool has_zero = false;
    char text[256];
    for (int i = 0; i < rank; i++) {
        if (dims[i] == -1) {
            if (open >= 0)
                return ingot_infer_fail(c, "the shape has -1 at both %d and %d; only one size can be left open", open,
                                        i);
            open = i;
        } else if (dims[i] == 0 && !params->allowzero) {
            if (input->rank >= 0 && i >= input->rank)
                return ingot_infer_fail(c,
                                        "the shape has 0 at %d, which means the size that the data has there, but the "
                                        "data has only %d dimensions",
                                        i, input->rank);
            dims[i] = input->rank >= 0 ? input->dims[i] : INGOT_DIM_UNKNOWN;
            has_zero |= dims[i] == 0;
        } else if (ingot_dim_is_number(dims[i]) && dims[i] < 0) {
            return ingot_infer_fail(c, "the shape has %lld at %d; a size is at least 0, or -1 to be worked out",
                                    (long long)dims[i], i);
        } else {
            has_zero |= dims[i] == 0;
        }
    }
    if (open < 0)
        return check_counts(c, input, rank, dims);
    if (has_zero && input->rank >= 0 && params->allowzero)
        return ingot_infer_fail(c, "the shape has both a 0 and a -1 while allowzero is 1: the -1 could be anything");
    dims[open] = 1;
    ingot_dim rest = has_zero ? 0 : input->rank < 0 ? INGOT_DIM_UNKNOWN : leftover(c, input, rank, dims, open);
    size_t have, others;
    if (input->rank >= 0 && count_of(input->rank, input->dims, &have) && count_of(rank, dims, &others) &&
        (others == 0 ? have != 0 : have % others != 0)) {
        dims[open] = -1;
        return ingot_infer_fail(c, "cannot give the shape %s to data of %zu elements",
                                ingot_dims_describe(rank, dims, text, sizeof text), have);
    }
    dims[open] = rest;
    return INGOT_OK;
}

static ingot_status infer_reshape(ingot_infer *c)
{
    const ingot_reshape_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    size_t count = params->shape.count;
    int length;
    if (ingot_infer_has(c, 1)) {
        INGOT_TRY(ingot_movement_vector_length(c, 1, &length));
        if (!ingot_infer_integers(c, 1, dims, INGOT_MAX_RANK, &count)) {
            for (int i = 0; i < length; i++)
                dims[i] = INGOT_DIM_UNKNOWN;
            return ingot_movement_set(c, 0, input->element, length, dims);
        }
    } else {
        if (count > INGOT_MAX_RANK)
            return ingot_infer_fail(c, "shape has %zu elements; at most %d are possible", count, INGOT_MAX_RANK);
        for (size_t i = 0; i < count; i++)
            dims[i] = ingot_movement_number(params->shape.data[i]);
    }
    INGOT_TRY(resolve_shape(c, input, (int)count, dims));
    INGOT_TRY(ingot_movement_set(c, 0, input->element, (int)count, dims));
    ingot_movement_keep_content(c, 0, 0);
    return INGOT_OK;
}

const ingot_op ingot_op_reshape = {
    .summary = "the same elements under another shape",
    .params_size = sizeof(ingot_reshape_params),
    .fields = reshape_fields,
    .infer = infer_reshape,
    .flags = INGOT_OP_VIEW,
};

/* ---- Squeeze and Unsqueeze ---- */

static const ingot_param_field axes_fields[] = {
    {"axes", INGOT_PARAM_INTS, offsetof(ingot_axes_params, axes), NULL, 0},
    {.attribute = NULL},
};

/* Which dimensions go; false where that is not known yet. */
static ingot_status squeezed(ingot_infer *c, const ingot_type *input, bool *gone, bool *known)
{
    const ingot_axes_params *params = c->params;
    int axes[INGOT_MAX_RANK];
    size_t count;
    INGOT_TRY(ingot_movement_axes(c, &params->axes, 1, input->rank, known, axes, &count));
    if (*known && count == SIZE_MAX) {
        for (int i = 0; i < input->rank; i++) {
            *known &= ingot_dim_is_number(input->dims[i]);
            gone[i] = input->dims[i] == 1;
        }
        return INGOT_OK;
    }
    for (size_t i = 0; *known && i < count; i++) {
        ingot_dim size = input->dims[axes[i]];
        if (ingot_dim_is_number(size) && size != 1)
            return ingot_infer_fail(c, "cannot squeeze dimension %d away: its size is %lld, not 1", axes[i],
                                    (long long)size);
        gone[axes[i]] = true;
    }
    return INGOT_OK;
}

static ingot_status infer_squeeze(ingot_infer *c)
{
    const ingot_type *input = &c->inputs[0].type;
    bool gone[INGOT_MAX_RANK] = {false}, known = false;
    ingot_dim dims[INGOT_MAX_RANK];
    int rank = 0;
    if (input->rank >= 0)
        INGOT_TRY(squeezed(c, input, gone, &known));
    if (!known) {
        ingot_infer_set_unranked(c, 0, input->element);
        return INGOT_OK;
    }
    for (int i = 0; i < input->rank; i++)
        if (!gone[i])
            dims[rank++] = input->dims[i];
    ingot_infer_set(c, 0, input->element, rank, dims);
    ingot_movement_keep_content(c, 0, 0);
    return INGOT_OK;
}

const ingot_op ingot_op_squeeze = {
    .summary = "takes dimensions of size 1 away",
    .params_size = sizeof(ingot_axes_params),
    .fields = axes_fields,
    .infer = infer_squeeze,
    .flags = INGOT_OP_VIEW,
};

static ingot_status infer_unsqueeze(ingot_infer *c)
{
    const ingot_axes_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    int axes[INGOT_MAX_RANK], length = -1;
    size_t count = SIZE_MAX;
    bool known = false, fresh[INGOT_MAX_RANK] = {false};
    ingot_dim dims[INGOT_MAX_RANK];
    if (params->axes.given) {
        length = params->axes.count > INGOT_MAX_RANK ? INGOT_MAX_RANK + 1 : (int)params->axes.count;
    } else {
        INGOT_TRY(ingot_infer_rank(c, 1, 0, 1));
        if (c->inputs[1].type.rank == 0)
            length = 1;
        else
            INGOT_TRY(ingot_movement_vector_length(c, 1, &length));
    }
    int rank = input->rank < 0 || length < 0 ? -1 : input->rank + length;
    if (rank > INGOT_MAX_RANK)
        return ingot_infer_fail(c, "axes makes %d dimensions of %d; at most %d are possible", rank, input->rank,
                                INGOT_MAX_RANK);
    if (rank >= 0)
        INGOT_TRY(ingot_movement_axes(c, &params->axes, 1, rank, &known, axes, &count));
    for (size_t i = 0; known && i < count; i++)
        fresh[axes[i]] = true;
    for (int i = 0, from = 0; i < rank; i++)
        dims[i] = !known ? INGOT_DIM_UNKNOWN : fresh[i] ? 1 : input->dims[from++];
    INGOT_TRY(ingot_movement_set(c, 0, input->element, rank, dims));
    ingot_movement_keep_content(c, 0, 0);
    return INGOT_OK;
}

const ingot_op ingot_op_unsqueeze = {
    .summary = "adds dimensions of size 1",
    .params_size = sizeof(ingot_axes_params),
    .fields = axes_fields,
    .infer = infer_unsqueeze,
    .flags = INGOT_OP_VIEW,
};

/* ---- Flatten, Identity ---- */

static const ingot_param_field flatten_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_axis_params, axis), NULL, 0},
    {.attribute = NULL},
};

static ingot_status infer_flatten(ingot_infer *c)
{
    const ingot_axis_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[2] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN};
    int axis;
    if (input->rank >= 0) {
        axis = input->rank; /* stands for itself: it is no dimension, but may be the border */
        if (params->axis != input->rank)
            INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, input->rank, 0, &axis));
        dims[0] = dims[1] = 1;
        for (int i = 0; i < input->rank; i++)
            dims[i >= axis] = ingot_dim_mul(c->dims, dims[i >= axis], input->dims[i]);
    }
    ingot_infer_set(c, 0, input->element, 2, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_flatten = {
    .summary = "the same elements as a matrix",
    .params_size = sizeof(ingot_axis_params),
    .fields = flatten_fields,
    .infer = infer_flatten,
    .flags = INGOT_OP_VIEW,
};

static ingot_status infer_identity(ingot_infer *c)
{
    ingot_infer_copy(c, 0, 0, true);
    return INGOT_OK;
}

const ingot_op ingot_op_identity = {
    .summary = "its input",
    .infer = infer_identity,
    .flags = INGOT_OP_VIEW,
};
