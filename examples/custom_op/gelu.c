/* A library of custom operators for Ingot with one operator: com.example Gelu, y = x * Phi(x), where Phi is the normal
 * distribution's, or with approximate = 1 the polynomial by tanh (Hendrycks and Gimpel, https://arxiv.org/abs/1606.08415).
 *
 *     cc -O2 -shared -fPIC -Iinclude examples/custom_op/gelu.c -lm -o libgelu.so
 *     ingot run model.onnx --custom-ops libgelu.so --input x=random
 */
#include <math.h>

#include "ingot/custom_op.h"

typedef struct gelu_params {
    bool approximate;
} gelu_params;

static const ingot_custom_attribute gelu_attributes[] = {
    {.name = "approximate", .kind = INGOT_PARAM_BOOL, .offset = offsetof(gelu_params, approximate)},
};

static const ingot_custom_operand gelu_inputs[] = {{.name = "x", .elements = INGOT_ELEMENT_BIT(INGOT_FLOAT)}};
static const ingot_custom_operand gelu_outputs[] = {{.name = "y", .elements = INGOT_ELEMENT_BIT(INGOT_FLOAT)}};

/* Elements of a chunk: a few microseconds of work, the same whatever the number of threads. */
#define CHUNK 4096

typedef struct gelu_work {
    const float *x;
    float *y;
    size_t count;
    bool approximate;
} gelu_work;

static float gelu(float x, bool approximate)
{
    if (approximate)
        return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
    return 0.5f * x * (1.0f + erff(x * 0.7071067812f));
}

static void gelu_chunk(void *argument, size_t chunk)
{
    const gelu_work *work = argument;
    size_t end = (chunk + 1) * CHUNK < work->count ? (chunk + 1) * CHUNK : work->count;
    for (size_t i = chunk * CHUNK; i < end; i++)
        work->y[i] = gelu(work->x[i], work->approximate);
}

static ingot_status gelu_kernel(ingot_custom_run *run)
{
    const gelu_params *params = run->params;
    gelu_work work = {run->inputs[0].data, run->outputs[0].data, run->inputs[0].count, params->approximate};
    run->parallel(run, (work.count + CHUNK - 1) / CHUNK, gelu_chunk, &work);
    return INGOT_OK;
}

/* Without a shape rule of its own: the output has the input's type and shape. */
static const ingot_custom_op gelu_op = {
    .size = sizeof(ingot_custom_op),
    .domain = "com.example",
    .name = "Gelu",
    .since_version = 1,
    .summary = "x * Phi(x), the Gaussian error linear unit",
    .inputs = gelu_inputs,
    .input_count = 1,
    .outputs = gelu_outputs,
    .output_count = 1,
    .params_size = sizeof(gelu_params),
    .attributes = gelu_attributes,
    .attribute_count = 1,
    .flags = INGOT_CUSTOM_OP_IN_PLACE,
    .kernel = gelu_kernel,
};

INGOT_API const ingot_custom_op *const *ingot_custom_ops(int api);

const ingot_custom_op *const *ingot_custom_ops(int api)
{
    static const ingot_custom_op *const ops[] = {&gelu_op, NULL};
    return api >= INGOT_CUSTOM_OP_API ? ops : NULL;
}
