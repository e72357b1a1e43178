#include "ops/ms_matmul_q4.h"

#include <stddef.h>

/* A [..., k] gives [..., n]. */
static ingot_status infer_product(ingot_infer *c, ingot_dim k, ingot_dim n)
{
    const ingot_type *a = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    if (a->rank < 0) {
        ingot_infer_set_unranked(c, 0, a->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_same_dim(c, "the last size of A and the rows of B", a->dims[a->rank - 1], k, NULL));
    for (int i = 0; i < a->rank; i++)
        dims[i] = i < a->rank - 1 ? a->dims[i] : n;
    ingot_infer_set(c, 0, a->element, a->rank, dims);
    return INGOT_OK;
}

static ingot_status require_count(ingot_infer *c, size_t input, const char *name, int64_t least)
{
    ingot_dim count = 1;
    if (c->inputs[input].type.rank < 0)
        return INGOT_OK;
    for (int i = 0; i < c->inputs[input].type.rank; i++)
        count = ingot_dim_mul(c->dims, count, c->inputs[input].type.dims[i]);
    if (ingot_dim_is_number(count) && count < least)
        return ingot_infer_fail(c, "%s has %lld elements, but must have %lld", name, (long long)count,
                                (long long)least);
    return INGOT_OK;
}

/* ---- MatMulBnb4 ---- */

#define FIELD(attribute, kind, field)                                       \
    {                                                                       \
        attribute, kind, offsetof(ingot_matmul_bnb4_params, field), NULL, 0 \
    }

static const ingot_param_field bnb4_fields[] = {
    FIELD("K", INGOT_PARAM_INT, k),
    FIELD("N", INGOT_PARAM_INT, n),
    FIELD("block_size", INGOT_PARAM_INT, block_size),
    FIELD("quant_type", INGOT_PARAM_INT, codes),
    FIELD("transB", INGOT_PARAM_BOOL, transposed),
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_bnb4(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_matmul_bnb4_params *p = params;
    if (p->k < 1 || p->n < 1 || p->block_size < 1 || p->k > INT32_MAX || p->n > INT32_MAX)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attributes 'K', 'N' and 'block_size' are %lld, %lld and %lld, but must be positive",
                               (long long)p->k, (long long)p->n, (long long)p->block_size);
    if (p->codes != 0 && p->codes != 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'quant_type' is %lld, but must be 0 or 1",
                               (long long)p->codes);
    return INGOT_OK;
}

static ingot_status infer_bnb4(ingot_infer *c)
{
    const ingot_matmul_bnb4_params *p = c->params;
    int64_t count = p->k * p->n;
    INGOT_TRY(require_count(c, 1, "B", count / 2 + count % 2));
    INGOT_TRY(require_count(c, 2, "absmax", count / p->block_size + (count % p->block_size != 0)));
    return infer_product(c, p->transposed ? p->k : p->n, p->transposed ? p->n : p->k);
}

/* ---- MatMulFpQ4 ---- */

static const ingot_param_field fpq4_fields[] = {
    {"blk_quant_type", INGOT_PARAM_INT, offsetof(ingot_matmul_fpq4_params, kind), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_fpq4(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_matmul_fpq4_params *p = params;
    if (p->kind == 0 || p->kind == 1)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_UNSUPPORTED,
                           "attribute 'blk_quant_type' is %lld; Ingot supports 0 and 1, as ONNX Runtime's CPU does",
                           (long long)p->kind);
}

static ingot_status infer_fpq4(ingot_infer *c)
{
    ingot_dim shape[2] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN};
    size_t count;
    if (ingot_infer_integers(c, 2, shape, 2, &count) && count != 2)
        return ingot_infer_fail(c, "B_shape has %zu elements, but must have 2", count);
    ingot_dim blocks = ingot_dim_make(c->dims, INGOT_DIM_CEIL_DIV, shape[0], INGOT_FPQ4_BLOCK);
    ingot_dim bytes =
        ingot_dim_mul(c->dims, ingot_dim_mul(c->dims, blocks, ingot_fpq4_block_bytes(c->params)), shape[1]);
    if (ingot_dim_is_number(bytes))
        INGOT_TRY(require_count(c, 1, "B", bytes));
    return infer_product(c, shape[0], shape[1]);
}

const ingot_op ingot_op_matmul_bnb4 = {
    .summary = "Product with weights of codes of four bits (FP4 or NF4) and a scale for each block",
    .params_size = sizeof(ingot_matmul_bnb4_params),
    .fields = bnb4_fields,
    .check = check_bnb4,
    .infer = infer_bnb4,
};

const ingot_op ingot_op_matmul_fpq4 = {
    .summary = "Product with weights of four bits in one blob with their scales",
    .params_size = sizeof(ingot_matmul_fpq4_params),
    .fields = fpq4_fields,
    .check = check_fpq4,
    .infer = infer_fpq4,
};
