/* Reference kernels of Concat, Split, Expand and Tile. */
#include "ops/join.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

ingot_status ingot_ref_concat(const ingot_kernel_call *call)
{
    const ingot_axis_params *params = call->params;
    ingot_value *y = call->outputs[0];
    ingot_split to = ingot_split_at(y->rank, y->dims, ingot_axis(params->axis, y->rank));
    size_t at = 0;
    for (size_t i = 0; i < call->input_count; i++) {
        const ingot_value *x = call->inputs[i];
        size_t run = (size_t)x->dims[ingot_axis(params->axis, y->rank)] * to.inner;
        for (size_t outer = 0; run > 0 && outer < to.outer; outer++)
            INGOT_TRY(ingot_ref_copy_run(call, y, outer * to.size * to.inner + at, x, outer * run, run));
        at += run;
    }
    return INGOT_OK;
}

/* The size of output i along the axis. */
static size_t part_size(const ingot_kernel_call *call, int64_t total, int axis, size_t i)
{
    const ingot_split_params *params = call->params;
    if (call->outputs[i])
        return (size_t)call->outputs[i]->dims[axis];
    if (params->split.given)
        return (size_t)params->split.data[i];
    if (ingot_kernel_has(call, 1))
        return (size_t)ingot_ref_integer(call->inputs[1], i);
    return (size_t)ingot_split_part(total, call->output_count, i);
}

ingot_status ingot_ref_split(const ingot_kernel_call *call)
{
    const ingot_split_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    int axis = ingot_axis(params->axis, x->rank);
    ingot_split from = ingot_split_at(x->rank, x->dims, axis);
    size_t at = 0;
    for (size_t i = 0; i < call->output_count; i++) {
        size_t run = part_size(call, x->dims[axis], axis, i) * from.inner;
        for (size_t outer = 0; call->outputs[i] && run > 0 && outer < from.outer; outer++)
            INGOT_TRY(
                ingot_ref_copy_run(call, call->outputs[i], outer * run, x, outer * from.size * from.inner + at, run));
        at += run;
    }
    return INGOT_OK;
}

ingot_status ingot_ref_expand(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    ingot_walk walk;
    ingot_walk_init(&walk, y->rank, y->dims);
    ingot_walk_add_broadcast(&walk, x->rank, x->dims);
    return ingot_ref_copy_walk(call, y, x, &walk);
}

/* Dimensions of size 1 are repeated by a stride of 0; each other repeat is a copy of its own. */
ingot_status ingot_ref_tile(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t strides[INGOT_MAX_RANK], sizes[INGOT_MAX_RANK], copies[INGOT_MAX_RANK], index[INGOT_MAX_RANK] = {0};
    ingot_walk walk;
    if (ingot_ref_count(y) == 0)
        return INGOT_OK;
    ingot_plain_strides(y->rank, y->dims, strides);
    for (int i = 0; i < y->rank; i++) {
        sizes[i] = x->dims[i] == 1 ? y->dims[i] : x->dims[i];
        copies[i] = y->dims[i] / sizes[i];
    }
    for (;;) {
        int64_t offset = 0;
        for (int i = 0; i < y->rank; i++)
            offset += index[i] * sizes[i] * strides[i];
        ingot_walk_init_bare(&walk, y->rank, sizes);
        ingot_walk_add_strided(&walk, strides, offset);
        ingot_walk_add_broadcast(&walk, x->rank, x->dims);
        INGOT_TRY(ingot_ref_copy_walk(call, y, x, &walk));
        int axis = y->rank - 1;
        while (axis >= 0 && ++index[axis] == copies[axis])
            index[axis--] = 0;
        if (axis < 0)
            return INGOT_OK;
    }
}
