/* Constant has no work at run time: import makes it a constant of the graph. */
#include "cpu/ref/ref.h"

ingot_status ingot_ref_constant(const ingot_kernel_call *call)
{
    return ingot_node_fail(call->node, call->error, INGOT_INTERNAL, "was not made a constant of the graph at import");
}
