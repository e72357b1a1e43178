/* Comparison, logic and bits. */
#include <string.h>

#include "cpu/ref/ref_binary.h"
#include "ops/binary.h"

#define DEFINE_KERNEL(op, ...)                                                   \
    ingot_status ingot_ref_##op(const ingot_kernel_call *call)                   \
    {                                                                            \
        static const ingot_binary_run runs[INGOT_ELEMENT_COUNT] = {__VA_ARGS__}; \
        return ingot_run_binary(call, runs);                                     \
    }

/* ---- Comparison: NaN equals nothing, and is in no order ---- */

#define DEFINE_COMPARISON(op, expression)               \
    INGOT_RUN_FLOATS(op, INGOT_RESULT_BOOL, expression) \
    INGOT_RUN_SIGNED(op, INGOT_RESULT_BOOL, expression) \
    INGOT_RUN_UNSIGNED(op, INGOT_RESULT_BOOL, expression)

DEFINE_COMPARISON(less, p < q)
DEFINE_KERNEL(less, INGOT_FLOAT_SLOTS(less), INGOT_INTEGER_SLOTS(less))
DEFINE_COMPARISON(less_or_equal, p <= q)
DEFINE_KERNEL(less_or_equal, INGOT_FLOAT_SLOTS(less_or_equal), INGOT_INTEGER_SLOTS(less_or_equal))
DEFINE_COMPARISON(greater, p > q)
DEFINE_KERNEL(greater, INGOT_FLOAT_SLOTS(greater), INGOT_INTEGER_SLOTS(greater))
DEFINE_COMPARISON(greater_or_equal, p >= q)
DEFINE_KERNEL(greater_or_equal, INGOT_FLOAT_SLOTS(greater_or_equal), INGOT_INTEGER_SLOTS(greater_or_equal))
DEFINE_COMPARISON(equal, p == q)
INGOT_BINARY_RUN(equal_bool, uint8_t, uint8_t, uint8_t, !p == !q)

static ingot_status equal_strings(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_value *z = call->outputs[0];
    ingot_walk walk;
    ingot_walk_init(&walk, z->rank, z->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b->rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        const ingot_string *x = (const ingot_string *)a->data + walk.offset[1];
        const ingot_string *y = (const ingot_string *)b->data + walk.offset[2];
        uint8_t *to = (uint8_t *)z->data + walk.offset[0];
        for (size_t i = 0; i < walk.run; i++, x += walk.step[1], y += walk.step[2])
            to[i] = x->length == y->length &&
                    (x->length == 0 || memcmp(a->strings + x->offset, b->strings + y->offset, x->length) == 0);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_equal(const ingot_kernel_call *call)
{
    static const ingot_binary_run runs[INGOT_ELEMENT_COUNT] = {INGOT_FLOAT_SLOTS(equal),
                                                               INGOT_INTEGER_SLOTS(equal), [INGOT_BOOL] = equal_bool};
    if (call->inputs[0]->element == INGOT_STRING)
        return equal_strings(call);
    return ingot_run_binary(call, runs);
}

/* ---- Logic ---- */

INGOT_BINARY_RUN(and_bool, uint8_t, uint8_t, uint8_t, p &&q)
DEFINE_KERNEL(and, [INGOT_BOOL] = and_bool)
INGOT_BINARY_RUN(or_bool, uint8_t, uint8_t, uint8_t, p || q)
DEFINE_KERNEL(or, [INGOT_BOOL] = or_bool)
INGOT_BINARY_RUN(xor_bool, uint8_t, uint8_t, uint8_t, !p != !q)
DEFINE_KERNEL(xor, [INGOT_BOOL] = xor_bool)

/* ---- Bits ---- */

INGOT_RUN_WRAPPING(bitwise_and, p &q)
DEFINE_KERNEL(bitwise_and, INGOT_INTEGER_SLOTS(bitwise_and))
INGOT_RUN_WRAPPING(bitwise_or, p | q)
DEFINE_KERNEL(bitwise_or, INGOT_INTEGER_SLOTS(bitwise_or))
INGOT_RUN_WRAPPING(bitwise_xor, p ^ q)
DEFINE_KERNEL(bitwise_xor, INGOT_INTEGER_SLOTS(bitwise_xor))

/* A shift by the type's width or more, or by a negative count, leaves what the sign fills in. ~(~p >> q) is the shift of a
 * negative number that keeps the sign. */
#define DEFINE_SHIFTS(name, type, bits)                                                  \
    INGOT_BINARY_RUN(left_##name, type, uint64_t, type, q < (bits) ? p << q : 0)         \
    INGOT_BINARY_RUN(left_u##name, u##type, uint64_t, u##type, q < (bits) ? p << q : 0)  \
    INGOT_BINARY_RUN(right_u##name, u##type, uint64_t, u##type, q < (bits) ? p >> q : 0) \
    INGOT_BINARY_RUN(right_##name, type, int64_t, type, (uint64_t)q >= (bits) ? -(p < 0) : p < 0 ? ~(~p >> q) : p >> q)
DEFINE_SHIFTS(int8, int8_t, 8)
DEFINE_SHIFTS(int16, int16_t, 16)
DEFINE_SHIFTS(int32, int32_t, 32)
DEFINE_SHIFTS(int64, int64_t, 64)

ingot_status ingot_ref_bit_shift(const ingot_kernel_call *call)
{
    static const ingot_binary_run left[INGOT_ELEMENT_COUNT] = {INGOT_INTEGER_SLOTS(left)};
    static const ingot_binary_run right[INGOT_ELEMENT_COUNT] = {INGOT_INTEGER_SLOTS(right)};
    const ingot_binary_params *params = call->params;
    return ingot_run_binary(call, params->direction == INGOT_SHIFT_LEFT ? left : right);
}
