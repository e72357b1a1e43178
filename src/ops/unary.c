/* Elementwise operators of one operand: attributes, shapes, content. */
#include "ops/unary.h"

#include "ops/content.h"

static const char *const gelu_forms[] = {"none", "tanh", NULL};

#define FLOAT_FIELD(name)                                                          \
    {                                                                              \
#name, INGOT_PARAM_FLOAT, offsetof(ingot_activation_params, name), NULL, 0 \
    }

static const ingot_param_field alpha_fields[] = {FLOAT_FIELD(alpha), {0}};
static const ingot_param_field alpha_beta_fields[] = {FLOAT_FIELD(alpha), FLOAT_FIELD(beta), {0}};
static const ingot_param_field alpha_gamma_fields[] = {FLOAT_FIELD(alpha), FLOAT_FIELD(gamma), {0}};
static const ingot_param_field shrink_fields[] = {FLOAT_FIELD(lambd), FLOAT_FIELD(bias), {0}};
static const ingot_param_field gelu_fields[] = {
    {"approximate", INGOT_PARAM_WORD, offsetof(ingot_activation_params, approximate), gelu_forms, 0},
    {0},
};
static const ingot_param_field isinf_fields[] = {
    {"detect_negative", INGOT_PARAM_BOOL, offsetof(ingot_isinf_params, detect_negative), NULL, 0},
    {"detect_positive", INGOT_PARAM_BOOL, offsetof(ingot_isinf_params, detect_positive), NULL, 0},
    {0},
};

static ingot_status infer_same(ingot_infer *c)
{
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

static ingot_status infer_bool(ingot_infer *c)
{
    ingot_infer_set(c, 0, INGOT_BOOL, c->inputs[0].type.rank, c->inputs[0].type.dims);
    return INGOT_OK;
}

/* Floats that are known to be whole numbers come from a Cast of sizes; rounding keeps them. */
static ingot_status infer_rounding(ingot_infer *c)
{
    ingot_infer_copy(c, 0, 0, c->inputs[0].known_count != SIZE_MAX);
    return INGOT_OK;
}

static ingot_dim content_neg(ingot_dims *dims, ingot_dim a)
{
    return ingot_dim_sub(dims, 0, a);
}

static ingot_dim content_abs(ingot_dims *dims, ingot_dim a)
{
    if (ingot_content_not_negative(dims, a))
        return a;
    return ingot_dim_is_number(a) ? ingot_dim_sub(dims, 0, a) : INGOT_DIM_UNKNOWN;
}

static ingot_dim content_relu(ingot_dims *dims, ingot_dim a)
{
    return ingot_content_not_negative(dims, a) ? a : ingot_dim_make(dims, INGOT_DIM_MAX, a, 0);
}

static ingot_dim content_sign(ingot_dims *dims, ingot_dim a)
{
    return ingot_dim_is_number(a) ? (a > 0) - (a < 0) : INGOT_DIM_UNKNOWN;
}

static ingot_dim content_not(ingot_dims *dims, ingot_dim a)
{
    return ingot_dim_is_number(a) ? !a : INGOT_DIM_UNKNOWN;
}

/* The input's type and shape, and what is known of its content, by one rule. */
#define DEFINE_INFER(name)                           \
    static ingot_status infer_##name(ingot_infer *c) \
    {                                                \
        ingot_infer_copy(c, 0, 0, false);            \
        ingot_content_map(c, content_##name);        \
        return INGOT_OK;                             \
    }
DEFINE_INFER(neg)
DEFINE_INFER(abs)
DEFINE_INFER(relu)
DEFINE_INFER(sign)
DEFINE_INFER(not )

/* ---- Descriptors ---- */

#define UNARY(op, text, infer_function) \
    const ingot_op ingot_op_##op = {.summary = text, .infer = infer_function, .flags = INGOT_OP_IN_PLACE};
#define ACTIVATION(op, text, field_table)                                           \
    const ingot_op ingot_op_##op = {.summary = text,                                \
                                    .params_size = sizeof(ingot_activation_params), \
                                    .fields = field_table,                          \
                                    .infer = infer_same,                            \
                                    .flags = INGOT_OP_IN_PLACE};

UNARY(neg, "-x", infer_neg)
UNARY(abs, "|x|", infer_abs)
UNARY(sign, "-1, 0 or 1", infer_sign)
UNARY(not, "not x", infer_not)
UNARY(bitwise_not, "All bits of x the other way", infer_same)
UNARY(floor, "Rounds down", infer_rounding)
UNARY(ceil, "Rounds up", infer_rounding)
UNARY(round, "Rounds to the nearest integer, halves to the even one", infer_rounding)
UNARY(sqrt, "The square root", infer_same)
UNARY(reciprocal, "1 / x", infer_same)
UNARY(exp, "e to the power of x", infer_same)
UNARY(log, "The natural logarithm", infer_same)
UNARY(erf, "The error function", infer_same)
UNARY(sin, "The sine", infer_same)
UNARY(cos, "The cosine", infer_same)
UNARY(tan, "The tangent", infer_same)
UNARY(asin, "The inverse sine", infer_same)
UNARY(acos, "The inverse cosine", infer_same)
UNARY(atan, "The inverse tangent", infer_same)
UNARY(sinh, "The hyperbolic sine", infer_same)
UNARY(cosh, "The hyperbolic cosine", infer_same)
UNARY(tanh, "The hyperbolic tangent", infer_same)
UNARY(asinh, "The inverse hyperbolic sine", infer_same)
UNARY(acosh, "The inverse hyperbolic cosine", infer_same)
UNARY(atanh, "The inverse hyperbolic tangent", infer_same)
UNARY(sigmoid, "1 / (1 + e^-x)", infer_same)
UNARY(relu, "max(x, 0)", infer_relu)
UNARY(softplus, "log(1 + e^x)", infer_same)
UNARY(softsign, "x / (1 + |x|)", infer_same)
UNARY(mish, "x tanh(softplus(x))", infer_same)
UNARY(hard_swish, "x times HardSigmoid of x with alpha 1/6 and beta 1/2", infer_same)
ACTIVATION(leaky_relu, "x, times alpha where it is negative", alpha_fields)
ACTIVATION(thresholded_relu, "x above alpha, else 0", alpha_fields)
ACTIVATION(elu, "alpha (e^x - 1) where x is negative, else x", alpha_fields)
ACTIVATION(celu, "alpha (e^(x / alpha) - 1) where x is negative, else x", alpha_fields)
ACTIVATION(selu, "gamma alpha (e^x - 1) where x is not positive, else gamma x", alpha_gamma_fields)
ACTIVATION(affine, "alpha x + beta", alpha_beta_fields)
ACTIVATION(hard_sigmoid, "alpha x + beta, held to 0 ... 1", alpha_beta_fields)
ACTIVATION(swish, "x / (1 + e^(-alpha x))", alpha_fields)
ACTIVATION(shrink, "x brought toward 0 by bias outside -lambd ... lambd, 0 inside", shrink_fields)
ACTIVATION(gelu, "x times the normal distribution up to x, exact or by tanh", gelu_fields)

const ingot_op ingot_op_is_nan = {.summary = "Whether x is NaN", .infer = infer_bool};
const ingot_op ingot_op_is_inf = {.summary = "Whether x is infinite",
                                  .params_size = sizeof(ingot_isinf_params),
                                  .fields = isinf_fields,
                                  .infer = infer_bool};
