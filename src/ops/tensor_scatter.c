/* TensorScatter and BitCast. */
#include "ops/tensor_scatter.h"

/* ---- TensorScatter ---- */

static const char *const mode_words[] = {"linear", "circular", NULL};

static const ingot_param_field tensor_scatter_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_tensor_scatter_params, axis), NULL, 0},
    {"mode", INGOT_PARAM_WORD, offsetof(ingot_tensor_scatter_params, circular), mode_words, 0},
    {0},
};

static ingot_status check_sizes(ingot_infer *c, int axis)
{
    const ingot_type *cache = &c->inputs[0].type, *update = &c->inputs[1].type;
    if (update->rank >= 0 && update->rank != cache->rank)
        return ingot_infer_fail(c, "the inputs past_cache and update have ranks %d and %d, but must have the same",
                                cache->rank, update->rank);
    for (int i = 0; i < update->rank; i++) {
        if (i != axis)
            INGOT_TRY(ingot_infer_same_dim(c, "the sizes of past_cache and update on all axes but the sequence's",
                                           cache->dims[i], update->dims[i], NULL));
        else if (ingot_dim_is_number(cache->dims[i]) && ingot_dim_is_number(update->dims[i]) &&
                 update->dims[i] > cache->dims[i])
            return ingot_infer_fail(c, "update has a sequence of %lld, but past_cache only has room for %lld",
                                    (long long)update->dims[i], (long long)cache->dims[i]);
    }
    if (ingot_infer_has(c, 2) && c->inputs[2].type.rank == 1)
        INGOT_TRY(ingot_infer_same_dim(c, "the batch sizes of past_cache and write_indices", cache->dims[0],
                                       c->inputs[2].type.dims[0], NULL));
    return INGOT_OK;
}

static ingot_status infer_tensor_scatter(ingot_infer *c)
{
    const ingot_tensor_scatter_params *p = c->params;
    int rank = c->inputs[0].type.rank, axis;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 2, 1, 1));
    ingot_infer_copy(c, 0, 0, false);
    if (rank < 0)
        return INGOT_OK;
    INGOT_TRY(ingot_infer_axis(c, "axis", p->axis, rank, 0, &axis));
    if (axis == 0)
        return ingot_infer_fail(c, "'axis' is %lld, which is the batch axis", (long long)p->axis);
    return check_sizes(c, axis);
}

/* ---- BitCast ---- */

static const ingot_param_field bit_cast_fields[] = {
    {"to", INGOT_PARAM_INT, offsetof(ingot_bit_cast_params, to), NULL, 0},
    {0},
};

static ingot_status check_bit_cast(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_bit_cast_params *p = params;
    if (p->to <= INGOT_UNDEFINED || p->to >= INGOT_ELEMENT_COUNT || p->to == INGOT_STRING)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'to' is %lld, which is no element type of bits", (long long)p->to);
    return INGOT_OK;
}

static ingot_status infer_bit_cast(ingot_infer *c)
{
    const ingot_bit_cast_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_element to = (ingot_element)p->to;
    if (x->element != INGOT_UNDEFINED && ingot_element_bits(x->element) != ingot_element_bits(to))
        return ingot_infer_fail(c, "attribute 'to' is %s of %zu bits, but the input is %s of %zu bits",
                                ingot_element_name(to), (size_t)ingot_element_bits(to), ingot_element_name(x->element),
                                (size_t)ingot_element_bits(x->element));
    ingot_infer_set(c, 0, to, x->rank, x->dims);
    return INGOT_OK;
}

const ingot_op ingot_op_tensor_scatter = {
    .summary = "a cache with an update written along its sequence axis",
    .params_size = sizeof(ingot_tensor_scatter_params),
    .fields = tensor_scatter_fields,
    .infer = infer_tensor_scatter,
    .flags = INGOT_OP_IN_PLACE,
};
const ingot_op ingot_op_bit_cast = {
    .summary = "the same bits read as another type",
    .params_size = sizeof(ingot_bit_cast_params),
    .fields = bit_cast_fields,
    .check = check_bit_cast,
    .infer = infer_bit_cast,
};
