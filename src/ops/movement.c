#include "ops/movement.h"

#include "ops/content.h"

static ingot_status arithmetic(ingot_infer *c, const char *what, ingot_dim_kind kind, ingot_dim a, ingot_dim b,
                               ingot_dim *result)
{
    *result = ingot_dim_make(c->dims, kind, a, b);
    if (ingot_dim_is_number(a) && ingot_dim_is_number(b) && !ingot_dim_is_number(*result))
        return ingot_infer_fail(c, "the %s, %lld %c %lld, is larger than any tensor can be", what, (long long)a,
                                kind == INGOT_DIM_ADD ? '+' : '*', (long long)b);
    return INGOT_OK;
}

ingot_status ingot_movement_add(ingot_infer *c, const char *what, ingot_dim a, ingot_dim b, ingot_dim *result)
{
    return arithmetic(c, what, INGOT_DIM_ADD, a, b, result);
}

ingot_status ingot_movement_mul(ingot_infer *c, const char *what, ingot_dim a, ingot_dim b, ingot_dim *result)
{
    return arithmetic(c, what, INGOT_DIM_MUL, a, b, result);
}

ingot_status ingot_movement_check_output(ingot_infer *c, size_t output)
{
    if (!ingot_infer_wants(c, output))
        return INGOT_OK;
    const ingot_type *type = &c->outputs[output].type;
    bool numbers = type->rank >= 0;
    char text[256];
    for (int i = 0; i < type->rank; i++) {
        if (!ingot_dim_is_number(type->dims[i]))
            numbers = false;
        else if (type->dims[i] < 0)
            return ingot_infer_fail(c, "dimension %d of output %zu would have the negative size %lld", i, output,
                                    (long long)type->dims[i]);
    }
    size_t bytes;
    if (numbers && !ingot_tensor_bytes(type->element, type->rank, type->dims, &bytes))
        return ingot_infer_fail(c, "output %zu would have the shape %s: that is more than memory can hold", output,
                                ingot_dims_describe(type->rank, type->dims, text, sizeof text));
    return INGOT_OK;
}

ingot_status ingot_movement_set(ingot_infer *c, size_t output, ingot_element element, int rank, const ingot_dim *dims)
{
    if (rank > INGOT_MAX_RANK)
        return ingot_infer_fail(c, "output %zu would have %d dimensions; at most %d are possible", output, rank,
                                INGOT_MAX_RANK);
    if (rank < 0) {
        ingot_infer_set_unranked(c, output, element);
        return INGOT_OK;
    }
    ingot_infer_set(c, output, element, rank, dims);
    return ingot_movement_check_output(c, output);
}

void ingot_movement_keep_content(ingot_infer *c, size_t output, size_t input)
{
    ingot_dim values[INGOT_MAX_KNOWN];
    size_t count;
    if (ingot_content_of(c, input, values, &count))
        ingot_content_set(c, output, values, count);
}

ingot_status ingot_movement_vector_length(ingot_infer *c, size_t input, int *length)
{
    *length = -1;
    if (!ingot_infer_has(c, input))
        return INGOT_OK;
    INGOT_TRY(ingot_infer_rank(c, input, 1, 1));
    const ingot_type *type = &c->inputs[input].type;
    if (type->rank != 1 || !ingot_dim_is_number(type->dims[0]))
        return INGOT_OK;
    if (type->dims[0] > INGOT_MAX_RANK)
        return ingot_infer_fail(c, "input %zu has %lld elements, one for each dimension; at most %d are possible",
                                input, (long long)type->dims[0], INGOT_MAX_RANK);
    *length = (int)type->dims[0];
    return INGOT_OK;
}

ingot_status ingot_movement_axes(ingot_infer *c, const ingot_ints *attribute, size_t input, int rank, bool *known,
                                 int *axes, size_t *count)
{
    int64_t values[INGOT_MAX_RANK];
    const int64_t *given = attribute ? attribute->data : NULL;
    *known = true;
    *count = SIZE_MAX;
    if (attribute && attribute->given) {
        *count = attribute->count;
    } else if (ingot_infer_has(c, input)) {
        int length;
        INGOT_TRY(ingot_infer_rank(c, input, 0, 1));
        if (c->inputs[input].type.rank == 1)
            INGOT_TRY(ingot_movement_vector_length(c, input, &length));
        *known = ingot_infer_numbers(c, input, values, INGOT_MAX_RANK, count);
        given = values;
    }
    if (!*known || *count == SIZE_MAX)
        return INGOT_OK;
    if (*count > INGOT_MAX_RANK)
        return ingot_infer_fail(c, "axes has %zu elements; at most %d are possible", *count, INGOT_MAX_RANK);
    for (size_t i = 0; i < *count; i++) {
        INGOT_TRY(ingot_infer_axis(c, "axes", given[i], rank, 0, &axes[i]));
        for (size_t k = 0; k < i; k++)
            if (axes[k] == axes[i])
                return ingot_infer_fail(c, "axes names dimension %d twice", axes[i]);
    }
    return INGOT_OK;
}

ingot_status ingot_movement_one(ingot_infer *c, size_t input)
{
    if (!ingot_infer_has(c, input))
        return INGOT_OK;
    INGOT_TRY(ingot_infer_rank(c, input, 0, 1));
    const ingot_type *type = &c->inputs[input].type;
    if (type->rank == 1 && ingot_dim_is_number(type->dims[0]) && type->dims[0] != 1)
        return ingot_infer_fail(c, "input %zu has %lld elements, but must hold one", input, (long long)type->dims[0]);
    return INGOT_OK;
}

bool ingot_movement_scalar(const ingot_infer *c, size_t input, int64_t *value)
{
    size_t count;
    return ingot_infer_numbers(c, input, value, 1, &count) && count == 1;
}

ingot_status ingot_movement_element(const ingot_node *node, const char *attribute, int64_t number,
                                    ingot_element *element, ingot_error *error)
{
    if (number <= INGOT_UNDEFINED || number >= INGOT_ELEMENT_COUNT)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute '%s' is %lld, which is no element type",
                               attribute, (long long)number);
    *element = (ingot_element)number;
    return INGOT_OK;
}
