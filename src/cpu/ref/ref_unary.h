/* Running an elementwise function of one operand over a tensor. */
#ifndef INGOT_CPU_REF_REF_UNARY_H
#define INGOT_CPU_REF_REF_UNARY_H

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"

/* Elements 0 ... count - 1 of out from those of in; out may be in. */
typedef void (*ingot_unary_run)(void *out, const void *in, size_t count, const void *params);

/* A loop of that form: an element becomes x of type `wide`, expression may use params as p of type `params_type`. */
#define INGOT_UNARY_RUN(name, type, wide, params_type, expression)                \
    static void name(void *out, const void *in, size_t count, const void *params) \
    {                                                                             \
        const params_type *p = params;                                            \
        type *z = out;                                                            \
        (void)p;                                                                  \
        for (size_t i = 0; i < count; i++) {                                      \
            const wide x = (wide)((const type *)in)[i];                           \
            z[i] = (type)(expression);                                            \
        }                                                                         \
    }

/* The two loops of a function of real numbers: computed in double, so that float results have one rounding to speak of. */
#define INGOT_UNARY_FLOATS(op, params_type, expression)                 \
    INGOT_UNARY_RUN(op##_float, float, double, params_type, expression) \
    INGOT_UNARY_RUN(op##_double, double, double, params_type, expression)

/* Output 0 from input 0 by the loop of its element type; float16 and bfloat16 go through double. */
ingot_status ingot_run_unary(const ingot_kernel_call *call, const ingot_unary_run *runs);

#endif
