#include "cpu/ref/ref_scratch.h"

#include <string.h>

#include "cpu/ref/ref_iterate.h"

static bool round_up(size_t bytes, size_t *result)
{
    if (!ingot_add_size(bytes, INGOT_ALIGNMENT - 1, result))
        return false;
    *result -= *result % INGOT_ALIGNMENT;
    return true;
}

ingot_status ingot_ref_scratch(const ingot_kernel_call *call, size_t count, const size_t *elements, const size_t *sizes,
                               void **parts)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        size_t bytes;
        if (!ingot_mul_size(elements[i], sizes[i], &bytes) || !round_up(bytes, &bytes) ||
            !ingot_add_size(total, bytes, &total))
            return ingot_kernel_fail(call, "the scratch memory for %zu elements is too large", elements[i]);
    }
    void *memory;
    INGOT_TRY(ingot_kernel_scratch(call, total, &memory));
    char *next = memory;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = 0;
        parts[i] = next;
        if (round_up(elements[i] * sizes[i], &bytes))
            next += bytes;
    }
    return INGOT_OK;
}

size_t ingot_ref_count(const ingot_value *value)
{
    return ingot_dims_product(value->dims, 0, value->rank);
}

void ingot_ref_to_doubles(const ingot_value *value, size_t first, size_t count, double *to)
{
    switch (value->element) {
    case INGOT_FLOAT:
    case INGOT_DOUBLE:
    case INGOT_FLOAT16:
    case INGOT_BFLOAT16:
        ingot_read_doubles(value->element, value->data, (int64_t)first, 1, count, to);
        return;
    default:
        for (size_t i = 0; i < count; i++)
            to[i] = ingot_load_double(value->element, value->data, first + i);
    }
}

void ingot_ref_zero(ingot_value *value)
{
    size_t bytes = (ingot_ref_count(value) * ingot_element_bits(value->element) + 7) / 8;
    if (bytes)
        memset(value->data, 0, bytes);
}

ingot_status ingot_ref_single(const ingot_kernel_call *call, size_t input, const char *name)
{
    size_t count = ingot_ref_count(call->inputs[input]);
    if (count == 1)
        return INGOT_OK;
    return ingot_kernel_fail(call, "%s has %zu elements, expected one", name, count);
}
