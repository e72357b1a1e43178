#include "ops/ms_gather_quantized.h"

#include <stddef.h>

#define FIELD(attribute, field)                                                             \
    {                                                                                       \
        attribute, INGOT_PARAM_INT, offsetof(ingot_gather_quantized_params, field), NULL, 0 \
    }

static const ingot_param_field fields[] = {
    FIELD("gather_axis", gather_axis),
    FIELD("quantize_axis", quantize_axis),
    FIELD("block_size", block_size),
    FIELD("bits", bits),
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_gather_quantized_params *p = params;
    if (p->bits != 2 && p->bits != 4 && p->bits != 8)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'bits' is %lld, but must be 2, 4 or 8",
                               (long long)p->bits);
    if (p->block_size < 0 || (p->block_size & (p->block_size - 1)))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'block_size' is %lld, but must be a power of two or 0",
                               (long long)p->block_size);
    return INGOT_OK;
}

/* The scales have the shape of the numbers, with a size for each block on the quantized axis; 1 serves all elsewhere. */
static ingot_status check_scales(ingot_infer *c, const ingot_dim *numbers, int rank, int axis)
{
    const ingot_gather_quantized_params *p = c->params;
    const ingot_type *scales = &c->inputs[2].type;
    INGOT_TRY(ingot_infer_rank(c, 2, rank, rank));
    for (int i = 0; i < scales->rank; i++) {
        ingot_dim expected = i != axis ? numbers[i]
                             : p->block_size == 0
                                 ? 1
                                 : ingot_dim_make(c->dims, INGOT_DIM_CEIL_DIV, numbers[i], p->block_size);
        if (scales->dims[i] != 1)
            INGOT_TRY(
                ingot_infer_same_dim(c, "the sizes of data in blocks and of scales", expected, scales->dims[i], NULL));
    }
    return INGOT_OK;
}

static ingot_status infer(ingot_infer *c)
{
    const ingot_gather_quantized_params *p = c->params;
    const ingot_type *data = &c->inputs[0].type, *indices = &c->inputs[1].type;
    ingot_element element = c->inputs[2].type.element;
    ingot_dim numbers[INGOT_MAX_RANK], dims[INGOT_MAX_RANK];
    int gather_axis, quantize_axis, rank = 0;
    if (data->rank < 0 || indices->rank < 0) {
        ingot_infer_set_unranked(c, 0, element);
        return INGOT_OK;
    }
    if (data->rank + indices->rank - 1 > INGOT_MAX_RANK)
        return ingot_infer_fail(c, "the output would have rank %d", data->rank + indices->rank - 1);
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_axis(c, "gather_axis", p->gather_axis, data->rank, 0, &gather_axis));
    INGOT_TRY(ingot_infer_axis(c, "quantize_axis", p->quantize_axis, data->rank, 0, &quantize_axis));
    for (int i = 0; i < data->rank; i++)
        numbers[i] = data->dims[i];
    numbers[data->rank - 1] =
        ingot_dim_mul(c->dims, numbers[data->rank - 1], ingot_gather_quantized_packed(p, data->element));
    INGOT_TRY(check_scales(c, numbers, data->rank, quantize_axis));
    for (int i = 0; i < gather_axis; i++)
        dims[rank++] = numbers[i];
    for (int i = 0; i < indices->rank; i++)
        dims[rank++] = indices->dims[i];
    for (int i = gather_axis + 1; i < data->rank; i++)
        dims[rank++] = numbers[i];
    ingot_infer_set(c, 0, element, rank, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_gather_block_quantized = {
    .summary = "Parts of a table quantized in blocks, as floats",
    .params_size = sizeof(ingot_gather_quantized_params),
    .fields = fields,
    .check = check,
    .infer = infer,
};
