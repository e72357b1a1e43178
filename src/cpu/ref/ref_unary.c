/* See ref_unary.h; and mathematics of one operand. */
#include "cpu/ref/ref_unary.h"

#include <math.h>

#define CHUNK 256

static void run_chunks(ingot_unary_run run, ingot_value *z, const ingot_value *a, size_t elements, const void *params)
{
    double values[CHUNK];
    for (size_t done = 0; done < elements; done += CHUNK) {
        size_t count = elements - done < CHUNK ? elements - done : CHUNK;
        ingot_read_doubles(a->element, a->data, (int64_t)done, 1, count, values);
        run(values, values, count, params);
        ingot_write_doubles(z->element, z->data, (int64_t)done, 1, count, values);
    }
}

ingot_status ingot_run_unary(const ingot_kernel_call *call, const ingot_unary_run *runs)
{
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    size_t count = ingot_dims_product(z->dims, 0, z->rank);
    bool narrow = a->element == INGOT_FLOAT16 || a->element == INGOT_BFLOAT16;
    ingot_unary_run run = runs[narrow ? INGOT_DOUBLE : a->element];
    if (!run)
        return ingot_kernel_fail(call, "is not defined for elements of type %s", ingot_element_name(a->element));
    if (narrow)
        run_chunks(run, z, a, count, call->params);
    else
        run(z->data, a->data, count, call->params);
    return INGOT_OK;
}

#define DEFINE_KERNEL(op, ...)                                                  \
    ingot_status ingot_ref_##op(const ingot_kernel_call *call)                  \
    {                                                                           \
        static const ingot_unary_run runs[INGOT_ELEMENT_COUNT] = {__VA_ARGS__}; \
        return ingot_run_unary(call, runs);                                     \
    }
#define DEFINE_REAL(op, expression)          \
    INGOT_UNARY_FLOATS(op, void, expression) \
    DEFINE_KERNEL(op, [INGOT_FLOAT] = op##_float, [INGOT_DOUBLE] = op##_double)
#define ALL_SLOTS(op)                                                                                                 \
    [INGOT_FLOAT] = op##_float, [INGOT_DOUBLE] = op##_double, [INGOT_INT8] = op##_int8, [INGOT_INT16] = op##_int16,   \
    [INGOT_INT32] = op##_int32, [INGOT_INT64] = op##_int64, [INGOT_UINT8] = op##_uint8, [INGOT_UINT16] = op##_uint16, \
    [INGOT_UINT32] = op##_uint32, [INGOT_UINT64] = op##_uint64
#define SIGNED(op, expression)                                      \
    INGOT_UNARY_RUN(op##_int8, int8_t, int64_t, void, expression)   \
    INGOT_UNARY_RUN(op##_int16, int16_t, int64_t, void, expression) \
    INGOT_UNARY_RUN(op##_int32, int32_t, int64_t, void, expression) \
    INGOT_UNARY_RUN(op##_int64, int64_t, int64_t, void, expression)
#define UNSIGNED(op, expression)                                       \
    INGOT_UNARY_RUN(op##_uint8, uint8_t, uint64_t, void, expression)   \
    INGOT_UNARY_RUN(op##_uint16, uint16_t, uint64_t, void, expression) \
    INGOT_UNARY_RUN(op##_uint32, uint32_t, uint64_t, void, expression) \
    INGOT_UNARY_RUN(op##_uint64, uint64_t, uint64_t, void, expression)

/* ---- Integers too: those that leave their type wrap around ---- */

INGOT_UNARY_FLOATS(neg, void, -x)
SIGNED(neg, 0 - (uint64_t)x)
DEFINE_KERNEL(neg, [INGOT_FLOAT] = neg_float, [INGOT_DOUBLE] = neg_double, [INGOT_INT8] = neg_int8,
              [INGOT_INT16] = neg_int16, [INGOT_INT32] = neg_int32, [INGOT_INT64] = neg_int64)

INGOT_UNARY_FLOATS(abs, void, fabs(x))
SIGNED(abs, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
UNSIGNED(abs, x)
DEFINE_KERNEL(abs, ALL_SLOTS(abs))

INGOT_UNARY_FLOATS(sign, void, isnan(x) ? x : (double)((x > 0) - (x < 0)))
SIGNED(sign, (x > 0) - (x < 0))
UNSIGNED(sign, x > 0)
DEFINE_KERNEL(sign, ALL_SLOTS(sign))

INGOT_UNARY_FLOATS(relu, void, x < 0 ? 0 : x)
SIGNED(relu, x < 0 ? 0 : x)
DEFINE_KERNEL(relu, [INGOT_FLOAT] = relu_float, [INGOT_DOUBLE] = relu_double, [INGOT_INT8] = relu_int8,
              [INGOT_INT16] = relu_int16, [INGOT_INT32] = relu_int32, [INGOT_INT64] = relu_int64)

INGOT_UNARY_FLOATS(erf, void, erf(x))
SIGNED(erf, erf((double)x))
UNSIGNED(erf, erf((double)x))
DEFINE_KERNEL(erf, ALL_SLOTS(erf))

INGOT_UNARY_RUN(not_bool, uint8_t, uint8_t, void, !x)
DEFINE_KERNEL(not, [INGOT_BOOL] = not_bool)

INGOT_UNARY_RUN(bitwise_not_8, uint8_t, uint64_t, void, ~x)
INGOT_UNARY_RUN(bitwise_not_16, uint16_t, uint64_t, void, ~x)
INGOT_UNARY_RUN(bitwise_not_32, uint32_t, uint64_t, void, ~x)
INGOT_UNARY_RUN(bitwise_not_64, uint64_t, uint64_t, void, ~x)
DEFINE_KERNEL(bitwise_not, [INGOT_INT8] = bitwise_not_8, [INGOT_INT16] = bitwise_not_16, [INGOT_INT32] = bitwise_not_32,
              [INGOT_INT64] = bitwise_not_64, [INGOT_UINT8] = bitwise_not_8, [INGOT_UINT16] = bitwise_not_16,
              [INGOT_UINT32] = bitwise_not_32, [INGOT_UINT64] = bitwise_not_64)

/* ---- Real numbers ---- */

DEFINE_REAL(floor, floor(x))
DEFINE_REAL(ceil, ceil(x))
DEFINE_REAL(round, rint(x))
DEFINE_REAL(sqrt, sqrt(x))
DEFINE_REAL(reciprocal, 1 / x)
DEFINE_REAL(exp, exp(x))
DEFINE_REAL(log, log(x))
DEFINE_REAL(sin, sin(x))
DEFINE_REAL(cos, cos(x))
DEFINE_REAL(tan, tan(x))
DEFINE_REAL(asin, asin(x))
DEFINE_REAL(acos, acos(x))
DEFINE_REAL(atan, atan(x))
DEFINE_REAL(sinh, sinh(x))
DEFINE_REAL(cosh, cosh(x))
DEFINE_REAL(tanh, tanh(x))
DEFINE_REAL(asinh, asinh(x))
DEFINE_REAL(acosh, acosh(x))
DEFINE_REAL(atanh, atanh(x))
DEFINE_REAL(sigmoid, 1 / (1 + exp(-x)))
