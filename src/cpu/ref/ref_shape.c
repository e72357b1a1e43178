/* Reference kernels of Shape, Size and Dropout. */
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

ingot_status ingot_ref_dropout(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    if (ingot_kernel_has(call, 2) && ingot_ref_integer(call->inputs[2], 0)) {
        const ingot_value *ratio = ingot_kernel_has(call, 1) ? call->inputs[1] : NULL;
        if (!ratio || ingot_load_double(ratio->element, ratio->data, 0) != 0)
            return ingot_node_fail(call->node, call->error, INGOT_UNSUPPORTED,
                                   "training_mode is true with a ratio that is not 0: Ingot does not train");
    }
    if (ingot_kernel_wants(call, 1)) {
        ingot_value *mask = call->outputs[1];
        size_t count = ingot_ref_count(mask);
        for (size_t i = 0; i < count; i++)
            ingot_store_double(mask->element, mask->data, i, 1);
    }
    return ingot_kernel_wants(call, 0) ? ingot_ref_copy_all(call, call->outputs[0], x) : INGOT_OK;
}
