/* Reference kernels of Gather, GatherElements and GatherND. */
#include "ops/gather.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_index.h"

ingot_status ingot_ref_gather(const ingot_kernel_call *call)
{
    const ingot_axis_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int axis = ingot_axis(params->axis, x->rank);
    ingot_split split = ingot_split_at(x->rank, x->dims, axis);
    size_t count = ingot_ref_count(call->inputs[1]);
    for (size_t i = 0; i < count; i++) {
        size_t index;
        INGOT_TRY(ingot_ref_index(call, i, axis, x->dims[axis], &index));
        for (size_t outer = 0; outer < split.outer; outer++)
            INGOT_TRY(ingot_ref_copy_run(call, y, (outer * count + i) * split.inner, x,
                                         (outer * split.size + index) * split.inner, split.inner));
    }
    return INGOT_OK;
}

ingot_status ingot_ref_gather_elements(const ingot_kernel_call *call)
{
    const ingot_axis_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    int axis = ingot_axis(params->axis, x->rank);
    int64_t stride;
    ingot_walk walk;
    ingot_ref_index_walk(call, axis, &walk, &stride);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        for (size_t i = 0; i < walk.run; i++) {
            size_t at = (size_t)(walk.offset[0] + (int64_t)i * walk.step[0]), index;
            INGOT_TRY(ingot_ref_index(call, at, axis, x->dims[axis], &index));
            int64_t from = walk.offset[1] + (int64_t)i * walk.step[1] + (int64_t)index * stride;
            INGOT_TRY(ingot_ref_copy_run(call, call->outputs[0], at, x, (size_t)from, 1));
        }
    }
    return INGOT_OK;
}

ingot_status ingot_ref_gather_nd(const ingot_kernel_call *call)
{
    const ingot_gather_nd_params *params = call->params;
    const ingot_value *x = call->inputs[0], *indices = call->inputs[1];
    int batch_dims = (int)params->batch_dims, depth = (int)indices->dims[indices->rank - 1];
    size_t batches = ingot_dims_product(x->dims, 0, batch_dims);
    size_t tuples = ingot_dims_product(indices->dims, batch_dims, indices->rank - 1);
    size_t slices = ingot_dims_product(x->dims, batch_dims, batch_dims + depth);
    size_t inner = ingot_dims_product(x->dims, batch_dims + depth, x->rank);
    for (size_t i = 0; i < batches * tuples; i++) {
        size_t slice;
        INGOT_TRY(ingot_ref_index_tuple(call, i, batch_dims, depth, &slice));
        INGOT_TRY(
            ingot_ref_copy_run(call, call->outputs[0], i * inner, x, (i / tuples * slices + slice) * inner, inner));
    }
    return INGOT_OK;
}
