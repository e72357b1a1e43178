/* RandomNormal, RandomUniform and their Like forms, Bernoulli, Multinomial, Dropout. */
#include "ops/random.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "ops/movement.h"

uint64_t ingot_random_key(const ingot_random_seed *seed)
{
    uint32_t bits;
    if (!seed->given || isnan(seed->value))
        return ingot_random_new_key();
    memcpy(&bits, &seed->value, sizeof bits);
    return bits;
}

/* ---- Attributes ---- */

#define SEED                                                                        \
    {                                                                               \
        "seed", INGOT_PARAM_FLOAT, offsetof(ingot_random_params, seed.value), NULL, \
            offsetof(ingot_random_params, seed.given)                               \
    }
#define DTYPE                                                                                                          \
    {                                                                                                                  \
        "dtype", INGOT_PARAM_INT, offsetof(ingot_random_params, dtype), NULL, offsetof(ingot_random_params, has_dtype) \
    }

static const ingot_param_field normal_fields[] = {
    SEED,
    DTYPE,
    {"shape", INGOT_PARAM_INTS, offsetof(ingot_random_params, shape), NULL, 0},
    {"mean", INGOT_PARAM_FLOAT, offsetof(ingot_random_params, a), NULL, 0},
    {"scale", INGOT_PARAM_FLOAT, offsetof(ingot_random_params, b), NULL, 0},
    {0},
};
static const ingot_param_field uniform_fields[] = {
    SEED,
    DTYPE,
    {"shape", INGOT_PARAM_INTS, offsetof(ingot_random_params, shape), NULL, 0},
    {"low", INGOT_PARAM_FLOAT, offsetof(ingot_random_params, a), NULL, 0},
    {"high", INGOT_PARAM_FLOAT, offsetof(ingot_random_params, b), NULL, 0},
    {0},
};
static const ingot_param_field bernoulli_fields[] = {SEED, DTYPE, {0}};
static const ingot_param_field multinomial_fields[] = {
    SEED,
    DTYPE,
    {"sample_size", INGOT_PARAM_INT, offsetof(ingot_random_params, sample_size), NULL, 0},
    {0},
};
static const ingot_param_field dropout_fields[] = {
    {"seed", INGOT_PARAM_INT, offsetof(ingot_dropout_params, seed), NULL, offsetof(ingot_dropout_params, has_seed)},
    {0},
};

static bool is_plain_float(ingot_element element)
{
    return element == INGOT_FLOAT || element == INGOT_DOUBLE || element == INGOT_FLOAT16 || element == INGOT_BFLOAT16;
}

static ingot_status check_dtype(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_random_params *p = params;
    ingot_element element;
    return p->has_dtype ? ingot_movement_element(node, "dtype", p->dtype, &element, error) : INGOT_OK;
}

static ingot_status check_numbers(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_random_params *p = params;
    p->normal = strstr(node->op_type, "Normal") != NULL;
    if (p->has_dtype && !is_plain_float((ingot_element)p->dtype))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'dtype' is %lld, which is no float type",
                               (long long)p->dtype);
    return INGOT_OK;
}

static ingot_status check_shape(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_random_params *p = params;
    INGOT_TRY(check_numbers(node, params, error));
    if (!p->has_dtype)
        p->dtype = INGOT_FLOAT;
    if (p->shape.count > INGOT_MAX_RANK)
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED, "attribute 'shape' has %zu sizes, but at most %d can be",
                               p->shape.count, INGOT_MAX_RANK);
    for (size_t i = 0; i < p->shape.count; i++)
        if (p->shape.data[i] < 0)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'shape' holds the negative size %lld",
                                   (long long)p->shape.data[i]);
    return INGOT_OK;
}

static ingot_status check_multinomial(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_random_params *p = params;
    if (!p->has_dtype)
        p->dtype = INGOT_INT32;
    if (p->dtype != INGOT_INT32 && p->dtype != INGOT_INT64)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'dtype' is %lld, but must be 6 (int32) or 7 (int64)", (long long)p->dtype);
    if (p->sample_size < 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'sample_size' is %lld, but must not be negative", (long long)p->sample_size);
    return INGOT_OK;
}

/* ---- Shapes ---- */

static ingot_status infer_numbers(ingot_infer *c)
{
    const ingot_random_params *p = c->params;
    ingot_infer_set(c, 0, (ingot_element)p->dtype, (int)p->shape.count, p->shape.data);
    return INGOT_OK;
}

static ingot_status infer_like(ingot_infer *c)
{
    const ingot_random_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_element element = p->has_dtype ? (ingot_element)p->dtype : x->element;
    if (!p->has_dtype && element != INGOT_UNDEFINED && !is_plain_float(element))
        return ingot_infer_fail(c,
                                "the input is of type %s and attribute 'dtype' is not given: there are no random "
                                "numbers of that type",
                                ingot_element_name(element));
    ingot_infer_set(c, 0, element, x->rank, x->dims);
    return INGOT_OK;
}

static ingot_status infer_bernoulli(ingot_infer *c)
{
    const ingot_random_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_infer_set(c, 0, p->has_dtype ? (ingot_element)p->dtype : x->element, x->rank, x->dims);
    return INGOT_OK;
}

static ingot_status infer_multinomial(ingot_infer *c)
{
    const ingot_random_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 2));
    ingot_infer_set(c, 0, (ingot_element)p->dtype, 2,
                    (ingot_dim[]){x->rank == 2 ? x->dims[0] : INGOT_DIM_UNKNOWN, p->sample_size});
    return INGOT_OK;
}

static ingot_status check_dropout_10(const ingot_node *node, void *params, ingot_error *error)
{
    ((ingot_dropout_params *)params)->mask_is_bool = true;
    return INGOT_OK;
}

static ingot_status infer_dropout(ingot_infer *c)
{
    const ingot_dropout_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_element mask = params->mask_is_bool ? INGOT_BOOL : input->element;
    INGOT_TRY(ingot_movement_one(c, 1));
    INGOT_TRY(ingot_movement_one(c, 2));
    ingot_infer_copy(c, 0, 0, false);
    ingot_infer_set(c, 1, mask, input->rank, input->dims);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

#define RANDOM(op, text, fields_, check_, infer_)                               \
    const ingot_op ingot_op_##op = {.summary = text,                            \
                                    .params_size = sizeof(ingot_random_params), \
                                    .fields = fields_,                          \
                                    .check = check_,                            \
                                    .infer = infer_,                            \
                                    .flags = INGOT_OP_RANDOM};
RANDOM(random_normal, "normally distributed numbers", normal_fields, check_shape, infer_numbers)
RANDOM(random_uniform, "numbers spread evenly between two bounds", uniform_fields, check_shape, infer_numbers)
RANDOM(random_normal_like, "normally distributed numbers in the shape of its input", normal_fields, check_numbers,
       infer_like)
RANDOM(random_uniform_like, "numbers spread evenly between two bounds, in the shape of its input", uniform_fields,
       check_numbers, infer_like)
RANDOM(bernoulli, "1 with the probability that the input gives, else 0", bernoulli_fields, check_dtype, infer_bernoulli)
RANDOM(multinomial, "classes drawn by their log-probabilities", multinomial_fields, check_multinomial,
       infer_multinomial)

/* The older forms never drop here: their is_test and ratio only matter in training. */
const ingot_op ingot_op_dropout_1 = {
    .summary = "its input: nothing is dropped outside training",
    .params_size = sizeof(ingot_dropout_params),
    .infer = infer_dropout,
    .flags = INGOT_OP_IN_PLACE,
};
const ingot_op ingot_op_dropout_10 = {
    .summary = "its input: nothing is dropped outside training",
    .params_size = sizeof(ingot_dropout_params),
    .check = check_dropout_10,
    .infer = infer_dropout,
    .flags = INGOT_OP_IN_PLACE,
};
const ingot_op ingot_op_dropout = {
    .summary = "its input; in training mode some elements become 0",
    .params_size = sizeof(ingot_dropout_params),
    .fields = dropout_fields,
    .check = check_dropout_10,
    .infer = infer_dropout,
    .flags = INGOT_OP_IN_PLACE | INGOT_OP_RANDOM,
};
