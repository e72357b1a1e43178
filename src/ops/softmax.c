/* Softmax, LogSoftmax, Hardmax, CumSum, CumProd: attributes and shapes. */
#include "ops/softmax.h"

static const ingot_param_field softmax_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_softmax_params, axis), NULL, 0},
    {0},
};
static const ingot_param_field cumulative_fields[] = {
    {"exclusive", INGOT_PARAM_BOOL, offsetof(ingot_cumulative_params, exclusive), NULL, 0},
    {"reverse", INGOT_PARAM_BOOL, offsetof(ingot_cumulative_params, reverse), NULL, 0},
    {0},
};

static ingot_status check_flattens(const ingot_node *node, void *params, ingot_error *error)
{
    ((ingot_softmax_params *)params)->flattens = true;
    return INGOT_OK;
}

static ingot_status infer_softmax(ingot_infer *c)
{
    const ingot_softmax_params *p = c->params;
    int rank = c->inputs[0].type.rank, axis;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    if (rank >= 0)
        INGOT_TRY(ingot_infer_axis(c, "axis", p->axis, rank, 0, &axis));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

static ingot_status infer_cumulative(ingot_infer *c)
{
    int64_t values[INGOT_MAX_KNOWN];
    size_t count;
    int rank = c->inputs[0].type.rank, axis;
    if (ingot_infer_numbers(c, 1, values, INGOT_MAX_KNOWN, &count)) {
        if (count != 1)
            return ingot_infer_fail(c, "input 'axis' must be a single number, but has %zu elements", count);
        if (rank >= 0)
            INGOT_TRY(ingot_infer_axis(c, "axis", values[0], rank, 0, &axis));
    }
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

#define SOFTMAX(op, text)                                                            \
    const ingot_op ingot_op_##op##_1 = {.summary = text " (flattens the axes)",      \
                                        .params_size = sizeof(ingot_softmax_params), \
                                        .fields = softmax_fields,                    \
                                        .check = check_flattens,                     \
                                        .infer = infer_softmax,                      \
                                        .flags = INGOT_OP_IN_PLACE};                 \
    const ingot_op ingot_op_##op = {.summary = text,                                 \
                                    .params_size = sizeof(ingot_softmax_params),     \
                                    .fields = softmax_fields,                        \
                                    .infer = infer_softmax,                          \
                                    .flags = INGOT_OP_IN_PLACE};
SOFTMAX(softmax, "e^x, divided by its sum along an axis")
SOFTMAX(log_softmax, "The logarithm of Softmax")
SOFTMAX(hardmax, "1 for the first greatest element along an axis, 0 for the others")

const ingot_op ingot_op_cum_sum = {.summary = "Sums of all elements so far along an axis",
                                   .params_size = sizeof(ingot_cumulative_params),
                                   .fields = cumulative_fields,
                                   .infer = infer_cumulative,
                                   .flags = INGOT_OP_IN_PLACE};
const ingot_op ingot_op_cum_prod = {.summary = "Products of all elements so far along an axis",
                                    .params_size = sizeof(ingot_cumulative_params),
                                    .fields = cumulative_fields,
                                    .infer = infer_cumulative,
                                    .flags = INGOT_OP_IN_PLACE};
