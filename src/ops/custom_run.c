/* Running kernels of custom operators: the public view of a call. */
#include <stdio.h>
#include <string.h>

#include "base/threads.h"
#include "ops/custom.h"

/* A call as the kernel sees it, and what is behind it. */
typedef struct custom_call {
    ingot_custom_run run; /* its internal points back here */
    const ingot_kernel_call *call;
    ingot_custom_tensor tensors[INGOT_CUSTOM_MAX_OPERANDS];
} custom_call;

static const ingot_kernel_call *call_of(const ingot_custom_run *run)
{
    return ((const custom_call *)run->internal)->call;
}

static void load_tensor(const ingot_value *value, ingot_custom_tensor *tensor)
{
    if (!value) {
        *tensor = (ingot_custom_tensor){.present = false};
        return;
    }
    *tensor = (ingot_custom_tensor){.present = true,
                                    .element = value->element,
                                    .rank = value->rank,
                                    .dims = value->dims,
                                    .count = value->kind == INGOT_KIND_TENSOR ? ingot_value_count(value) : 0,
                                    .data = value->element == INGOT_STRING ? NULL : value->data,
                                    .value = value};
}

static ingot_status run_fail(const ingot_custom_run *run, const char *format, ...)
{
    char message[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ingot_kernel_fail(call_of(run), "%s", message);
}

static ingot_status set_output(ingot_custom_run *run, size_t output, ingot_element element, int rank,
                               const int64_t *dims)
{
    const ingot_kernel_call *call = call_of(run);
    if (!(ingot_custom_of(call->node)->flags & INGOT_CUSTOM_OP_SIZES_OUTPUT))
        return run_fail(run, "its kernel sets a shape of output %zu without INGOT_CUSTOM_OP_SIZES_OUTPUT", output);
    if (rank < 0 || rank > INGOT_MAX_RANK || (rank > 0 && !dims))
        return run_fail(run, "its kernel sets a shape of output %zu that is none", output);
    if (!ingot_kernel_wants(call, output))
        return run_fail(run, "its kernel sets a shape of output %zu, which is left out", output);
    INGOT_TRY(ingot_kernel_set_output(call, output, element, rank, dims));
    load_tensor(call->outputs[output], &((custom_call *)run->internal)->tensors[call->input_count + output]);
    return INGOT_OK;
}

static void *scratch(ingot_custom_run *run, size_t bytes)
{
    void *memory;
    return ingot_kernel_scratch(call_of(run), bytes, &memory) == INGOT_OK ? memory : NULL;
}

typedef struct split {
    void (*body)(void *argument, size_t chunk);
    void *argument;
} split;

static void run_chunk(void *argument, size_t chunk, int participant)
{
    const split *s = argument;
    s->body(s->argument, chunk);
}

static void parallel(ingot_custom_run *run, size_t chunks, void (*body)(void *argument, size_t chunk), void *argument)
{
    split s = {body, argument};
    ingot_parallel(run->threads, chunks, run_chunk, &s);
}

static const char *string(const ingot_custom_tensor *tensor, size_t index, size_t *length)
{
    return ingot_value_string(tensor->value, index, length);
}

static ingot_status set_string(ingot_custom_run *run, size_t output, size_t index, const char *text, size_t length)
{
    const ingot_kernel_call *call = call_of(run);
    const ingot_custom_tensor *tensor = output < run->output_count ? &run->outputs[output] : NULL;
    if (!tensor || !tensor->present || tensor->element != INGOT_STRING || index >= tensor->count)
        return run_fail(run, "its kernel sets string %zu of output %zu, which has none", index, output);
    return ingot_value_set_string(call->outputs[output], index, text, length, call->error);
}

/* Where the kernel tells the sizes, it must have told them all. */
static ingot_status check_outputs(const ingot_kernel_call *call)
{
    for (size_t i = 0; i < call->output_count; i++)
        if (call->outputs[i] && call->outputs[i]->kind != INGOT_KIND_TENSOR)
            return ingot_kernel_fail(call, "its kernel set no shape of output %zu", i);
    return INGOT_OK;
}

ingot_status ingot_custom_kernel(const ingot_kernel_call *call)
{
    const ingot_custom_op *custom = ingot_custom_of(call->node);
    custom_call c;
    c.run = (ingot_custom_run){.size = sizeof c.run,
                               .params = call->params,
                               .user = custom->user,
                               .inputs = c.tensors,
                               .input_count = call->input_count,
                               .outputs = c.tensors + call->input_count,
                               .output_count = call->output_count,
                               .threads = call->threads,
                               .set_output = set_output,
                               .scratch = scratch,
                               .parallel = parallel,
                               .string = string,
                               .set_string = set_string,
                               .fail = run_fail,
                               .internal = &c};
    c.call = call;
    for (size_t i = 0; i < call->input_count; i++)
        load_tensor(call->inputs[i], &c.tensors[i]);
    for (size_t i = 0; i < call->output_count; i++)
        load_tensor(call->outputs[i], &c.tensors[call->input_count + i]);
    ingot_status status = custom->kernel(&c.run);
    if (status != INGOT_OK && call->error && call->error->status == INGOT_OK)
        return ingot_kernel_fail(call, "its kernel failed");
    INGOT_TRY(status);
    return check_outputs(call);
}
