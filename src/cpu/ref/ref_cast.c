/* Cast, CastLike: every pair of types. */
#include "cpu/ref/ref_cast.h"

#include <math.h>
#include <string.h>

#include "cpu/ref/ref_iterate.h"
#include "ops/cast.h"

#define CHUNK 256

/* Toward zero. The standard leaves open what a number out of range becomes; these are defined in C whatever comes, and give
 * what the conversion to int64 of most processors does. */
static inline int64_t to_i64(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

static inline uint64_t to_u64(double x)
{
    return x >= 9223372036854775808.0 && x < 18446744073709551616.0 ? (uint64_t)x : (uint64_t)to_i64(x);
}

/* ---- Between the types that C has: a loop for each pair ---- */

#define LOOP(type, expression)                 \
    for (size_t i = 0; i < count; i++)         \
        ((type *)out)[i] = (type)(expression); \
    return true;

/* `integer` brings x to an integer that holds it, `large` to the one for uint64. */
#define DEFINE_CASTS(from, integer, large)                                             \
    static bool cast_##from(ingot_element to, void *out, const void *in, size_t count) \
    {                                                                                  \
        const from *x = in;                                                            \
        switch (to) {                                                                  \
        case INGOT_FLOAT:                                                              \
            LOOP(float, x[i])                                                          \
        case INGOT_DOUBLE:                                                             \
            LOOP(double, x[i])                                                         \
        case INGOT_INT8:                                                               \
            LOOP(int8_t, integer(x[i]))                                                \
        case INGOT_INT16:                                                              \
            LOOP(int16_t, integer(x[i]))                                               \
        case INGOT_INT32:                                                              \
            LOOP(int32_t, integer(x[i]))                                               \
        case INGOT_INT64:                                                              \
            LOOP(int64_t, integer(x[i]))                                               \
        case INGOT_UINT8:                                                              \
            LOOP(uint8_t, integer(x[i]))                                               \
        case INGOT_UINT16:                                                             \
            LOOP(uint16_t, integer(x[i]))                                              \
        case INGOT_UINT32:                                                             \
            LOOP(uint32_t, integer(x[i]))                                              \
        case INGOT_UINT64:                                                             \
            LOOP(uint64_t, large(x[i]))                                                \
        case INGOT_BOOL:                                                               \
            LOOP(uint8_t, x[i] != 0)                                                   \
        default:                                                                       \
            return false;                                                              \
        }                                                                              \
    }

DEFINE_CASTS(float, to_i64, to_u64)
DEFINE_CASTS(double, to_i64, to_u64)
DEFINE_CASTS(int8_t, , )
DEFINE_CASTS(int16_t, , )
DEFINE_CASTS(int32_t, , )
DEFINE_CASTS(int64_t, , )
DEFINE_CASTS(uint8_t, , )
DEFINE_CASTS(uint16_t, , )
DEFINE_CASTS(uint32_t, , )
DEFINE_CASTS(uint64_t, , )

/* A bool is any byte that is not 0. */
static bool cast_bool(ingot_element to, void *out, const void *in, size_t count)
{
    uint8_t x[CHUNK];
    bool native = true;
    for (size_t done = 0; done < count && native; done += CHUNK) {
        size_t now = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < now; i++)
            x[i] = ((const uint8_t *)in)[done + i] != 0;
        native = cast_uint8_t(to, (char *)out + done * ingot_element_size(to), x, now);
    }
    return native;
}

typedef bool (*cast_run)(ingot_element to, void *out, const void *in, size_t count);

#define SLOT(element, type, wide) [element] = cast_##type,
static const cast_run native_casts[INGOT_ELEMENT_COUNT] = {INGOT_NATIVE_NUMBERS(SLOT)[INGOT_BOOL] = cast_bool};

/* ---- The narrow types, one element at a time ---- */

/* 2^(result - 127) is the power of two that round_mode chooses for |x|; 255 is NaN. */
static uint8_t to_scale(double x, const ingot_cast_params *params)
{
    float value = (float)fabs(x);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t exponent = bits >> 23, fraction = bits & 0x7fffff;
    if (isnan(value))
        return 255;
    if (exponent == 255)
        return params->saturate ? 254 : 255;
    if (value == 0)
        return params->saturate ? 0 : 255;
    bool up = params->round_mode == INGOT_ROUND_UP ? fraction != 0
              : params->round_mode == INGOT_ROUND_NEAREST
                  ? fraction > 0x400000 || (fraction == 0x400000 && exponent > 0)
                  : false;
    exponent += up;
    return (uint8_t)(exponent == 255 && params->saturate ? 254 : exponent);
}

static void store_real(ingot_value *z, size_t index, double x, const ingot_cast_params *params)
{
    switch (z->element) {
    case INGOT_FLOAT8E4M3FN:
    case INGOT_FLOAT8E4M3FNUZ:
    case INGOT_FLOAT8E5M2:
    case INGOT_FLOAT8E5M2FNUZ:
        ((uint8_t *)z->data)[index] = ingot_narrow_from_float(z->element, (float)x, params->saturate);
        break;
    case INGOT_FLOAT8E8M0:
        ((uint8_t *)z->data)[index] = to_scale(x, params);
        break;
    case INGOT_BOOL:
        ((uint8_t *)z->data)[index] = x != 0;
        break;
    case INGOT_UINT64:
        ((uint64_t *)z->data)[index] = to_u64(x);
        break;
    default:
        if (ingot_element_is_float(z->element))
            ingot_store_double(z->element, z->data, index, x);
        else
            ingot_store_i64(z->element, z->data, index, to_i64(x));
    }
}

static bool is_whole(ingot_element element)
{
    return element == INGOT_BOOL || ingot_element_is_integer(element);
}

static void cast_elements(ingot_value *z, const ingot_value *a, size_t elements, const ingot_cast_params *params)
{
    if (is_whole(a->element) && is_whole(z->element)) {
        for (size_t i = 0; i < elements; i++) {
            int64_t x = ingot_load_i64(a->element, a->data, i);
            ingot_store_i64(z->element, z->data, i, z->element == INGOT_BOOL ? x != 0 : x);
        }
        return;
    }
    double x[CHUNK];
    bool wide = z->element == INGOT_FLOAT16 || z->element == INGOT_BFLOAT16 || z->element == INGOT_FLOAT;
    for (size_t done = 0; done < elements; done += CHUNK) {
        size_t count = elements - done < CHUNK ? elements - done : CHUNK;
        ingot_read_doubles(a->element, a->data, (int64_t)done, 1, count, x);
        if (wide)
            ingot_write_doubles(z->element, z->data, (int64_t)done, 1, count, x);
        for (size_t i = 0; !wide && i < count; i++)
            store_real(z, done + i, x[i], params);
    }
}

static ingot_status cast_text(const ingot_kernel_call *call, size_t elements)
{
    ingot_value *z = call->outputs[0];
    bool whole = ingot_element_is_integer(z->element);
    for (size_t i = 0; i < elements; i++) {
        int64_t integer;
        double real;
        if (whole) {
            INGOT_TRY(ingot_cast_text_to_i64(call, i, &integer));
            ingot_store_i64(z->element, z->data, i, integer);
        } else {
            INGOT_TRY(ingot_cast_text_to_double(call, i, &real));
            store_real(z, i, real, call->params);
        }
    }
    return INGOT_OK;
}

ingot_status ingot_ref_cast(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    size_t elements = ingot_dims_product(z->dims, 0, z->rank), bytes;
    if (a->element == z->element && a->element != INGOT_STRING &&
        ingot_tensor_bytes(a->element, a->rank, a->dims, &bytes)) {
        if (bytes > 0)
            memcpy(z->data, a->data, bytes);
        return INGOT_OK;
    }
    if (z->element == INGOT_STRING)
        return ingot_cast_to_text(call);
    if (a->element == INGOT_STRING)
        return cast_text(call, elements);
    cast_run run = native_casts[a->element];
    if (!run || !run(z->element, z->data, a->data, elements))
        cast_elements(z, a, elements, call->params);
    return INGOT_OK;
}
