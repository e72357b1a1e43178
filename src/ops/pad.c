#include "ops/pad.h"

#include "ops/movement.h"

static const char *const pad_modes[] = {"constant", "reflect", "edge", "wrap", NULL};

/* Opset 1 spells pads differently. */
static const ingot_param_field pad_fields[] = {
    {"mode", INGOT_PARAM_WORD, offsetof(ingot_pad_params, mode), pad_modes, 0},
    {"paddings", INGOT_PARAM_INTS, offsetof(ingot_pad_params, pads), NULL, 0},
    {"pads", INGOT_PARAM_INTS, offsetof(ingot_pad_params, pads), NULL, 0},
    {"value", INGOT_PARAM_FLOAT, offsetof(ingot_pad_params, value), NULL, 0},
    {.attribute = NULL},
};

/* What pads adds at the begin and the end of one dimension. */
static ingot_status padded(ingot_infer *c, int axis, ingot_dim begin, ingot_dim end, ingot_dim *size)
{
    const ingot_pad_params *params = c->params;
    ingot_dim before = *size;
    INGOT_TRY(ingot_movement_add(c, "size after padding", begin, end, size));
    INGOT_TRY(ingot_movement_add(c, "size after padding", *size, before, size));
    if (ingot_dim_is_number(*size) && *size < 0)
        return ingot_infer_fail(c, "pads takes %lld elements away from dimension %d, which has only %lld",
                                (long long)(before - *size), axis, (long long)before);
    if (params->mode == INGOT_PAD_CONSTANT || !ingot_dim_is_number(before) || !ingot_dim_is_number(begin) ||
        !ingot_dim_is_number(end) || *size == 0)
        return INGOT_OK;
    int64_t left = before + (begin < 0 ? begin : 0) + (end < 0 ? end : 0);
    if (left <= 0)
        return ingot_infer_fail(c, "dimension %d has no element to pad with in mode '%s'", axis,
                                pad_modes[params->mode]);
    return INGOT_OK;
}

static ingot_status infer_pad(ingot_infer *c)
{
    const ingot_pad_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK], pads[2 * INGOT_MAX_RANK];
    int axes[INGOT_MAX_RANK];
    size_t count, pad_count = params->pads.count;
    bool known, has_pads = true;
    INGOT_TRY(ingot_infer_rank(c, 1, 1, 2));
    if (input->rank < 0) {
        ingot_infer_set_unranked(c, 0, input->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_movement_axes(c, NULL, 3, input->rank, &known, axes, &count));
    if (known && count == SIZE_MAX) {
        count = (size_t)input->rank;
        for (int i = 0; i < input->rank; i++)
            axes[i] = i;
    }
    if (ingot_infer_has(c, 1))
        has_pads = ingot_infer_integers(c, 1, pads, 2 * INGOT_MAX_RANK, &pad_count);
    else
        for (size_t i = 0; i < pad_count && i < 2 * INGOT_MAX_RANK; i++)
            pads[i] = ingot_movement_number(params->pads.data[i]);
    if (known && has_pads && pad_count != 2 * count)
        return ingot_infer_fail(c, "pads has %zu elements, but %zu dimensions need %zu", pad_count, count, 2 * count);
    for (int i = 0; i < input->rank; i++)
        dims[i] = known ? input->dims[i] : INGOT_DIM_UNKNOWN;
    for (size_t i = 0; known && i < count; i++) {
        if (has_pads)
            INGOT_TRY(padded(c, axes[i], pads[i], pads[count + i], &dims[axes[i]]));
        else
            dims[axes[i]] = INGOT_DIM_UNKNOWN;
    }
    return ingot_movement_set(c, 0, input->element, input->rank, dims);
}

const ingot_op ingot_op_pad = {
    .summary = "elements added around a tensor",
    .params_size = sizeof(ingot_pad_params),
    .fields = pad_fields,
    .infer = infer_pad,
};
