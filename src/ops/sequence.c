#include "ops/sequence.h"

#include "ops/movement.h"

/* ---- Types ---- */

/* The output becomes a sequence of items, or an optional item. At run time values know themselves what they hold. */
static ingot_status set_container(ingot_infer *c, ingot_kind kind, const ingot_type *item)
{
    if (!ingot_infer_wants(c, 0))
        return INGOT_OK;
    ingot_type type = {.kind = kind, .rank = -1};
    if (c->dims) {
        type.item = ingot_arena_copy(c->node->graph->module->arena, item, sizeof *item);
        if (!type.item)
            return ingot_fail_memory(c->error, sizeof *item, "a type");
    }
    c->outputs[0].type = type;
    return INGOT_OK;
}

/* What is known of the tensors of a sequence. */
static ingot_type item_of(const ingot_type *type)
{
    return type->item ? *type->item : ingot_type_tensor(INGOT_UNDEFINED);
}

/* Makes type hold for tensor too: sizes that differ become unknown. */
static ingot_status widen(ingot_infer *c, size_t input, ingot_type *type, const ingot_type *tensor)
{
    if (type->element != tensor->element && type->element != INGOT_UNDEFINED && tensor->element != INGOT_UNDEFINED)
        return ingot_infer_fail(c, "input %zu has elements of type %s, but the other tensors have %s", input,
                                ingot_element_name(tensor->element), ingot_element_name(type->element));
    if (type->element == INGOT_UNDEFINED)
        type->element = tensor->element;
    if (type->rank != tensor->rank) {
        type->rank = -1;
        return INGOT_OK;
    }
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i] != tensor->dims[i])
            type->dims[i] = INGOT_DIM_UNKNOWN;
    return INGOT_OK;
}

/* ---- Making and changing sequences ---- */

static const ingot_param_field sequence_empty_fields[] = {
    {"dtype", INGOT_PARAM_INT, offsetof(ingot_sequence_empty_params, dtype), NULL,
     offsetof(ingot_sequence_empty_params, has_dtype)},
    {.attribute = NULL},
};

static ingot_status check_sequence_empty(const ingot_node *node, void *data, ingot_error *error)
{
    ingot_sequence_empty_params *params = data;
    params->element = INGOT_FLOAT;
    return params->has_dtype ? ingot_movement_element(node, "dtype", params->dtype, &params->element, error) : INGOT_OK;
}

static ingot_status infer_sequence_empty(ingot_infer *c)
{
    const ingot_sequence_empty_params *params = c->params;
    ingot_type item = ingot_type_tensor(params->element);
    return set_container(c, INGOT_KIND_SEQUENCE, &item);
}

const ingot_op ingot_op_sequence_empty = {
    .summary = "a sequence without tensors",
    .params_size = sizeof(ingot_sequence_empty_params),
    .fields = sequence_empty_fields,
    .check = check_sequence_empty,
    .infer = infer_sequence_empty,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

static ingot_status infer_sequence_construct(ingot_infer *c)
{
    ingot_type item = c->inputs[0].type;
    for (size_t i = 1; i < c->input_count; i++)
        INGOT_TRY(widen(c, i, &item, &c->inputs[i].type));
    return set_container(c, INGOT_KIND_SEQUENCE, &item);
}

const ingot_op ingot_op_sequence_construct = {
    .summary = "a sequence of its inputs",
    .infer = infer_sequence_construct,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

static ingot_status infer_sequence_insert(ingot_infer *c)
{
    ingot_type item = item_of(&c->inputs[0].type);
    INGOT_TRY(widen(c, 1, &item, &c->inputs[1].type));
    INGOT_TRY(ingot_movement_one(c, 2));
    return set_container(c, INGOT_KIND_SEQUENCE, &item);
}

const ingot_op ingot_op_sequence_insert = {
    .summary = "a sequence with one more tensor",
    .infer = infer_sequence_insert,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

static ingot_status infer_sequence_erase(ingot_infer *c)
{
    ingot_type item = item_of(&c->inputs[0].type);
    INGOT_TRY(ingot_movement_one(c, 1));
    return set_container(c, INGOT_KIND_SEQUENCE, &item);
}

const ingot_op ingot_op_sequence_erase = {
    .summary = "a sequence with one tensor less",
    .infer = infer_sequence_erase,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

/* ---- Reading sequences ---- */

static ingot_status infer_sequence_at(ingot_infer *c)
{
    ingot_type item = item_of(&c->inputs[0].type);
    INGOT_TRY(ingot_movement_one(c, 1));
    return ingot_movement_set(c, 0, item.element, item.rank, item.dims);
}

const ingot_op ingot_op_sequence_at = {
    .summary = "a tensor of a sequence",
    .infer = infer_sequence_at,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

static ingot_status infer_sequence_length(ingot_infer *c)
{
    ingot_infer_set(c, 0, INGOT_INT64, 0, NULL);
    return INGOT_OK;
}

const ingot_op ingot_op_sequence_length = {
    .summary = "the number of tensors of a sequence",
    .infer = infer_sequence_length,
};

/* ---- SplitToSequence and ConcatFromSequence ---- */

static const ingot_param_field split_to_sequence_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_split_to_sequence_params, axis), NULL, 0},
    {"keepdims", INGOT_PARAM_BOOL, offsetof(ingot_split_to_sequence_params, keepdims), NULL, 0},
    {.attribute = NULL},
};

static ingot_status infer_split_to_sequence(ingot_infer *c)
{
    const ingot_split_to_sequence_params *params = c->params;
    ingot_type item = c->inputs[0].type;
    int axis;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 1, 0, 1));
    if (item.rank > 0) {
        INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, item.rank, 0, &axis));
        item.dims[axis] = ingot_infer_has(c, 1) ? INGOT_DIM_UNKNOWN : 1;
        if (!ingot_infer_has(c, 1) && !params->keepdims) {
            item.rank--;
            for (int i = axis; i < item.rank; i++)
                item.dims[i] = item.dims[i + 1];
        }
    }
    return set_container(c, INGOT_KIND_SEQUENCE, &item);
}

const ingot_op ingot_op_split_to_sequence = {
    .summary = "a tensor in parts along an axis, as a sequence",
    .params_size = sizeof(ingot_split_to_sequence_params),
    .fields = split_to_sequence_fields,
    .infer = infer_split_to_sequence,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

static const ingot_param_field concat_from_sequence_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_concat_from_sequence_params, axis), NULL, 0},
    {"new_axis", INGOT_PARAM_BOOL, offsetof(ingot_concat_from_sequence_params, new_axis), NULL, 0},
    {.attribute = NULL},
};

static ingot_status infer_concat_from_sequence(ingot_infer *c)
{
    const ingot_concat_from_sequence_params *params = c->params;
    ingot_type item = item_of(&c->inputs[0].type);
    ingot_dim dims[INGOT_MAX_RANK + 1];
    int axis, rank = item.rank < 0 ? -1 : item.rank + params->new_axis;
    if (rank >= 0)
        INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, rank, 0, &axis));
    for (int i = 0, from = 0; i < rank; i++) {
        bool other = i != axis;
        dims[i] = other ? item.dims[from] : INGOT_DIM_UNKNOWN;
        from += other || !params->new_axis;
    }
    return ingot_movement_set(c, 0, item.element, rank, dims);
}

const ingot_op ingot_op_concat_from_sequence = {
    .summary = "the tensors of a sequence as one",
    .params_size = sizeof(ingot_concat_from_sequence_params),
    .fields = concat_from_sequence_fields,
    .infer = infer_concat_from_sequence,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

/* ---- Optional values ---- */

/* The attribute type says what an empty optional would hold. */
static ingot_status infer_optional(ingot_infer *c)
{
    const ingot_attribute *type = ingot_node_attribute(c->node, "type");
    if (ingot_infer_has(c, 0))
        return set_container(c, INGOT_KIND_OPTIONAL, &c->inputs[0].type);
    if (!type)
        return ingot_infer_fail(c, "has neither an input nor the attribute 'type'");
    return set_container(c, INGOT_KIND_OPTIONAL, type->type_proto);
}

const ingot_op ingot_op_optional = {
    .summary = "an optional value that holds its input, or nothing",
    .infer = infer_optional,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

static ingot_status infer_optional_get_element(ingot_infer *c)
{
    const ingot_type *input = &c->inputs[0].type;
    if (!ingot_infer_wants(c, 0))
        return INGOT_OK;
    c->outputs[0].type = input->kind == INGOT_KIND_OPTIONAL ? item_of(input) : *input;
    return INGOT_OK;
}

const ingot_op ingot_op_optional_get_element = {
    .summary = "what an optional value holds",
    .infer = infer_optional_get_element,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

static ingot_status infer_optional_has_element(ingot_infer *c)
{
    ingot_infer_set(c, 0, INGOT_BOOL, 0, NULL);
    return INGOT_OK;
}

const ingot_op ingot_op_optional_has_element = {
    .summary = "whether an optional value holds something",
    .infer = infer_optional_has_element,
};
