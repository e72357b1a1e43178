/* Conversions between float or double and the narrow types. */
#include "base/number.h"

#include <string.h>

/* A binary number format of sign, exponent and fraction, as the codes of its magnitudes: they grow with the value, so the
 * code next to the greatest finite one is where rounding arrives when a value is too large. */
typedef struct narrow_format {
    int fraction_bits, min_exponent; /* of the least normal number: 2^min_exponent */
    uint32_t sign_bit, max_finite;
    uint32_t overflow; /* for infinity, and for too large values, without saturation */
    uint32_t nan;
    bool unsigned_zero; /* the code of minus zero is the NaN, and NaN has no sign */
    bool has_infinity;
} narrow_format;

static const narrow_format half_format = {10, -14, 0x8000, 0x7bff, 0x7c00, 0x7e00, false, true};
static const narrow_format bfloat16_format = {7, -126, 0x8000, 0x7f7f, 0x7f80, 0x7fc0, false, true};
static const narrow_format narrow_formats[INGOT_ELEMENT_COUNT] = {
    [INGOT_FLOAT8E4M3FN] = {3, -6, 0x80, 0x7e, 0x7f, 0x7f, false, false},
    [INGOT_FLOAT8E4M3FNUZ] = {3, -7, 0x80, 0x7f, 0x80, 0x80, true, false},
    [INGOT_FLOAT8E5M2] = {2, -14, 0x80, 0x7b, 0x7c, 0x7e, false, true},
    [INGOT_FLOAT8E5M2FNUZ] = {2, -15, 0x80, 0x7f, 0x80, 0x80, true, false},
    /* Neither infinity nor NaN. ONNX's operator cases cast a NaN to zero (its page on float4 says 6). */
    [INGOT_FLOAT4E2M1] = {1, 0, 0x8, 0x7, 0x7, 0x0, false, false},
};

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* value rounded half to even, once. saturate: see number.h. */
static uint32_t encode(const narrow_format *format, double value, bool saturate)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 63 ? format->sign_bit : 0;
    const int biased = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (biased == 0x7ff && fraction)
        return format->unsigned_zero ? format->nan : (format->nan | sign);

    uint32_t code;
    if (biased == 0x7ff) {
        code = format->max_finite + 1;
    } else if (biased == 0) { /* zero, or a double less than any of the formats can hold half of */
        code = 0;
    } else {
        int exponent = biased - 1023;
        if (exponent > 200) /* keeps the shift of the exponent below in range; greater than every format */
            exponent = 200;
        const int below = exponent < format->min_exponent ? format->min_exponent - exponent : 0;
        const int shift = 52 - format->fraction_bits + below;
        const uint64_t significand = fraction | UINT64_C(1) << 52;
        uint64_t kept = 0;
        if (shift <= 53) {
            const uint64_t half = UINT64_C(1) << (shift - 1), rest = significand & (2 * half - 1);
            kept = significand >> shift;
            kept += rest > half || (rest == half && (kept & 1));
        }
        const int field = (below ? format->min_exponent : exponent) - format->min_exponent;
        code = ((uint32_t)field << format->fraction_bits) + (uint32_t)kept;
    }
    if (code > format->max_finite) {
        if (!saturate)
            return format->unsigned_zero ? format->overflow : (format->overflow | sign);
        code = format->max_finite;
    }
    return code == 0 && format->unsigned_zero ? 0 : (code | sign);
}

float ingot_half_to_float(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0x1f)
        return float_from_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent != 0)
        return float_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    const float value = (float)fraction * 0x1p-24f; /* exact */
    return sign ? -value : value;
}

uint16_t ingot_half_from_float(float value)
{
    return (uint16_t)encode(&half_format, (double)value, false);
}

uint16_t ingot_half_from_double(double value)
{
    return (uint16_t)encode(&half_format, value, false);
}

float ingot_bfloat16_to_float(uint16_t bits)
{
    return float_from_bits((uint32_t)bits << 16);
}

uint16_t ingot_bfloat16_from_float(float value)
{
    const uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x0040); /* stays a NaN when its low bits go */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t ingot_bfloat16_from_double(double value)
{
    return (uint16_t)encode(&bfloat16_format, value, false);
}

static float scale_to_float(uint8_t bits) /* float8e8m0: 2^(bits - 127) */
{
    if (bits == 0xff)
        return float_from_bits(0x7fc00000);
    return bits ? float_from_bits((uint32_t)bits << 23) : 0x1p-127f;
}

/* The exponent of value, one more where it has a fraction; the sign is left out, infinity becomes NaN. */
static uint8_t scale_from_float(float value, bool saturate)
{
    const uint32_t bits = float_bits(value), exponent = bits >> 23 & 0xff;
    if (exponent == 0xff || (bits & 0x7fffff) == 0)
        return (uint8_t)exponent;
    return (uint8_t)(saturate && exponent == 0xfe ? exponent : exponent + 1);
}

float ingot_narrow_to_float(ingot_element element, uint8_t bits)
{
    if (element == INGOT_FLOAT8E8M0)
        return scale_to_float(bits);
    const narrow_format *format = &narrow_formats[element];
    const uint32_t magnitude = bits & (format->sign_bit - 1);
    const bool negative = (bits & format->sign_bit) != 0;
    if (format->unsigned_zero ? bits == format->nan : magnitude > format->max_finite) {
        const bool infinite = format->has_infinity && magnitude == format->overflow;
        return float_from_bits((negative ? 0x80000000 : 0) | (infinite ? 0x7f800000 : 0x7fc00000));
    }
    const uint32_t field = magnitude >> format->fraction_bits;
    const uint32_t fraction = magnitude & ((1u << format->fraction_bits) - 1);
    const uint32_t significand = field ? fraction | 1u << format->fraction_bits : fraction;
    const int exponent = format->min_exponent - format->fraction_bits + (field ? (int)field - 1 : 0);
    const float value = (float)significand * float_from_bits((uint32_t)(exponent + 127) << 23); /* exact */
    return negative ? -value : value;
}

uint8_t ingot_narrow_from_float(ingot_element element, float value, bool saturate)
{
    if (element == INGOT_FLOAT8E8M0)
        return scale_from_float(value, saturate);
    return (uint8_t)encode(&narrow_formats[element], (double)value, saturate);
}
