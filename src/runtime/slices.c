#include "runtime/slices.h"

#include <string.h>

#include "base/number.h"
#include "ops/kernel.h"

/* Elements before and after an axis, of a shape with that axis. */
static void split_at(const int64_t *dims, int rank, int axis, size_t *outer, size_t *inner)
{
    *outer = *inner = 1;
    for (int i = 0; i < rank; i++)
        *(i < axis ? outer : inner) *= i == axis ? 1 : (size_t)dims[i];
}

static ingot_status copy_run(ingot_value *to, size_t to_index, const ingot_value *from, size_t from_index, size_t count,
                             ingot_error *error)
{
    if (from->element != INGOT_STRING) {
        ingot_copy_elements(ingot_element_bits(from->element), to->data, to_index, from->data, from_index, count);
        return INGOT_OK;
    }
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;
        const char *text = ingot_value_string(from, from_index + i, &length);
        INGOT_TRY(ingot_value_set_string(to, to_index + i, text, length, error));
    }
    return INGOT_OK;
}

ingot_status ingot_slice_take(ingot_value *slice, const ingot_value *whole, int axis, int64_t index,
                              ingot_budget *budget, ingot_error *error)
{
    int64_t dims[INGOT_MAX_RANK];
    size_t outer, inner;
    int rank = whole->rank - 1;
    for (int i = 0; i < rank; i++)
        dims[i] = whole->dims[i < axis ? i : i + 1];
    split_at(whole->dims, whole->rank, axis, &outer, &inner);
    size_t start = (size_t)index * inner;
    INGOT_TRY(ingot_value_set_tensor_within(budget, slice, whole->element, rank, dims, error));
    for (size_t o = 0; o < outer; o++)
        INGOT_TRY(copy_run(slice, o * inner, whole, o * (size_t)whole->dims[axis] * inner + start, inner, error));
    return INGOT_OK;
}

ingot_status ingot_slice_put(ingot_value *whole, const ingot_value *item, int axis, int64_t index, ingot_error *error)
{
    size_t outer, inner;
    split_at(whole->dims, whole->rank, axis, &outer, &inner);
    for (size_t o = 0; o < outer; o++)
        INGOT_TRY(
            copy_run(whole, (o * (size_t)whole->dims[axis] + (size_t)index) * inner, item, o * inner, inner, error));
    return INGOT_OK;
}

void ingot_stack_dims(const ingot_value *item, int axis, int64_t length, int64_t *dims)
{
    for (int i = 0; i <= item->rank; i++)
        dims[i] = i < axis ? item->dims[i] : i == axis ? length : item->dims[i - 1];
}

/* The same content in memory for at least room items. */
static ingot_status grow_stack(ingot_value *stack, const ingot_value *item, int64_t count, int64_t room,
                               ingot_budget *budget, ingot_error *error)
{
    int64_t dims[INGOT_MAX_RANK];
    ingot_value larger;
    ingot_value_init(&larger);
    larger.budget = stack->budget;
    ingot_stack_dims(item, 0, room, dims);
    INGOT_TRY(ingot_value_set_tensor_within(budget, &larger, item->element, item->rank + 1, dims, error));
    ingot_status status = copy_run(&larger, 0, stack, 0, (size_t)count * ingot_value_count(item), error);
    ingot_value_clear(status == INGOT_OK ? stack : &larger);
    if (status == INGOT_OK)
        *stack = larger;
    return status;
}

ingot_status ingot_stack_append(ingot_value *stack, const ingot_value *item, int64_t count, ingot_budget *budget,
                                ingot_error *error)
{
    int64_t dims[INGOT_MAX_RANK];
    size_t bytes;
    if (item->rank + 1 > INGOT_MAX_RANK)
        return ingot_fail(error, INGOT_INVALID_INPUT,
                          "a scan output of items of rank %d would have more than %d dimensions", item->rank,
                          INGOT_MAX_RANK);
    ingot_stack_dims(item, 0, count + 1, dims);
    if (!ingot_tensor_bytes(item->element, item->rank + 1, dims, &bytes))
        return ingot_fail(error, INGOT_INVALID_INPUT, "a scan output has grown beyond any memory");
    if (count == 0)
        INGOT_TRY(ingot_value_set_tensor_within(budget, stack, item->element, item->rank + 1, dims, error));
    else if (bytes > stack->capacity)
        INGOT_TRY(grow_stack(stack, item, count, count < INT64_MAX / 4 ? count * 2 : count + 1, budget, error));
    stack->dims[0] = count + 1;
    return ingot_slice_put(stack, item, 0, count, error);
}
