/* QLinearAdd: in float, each product and its sum rounded once, the zero points joined first. ONNX Runtime takes these steps in this order, and in long chains of
 * 8-bit operators a rounding that falls the other way grows. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, C_SCALE, C_ZERO };

typedef struct sum {
    float a_ratio, b_ratio, fixed; /* c = fixed + a_ratio * a + b_ratio * b */
    float low, high;
    bool is_signed;
} sum;

static float load(const sum *s, const void *data, int64_t index)
{
    return s->is_signed ? (float)((const int8_t *)data)[index] : (float)((const uint8_t *)data)[index];
}

static void store(const sum *s, void *data, int64_t index, float value)
{
    value = rintf(value);
    value = value >= s->low ? (value <= s->high ? value : s->high) : s->low;
    if (s->is_signed)
        ((int8_t *)data)[index] = (int8_t)value;
    else
        ((uint8_t *)data)[index] = (uint8_t)value;
}

/* An operand that is one number in a run is part of what is fixed. */
static void add_run(const sum *s, void *c, const ingot_walk *walk, const void *a, const void *b)
{
    float fixed = s->fixed;
    int64_t a_at = walk->offset[1], b_at = walk->offset[2];
    bool a_fixed = walk->step[1] == 0, b_fixed = !a_fixed && walk->step[2] == 0;
    if (a_fixed || b_fixed) {
        float part = a_fixed ? load(s, a, a_at) * s->a_ratio : load(s, b, b_at) * s->b_ratio;
        fixed = fixed + part;
    }
    for (size_t i = 0; i < walk->run; i++, a_at += walk->step[1], b_at += walk->step[2]) {
        float value = b_fixed ? fixed : fmaf(load(s, b, b_at), s->b_ratio, fixed);
        if (!a_fixed)
            value = fmaf(load(s, a, a_at), s->a_ratio, value);
        store(s, c, walk->offset[0] + (int64_t)i, value);
    }
}

static float load_scale(const ingot_kernel_call *call, size_t input)
{
    return ((const float *)call->inputs[input]->data)[0];
}

static float load_zero(const ingot_kernel_call *call, size_t input)
{
    if (!ingot_kernel_has(call, input))
        return 0;
    return (float)ingot_load_i64(call->inputs[input]->element, call->inputs[input]->data, 0);
}

ingot_status ingot_ref_qlinear_add(const ingot_kernel_call *call)
{
    static const char *const names[] = {NULL,      "A_scale",      "A_zero_point", NULL,
                                        "B_scale", "B_zero_point", "C_scale",      "C_zero_point"};
    for (size_t i = 0; i <= C_ZERO; i++)
        if (names[i] && ingot_kernel_has(call, i))
            INGOT_TRY(ingot_ref_single(call, i, names[i]));
    const ingot_value *a = call->inputs[A], *b = call->inputs[B];
    ingot_value *c = call->outputs[0];
    sum s = {.is_signed = c->element == INGOT_INT8};
    s.low = s.is_signed ? INT8_MIN : 0;
    s.high = s.is_signed ? INT8_MAX : UINT8_MAX;
    s.a_ratio = load_scale(call, A_SCALE) / load_scale(call, C_SCALE);
    s.b_ratio = load_scale(call, B_SCALE) / load_scale(call, C_SCALE);
    float b_part = s.b_ratio * load_zero(call, B_ZERO);
    s.fixed = load_zero(call, C_ZERO) - fmaf(s.a_ratio, load_zero(call, A_ZERO), b_part);
    ingot_walk walk;
    ingot_walk_init(&walk, c->rank, c->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b->rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        add_run(&s, c->data, &walk, a->data, b->data);
    return INGOT_OK;
}
