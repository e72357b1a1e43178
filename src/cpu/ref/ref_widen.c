/* WidenFloat: halves as floats. */
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

ingot_status ingot_ref_widen_float(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    if (x->element == y->element)
        return ingot_ref_copy_all(call, y, x);
    ingot_read_floats(x->element, x->data, 0, 1, ingot_ref_count(x), y->data);
    return INGOT_OK;
}
