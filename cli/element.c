#include "element.h"

#include <math.h>
#include <string.h>

static const cli_element_traits traits[INGOT_ELEMENT_COUNT] = {
    [INGOT_FLOAT] = {CLI_ELEMENT_REAL, 1, 'f', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_UINT8] = {CLI_ELEMENT_UNSIGNED, 1, 'u', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_INT8] = {CLI_ELEMENT_SIGNED, 1, 'i', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_UINT16] = {CLI_ELEMENT_UNSIGNED, 1, 'u', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_INT16] = {CLI_ELEMENT_SIGNED, 1, 'i', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_INT32] = {CLI_ELEMENT_SIGNED, 1, 'i', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_INT64] = {CLI_ELEMENT_SIGNED, 1, 'i', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_STRING] = {CLI_ELEMENT_NONE, 0, 'U', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_BOOL] = {CLI_ELEMENT_BOOL, 1, 'b', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_FLOAT16] = {CLI_ELEMENT_SMALL, 1, 'f', 5, 10, 15, CLI_SMALL_IEEE},
    [INGOT_DOUBLE] = {CLI_ELEMENT_REAL, 1, 'f', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_UINT32] = {CLI_ELEMENT_UNSIGNED, 1, 'u', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_UINT64] = {CLI_ELEMENT_UNSIGNED, 1, 'u', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_COMPLEX64] = {CLI_ELEMENT_REAL, 2, 'c', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_COMPLEX128] = {CLI_ELEMENT_REAL, 2, 'c', 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_BFLOAT16] = {CLI_ELEMENT_SMALL, 1, 0, 8, 7, 127, CLI_SMALL_IEEE},
    [INGOT_FLOAT8E4M3FN] = {CLI_ELEMENT_SMALL, 1, 0, 4, 3, 7, CLI_SMALL_LAST_NAN},
    [INGOT_FLOAT8E4M3FNUZ] = {CLI_ELEMENT_SMALL, 1, 0, 4, 3, 8, CLI_SMALL_ZERO_NAN},
    [INGOT_FLOAT8E5M2] = {CLI_ELEMENT_SMALL, 1, 0, 5, 2, 15, CLI_SMALL_IEEE},
    [INGOT_FLOAT8E5M2FNUZ] = {CLI_ELEMENT_SMALL, 1, 0, 5, 2, 16, CLI_SMALL_ZERO_NAN},
    [INGOT_UINT4] = {CLI_ELEMENT_UNSIGNED, 1, 0, 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_INT4] = {CLI_ELEMENT_SIGNED, 1, 0, 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_FLOAT4E2M1] = {CLI_ELEMENT_SMALL, 1, 0, 2, 1, 1, CLI_SMALL_FINITE},
    [INGOT_FLOAT8E8M0] = {CLI_ELEMENT_SMALL, 1, 0, 8, 0, 127, CLI_SMALL_LAST_NAN},
    [INGOT_UINT2] = {CLI_ELEMENT_UNSIGNED, 1, 0, 0, 0, 0, CLI_SMALL_IEEE},
    [INGOT_INT2] = {CLI_ELEMENT_SIGNED, 1, 0, 0, 0, 0, CLI_SMALL_IEEE},
};

const cli_element_traits *cli_element_trait(ingot_element element)
{
    return &traits[(unsigned)element < INGOT_ELEMENT_COUNT ? element : INGOT_UNDEFINED];
}

/* The bits of element index, at most 64 of them, in the low bits. */
static uint64_t bits_at(ingot_element element, const void *data, size_t index)
{
    size_t bits = ingot_element_bits(element);
    if (bits < 8) {
        size_t per_byte = 8 / bits;
        unsigned byte = ((const unsigned char *)data)[index / per_byte];
        return (byte >> (index % per_byte * bits)) & ((1u << bits) - 1);
    }
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    const char *place = (const char *)data + index * (bits / 8);
    switch (bits) {
    case 8:
        memcpy(&one, place, sizeof one);
        return one;
    case 16:
        memcpy(&two, place, sizeof two);
        return two;
    case 32:
        memcpy(&four, place, sizeof four);
        return four;
    default:
        memcpy(&eight, place, sizeof eight);
        return eight;
    }
}

uint64_t cli_element_unsigned(ingot_element element, const void *data, size_t index)
{
    return bits_at(element, data, index);
}

int64_t cli_element_signed(ingot_element element, const void *data, size_t index)
{
    uint64_t sign = (uint64_t)1 << (ingot_element_bits(element) - 1);
    return (int64_t)((bits_at(element, data, index) ^ sign) - sign);
}

static double small_number(const cli_element_traits *trait, unsigned bits)
{
    unsigned exponent_mask = (1u << trait->exponent) - 1, fraction_mask = (1u << trait->fraction) - 1;
    unsigned exponent = (bits >> trait->fraction) & exponent_mask, fraction = bits & fraction_mask;
    bool negative = (bits >> (trait->exponent + trait->fraction)) != 0;
    if (trait->rule == CLI_SMALL_IEEE && exponent == exponent_mask)
        return fraction ? (double)NAN : negative ? -(double)INFINITY : (double)INFINITY;
    if (trait->rule == CLI_SMALL_LAST_NAN && exponent == exponent_mask && fraction == fraction_mask)
        return (double)NAN;
    if (trait->rule == CLI_SMALL_ZERO_NAN && negative && !exponent && !fraction)
        return (double)NAN;
    double number;
    if (exponent == 0 && trait->fraction > 0) /* subnormal */
        number = ldexp(fraction, 1 - trait->bias - (int)trait->fraction);
    else
        number = ldexp(fraction + fraction_mask + 1u, (int)exponent - trait->bias - (int)trait->fraction);
    return negative ? -number : number;
}

double cli_element_number(ingot_element element, const void *data, size_t index)
{
    const cli_element_traits *trait = cli_element_trait(element);
    float single;
    double number;
    switch (trait->kind) {
    case CLI_ELEMENT_NONE:
        return (double)NAN;
    case CLI_ELEMENT_SIGNED:
        return (double)cli_element_signed(element, data, index);
    case CLI_ELEMENT_BOOL:
    case CLI_ELEMENT_UNSIGNED:
        return (double)bits_at(element, data, index);
    case CLI_ELEMENT_SMALL:
        return small_number(trait, (unsigned)bits_at(element, data, index));
    case CLI_ELEMENT_REAL:
        break;
    }
    if (element == INGOT_FLOAT || element == INGOT_COMPLEX64) {
        memcpy(&single, (const char *)data + index * sizeof single, sizeof single);
        return single;
    }
    memcpy(&number, (const char *)data + index * sizeof number, sizeof number);
    return number;
}

/* The pattern of a type with IEEE's rule that is nearest to number, ties to even. */
static uint16_t nearest_small(const cli_element_traits *trait, double number)
{
    unsigned infinity = ((1u << trait->exponent) - 1) << trait->fraction;
    unsigned sign = signbit(number) ? 1u << (trait->exponent + trait->fraction) : 0;
    double size = fabs(number);
    if (isnan(number))
        return (uint16_t)(infinity | 1u << (trait->fraction - 1));
    int exponent;
    frexp(size, &exponent); /* size = m * 2^exponent, m from .5 to 1 */
    int stored = exponent - 1 + trait->bias;
    if (size == 0 || stored < 1)
        stored = 1; /* subnormals have the least exponent */
    double steps = isinf(number) ? 0 : nearbyint(ldexp(size, (int)trait->fraction + trait->bias - stored));
    if (isinf(number) || stored >= (1 << trait->exponent) - 1)
        return (uint16_t)(sign | infinity);
    /* a full step count carries into the exponent, up to infinity */
    unsigned pattern = ((unsigned)(stored - 1) << trait->fraction) + (unsigned)steps;
    return (uint16_t)(sign | (pattern < infinity ? pattern : infinity));
}

static bool store_integer(ingot_element element, char *place, double number, bool is_signed)
{
    size_t bits = ingot_element_bits(element);
    double least = is_signed ? -ldexp(1, (int)bits - 1) : 0, past = ldexp(1, (int)bits - is_signed);
    uint64_t pattern;
    if (isnan(number))
        number = 0;
    number = nearbyint(number);
    if (number >= past)
        pattern = UINT64_MAX >> (64 - bits + is_signed);
    else if (number <= least)
        pattern = is_signed ? (uint64_t)1 << (bits - 1) : 0;
    else
        pattern = is_signed ? (uint64_t)(int64_t)number : (uint64_t)number;
    const uint8_t one = (uint8_t)pattern;
    const uint16_t two = (uint16_t)pattern;
    const uint32_t four = (uint32_t)pattern;
    const void *source = bits == 8 ? (const void *)&one : bits == 16 ? (const void *)&two : (const void *)&four;
    memcpy(place, bits == 64 ? &pattern : source, bits / 8);
    return true;
}

bool cli_element_store(ingot_element element, void *data, size_t index, double number)
{
    const cli_element_traits *trait = cli_element_trait(element);
    size_t bits = ingot_element_bits(element);
    char *place = (char *)data + index * (bits / 8);
    if (element == INGOT_FLOAT) {
        float single = (float)number;
        memcpy(place, &single, sizeof single);
        return true;
    }
    if (element == INGOT_DOUBLE) {
        memcpy(place, &number, sizeof number);
        return true;
    }
    if (element == INGOT_FLOAT16 || element == INGOT_BFLOAT16) {
        uint16_t pattern = nearest_small(trait, number);
        memcpy(place, &pattern, sizeof pattern);
        return true;
    }
    if (trait->kind == CLI_ELEMENT_BOOL) {
        *place = number != 0;
        return true;
    }
    if (bits < 8 || (trait->kind != CLI_ELEMENT_SIGNED && trait->kind != CLI_ELEMENT_UNSIGNED))
        return false;
    return store_integer(element, place, number, trait->kind == CLI_ELEMENT_SIGNED);
}
