/* Min, Max, Sum, Mean: elementwise over any number of operands that broadcast. */
#include "ops/content.h"

/* Versions before 8 want equal shapes, which broadcasting contains. */
static ingot_status infer_plain(ingot_infer *c)
{
    ingot_dim dims[INGOT_MAX_RANK];
    int rank;
    INGOT_TRY(ingot_infer_broadcast(c, 0, c->input_count, &rank, dims));
    ingot_infer_set(c, 0, c->inputs[0].type.element, rank, dims);
    return INGOT_OK;
}

static ingot_dim content_min(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    return ingot_dim_make(dims, INGOT_DIM_MIN, a, b);
}

static ingot_dim content_max(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    return ingot_dim_make(dims, INGOT_DIM_MAX, a, b);
}

static ingot_status infer_min(ingot_infer *c)
{
    INGOT_TRY(infer_plain(c));
    if (c->input_count == 2)
        ingot_content_combine(c, content_min);
    return INGOT_OK;
}

static ingot_status infer_max(ingot_infer *c)
{
    INGOT_TRY(infer_plain(c));
    if (c->input_count == 2)
        ingot_content_combine(c, content_max);
    return INGOT_OK;
}

const ingot_op ingot_op_min = {.summary = "The least of all operands; NaN where one is NaN", .infer = infer_min};
const ingot_op ingot_op_max = {.summary = "The greatest of all operands; NaN where one is NaN", .infer = infer_max};
const ingot_op ingot_op_sum = {.summary = "The sum of all operands", .infer = infer_plain};
const ingot_op ingot_op_mean = {.summary = "The mean of all operands", .infer = infer_plain};
