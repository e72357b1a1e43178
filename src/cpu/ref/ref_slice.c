/* Reference kernels of Slice, Crop and CenterCropPad. */
#include "ops/slice.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

static int64_t list_element(const ingot_kernel_call *call, const ingot_ints *attribute, size_t input, size_t i)
{
    return attribute->given ? attribute->data[i] : ingot_ref_integer(call->inputs[input], i);
}

ingot_status ingot_ref_slice(const ingot_kernel_call *call)
{
    const ingot_slice_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t strides[INGOT_MAX_RANK], offset = 0;
    size_t count = params->starts.given ? params->starts.count : ingot_ref_count(call->inputs[1]);
    bool has_axes = params->axes.given || ingot_kernel_has(call, 3);
    if (ingot_ref_count(y) == 0)
        return INGOT_OK;
    ingot_plain_strides(x->rank, x->dims, strides);
    for (size_t i = 0; i < count; i++) {
        int axis = has_axes ? ingot_axis(list_element(call, &params->axes, 3, i), x->rank) : (int)i;
        int64_t start = list_element(call, &params->starts, 1, i), end = list_element(call, &params->ends, 2, i);
        int64_t step = ingot_kernel_has(call, 4) ? ingot_ref_integer(call->inputs[4], i) : 1, first, length;
        ingot_slice_range(x->dims[axis], start, end, step, &first, &length);
        offset += first * strides[axis];
        strides[axis] =
            length > 1 ? strides[axis] * step : 0; /* a step may be too large to multiply, but then takes one */
    }
    ingot_walk walk;
    ingot_walk_init(&walk, y->rank, y->dims);
    ingot_walk_add_strided(&walk, strides, offset);
    return ingot_ref_copy_walk(call, y, x, &walk);
}

ingot_status ingot_ref_crop(const ingot_kernel_call *call)
{
    const ingot_crop_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t strides[4];
    ingot_walk walk;
    ingot_plain_strides(4, x->dims, strides);
    ingot_walk_init(&walk, 4, y->dims);
    ingot_walk_add_strided(&walk, strides, params->border.data[1] * strides[2] + params->border.data[0]);
    return ingot_ref_copy_walk(call, y, x, &walk);
}

ingot_status ingot_ref_center_crop_pad(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t sizes[INGOT_MAX_RANK], from[INGOT_MAX_RANK], to[INGOT_MAX_RANK], from_first = 0, to_first = 0;
    ingot_plain_strides(x->rank, x->dims, from);
    ingot_plain_strides(y->rank, y->dims, to);
    for (int i = 0; i < y->rank; i++) {
        int64_t more = y->dims[i] - x->dims[i];
        sizes[i] = more > 0 ? x->dims[i] : y->dims[i];
        to_first += more > 0 ? more / 2 * to[i] : 0;
        from_first += more < 0 ? -more / 2 * from[i] : 0;
    }
    ingot_ref_clear(y);
    ingot_walk walk;
    ingot_walk_init_bare(&walk, y->rank, sizes);
    ingot_walk_add_strided(&walk, to, to_first);
    ingot_walk_add_strided(&walk, from, from_first);
    return ingot_ref_copy_walk(call, y, x, &walk);
}
