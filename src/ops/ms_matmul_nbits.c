#include "ops/ms_matmul_nbits.h"

#include <stddef.h>

#define FIELD(attribute, field)                                                         \
    {                                                                                   \
        attribute, INGOT_PARAM_INT, offsetof(ingot_matmul_nbits_params, field), NULL, 0 \
    }

static const ingot_param_field fields[] = {
    FIELD("K", k),
    FIELD("N", n),
    FIELD("bits", bits),
    FIELD("block_size", block_size),
    FIELD("weight_prepacked", prepacked),
    {NULL, 0, 0, NULL, 0},
};

#define LEAST_BLOCK 16
#define MOST        INT32_MAX /* so that products of two fit */

static ingot_status check(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_matmul_nbits_params *p = params;
    if (p->k < 1 || p->n < 1 || p->k > MOST || p->n > MOST)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attributes 'K' and 'N' are %lld and %lld, but must be positive", (long long)p->k,
                               (long long)p->n);
    if (p->bits != 2 && p->bits != 4 && p->bits != 8)
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED, "attribute 'bits' is %lld; Ingot supports 2, 4 and 8",
                               (long long)p->bits);
    if (p->block_size < LEAST_BLOCK || p->block_size > MOST || (p->block_size & (p->block_size - 1)))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'block_size' is %lld, but must be a power of two, %d or more",
                               (long long)p->block_size, LEAST_BLOCK);
    if (p->prepacked != 0)
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED,
                               "attribute 'weight_prepacked' is %lld: its weights lie as a GPU wants them; Ingot "
                               "supports 0 only",
                               (long long)p->prepacked);
    return INGOT_OK;
}

/* An input that is there must have that many elements, whatever its shape. */
static ingot_status require_count(ingot_infer *c, size_t input, const char *name, int64_t expected)
{
    ingot_dim count = 1;
    if (!ingot_infer_has(c, input) || c->inputs[input].type.rank < 0)
        return INGOT_OK;
    for (int i = 0; i < c->inputs[input].type.rank; i++)
        count = ingot_dim_mul(c->dims, count, c->inputs[input].type.dims[i]);
    if (ingot_dim_is_number(count) && count != expected)
        return ingot_infer_fail(c, "%s has %lld elements, but K, N, bits and block_size ask for %lld", name,
                                (long long)count, (long long)expected);
    return INGOT_OK;
}

/* Weights without an element stand for a product that is left out. */
static bool weights_are_empty(const ingot_infer *c)
{
    const ingot_type *b = &c->inputs[INGOT_NBITS_B].type;
    for (int i = 0; i < b->rank; i++)
        if (b->dims[i] == 0)
            return true;
    return false;
}

static ingot_status check_weights(ingot_infer *c, const ingot_matmul_nbits_params *p)
{
    int64_t blocks = ingot_nbits_blocks(p);
    if (weights_are_empty(c))
        return INGOT_OK;
    INGOT_TRY(require_count(c, INGOT_NBITS_B, "B", p->n * blocks * (p->block_size * p->bits / 8)));
    INGOT_TRY(require_count(c, INGOT_NBITS_SCALES, "scales", p->n * blocks));
    bool packed = ingot_infer_has(c, INGOT_NBITS_ZEROS) && c->inputs[INGOT_NBITS_ZEROS].type.element == INGOT_UINT8;
    return require_count(c, INGOT_NBITS_ZEROS, "zero_points", p->n * (packed ? ingot_nbits_zero_bytes(p) : blocks));
}

static ingot_status infer(ingot_infer *c)
{
    const ingot_matmul_nbits_params *p = c->params;
    const ingot_type *a = &c->inputs[INGOT_NBITS_A].type;
    ingot_dim dims[INGOT_MAX_RANK];
    INGOT_TRY(check_weights(c, p));
    INGOT_TRY(require_count(c, INGOT_NBITS_BIAS, "bias", p->n));
    if (a->rank < 0) {
        ingot_infer_set_unranked(c, 0, a->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_rank(c, INGOT_NBITS_A, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_same_dim(c, "the last size of A and attribute 'K'", a->dims[a->rank - 1], p->k, NULL));
    for (int i = 0; i < a->rank; i++)
        dims[i] = i < a->rank - 1 ? a->dims[i] : p->n;
    ingot_infer_set(c, 0, a->element, a->rank, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_matmul_nbits = {
    .summary = "Product with weights of 2, 4 or 8 bits that have a scale and a zero point for each block",
    .params_size = sizeof(ingot_matmul_nbits_params),
    .fields = fields,
    .check = check,
    .infer = infer,
};
