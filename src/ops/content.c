/* See content.h. */
#include "ops/content.h"

#include "base/number.h"

/* Expressions looked at before not_negative gives up. */
#define VISITS 64

bool ingot_content_followed(ingot_element element)
{
    return element == INGOT_BOOL || ingot_element_is_integer(element);
}

bool ingot_content_of(const ingot_infer *c, size_t input, ingot_dim *values, size_t *count)
{
    if (!ingot_infer_has(c, input) || !ingot_content_followed(c->inputs[input].type.element) ||
        !ingot_infer_integers(c, input, values, INGOT_MAX_KNOWN, count))
        return false;
    for (size_t i = 0; i < *count; i++)
        if (values[i] == INGOT_DIM_REFERENCE_END) /* stands for anything lower as well */
            values[i] = INGOT_DIM_UNKNOWN;
    return true;
}

static bool fits(ingot_element element, ingot_dim value)
{
    size_t bits = ingot_element_bits(element);
    if (!ingot_dim_is_number(value))
        return true;
    if (element == INGOT_BOOL)
        return value == 0 || value == 1;
    if (!ingot_element_is_signed(element))
        return value >= 0 && (bits >= 63 || value < (int64_t)1 << bits);
    return bits >= 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
}

void ingot_content_set(ingot_infer *c, size_t output, const ingot_dim *values, size_t count)
{
    if (!ingot_infer_wants(c, output) || count > INGOT_MAX_KNOWN)
        return;
    ingot_infer_value *value = &c->outputs[output];
    size_t elements;
    if (!ingot_content_followed(value->type.element) || value->type.rank < 0 ||
        !ingot_count_elements(value->type.rank, value->type.dims, &elements) || elements != count)
        return;
    for (size_t i = 0; i < count; i++)
        value->known[i] = fits(value->type.element, values[i]) ? values[i] : INGOT_DIM_UNKNOWN;
    value->known_count = count;
}

void ingot_content_map(ingot_infer *c, ingot_content_unary map)
{
    ingot_dim values[INGOT_MAX_KNOWN];
    size_t count;
    if (!ingot_content_of(c, 0, values, &count))
        return;
    for (size_t i = 0; i < count; i++)
        values[i] = map(c->dims, values[i]);
    ingot_content_set(c, 0, values, count);
}

void ingot_content_combine(ingot_infer *c, ingot_content_binary combine)
{
    ingot_dim a[INGOT_MAX_KNOWN], b[INGOT_MAX_KNOWN];
    size_t a_count, b_count;
    if (!ingot_content_of(c, 0, a, &a_count) || !ingot_content_of(c, 1, b, &b_count))
        return;
    /* With two counts that are equal to the result's, or 1, nothing moves: ingot_content_set refuses all else. */
    size_t count = a_count == 1 ? b_count : a_count;
    if (b_count != 1 && b_count != count)
        return;
    ingot_dim values[INGOT_MAX_KNOWN];
    for (size_t i = 0; i < count; i++)
        values[i] = combine(c->dims, a[a_count == 1 ? 0 : i], b[b_count == 1 ? 0 : i]);
    ingot_content_set(c, 0, values, count);
}

static bool not_negative(const ingot_dims *dims, ingot_dim dim, int *visits)
{
    if (ingot_dim_is_number(dim))
        return dim >= 0;
    if (dim == INGOT_DIM_UNKNOWN || !dims || --*visits < 0)
        return false;
    const ingot_dim_expression *e = ingot_dims_expression(dims, dim);
    switch (e->kind) {
    case INGOT_DIM_SYMBOL:
    case INGOT_DIM_FRESH:
    case INGOT_DIM_BROADCAST:
        return true;
    case INGOT_DIM_SUB:
        return false;
    case INGOT_DIM_MOD:
        return not_negative(dims, e->b, visits);
    case INGOT_DIM_MAX:
        return not_negative(dims, e->a, visits) || not_negative(dims, e->b, visits);
    default:
        return not_negative(dims, e->a, visits) && not_negative(dims, e->b, visits);
    }
}

bool ingot_content_not_negative(const ingot_dims *dims, ingot_dim dim)
{
    int visits = VISITS;
    return not_negative(dims, dim, &visits);
}
