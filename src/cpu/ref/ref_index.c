/* See ref_index.h. */
#include "cpu/ref/ref_index.h"

ingot_status ingot_ref_index(const ingot_kernel_call *call, size_t i, int dimension, int64_t size, size_t *index)
{
    int64_t value = ingot_ref_integer(call->inputs[1], i);
    if (value < -size || value >= size)
        return ingot_kernel_fail(call,
                                 "index %lld (element %zu of input 1) is out of range for dimension %d of input 0, "
                                 "which has size %lld",
                                 (long long)value, i, dimension, (long long)size);
    *index = (size_t)(value < 0 ? value + size : value);
    return INGOT_OK;
}

ingot_status ingot_ref_index_tuple(const ingot_kernel_call *call, size_t i, int first, int depth, size_t *slice)
{
    const int64_t *dims = call->inputs[0]->dims;
    size_t at = 0;
    for (int k = 0; k < depth; k++) {
        size_t index;
        INGOT_TRY(ingot_ref_index(call, i * (size_t)depth + (size_t)k, first + k, dims[first + k], &index));
        at = at * (size_t)dims[first + k] + index;
    }
    *slice = at;
    return INGOT_OK;
}

void ingot_ref_index_walk(const ingot_kernel_call *call, int axis, ingot_walk *walk, int64_t *stride)
{
    const ingot_value *data = call->inputs[0], *indices = call->inputs[1];
    int64_t strides[INGOT_MAX_RANK];
    ingot_plain_strides(data->rank, data->dims, strides);
    *stride = strides[axis];
    strides[axis] = 0;
    ingot_walk_init(walk, indices->rank, indices->dims);
    ingot_walk_add_strided(walk, strides, 0);
}
