/* Add, Sub, Mul, Div, Pow, Mod, PRelu; comparison, logic and bits: attributes, shapes, content. */
#include "ops/binary.h"

#include "base/number.h"
#include "ops/content.h"

static const char *const directions[] = {"LEFT", "RIGHT", NULL};

static const ingot_param_field mod_fields[] = {
    {"fmod", INGOT_PARAM_BOOL, offsetof(ingot_binary_params, fmod), NULL, 0},
    {0},
};
static const ingot_param_field shift_fields[] = {
    {"direction", INGOT_PARAM_WORD, offsetof(ingot_binary_params, direction), directions, 0},
    {0},
};
static const ingot_param_field legacy_fields[] = {
    {"broadcast", INGOT_PARAM_BOOL, offsetof(ingot_binary_params, broadcast), NULL, 0},
    {"axis", INGOT_PARAM_INT, offsetof(ingot_binary_params, axis), NULL, offsetof(ingot_binary_params, axis_given)},
    {0},
};

static ingot_status check_legacy(const ingot_node *node, void *params, ingot_error *error)
{
    ((ingot_binary_params *)params)->legacy = true;
    return INGOT_OK;
}

/* The old PRelu has no attributes: its slope is one number, or one a channel. */
static ingot_status check_legacy_prelu(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_binary_params *p = params;
    p->legacy = p->broadcast = p->axis_given = true;
    p->axis = 1;
    return INGOT_OK;
}

int ingot_binary_place(const ingot_binary_params *params, int a_rank, int b_rank, const int64_t *b_dims, int64_t *dims)
{
    int rank = b_rank;
    for (int i = 0; i < b_rank; i++)
        dims[i] = b_dims[i];
    if (!params->axis_given || b_rank == 0 || b_rank >= a_rank)
        return rank;
    int64_t axis = params->axis < 0 ? params->axis + a_rank : params->axis;
    if (axis < 0 || axis > a_rank - b_rank)
        return -1;
    while (rank < a_rank - (int)axis)
        dims[rank++] = 1;
    return rank;
}

/* ---- Shapes ---- */

static ingot_status infer_legacy(ingot_infer *c, ingot_element element)
{
    const ingot_binary_params *p = c->params;
    const ingot_type *a = &c->inputs[0].type, *b = &c->inputs[1].type;
    if (a->rank < 0 || b->rank < 0) {
        ingot_infer_set(c, 0, element, a->rank, a->dims);
        return INGOT_OK;
    }
    ingot_dim placed[INGOT_MAX_RANK], dims[INGOT_MAX_RANK];
    int rank, placed_rank = ingot_binary_place(p, a->rank, b->rank, b->dims, placed);
    if (placed_rank < 0)
        return ingot_infer_fail(c,
                                "the second input has rank %d: it cannot start at axis %lld of the first, of rank %d",
                                b->rank, (long long)p->axis, a->rank);
    if (!p->broadcast && a->rank != b->rank)
        return ingot_infer_fail(c, "inputs have ranks %d and %d, which must be equal where attribute 'broadcast' is 0",
                                a->rank, b->rank);
    INGOT_TRY(ingot_infer_broadcast_dims(c, a->rank, a->dims, placed_rank, placed, &rank, dims));
    for (int i = 0; !p->broadcast && i < a->rank; i++)
        INGOT_TRY(ingot_infer_same_dim(c, "sizes of inputs that are not broadcast", a->dims[i], b->dims[i], NULL));
    for (int i = 0; i < rank && i + a->rank >= rank; i++) {
        ingot_dim own = a->dims[i + a->rank - rank];
        if (ingot_dim_is_number(own) && ingot_dim_is_number(dims[i]) && own != dims[i])
            return ingot_infer_fail(
                c, "input 'B' would make axis %d of size %lld one of size %lld; only 'B' may be broadcast", i,
                (long long)own, (long long)dims[i]);
    }
    if (rank > a->rank)
        return ingot_infer_fail(c, "input 'B' has rank %d, more than %d of 'A'", b->rank, a->rank);
    ingot_infer_set(c, 0, element, a->rank, a->dims);
    return INGOT_OK;
}

static ingot_status infer_shape(ingot_infer *c, ingot_element element)
{
    const ingot_binary_params *p = c->params;
    if (p->legacy)
        return infer_legacy(c, element);
    ingot_dim dims[INGOT_MAX_RANK];
    int rank;
    INGOT_TRY(ingot_infer_broadcast(c, 0, 2, &rank, dims));
    ingot_infer_set(c, 0, element, rank, dims);
    return INGOT_OK;
}

static ingot_status infer_same_type(ingot_infer *c)
{
    return infer_shape(c, c->inputs[0].type.element);
}

/* Infer functions of one operator each, with the content it gives. */
#define DEFINE_INFER(name, element, content)         \
    static ingot_status infer_##name(ingot_infer *c) \
    {                                                \
        INGOT_TRY(infer_shape(c, element));          \
        ingot_content_combine(c, content);           \
        return INGOT_OK;                             \
    }

/* ---- Content ---- */

/* Quotients and remainders in C round toward zero; on sizes that is rounding down. */
static ingot_dim content_div(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    if (ingot_dim_is_number(a) && ingot_dim_is_number(b))
        return b == 0 || b == -1 ? ingot_dim_make(dims, INGOT_DIM_FLOOR_DIV, a, b) : a / b;
    if (!ingot_content_not_negative(dims, a) || !ingot_content_not_negative(dims, b))
        return INGOT_DIM_UNKNOWN;
    return ingot_dim_make(dims, INGOT_DIM_FLOOR_DIV, a, b);
}

static ingot_dim content_mod(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    return ingot_dim_make(dims, INGOT_DIM_MOD, a, b);
}

static ingot_dim content_fmod(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    if (!ingot_content_not_negative(dims, a) || !ingot_content_not_negative(dims, b))
        return INGOT_DIM_UNKNOWN;
    return ingot_dim_make(dims, INGOT_DIM_MOD, a, b);
}

/* What can be told of numbers only. */
#define DEFINE_NUMBER_CONTENT(name, expression)                                                                \
    static ingot_dim content_##name(ingot_dims *dims, ingot_dim a, ingot_dim b)                                \
    {                                                                                                          \
        return ingot_dim_is_number(a) && ingot_dim_is_number(b) ? (ingot_dim)(expression) : INGOT_DIM_UNKNOWN; \
    }
DEFINE_NUMBER_CONTENT(less, a < b)
DEFINE_NUMBER_CONTENT(less_or_equal, a <= b)
DEFINE_NUMBER_CONTENT(greater, a > b)
DEFINE_NUMBER_CONTENT(greater_or_equal, a >= b)
DEFINE_NUMBER_CONTENT(and, a &&b)
DEFINE_NUMBER_CONTENT(or, a || b)
DEFINE_NUMBER_CONTENT(xor, !a != !b)

/* A size is never negative: what models ask when they compare a size with -1. */
static ingot_dim content_equal(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    if (a == INGOT_DIM_UNKNOWN || b == INGOT_DIM_UNKNOWN)
        return INGOT_DIM_UNKNOWN;
    if (a == b)
        return 1;
    if (ingot_dim_is_number(a) && ingot_dim_is_number(b))
        return 0;
    ingot_dim number = ingot_dim_is_number(a) ? a : b, other = ingot_dim_is_number(a) ? b : a;
    bool differ = ingot_dim_is_number(number) && number < 0 && ingot_content_not_negative(dims, other);
    return differ ? 0 : INGOT_DIM_UNKNOWN;
}

DEFINE_INFER(add, c->inputs[0].type.element, ingot_dim_add)
DEFINE_INFER(sub, c->inputs[0].type.element, ingot_dim_sub)
DEFINE_INFER(mul, c->inputs[0].type.element, ingot_dim_mul)
DEFINE_INFER(div, c->inputs[0].type.element, content_div)
DEFINE_INFER(equal, INGOT_BOOL, content_equal)
DEFINE_INFER(less, INGOT_BOOL, content_less)
DEFINE_INFER(less_or_equal, INGOT_BOOL, content_less_or_equal)
DEFINE_INFER(greater, INGOT_BOOL, content_greater)
DEFINE_INFER(greater_or_equal, INGOT_BOOL, content_greater_or_equal)
DEFINE_INFER(and, INGOT_BOOL, content_and)
DEFINE_INFER(or, INGOT_BOOL, content_or)
DEFINE_INFER(xor, INGOT_BOOL, content_xor)

static ingot_status infer_mod(ingot_infer *c)
{
    const ingot_binary_params *p = c->params;
    ingot_element element = c->inputs[0].type.element;
    if (ingot_element_is_float(element) && !p->fmod && c->node->opset < 28)
        return ingot_infer_fail(
            c, "attribute 'fmod' is 0, which before opset 28 is for integers; inputs of type %s need 1",
            ingot_element_name(element));
    INGOT_TRY(infer_shape(c, element));
    ingot_content_combine(c, p->fmod ? content_fmod : content_mod);
    return INGOT_OK;
}

/* The slope must fit the input, whose shape the result has. */
static ingot_status infer_prelu(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    int rank;
    INGOT_TRY(ingot_infer_broadcast(c, 0, 2, &rank, dims));
    if (rank >= 0 && x->rank >= 0 && rank > x->rank)
        return ingot_infer_fail(c, "input 'slope' has rank %d, more than %d of the input", rank, x->rank);
    for (int i = 0; rank >= 0 && i < x->rank; i++)
        if (ingot_dim_is_number(x->dims[i]) && ingot_dim_is_number(dims[i]) && x->dims[i] != dims[i])
            return ingot_infer_fail(c, "input 'slope' would make axis %d of size %lld one of size %lld", i,
                                    (long long)x->dims[i], (long long)dims[i]);
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

#define BINARY(op, text, field_table, infer_function, op_flags)                 \
    const ingot_op ingot_op_##op = {.summary = text,                            \
                                    .params_size = sizeof(ingot_binary_params), \
                                    .fields = field_table,                      \
                                    .infer = infer_function,                    \
                                    .flags = op_flags};
#define LEGACY(op, text, infer_function, op_flags)                                  \
    const ingot_op ingot_op_##op##_1 = {.summary = text " (before opset 7)",        \
                                        .params_size = sizeof(ingot_binary_params), \
                                        .fields = legacy_fields,                    \
                                        .check = check_legacy,                      \
                                        .infer = infer_function,                    \
                                        .flags = op_flags};
#define BOTH(op, text, infer_function, op_flags)     \
    BINARY(op, text, NULL, infer_function, op_flags) \
    LEGACY(op, text, infer_function, op_flags)

BOTH(add, "A + B", infer_add, INGOT_OP_IN_PLACE)
BOTH(sub, "A - B", infer_sub, INGOT_OP_IN_PLACE)
BOTH(mul, "A * B", infer_mul, INGOT_OP_IN_PLACE)
BOTH(div, "A / B; integers round toward zero", infer_div, INGOT_OP_IN_PLACE)
BOTH(pow, "A to the power of B", infer_same_type, INGOT_OP_IN_PLACE)
BOTH(and, "A and B", infer_and, INGOT_OP_IN_PLACE)
BOTH(or, "A or B", infer_or, INGOT_OP_IN_PLACE)
BOTH(xor, "A or B, not both", infer_xor, INGOT_OP_IN_PLACE)
BOTH(equal, "Whether A = B", infer_equal, 0)
BOTH(greater, "Whether A > B", infer_greater, 0)
BOTH(less, "Whether A < B", infer_less, 0)
BINARY(greater_or_equal, "Whether A >= B", NULL, infer_greater_or_equal, 0)
BINARY(less_or_equal, "Whether A <= B", NULL, infer_less_or_equal, 0)
BINARY(mod, "The remainder of A / B", mod_fields, infer_mod, INGOT_OP_IN_PLACE)
BINARY(bitwise_and, "The bits set in A and in B", NULL, infer_same_type, INGOT_OP_IN_PLACE)
BINARY(bitwise_or, "The bits set in A or in B", NULL, infer_same_type, INGOT_OP_IN_PLACE)
BINARY(bitwise_xor, "The bits set in one of A and B", NULL, infer_same_type, INGOT_OP_IN_PLACE)
BINARY(bit_shift, "A with its bits shifted by B; those that leave the type are lost", shift_fields, infer_same_type,
       INGOT_OP_IN_PLACE)
BINARY(prelu, "x, times a slope where it is negative", NULL, infer_prelu, INGOT_OP_IN_PLACE)
const ingot_op ingot_op_prelu_1 = {.summary = "x, times a slope where it is negative (before opset 7)",
                                   .params_size = sizeof(ingot_binary_params),
                                   .check = check_legacy_prelu,
                                   .infer = infer_same_type,
                                   .flags = INGOT_OP_IN_PLACE};
