/* MatMul, MatMulInteger, Gemm, Det: attributes and shapes. */
#include "ops/matmul.h"

static const ingot_param_field gemm_fields[] = {
    {"alpha", INGOT_PARAM_FLOAT, offsetof(ingot_gemm_params, alpha), NULL, 0},
    {"beta", INGOT_PARAM_FLOAT, offsetof(ingot_gemm_params, beta), NULL, 0},
    {"transA", INGOT_PARAM_BOOL, offsetof(ingot_gemm_params, trans_a), NULL, 0},
    {"transB", INGOT_PARAM_BOOL, offsetof(ingot_gemm_params, trans_b), NULL, 0},
    {0},
};

/* As numpy.matmul: a vector is a row on the left and a column on the right; all axes but the last two broadcast. */
static ingot_status infer_product(ingot_infer *c, ingot_element element)
{
    const ingot_type *a = &c->inputs[0].type, *b = &c->inputs[1].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 1, 1, INGOT_MAX_RANK));
    if (a->rank < 0 || b->rank < 0) {
        ingot_infer_set_unranked(c, 0, element);
        return INGOT_OK;
    }
    ingot_dim dims[INGOT_MAX_RANK];
    int rank, a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
    INGOT_TRY(ingot_infer_same_dim(c, "the last size of 'A' and the one before the last of 'B', which are multiplied,",
                                   a->dims[a->rank - 1], b->dims[b->rank > 1 ? b->rank - 2 : 0], NULL));
    INGOT_TRY(ingot_infer_broadcast_dims(c, a_batch, a->dims, b_batch, b->dims, &rank, dims));
    if (a->rank > 1)
        dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        dims[rank++] = b->dims[b->rank - 1];
    ingot_infer_set(c, 0, element, rank, dims);
    return INGOT_OK;
}

static ingot_status infer_matmul(ingot_infer *c)
{
    return infer_product(c, c->inputs[0].type.element);
}

static ingot_status infer_matmul_integer(ingot_infer *c)
{
    return infer_product(c, INGOT_INT32);
}

static ingot_status infer_gemm(ingot_infer *c)
{
    const ingot_gemm_params *p = c->params;
    const ingot_type *a = &c->inputs[0].type, *b = &c->inputs[1].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 2));
    INGOT_TRY(ingot_infer_rank(c, 1, 2, 2));
    INGOT_TRY(ingot_infer_rank(c, 2, 0, 2));
    ingot_dim dims[2] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN};
    if (a->rank == 2)
        dims[0] = a->dims[p->trans_a ? 1 : 0];
    if (b->rank == 2)
        dims[1] = b->dims[p->trans_b ? 0 : 1];
    if (a->rank == 2 && b->rank == 2)
        INGOT_TRY(ingot_infer_same_dim(c, "the inner sizes of 'A' and 'B' (after transA and transB)",
                                       a->dims[p->trans_a ? 0 : 1], b->dims[p->trans_b ? 1 : 0], NULL));
    const ingot_type *bias = ingot_infer_has(c, 2) ? &c->inputs[2].type : NULL;
    for (int i = 0; bias && i < bias->rank; i++) {
        ingot_dim own = bias->dims[i], result = dims[i + 2 - bias->rank];
        if (ingot_dim_is_number(own) && own != 1 && ingot_dim_is_number(result) && own != result)
            return ingot_infer_fail(
                c, "input 'C' has size %lld on its axis %d, which must be 1 or %lld to fit the product", (long long)own,
                i, (long long)result);
    }
    ingot_infer_set(c, 0, a->element, 2, dims);
    return INGOT_OK;
}

static ingot_status infer_det(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    if (x->rank >= 2)
        INGOT_TRY(ingot_infer_same_dim(c, "the sizes of a matrix that has a determinant", x->dims[x->rank - 2],
                                       x->dims[x->rank - 1], NULL));
    ingot_infer_set(c, 0, x->element, x->rank < 0 ? -1 : x->rank - 2, x->dims);
    return INGOT_OK;
}

const ingot_op ingot_op_matmul = {.summary = "The matrix product, batched as numpy.matmul", .infer = infer_matmul};
const ingot_op ingot_op_matmul_integer = {.summary = "The matrix product of 8-bit integers less their zero points",
                                          .infer = infer_matmul_integer};
const ingot_op ingot_op_gemm = {.summary = "alpha A B + beta C of matrices, each of A and B transposed or not",
                                .params_size = sizeof(ingot_gemm_params),
                                .fields = gemm_fields,
                                .infer = infer_gemm};
const ingot_op ingot_op_det = {.summary = "The determinants of square matrices", .infer = infer_det};
