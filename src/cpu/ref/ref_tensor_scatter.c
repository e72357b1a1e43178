/* TensorScatter and BitCast. */
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"
#include "ops/tensor_scatter.h"

/* First place of the cache that sample writes to. */
static ingot_status first_place(const ingot_kernel_call *call, size_t sample, size_t update, size_t room,
                                size_t *result)
{
    const ingot_tensor_scatter_params *p = call->params;
    int64_t index = ingot_kernel_has(call, 2) ? ((const int64_t *)call->inputs[2]->data)[sample] : 0;
    if (index < 0 || (!p->circular && ((uint64_t)index > room || update > room - (size_t)index)))
        return ingot_kernel_fail(call, "write index %lld of sample %zu with an update of %zu is not in a cache of %zu",
                                 (long long)index, sample, update, room);
    *result = room > 0 ? (size_t)((uint64_t)index % room) : 0;
    return INGOT_OK;
}

ingot_status ingot_ref_tensor_scatter(const ingot_kernel_call *call)
{
    const ingot_tensor_scatter_params *p = call->params;
    const ingot_value *cache = call->inputs[0], *update = call->inputs[1];
    ingot_value *y = call->outputs[0];
    int axis = ingot_axis(p->axis, cache->rank);
    ingot_split to = ingot_split_at(cache->rank, cache->dims, axis);
    size_t length = (size_t)update->dims[axis];
    size_t per_sample = ingot_dims_product(cache->dims, 1, axis);
    INGOT_TRY(ingot_ref_copy_all(call, y, cache));
    for (size_t row = 0; row < to.outer; row++) {
        size_t place;
        INGOT_TRY(first_place(call, row / per_sample, length, to.size, &place));
        size_t until_end = to.size - place < length ? to.size - place : length;
        INGOT_TRY(ingot_ref_copy_run(call, y, (row * to.size + place) * to.inner, update, row * length * to.inner,
                                     until_end * to.inner));
        INGOT_TRY(ingot_ref_copy_run(call, y, row * to.size * to.inner, update, (row * length + until_end) * to.inner,
                                     (length - until_end) * to.inner));
    }
    return INGOT_OK;
}

ingot_status ingot_ref_bit_cast(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    size_t bytes;
    if (!ingot_tensor_bytes(x->element, x->rank, x->dims, &bytes))
        return ingot_kernel_fail(call, "the input is too large");
    if (bytes > 0)
        memcpy(call->outputs[0]->data, x->data, bytes);
    return INGOT_OK;
}
