/* Pow: base and exponent may have different types; the result has the base's. */
#include <math.h>

#include "cpu/ref/ref_binary.h"
#include "ops/binary.h"

#define CHUNK 256

/* By squaring, modulo 2^64: exact in any integer type that the result fits, and wraps like a product where it does not. */
static int64_t integer_power(int64_t base, uint64_t exponent)
{
    uint64_t result = 1, factor = (uint64_t)base;
    for (; exponent > 0; exponent >>= 1, factor *= factor)
        if (exponent & 1)
            result *= factor;
    return (int64_t)result;
}

/* 1 / base^magnitude, rounded toward zero; base is not 0. */
static int64_t inverse_power(int64_t base, uint64_t magnitude)
{
    if (base == -1)
        return magnitude % 2 == 0 ? 1 : -1;
    return base == 1;
}

/* Toward zero; what the type (int32 or int64) cannot hold becomes its nearest value, NaN becomes 0. */
static int64_t clamp_to_integer(ingot_element element, double value)
{
    double limit = element == INGOT_INT32 ? 2147483648.0 : 9223372036854775808.0;
    int64_t highest = element == INGOT_INT32 ? INT32_MAX : INT64_MAX;
    if (isnan(value))
        return 0;
    if (value >= limit)
        return highest;
    return value <= -limit ? -highest - 1 : (int64_t)value;
}

static ingot_status whole_exponent(const ingot_kernel_call *call, int64_t base, int64_t exponent, int64_t *power)
{
    if (exponent >= 0) {
        *power = integer_power(base, (uint64_t)exponent);
        return INGOT_OK;
    }
    if (base == 0)
        return ingot_kernel_fail(call, "raises 0 to the power of %lld, which divides by zero: %s has no result",
                                 (long long)exponent, ingot_element_name(call->inputs[0]->element));
    *power = inverse_power(base, 0 - (uint64_t)exponent);
    return INGOT_OK;
}

static ingot_status pow_integers(const ingot_kernel_call *call, const ingot_walk *walk)
{
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_value *z = call->outputs[0];
    int64_t x = walk->offset[1], y = walk->offset[2];
    for (size_t i = 0; i < walk->run; i++, x += walk->step[1], y += walk->step[2]) {
        int64_t base = ingot_load_i64(a->element, a->data, (size_t)x), power;
        double real = ingot_load_double(b->element, b->data, (size_t)y);
        if (b->element == INGOT_UINT64)
            power = integer_power(base, ((const uint64_t *)b->data)[y]);
        else if (ingot_element_is_integer(b->element))
            INGOT_TRY(whole_exponent(call, base, ingot_load_i64(b->element, b->data, (size_t)y), &power));
        else if (fabs(real) < 4503599627370496.0 && real == floor(real)) /* below 2^52: whole numbers stay exact */
            INGOT_TRY(whole_exponent(call, base, (int64_t)real, &power));
        else
            power = clamp_to_integer(z->element, pow((double)base, real));
        ingot_store_i64(z->element, z->data, (size_t)walk->offset[0] + i, power);
    }
    return INGOT_OK;
}

/* Exponents of another type than the base, and narrow floats. */
static void pow_mixed(const ingot_kernel_call *call, const ingot_walk *walk)
{
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_value *z = call->outputs[0];
    double x[CHUNK], y[CHUNK];
    for (size_t done = 0; done < walk->run; done += CHUNK) {
        size_t count = walk->run - done < CHUNK ? walk->run - done : CHUNK;
        int64_t at = (int64_t)done;
        ingot_read_doubles(a->element, a->data, walk->offset[1] + at * walk->step[1], walk->step[1], count, x);
        ingot_read_doubles(b->element, b->data, walk->offset[2] + at * walk->step[2], walk->step[2], count, y);
        for (size_t i = 0; i < count; i++)
            x[i] = pow(x[i], y[i]);
        ingot_write_doubles(z->element, z->data, walk->offset[0] + at, 1, count, x);
    }
}

INGOT_BINARY_RUN(pow_float, float, float, float, q == 2 ? p * p : powf(p, q))
INGOT_BINARY_RUN(pow_double, double, double, double, pow(p, q))

ingot_status ingot_ref_pow(const ingot_kernel_call *call)
{
    static const ingot_binary_run runs[INGOT_ELEMENT_COUNT] = {INGOT_FLOAT_SLOTS(pow)};
    const ingot_binary_params *params = call->params;
    const ingot_value *a = call->inputs[0], *b = call->inputs[1], *z = call->outputs[0];
    if (a->element == b->element && runs[a->element])
        return ingot_run_binary(call, runs);
    int64_t b_dims[INGOT_MAX_RANK];
    int b_rank = ingot_binary_place(params, a->rank, b->rank, b->dims, b_dims);
    ingot_walk walk;
    ingot_walk_init(&walk, z->rank, z->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b_rank, b_dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        if (ingot_element_is_integer(a->element))
            INGOT_TRY(pow_integers(call, &walk));
        else
            pow_mixed(call, &walk);
    }
    return INGOT_OK;
}
