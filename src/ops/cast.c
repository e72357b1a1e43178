/* Cast, CastLike: attributes, types, content. */
#include "ops/cast.h"

#include "base/number.h"
#include "ops/content.h"

static const char *const round_modes[] = {"up", "down", "nearest", NULL};

/* In the order of ingot_element, as far as version 1 goes. */
static const char *const element_words[] = {"UNDEFINED", "FLOAT",  "UINT8",  "INT8",   "UINT16",
                                            "INT16",     "INT32",  "INT64",  "STRING", "BOOL",
                                            "FLOAT16",   "DOUBLE", "UINT32", "UINT64", NULL};

#define SATURATE_FIELD                                                               \
    {                                                                                \
        "saturate", INGOT_PARAM_BOOL, offsetof(ingot_cast_params, saturate), NULL, 0 \
    }
#define ROUND_MODE_FIELD                                                                        \
    {                                                                                           \
        "round_mode", INGOT_PARAM_WORD, offsetof(ingot_cast_params, round_mode), round_modes, 0 \
    }

static const ingot_param_field cast_1_fields[] = {
    {"to", INGOT_PARAM_WORD, offsetof(ingot_cast_params, to_word), element_words, 0},
    {0},
};
static const ingot_param_field cast_fields[] = {
    {"to", INGOT_PARAM_INT, offsetof(ingot_cast_params, to), NULL, 0},
    SATURATE_FIELD,
    ROUND_MODE_FIELD,
    {0},
};
static const ingot_param_field cast_like_fields[] = {SATURATE_FIELD, ROUND_MODE_FIELD, {0}};

static ingot_status check_to(const ingot_node *node, void *params, ingot_error *error)
{
    int64_t to = ((ingot_cast_params *)params)->to;
    if (to <= INGOT_UNDEFINED || to >= INGOT_ELEMENT_COUNT)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'to' is %lld, which is no element type (1 is float, 7 is int64)",
                               (long long)to);
    if (to == INGOT_COMPLEX64 || to == INGOT_COMPLEX128)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'to' is %lld (%s): no cast to that is defined", (long long)to,
                               ingot_element_name((ingot_element)to));
    return INGOT_OK;
}

static ingot_status check_word(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_cast_params *p = params;
    p->to = p->to_word;
    return check_to(node, params, error);
}

/* Whole numbers are followed through floats as well, as long as they stay exact: models cast sizes there and back. */
static ingot_dim cast_content(ingot_dim value, ingot_element to)
{
    if (ingot_element_is_float(to)) {
        int64_t limit = to == INGOT_FLOAT || to == INGOT_DOUBLE ? (int64_t)1 << 24 : 256;
        return ingot_dim_is_number(value) && value >= -limit && value <= limit ? value : INGOT_DIM_UNKNOWN;
    }
    if (to == INGOT_BOOL)
        return ingot_dim_is_number(value) ? value != 0 : INGOT_DIM_UNKNOWN;
    return value;
}

static void infer_content(ingot_infer *c, ingot_element to)
{
    const ingot_infer_value *from = &c->inputs[0];
    ingot_dim values[INGOT_MAX_KNOWN];
    size_t count;
    bool followed =
        ingot_content_followed(from->type.element)
            ? ingot_content_of(c, 0, values, &count)
            : ingot_element_is_float(from->type.element) && ingot_infer_integers(c, 0, values, INGOT_MAX_KNOWN, &count);
    if (!followed || !ingot_infer_wants(c, 0))
        return;
    for (size_t i = 0; i < count; i++)
        values[i] = cast_content(values[i], to);
    if (!ingot_element_is_float(to)) {
        ingot_content_set(c, 0, values, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        c->outputs[0].known[i] = values[i];
    c->outputs[0].known_count = count;
}

static ingot_status infer_to(ingot_infer *c, ingot_element to)
{
    ingot_infer_set(c, 0, to, c->inputs[0].type.rank, c->inputs[0].type.dims);
    infer_content(c, to);
    return INGOT_OK;
}

static ingot_status infer_cast(ingot_infer *c)
{
    return infer_to(c, (ingot_element)((const ingot_cast_params *)c->params)->to);
}

static ingot_status infer_cast_like(ingot_infer *c)
{
    return infer_to(c, c->inputs[1].type.element);
}

const ingot_op ingot_op_cast_1 = {.summary = "The same numbers in another type (before version 6)",
                                  .params_size = sizeof(ingot_cast_params),
                                  .fields = cast_1_fields,
                                  .check = check_word,
                                  .infer = infer_cast};
const ingot_op ingot_op_cast = {.summary = "The same numbers in another type",
                                .params_size = sizeof(ingot_cast_params),
                                .fields = cast_fields,
                                .check = check_to,
                                .infer = infer_cast};
const ingot_op ingot_op_cast_like = {.summary = "The same numbers in the type of the second input",
                                     .params_size = sizeof(ingot_cast_params),
                                     .fields = cast_like_fields,
                                     .infer = infer_cast_like};
