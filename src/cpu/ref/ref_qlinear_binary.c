/* QLinearAdd and QLinearMul: in float, each product and its sum rounded once, in ONNX Runtime's order of steps: in long chains
 * of 8-bit operators a rounding that falls the other way grows. */
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_qlinear.h"

enum { A, A_SCALE, B = 3, B_SCALE, C_SCALE = 6 };

typedef struct operands {
    float a_scale, b_scale, c_scale;
    float a_zero, b_zero, c_zero;
    ingot_codes codes;
    /* what follows from them: add: c = fixed + a_ratio * a + b_ratio * b; multiply: c = ratio * (a - zero) * (b - zero) + fixed */
    float a_ratio, b_ratio, fixed;
} operands;

typedef void (*run_function)(const operands *o, void *c, const ingot_walk *walk, const void *a, const void *b);

static ingot_status each_run(const ingot_kernel_call *call, const operands *o, run_function run)
{
    const ingot_value *a = call->inputs[A], *b = call->inputs[B];
    ingot_value *c = call->outputs[0];
    ingot_walk walk;
    ingot_walk_init(&walk, c->rank, c->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b->rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        run(o, c->data, &walk, a->data, b->data);
    return INGOT_OK;
}

static ingot_status load(const ingot_kernel_call *call, operands *o)
{
    INGOT_TRY(ingot_load_quantization(call, A_SCALE, "A_scale", &o->a_scale, &o->a_zero));
    INGOT_TRY(ingot_load_quantization(call, B_SCALE, "B_scale", &o->b_scale, &o->b_zero));
    INGOT_TRY(ingot_load_quantization(call, C_SCALE, "C_scale", &o->c_scale, &o->c_zero));
    o->codes = ingot_codes_of(call->outputs[0]->element);
    return INGOT_OK;
}

/* An operand that is one number in a run is part of what is fixed. */
static void add_run(const operands *o, void *c, const ingot_walk *walk, const void *a, const void *b)
{
    float fixed = o->fixed;
    int64_t a_at = walk->offset[1], b_at = walk->offset[2];
    bool a_fixed = walk->step[1] == 0, b_fixed = !a_fixed && walk->step[2] == 0;
    if (a_fixed || b_fixed) {
        float part = a_fixed ? (float)ingot_load_code(&o->codes, a, a_at) * o->a_ratio
                             : (float)ingot_load_code(&o->codes, b, b_at) * o->b_ratio;
        fixed = fixed + part;
    }
    for (size_t i = 0; i < walk->run; i++, a_at += walk->step[1], b_at += walk->step[2]) {
        float value = b_fixed ? fixed : fmaf((float)ingot_load_code(&o->codes, b, b_at), o->b_ratio, fixed);
        if (!a_fixed)
            value = fmaf((float)ingot_load_code(&o->codes, a, a_at), o->a_ratio, value);
        ingot_store_code(&o->codes, c, walk->offset[0] + (int64_t)i, value);
    }
}

/* The zero points are joined first. */
ingot_status ingot_ref_qlinear_add(const ingot_kernel_call *call)
{
    operands o;
    INGOT_TRY(load(call, &o));
    o.a_ratio = o.a_scale / o.c_scale;
    o.b_ratio = o.b_scale / o.c_scale;
    float b_part = o.b_ratio * o.b_zero;
    o.fixed = o.c_zero - fmaf(o.a_ratio, o.a_zero, b_part);
    return each_run(call, &o, add_run);
}

/* Products of codes are exact. */
static void multiply_run(const operands *o, void *c, const ingot_walk *walk, const void *a, const void *b)
{
    int64_t a_at = walk->offset[1], b_at = walk->offset[2];
    for (size_t i = 0; i < walk->run; i++, a_at += walk->step[1], b_at += walk->step[2]) {
        float x = (float)ingot_load_code(&o->codes, a, a_at) - o->a_zero;
        float y = (float)ingot_load_code(&o->codes, b, b_at) - o->b_zero;
        float product = x * y * o->a_ratio;
        ingot_store_code(&o->codes, c, walk->offset[0] + (int64_t)i, product + o->fixed);
    }
}

ingot_status ingot_ref_qlinear_mul(const ingot_kernel_call *call)
{
    operands o;
    INGOT_TRY(load(call, &o));
    o.a_ratio = o.a_scale * o.b_scale / o.c_scale;
    o.fixed = o.c_zero;
    return each_run(call, &o, multiply_run);
}
