/* Reference kernels of Shape and Size. */
#include "ops/shape.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

ingot_status ingot_ref_shape(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    int first, end;
    ingot_shape_range(call->params, x->rank, &first, &end);
    int64_t *y = call->outputs[0]->data;
    for (int i = first; i < end; i++)
        *y++ = x->dims[i];
    return INGOT_OK;
}

ingot_status ingot_ref_size(const ingot_kernel_call *call)
{
    *(int64_t *)call->outputs[0]->data = (int64_t)ingot_ref_count(call->inputs[0]);
    return INGOT_OK;
}
