#include "ops/kernel.h"

#include <stdio.h>

ingot_status ingot_kernel_scratch(const ingot_kernel_call *call, size_t bytes, void **memory)
{
    size_t wanted;
    if (!ingot_add_size(bytes, INGOT_ALIGNMENT, &wanted))
        return ingot_kernel_fail(call, "its scratch memory has a size beyond any limit");
    INGOT_TRY(ingot_block_reserve(call->scratch, wanted, call->budget, "scratch memory of a kernel", call->error));
    *memory = call->scratch->data;
    return INGOT_OK;
}

ingot_status ingot_value_set_tensor_within(ingot_budget *budget, ingot_value *value, ingot_element element, int rank,
                                           const int64_t *dims, ingot_error *error)
{
    size_t bytes;
    if (budget && !value->budget && !value->fixed && ingot_tensor_bytes(element, rank, dims, &bytes) &&
        bytes > value->capacity) {
        INGOT_TRY(ingot_budget_take(budget, bytes - value->capacity, "a value of a run", error));
        ingot_budget_give(budget, bytes - value->capacity);
    }
    return ingot_value_set_tensor(value, element, rank, dims, error);
}

ingot_status ingot_kernel_set_output(const ingot_kernel_call *call, size_t output, ingot_element element, int rank,
                                     const int64_t *dims)
{
    ingot_status status =
        ingot_value_set_tensor_within(call->budget, call->outputs[output], element, rank, dims, call->error);
    if (status != INGOT_OK)
        ingot_node_fail_at(call->node, call->error);
    return status;
}

ingot_status ingot_kernel_fail(const ingot_kernel_call *call, const char *format, ...)
{
    char message[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ingot_node_fail(call->node, call->error, INGOT_INVALID_INPUT, "%s", message);
}
