#include "ops/join.h"

#include <stdio.h>

#include "base/number.h"
#include "ops/content.h"
#include "ops/movement.h"

/* ---- Concat ---- */

static const ingot_param_field concat_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_axis_params, axis), NULL, offsetof(ingot_axis_params, given)},
    {.attribute = NULL},
};

/* Concat-1 may leave axis out. */
static ingot_status check_concat(const ingot_node *node, void *data, ingot_error *error)
{
    ingot_axis_params *params = data;
    (void)node;
    (void)error;
    if (!params->given)
        params->axis = 1;
    return INGOT_OK;
}

/* The content of vectors one behind the other. */
static void concat_known(ingot_infer *c)
{
    ingot_dim values[INGOT_MAX_KNOWN];
    size_t used = 0, count;
    for (size_t i = 0; i < c->input_count; i++) {
        if (!ingot_infer_integers(c, i, values + used, INGOT_MAX_KNOWN - used, &count))
            return;
        used += count;
    }
    ingot_content_set(c, 0, values, used);
}

/* What input i adds to the shape so far. */
static ingot_status concat_one(ingot_infer *c, size_t i, int axis, int rank, ingot_dim *dims)
{
    const ingot_type *input = &c->inputs[i].type;
    char what[96];
    if (input->rank < 0) {
        dims[axis] = INGOT_DIM_UNKNOWN;
        return INGOT_OK;
    }
    if (input->rank != rank)
        return ingot_infer_fail(c, "input %zu has %d dimensions, but another input has %d; all must have the same", i,
                                input->rank, rank);
    for (int k = 0; k < rank; k++) {
        if (k == axis) {
            INGOT_TRY(ingot_movement_add(c, "size along axis", dims[k], input->dims[k], &dims[k]));
            continue;
        }
        snprintf(what, sizeof what, "dimension %d of input %zu and of those before it", k, i);
        INGOT_TRY(ingot_infer_same_dim(c, what, dims[k], input->dims[k], &dims[k]));
    }
    return INGOT_OK;
}

static ingot_status infer_concat(ingot_infer *c)
{
    const ingot_axis_params *params = c->params;
    ingot_element element = c->inputs[0].type.element;
    ingot_dim dims[INGOT_MAX_RANK];
    int rank = -1, axis;
    for (size_t i = 0; i < c->input_count; i++) {
        const ingot_type *input = &c->inputs[i].type;
        if (rank < 0 && input->rank >= 0) {
            rank = input->rank;
            for (int k = 0; k < rank; k++)
                dims[k] = input->dims[k];
        }
    }
    if (rank < 0) {
        ingot_infer_set_unranked(c, 0, element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, rank, 0, &axis));
    dims[axis] = 0;
    for (size_t i = 0; i < c->input_count; i++)
        INGOT_TRY(concat_one(c, i, axis, rank, dims));
    INGOT_TRY(ingot_movement_set(c, 0, element, rank, dims));
    if (rank == 1)
        concat_known(c);
    return INGOT_OK;
}

const ingot_op ingot_op_concat = {
    .summary = "tensors one behind the other along an axis",
    .params_size = sizeof(ingot_axis_params),
    .fields = concat_fields,
    .check = check_concat,
    .infer = infer_concat,
};

/* ---- Split ---- */

static const ingot_param_field split_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_split_params, axis), NULL, 0},
    {"split", INGOT_PARAM_INTS, offsetof(ingot_split_params, split), NULL, 0},
    {"num_outputs", INGOT_PARAM_INT, offsetof(ingot_split_params, num_outputs), NULL,
     offsetof(ingot_split_params, has_num_outputs)},
    {.attribute = NULL},
};

static ingot_status check_split(const ingot_node *node, void *data, ingot_error *error)
{
    ingot_split_params *params = data;
    params->even = node->opset < 18;
    if (params->has_num_outputs && params->num_outputs != (int64_t)node->output_count)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "num_outputs is %lld, but the node has %zu outputs",
                               (long long)params->num_outputs, node->output_count);
    if (params->split.given && params->split.count != node->output_count)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "split has %zu sizes, but the node has %zu outputs",
                               params->split.count, node->output_count);
    if (params->has_num_outputs && node->operand_count > 1 && node->inputs[1])
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "both num_outputs and the input split are given; only one can be");
    return INGOT_OK;
}

int64_t ingot_split_part(int64_t size, size_t parts, size_t index)
{
    int64_t part = size / (int64_t)parts + (size % (int64_t)parts != 0);
    int64_t left = part == 0 || (int64_t)index > size / part ? 0 : size - part * (int64_t)index;
    return left < part ? left : part;
}

/* Sizes as given, as far as they are known. */
/* Integers of an input that the first versions of Split and Tile let be floats. */
static bool whole_numbers(const ingot_infer *c, size_t input, ingot_dim *values, size_t max, size_t *count)
{
    double numbers[INGOT_MAX_SPLIT];
    if (ingot_infer_integers(c, input, values, max, count))
        return true;
    if (!ingot_infer_floats(c, input, numbers, max, count))
        return false;
    for (size_t i = 0; i < *count; i++)
        values[i] = numbers[i] > INT32_MIN && numbers[i] < INT32_MAX && numbers[i] == (int32_t)numbers[i]
                        ? (ingot_dim)numbers[i]
                        : INGOT_DIM_UNKNOWN;
    return true;
}

static ingot_status split_sizes(ingot_infer *c, ingot_dim total, ingot_dim *sizes, size_t count)
{
    ingot_dim sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (ingot_dim_is_number(sizes[i]) && sizes[i] < 0)
            return ingot_infer_fail(c, "size %zu of split is %lld; it must be at least 0", i, (long long)sizes[i]);
        INGOT_TRY(ingot_movement_add(c, "sum of split", sum, sizes[i], &sum));
    }
    if (ingot_dim_is_number(sum) && ingot_dim_is_number(total) && sum != total)
        return ingot_infer_fail(c, "the sizes of split add up to %lld, but the dimension has size %lld", (long long)sum,
                                (long long)total);
    return INGOT_OK;
}

/* The size of each output along the axis. */
static ingot_status split_parts(ingot_infer *c, ingot_dim total, ingot_dim *sizes)
{
    const ingot_split_params *params = c->params;
    size_t parts = c->output_count, count;
    if (params->split.given) {
        for (size_t i = 0; i < parts; i++)
            sizes[i] = ingot_movement_number(params->split.data[i]);
        return split_sizes(c, total, sizes, parts);
    }
    if (ingot_infer_has(c, 1)) {
        const ingot_type *split = &c->inputs[1].type;
        INGOT_TRY(ingot_infer_rank(c, 1, 1, 1));
        if (split->rank == 1 && ingot_dim_is_number(split->dims[0]) && split->dims[0] != (int64_t)parts)
            return ingot_infer_fail(c, "split has %lld sizes, but the node has %zu outputs", (long long)split->dims[0],
                                    parts);
        if (whole_numbers(c, 1, sizes, parts, &count))
            return split_sizes(c, total, sizes, count);
        for (size_t i = 0; i < parts; i++)
            sizes[i] = INGOT_DIM_UNKNOWN;
        return INGOT_OK;
    }
    if (params->even && ingot_dim_is_number(total) && total % (int64_t)parts != 0)
        return ingot_infer_fail(c, "a dimension of size %lld cannot be split into %zu equal parts", (long long)total,
                                parts);
    ingot_dim_kind division = params->even ? INGOT_DIM_FLOOR_DIV : INGOT_DIM_CEIL_DIV;
    ingot_dim part = ingot_dim_make(c->dims, division, total, (int64_t)parts);
    ingot_dim last = params->even || parts == 1
                         ? part
                         : ingot_dim_sub(c->dims, total, ingot_dim_mul(c->dims, part, (int64_t)parts - 1));
    for (size_t i = 0; i < parts; i++)
        sizes[i] = ingot_dim_is_number(total) ? ingot_split_part(total, parts, i) : i + 1 < parts ? part : last;
    return INGOT_OK;
}

static ingot_status infer_split(ingot_infer *c)
{
    const ingot_split_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim sizes[INGOT_MAX_SPLIT], dims[INGOT_MAX_RANK], known[INGOT_MAX_KNOWN];
    size_t count, at = 0;
    int axis;
    if (c->output_count > INGOT_MAX_SPLIT)
        return ingot_infer_fail(c, "the node has %zu outputs; at most %d are possible", c->output_count,
                                INGOT_MAX_SPLIT);
    if (input->rank < 0) {
        for (size_t i = 0; i < c->output_count; i++)
            ingot_infer_set_unranked(c, i, input->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, input->rank, 0, &axis));
    INGOT_TRY(split_parts(c, input->dims[axis], sizes));
    for (int k = 0; k < input->rank; k++)
        dims[k] = input->dims[k];
    bool content = input->rank == 1 && ingot_infer_integers(c, 0, known, INGOT_MAX_KNOWN, &count);
    for (size_t i = 0; i < c->output_count; i++) {
        dims[axis] = sizes[i];
        INGOT_TRY(ingot_movement_set(c, i, input->element, input->rank, dims));
        content = content && ingot_dim_is_number(sizes[i]) && at + (size_t)sizes[i] <= count;
        if (!content)
            continue;
        ingot_content_set(c, i, known + at, (size_t)sizes[i]);
        at += (size_t)sizes[i];
    }
    return INGOT_OK;
}

const ingot_op ingot_op_split = {
    .summary = "a tensor in parts along an axis",
    .params_size = sizeof(ingot_split_params),
    .fields = split_fields,
    .check = check_split,
    .infer = infer_split,
};

/* ---- Expand ---- */

static ingot_status infer_expand(ingot_infer *c)
{
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim shape[INGOT_MAX_RANK], dims[INGOT_MAX_RANK], content;
    int length, rank;
    size_t count;
    INGOT_TRY(ingot_movement_vector_length(c, 1, &length));
    if (!ingot_infer_integers(c, 1, shape, INGOT_MAX_RANK, &count)) {
        rank = length < 0 || input->rank < 0 ? -1 : length > input->rank ? length : input->rank;
        for (int i = 0; i < rank; i++)
            dims[i] = INGOT_DIM_UNKNOWN;
        return ingot_movement_set(c, 0, input->element, rank, dims);
    }
    for (size_t i = 0; i < count; i++)
        if (ingot_dim_is_number(shape[i]) && shape[i] < 0)
            return ingot_infer_fail(c, "the shape has %lld at %zu; a size is at least 0", (long long)shape[i], i);
    if (input->rank < 0) {
        ingot_infer_set_unranked(c, 0, input->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_broadcast_dims(c, input->rank, input->dims, (int)count, shape, &rank, dims));
    INGOT_TRY(ingot_movement_set(c, 0, input->element, rank, dims));
    if (rank == 1 && ingot_dim_is_number(dims[0]) && dims[0] <= INGOT_MAX_KNOWN &&
        ingot_element_is_integer(input->element) && ingot_infer_integers(c, 0, &content, 1, &count) && count == 1) {
        ingot_dim known[INGOT_MAX_KNOWN];
        for (int64_t i = 0; i < dims[0]; i++)
            known[i] = content;
        ingot_content_set(c, 0, known, (size_t)dims[0]);
    }
    return INGOT_OK;
}

const ingot_op ingot_op_expand = {
    .summary = "repeats dimensions of size 1 up to a shape",
    .infer = infer_expand,
};

/* ---- Tile ---- */

static ingot_status check_tile_1(const ingot_node *node, void *data, ingot_error *error)
{
    (void)node;
    (void)error;
    ((ingot_tile_params *)data)->one_axis = true;
    return INGOT_OK;
}

/* Repeats of each dimension; false in *known where they are not known. */
static ingot_status tile_repeats(ingot_infer *c, int rank, ingot_dim *repeats, bool *known)
{
    const ingot_tile_params *params = c->params;
    size_t count;
    int at;
    if (params->one_axis) {
        ingot_dim tiles, axis;
        INGOT_TRY(ingot_movement_one(c, 1));
        INGOT_TRY(ingot_movement_one(c, 2));
        *known = whole_numbers(c, 1, &tiles, 1, &count) && count == 1 && whole_numbers(c, 2, &axis, 1, &count) &&
                 count == 1 && ingot_dim_is_number(axis);
        if (!*known)
            return INGOT_OK;
        INGOT_TRY(ingot_infer_axis(c, "axis", axis, rank, 0, &at));
        for (int i = 0; i < rank; i++)
            repeats[i] = i == at ? tiles : 1;
    } else {
        int length;
        INGOT_TRY(ingot_movement_vector_length(c, 1, &length));
        if (length >= 0 && length != rank)
            return ingot_infer_fail(c, "repeats has %d elements, but the input has %d dimensions", length, rank);
        *known = ingot_infer_integers(c, 1, repeats, INGOT_MAX_RANK, &count) && count == (size_t)rank;
    }
    for (int i = 0; *known && i < rank; i++)
        if (ingot_dim_is_number(repeats[i]) && repeats[i] < 0)
            return ingot_infer_fail(c, "dimension %d is to be repeated %lld times; that must be at least 0", i,
                                    (long long)repeats[i]);
    return INGOT_OK;
}

static ingot_status infer_tile(ingot_infer *c)
{
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim repeats[INGOT_MAX_RANK], dims[INGOT_MAX_RANK], known[INGOT_MAX_KNOWN];
    bool given = false;
    size_t count;
    if (input->rank < 0) {
        ingot_infer_set_unranked(c, 0, input->element);
        return INGOT_OK;
    }
    INGOT_TRY(tile_repeats(c, input->rank, repeats, &given));
    for (int i = 0; i < input->rank; i++) {
        dims[i] = INGOT_DIM_UNKNOWN;
        if (given)
            INGOT_TRY(ingot_movement_mul(c, "size of a dimension", input->dims[i], repeats[i], &dims[i]));
    }
    INGOT_TRY(ingot_movement_set(c, 0, input->element, input->rank, dims));
    if (given && input->rank == 1 && ingot_dim_is_number(dims[0]) && dims[0] <= INGOT_MAX_KNOWN &&
        ingot_element_is_integer(input->element) && ingot_infer_integers(c, 0, known, INGOT_MAX_KNOWN, &count)) {
        for (size_t i = count; count > 0 && i < (size_t)dims[0]; i++)
            known[i] = known[i - count];
        ingot_content_set(c, 0, known, (size_t)dims[0]);
    }
    return INGOT_OK;
}

const ingot_op ingot_op_tile_1 = {
    .summary = "repeats a tensor along an axis",
    .params_size = sizeof(ingot_tile_params),
    .check = check_tile_1,
    .infer = infer_tile,
};

const ingot_op ingot_op_tile = {
    .summary = "repeats a tensor along its dimensions",
    .params_size = sizeof(ingot_tile_params),
    .infer = infer_tile,
};
