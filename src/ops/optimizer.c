/* Adam, Adagrad and Momentum: one step of an optimizer. */
#include "ops/optimizer.h"

#define FLOAT_FIELD(name, member)                                                  \
    {                                                                              \
        name, INGOT_PARAM_FLOAT, offsetof(ingot_optimizer_params, member), NULL, 0 \
    }

static const char *const mode_words[] = {"standard", "nesterov", NULL};

static const ingot_param_field adam_fields[] = {
    FLOAT_FIELD("alpha", alpha),
    FLOAT_FIELD("beta", beta),
    FLOAT_FIELD("epsilon", epsilon),
    FLOAT_FIELD("norm_coefficient", norm),
    FLOAT_FIELD("norm_coefficient_post", norm_post),
    {0},
};
static const ingot_param_field adagrad_fields[] = {
    FLOAT_FIELD("decay_factor", decay_factor),
    FLOAT_FIELD("epsilon", epsilon),
    FLOAT_FIELD("norm_coefficient", norm),
    {0},
};
static const ingot_param_field momentum_fields[] = {
    FLOAT_FIELD("alpha", alpha),
    FLOAT_FIELD("beta", beta),
    {"mode", INGOT_PARAM_WORD, offsetof(ingot_optimizer_params, nesterov), mode_words, 0},
    FLOAT_FIELD("norm_coefficient", norm),
    {0},
};

static ingot_status check_groups(const ingot_node *node, ingot_optimizer_params *p, size_t groups, ingot_error *error)
{
    p->groups = groups;
    p->tensors = (node->operand_count - 2) / groups;
    if (p->tensors == 0 || node->operand_count != 2 + groups * p->tensors)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "it has %zu inputs, but needs 2 and a multiple of %zu",
                               node->operand_count, groups);
    if (node->output_count > (groups - 1) * p->tensors)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "it has %zu outputs, but gives %zu",
                               node->output_count, (groups - 1) * p->tensors);
    return INGOT_OK;
}

static ingot_status check_adam(const ingot_node *node, void *params, ingot_error *error)
{
    return check_groups(node, params, 4, error);
}

static ingot_status check_three(const ingot_node *node, void *params, ingot_error *error)
{
    return check_groups(node, params, 3, error);
}

/* Output g * n + i takes after X_i, or what belongs to it behind the gradients. All tensors of an i have one shape. */
static ingot_status infer_optimizer(ingot_infer *c)
{
    const ingot_optimizer_params *p = c->params;
    size_t n = p->tensors;
    for (size_t i = 0; i < n; i++) {
        const ingot_type *x = &c->inputs[2 + i].type;
        for (size_t g = 1; g < p->groups; g++) {
            const ingot_type *other = &c->inputs[2 + g * n + i].type;
            if (x->rank < 0 || other->rank < 0)
                continue;
            if (x->rank != other->rank)
                return ingot_infer_fail(c, "inputs %zu and %zu have ranks %d and %d, but must have one shape", 2 + i,
                                        2 + g * n + i, x->rank, other->rank);
            for (int d = 0; d < x->rank; d++)
                INGOT_TRY(ingot_infer_same_dim(c, "the sizes of a tensor, its gradient and its memory", x->dims[d],
                                               other->dims[d], NULL));
        }
    }
    for (size_t i = 0; i < c->output_count; i++)
        ingot_infer_copy(c, i, i < n ? 2 + i : 2 + n + i, false);
    return INGOT_OK;
}

#define OPTIMIZER(op, text, check_)                                                \
    const ingot_op ingot_op_##op = {.summary = "one step of " text,                \
                                    .params_size = sizeof(ingot_optimizer_params), \
                                    .fields = op##_fields,                         \
                                    .check = check_,                               \
                                    .infer = infer_optimizer};
OPTIMIZER(adam, "Adam", check_adam)
OPTIMIZER(adagrad, "Adagrad", check_three)
OPTIMIZER(momentum, "gradient descent with momentum", check_three)
