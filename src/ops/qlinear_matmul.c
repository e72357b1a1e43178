/* QLinearMatMul: the shape of a product; it has no attributes. */
#include "ops/op.h"

enum { A = 0, B = 3, Y_ZERO = 7 };

/* As numpy.matmul: a vector is a row on the left and a column on the right; all axes but the last two broadcast. */
static ingot_status infer_qlinear_matmul(ingot_infer *c)
{
    const ingot_type *a = &c->inputs[A].type, *b = &c->inputs[B].type;
    ingot_element element = c->inputs[Y_ZERO].type.element;
    INGOT_TRY(ingot_infer_rank(c, A, 1, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, B, 1, INGOT_MAX_RANK));
    if (a->rank < 0 || b->rank < 0) {
        ingot_infer_set_unranked(c, 0, element);
        return INGOT_OK;
    }
    ingot_dim dims[INGOT_MAX_RANK];
    int rank, a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
    INGOT_TRY(ingot_infer_same_dim(c, "the inner sizes of a and b", a->dims[a->rank - 1],
                                   b->dims[b->rank > 1 ? b->rank - 2 : 0], NULL));
    INGOT_TRY(ingot_infer_broadcast_dims(c, a_batch, a->dims, b_batch, b->dims, &rank, dims));
    if (a->rank > 1)
        dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        dims[rank++] = b->dims[b->rank - 1];
    ingot_infer_set(c, 0, element, rank, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_qlinear_matmul = {
    .summary = "The matrix product of narrow elements with scales and zero points, requantized.",
    .infer = infer_qlinear_matmul,
};
