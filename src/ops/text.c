/* Operators on strings. */
#include "ops/op.h"

static ingot_status infer_string_concat(ingot_infer *c)
{
    ingot_dim dims[INGOT_MAX_RANK];
    int rank;
    INGOT_TRY(ingot_infer_broadcast(c, 0, 2, &rank, dims));
    ingot_infer_set(c, 0, INGOT_STRING, rank, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_string_concat = {
    .summary = "strings one behind the other, element by element",
    .infer = infer_string_concat,
};
