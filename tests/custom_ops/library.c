/* Operators of the domain test.custom for tests/command/test_custom_ops.py: one for each thing that a custom operator can do. */
#include <stdio.h>
#include <string.h>

#include "ingot/custom_op.h"

#define FLOATS                                                  \
    {                                                           \
        .name = "x", .elements = INGOT_ELEMENT_BIT(INGOT_FLOAT) \
    }
static const ingot_custom_operand floats[] = {FLOATS};
static const ingot_custom_operand two_floats[] = {FLOATS, FLOATS};
static const ingot_custom_operand many_floats[] = {
    {.name = "x", .elements = INGOT_ELEMENT_BIT(INGOT_FLOAT), .variadic = true}};
static const ingot_custom_operand maybe[] = {
    FLOATS, {.name = "bias", .elements = INGOT_ELEMENT_BIT(INGOT_FLOAT), .optional = true}};
static const ingot_custom_operand strings[] = {{.name = "y", .elements = INGOT_ELEMENT_BIT(INGOT_STRING)}};
static const ingot_custom_operand anything[] = {{.name = "x"}};

/* ---- Tell: every kind of attribute, as one string ---- */

typedef struct tell_params {
    int64_t number;
    bool flag;
    float ratio;
    int mode;
    ingot_text text;
    ingot_ints ints;
    ingot_floats floats;
    ingot_texts texts;
    const ingot_value *tensor;
} tell_params;

static const char *const modes[] = {"fast", "exact", NULL};

#define TELL(name_, kind_, field, ...)                                                    \
    {                                                                                     \
        .name = name_, .kind = kind_, .offset = offsetof(tell_params, field), __VA_ARGS__ \
    }
static const ingot_custom_attribute tell_attributes[] = {
    TELL("number", INGOT_PARAM_INT, number, .required = true),
    TELL("flag", INGOT_PARAM_BOOL, flag, .default_int = 1),
    TELL("ratio", INGOT_PARAM_FLOAT, ratio, .default_float = 0.5f),
    TELL("mode", INGOT_PARAM_WORD, mode, .words = modes, .default_int = 1),
    TELL("text", INGOT_PARAM_TEXT, text, .default_text = "none"),
    TELL("ints", INGOT_PARAM_INTS, ints, .required = false),
    TELL("floats", INGOT_PARAM_FLOATS, floats, .required = false),
    TELL("texts", INGOT_PARAM_TEXTS, texts, .required = false),
    TELL("tensor", INGOT_PARAM_TENSOR, tensor, .required = false),
};

static ingot_status tell_shape(ingot_custom_shape *shape)
{
    shape->outputs[0].element = INGOT_STRING;
    shape->outputs[0].rank = 0;
    return INGOT_OK;
}

static ingot_status tell_kernel(ingot_custom_run *run)
{
    const tell_params *p = run->params;
    char text[256];
    snprintf(text, sizeof text, "%lld %d %.2f %s %.*s %zu %zu %zu %d", (long long)p->number, p->flag, (double)p->ratio,
             modes[p->mode], (int)p->text.size, p->text.data, p->ints.count, p->floats.count, p->texts.count,
             p->tensor != NULL);
    return run->set_string(run, 0, 0, text, strlen(text));
}

/* ---- Positive: sizes that depend on content ---- */

static ingot_status positive_shape(ingot_custom_shape *shape)
{
    shape->outputs[0].element = INGOT_FLOAT;
    shape->outputs[0].rank = 1;
    shape->outputs[0].dims[0] = INGOT_SIZE_FREE;
    return INGOT_OK;
}

static ingot_status positive_kernel(ingot_custom_run *run)
{
    const float *x = run->inputs[0].data;
    int64_t count = 0;
    for (size_t i = 0; i < run->inputs[0].count; i++)
        count += x[i] > 0;
    ingot_status status = run->set_output(run, 0, INGOT_FLOAT, 1, &count);
    if (status != INGOT_OK)
        return status;
    float *y = run->outputs[0].data;
    for (size_t i = 0; i < run->inputs[0].count; i++)
        if (x[i] > 0)
            *y++ = x[i];
    return INGOT_OK;
}

/* ---- Sum (variadic), Add (broadcast), Biased (optional input, scratch), Fail ---- */

static ingot_status sum_kernel(ingot_custom_run *run)
{
    float *y = run->outputs[0].data;
    for (size_t i = 0; i < run->outputs[0].count; i++) {
        y[i] = 0;
        for (size_t k = 0; k < run->input_count; k++)
            y[i] += ((const float *)run->inputs[k].data)[i];
    }
    return INGOT_OK;
}

static ingot_status outer_shape(ingot_custom_shape *shape)
{
    shape->outputs[0].element = INGOT_FLOAT;
    return shape->broadcast(shape, 0, 0, 1);
}

/* [n,1] and [m] make [n,m]. */
static ingot_status outer_kernel(ingot_custom_run *run)
{
    const float *a = run->inputs[0].data, *b = run->inputs[1].data;
    float *y = run->outputs[0].data;
    for (size_t i = 0; i < run->inputs[0].count; i++)
        for (size_t k = 0; k < run->inputs[1].count; k++)
            *y++ = a[i] * b[k];
    return INGOT_OK;
}

static ingot_status biased_kernel(ingot_custom_run *run)
{
    float *copy = run->scratch(run, run->inputs[0].count * sizeof *copy);
    if (!copy)
        return run->fail(run, "no scratch memory");
    memcpy(copy, run->inputs[0].data, run->inputs[0].count * sizeof *copy);
    float bias = run->input_count > 1 && run->inputs[1].present ? ((const float *)run->inputs[1].data)[0] : -1;
    for (size_t i = 0; i < run->outputs[0].count; i++)
        ((float *)run->outputs[0].data)[i] = copy[i] + bias;
    return INGOT_OK;
}

static ingot_status fail_kernel(ingot_custom_run *run)
{
    return run->fail(run, "it cannot do %d", 42);
}

static ingot_status silent_kernel(ingot_custom_run *run)
{
    return INGOT_INTERNAL;
}

#define OP(name_, in, out, kernel_, ...)                                                                           \
    {                                                                                                              \
        .size = sizeof(ingot_custom_op), .domain = "test.custom", .name = name_, .since_version = 1, .inputs = in, \
        .input_count = sizeof in / sizeof *in, .outputs = out, .output_count = sizeof out / sizeof *out,           \
        .kernel = kernel_, __VA_ARGS__                                                                             \
    }

static const ingot_custom_op tell_op =
    OP("Tell", anything, strings, tell_kernel, .shape = tell_shape, .params_size = sizeof(tell_params),
       .attributes = tell_attributes, .attribute_count = sizeof tell_attributes / sizeof *tell_attributes);
static const ingot_custom_op positive_op =
    OP("Positive", floats, floats, positive_kernel, .shape = positive_shape, .flags = INGOT_CUSTOM_OP_SIZES_OUTPUT);
static const ingot_custom_op sum_op = OP("Sum", many_floats, floats, sum_kernel, .summary = "adds");
static const ingot_custom_op outer_op = OP("Outer", two_floats, floats, outer_kernel, .shape = outer_shape);
static const ingot_custom_op biased_op = OP("Biased", maybe, floats, biased_kernel, .flags = INGOT_CUSTOM_OP_IN_PLACE);
static const ingot_custom_op fail_op = OP("Fail", floats, floats, fail_kernel, .summary = "fails");
static const ingot_custom_op silent_op = OP("Silent", floats, floats, silent_kernel, .summary = "fails without a word");

INGOT_API const ingot_custom_op *const *ingot_custom_ops(int api);

const ingot_custom_op *const *ingot_custom_ops(int api)
{
    static const ingot_custom_op *const ops[] = {&tell_op,   &positive_op, &sum_op,    &outer_op,
                                                 &biased_op, &fail_op,     &silent_op, NULL};
    return ops;
}
