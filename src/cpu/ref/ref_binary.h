/* Running an elementwise function of two operands over two tensors that broadcast. */
#ifndef INGOT_CPU_REF_REF_BINARY_H
#define INGOT_CPU_REF_REF_BINARY_H

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"

/* Elements 0 ... count - 1 of out, which lie one behind the other, from elements of a and b, which lie steps apart. out may be
 * a where a_step is 1. */
typedef void (*ingot_binary_run)(void *out, const void *a, int64_t a_step, const void *b, int64_t b_step, size_t count);

/* A loop of that form. An element of C type `type` is converted to `wide` (as p and q) before expression sees it. */
#define INGOT_BINARY_RUN(name, type, wide, result, expression)                                              \
    static void name(void *out, const void *a, int64_t a_step, const void *b, int64_t b_step, size_t count) \
    {                                                                                                       \
        result *z = out;                                                                                    \
        const type *x = a, *y = b;                                                                          \
        if (a_step == 1 && b_step == 1) {                                                                   \
            for (size_t i = 0; i < count; i++) {                                                            \
                const wide p = (wide)x[i], q = (wide)y[i];                                                  \
                z[i] = (result)(expression);                                                                \
            }                                                                                               \
        } else if (a_step == 1 && b_step == 0) {                                                            \
            const wide q = (wide)*y;                                                                        \
            for (size_t i = 0; i < count; i++) {                                                            \
                const wide p = (wide)x[i];                                                                  \
                z[i] = (result)(expression);                                                                \
            }                                                                                               \
        } else {                                                                                            \
            for (size_t i = 0; i < count; i++) {                                                            \
                const wide p = (wide)x[(int64_t)i * a_step], q = (wide)y[(int64_t)i * b_step];              \
                z[i] = (result)(expression);                                                                \
            }                                                                                               \
        }                                                                                                   \
    }

/* One such loop for each C type of a class; `plain` ones compute in the type itself, `wrapping` ones in an unsigned type that
 * cannot overflow. result is a type, or `same` for the operands' own. */
#define INGOT_RUN_FLOATS(op, result, expression)                          \
    INGOT_BINARY_RUN(op##_float, float, float, result(float), expression) \
    INGOT_BINARY_RUN(op##_double, double, double, result(double), expression)
#define INGOT_RUN_SIGNED(op, result, expression)                                \
    INGOT_BINARY_RUN(op##_int8, int8_t, int8_t, result(int8_t), expression)     \
    INGOT_BINARY_RUN(op##_int16, int16_t, int16_t, result(int16_t), expression) \
    INGOT_BINARY_RUN(op##_int32, int32_t, int32_t, result(int32_t), expression) \
    INGOT_BINARY_RUN(op##_int64, int64_t, int64_t, result(int64_t), expression)
#define INGOT_RUN_UNSIGNED(op, result, expression)                                  \
    INGOT_BINARY_RUN(op##_uint8, uint8_t, uint8_t, result(uint8_t), expression)     \
    INGOT_BINARY_RUN(op##_uint16, uint16_t, uint16_t, result(uint16_t), expression) \
    INGOT_BINARY_RUN(op##_uint32, uint32_t, uint32_t, result(uint32_t), expression) \
    INGOT_BINARY_RUN(op##_uint64, uint64_t, uint64_t, result(uint64_t), expression)
#define INGOT_RUN_WRAPPING(op, expression)                                  \
    INGOT_BINARY_RUN(op##_int8, int8_t, uint32_t, int8_t, expression)       \
    INGOT_BINARY_RUN(op##_int16, int16_t, uint32_t, int16_t, expression)    \
    INGOT_BINARY_RUN(op##_int32, int32_t, uint32_t, int32_t, expression)    \
    INGOT_BINARY_RUN(op##_int64, int64_t, uint64_t, int64_t, expression)    \
    INGOT_BINARY_RUN(op##_uint8, uint8_t, uint32_t, uint8_t, expression)    \
    INGOT_BINARY_RUN(op##_uint16, uint16_t, uint32_t, uint16_t, expression) \
    INGOT_BINARY_RUN(op##_uint32, uint32_t, uint32_t, uint32_t, expression) \
    INGOT_BINARY_RUN(op##_uint64, uint64_t, uint64_t, uint64_t, expression)
#define INGOT_RESULT_SAME(type) type
#define INGOT_RESULT_BOOL(type) uint8_t

/* The loops of an operator as a table by element type. */
#define INGOT_FLOAT_SLOTS(op) [INGOT_FLOAT] = op##_float, [INGOT_DOUBLE] = op##_double
#define INGOT_INTEGER_SLOTS(op)                                                                                   \
    [INGOT_INT8] = op##_int8, [INGOT_INT16] = op##_int16, [INGOT_INT32] = op##_int32, [INGOT_INT64] = op##_int64, \
    [INGOT_UINT8] = op##_uint8, [INGOT_UINT16] = op##_uint16, [INGOT_UINT32] = op##_uint32,                       \
    [INGOT_UINT64] = op##_uint64

/* Output 0 from inputs 0 and 1 (and ingot_binary_params, NULL for none), by the loop of their element type. float16 and
 * bfloat16 go through float. Refuses a type without a loop. */
ingot_status ingot_run_binary(const ingot_kernel_call *call, const ingot_binary_run *runs);

/* The same on values: z, which has its shape and memory and may be a, from a and b. */
ingot_status ingot_run_binary_values(const ingot_kernel_call *call, const ingot_binary_run *runs, ingot_value *z,
                                     const ingot_value *a, int b_rank, const int64_t *b_dims, const ingot_value *b);

#endif
