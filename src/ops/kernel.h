/* What a kernel of any backend on the host sees: one call, values in, values out. */
#ifndef INGOT_OPS_KERNEL_H
#define INGOT_OPS_KERNEL_H

#include "base/block.h"
#include "ops/op.h"

typedef struct ingot_kernel_call {
    const ingot_node *node; /* for messages; attributes only through params */
    const void *params;
    const ingot_value *const *inputs; /* NULL: left out */
    size_t input_count;
    ingot_value *const
        *outputs; /* NULL: left out. Where infer knows the shape a tensor comes with type, shape and memory
                                    (content undefined); else the kernel calls ingot_value_set_tensor, which reuses memory */
    size_t output_count;
    int threads;
    ingot_block *scratch; /* see ingot_kernel_scratch */
    ingot_budget *budget;
    ingot_error *error;
} ingot_kernel_call;

/* Failure of a call: fills call->error through ingot_node_fail. */
typedef ingot_status (*ingot_kernel)(const ingot_kernel_call *call);

/* Uninitialized memory aligned to INGOT_ALIGNMENT, valid during the call; a second call invalidates the first. Kept at its
 * high-water mark, so that warm runs allocate nothing. */
ingot_status ingot_kernel_scratch(const ingot_kernel_call *call, size_t bytes, void **memory);

/* ingot_value_set_tensor that refuses what budget (NULL: no limit) has no room for. A value with a budget of its own counts
 * there; any other is the caller's, whose memory is not the session's, and is checked alone. */
ingot_status ingot_value_set_tensor_within(ingot_budget *budget, ingot_value *value, ingot_element element, int rank,
                                           const int64_t *dims, ingot_error *error);

/* For kernels with known outputs nothing to do; for others sets shape and memory, and refuses sizes past the budget. */
ingot_status ingot_kernel_set_output(const ingot_kernel_call *call, size_t output, ingot_element element, int rank,
                                     const int64_t *dims);

/* ingot_node_fail with INGOT_INVALID_INPUT. */
ingot_status ingot_kernel_fail(const ingot_kernel_call *call, const char *format, ...) INGOT_PRINTF(2, 3);

static inline bool ingot_kernel_has(const ingot_kernel_call *call, size_t input)
{
    return input < call->input_count && call->inputs[input];
}
static inline bool ingot_kernel_wants(const ingot_kernel_call *call, size_t output)
{
    return output < call->output_count && call->outputs[output];
}

#endif
