/* Conversions of narrow numbers at their boundaries, worked out by hand from the formats' definitions, and access to
 * elements of every type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/number.h"

typedef struct fact {
    float value;
    uint16_t bits;
} fact;

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void half_values_are_exact(void **state)
{
    static const fact facts[] = {
        {0.0f, 0x0000},     {-0.0f, 0x8000},    {1.0f, 0x3c00},         {-2.0f, 0xc000},    {65504.0f, 0x7bff},
        {0x1p-14f, 0x0400}, {0x1p-24f, 0x0001}, {0x1.ff8p-15f, 0x03ff}, {INFINITY, 0x7c00}, {-INFINITY, 0xfc00},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        assert_int_equal(bits_of(ingot_half_to_float(facts[i].bits)), bits_of(facts[i].value));
        assert_int_equal(ingot_half_from_float(facts[i].value), facts[i].bits);
    }
    assert_true(isnan(ingot_half_to_float(0x7e00)) && isnan(ingot_half_to_float(0xfc01)));
    assert_true(isnan(ingot_half_to_float(ingot_half_from_float(NAN))));
}

static void every_half_and_bfloat16_comes_back_as_it_was(void **state)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        if ((bits & 0x7fff) <= 0x7c00)
            assert_int_equal(ingot_half_from_float(ingot_half_to_float((uint16_t)bits)), bits);
        if ((bits & 0x7fff) <= 0x7f80)
            assert_int_equal(ingot_bfloat16_from_float(ingot_bfloat16_to_float((uint16_t)bits)), bits);
    }
}

static void half_rounds_ties_to_even(void **state)
{
    assert_int_equal(ingot_half_from_float(0x1.002p0f), 0x3c00); /* between 1 and the next: 1 is even */
    assert_int_equal(ingot_half_from_float(0x1.006p0f), 0x3c02);
    assert_int_equal(ingot_half_from_float(0x1.002002p0f), 0x3c01);
    assert_int_equal(ingot_half_from_float(0x1p-25f), 0x0000);
    assert_int_equal(ingot_half_from_float(0x1.000002p-25f), 0x0001);
    assert_int_equal(ingot_half_from_float(0x1.8p-24f), 0x0002);
    assert_int_equal(ingot_half_from_float(65519.0f), 0x7bff);
    assert_int_equal(ingot_half_from_float(65520.0f), 0x7c00);
    assert_int_equal(ingot_half_from_float(-0x1p-26f), 0x8000);
}

/* 1 + 2^-11 + 2^-40: to float first it would be the tie 1 + 2^-11, which rounds down. */
static void a_double_is_rounded_once(void **state)
{
    assert_int_equal(ingot_half_from_double(0x1.0020000001p0), 0x3c01);
    assert_int_equal(ingot_half_from_double(0x1.001ffffffp0), 0x3c00);
    assert_int_equal(ingot_bfloat16_from_double(0x1.0100000001p0), 0x3f81);
    assert_int_equal(ingot_half_from_double(1e300), 0x7c00);
    assert_int_equal(ingot_half_from_double(-1e-300), 0x8000);
    assert_int_equal(ingot_half_from_double(0x1p-1074), 0x0000);
    uint8_t narrow;
    ingot_store_double(INGOT_FLOAT8E4M3FN, &narrow, 0, 0x1.1000000001p0);
    assert_int_equal(narrow, 0x39);
    ingot_store_double(INGOT_FLOAT8E4M3FN, &narrow, 0, 0x1.1p0);
    assert_int_equal(narrow, 0x38);
}

static void bfloat16_rounds_ties_to_even_and_keeps_nan(void **state)
{
    assert_int_equal(ingot_bfloat16_from_float(1.0f), 0x3f80);
    assert_int_equal(ingot_bfloat16_from_float(0x1.01p0f), 0x3f80);
    assert_int_equal(ingot_bfloat16_from_float(0x1.03p0f), 0x3f82);
    assert_int_equal(ingot_bfloat16_from_float(0x1.010002p0f), 0x3f81);
    assert_int_equal(ingot_bfloat16_from_float(0x1.fffffep127f), 0x7f80);
    assert_int_equal(ingot_bfloat16_from_float(-INFINITY), 0xff80);
    float nan;
    memcpy(&nan, &(uint32_t){0x7f800001}, sizeof nan); /* all of its fraction is in the bits that go */
    assert_true(isnan(ingot_bfloat16_to_float(ingot_bfloat16_from_float(nan))));
    assert_true(ingot_bfloat16_to_float(0x0001) == 0x1p-133f);
}

/* The tables of ONNX's page "Float stored in 8 bits". */
static void float8_follows_the_tables_of_the_standard(void **state)
{
    static const struct {
        ingot_element element;
        float greatest, least, first_too_large;
        uint8_t greatest_bits, nan, overflow;
    } formats[] = {
        /* 464 is a tie, and 448 the even one; the other ties round away from their odd neighbour. */
        {INGOT_FLOAT8E4M3FN, 448, 0x1p-9f, 0x1.d00002p8f, 0x7e, 0x7f, 0x7f},
        {INGOT_FLOAT8E4M3FNUZ, 240, 0x1p-10f, 248, 0x7f, 0x80, 0x80},
        {INGOT_FLOAT8E5M2, 57344, 0x1p-16f, 61440, 0x7b, 0x7e, 0x7c},
        {INGOT_FLOAT8E5M2FNUZ, 57344, 0x1p-17f, 61440, 0x7f, 0x80, 0x80},
    };
    for (size_t i = 0; i < 4; i++) {
        const ingot_element element = formats[i].element;
        assert_true(ingot_narrow_to_float(element, formats[i].greatest_bits) == formats[i].greatest);
        assert_true(ingot_narrow_to_float(element, 1) == formats[i].least);
        assert_true(isnan(ingot_narrow_to_float(element, formats[i].nan)));
        assert_int_equal(ingot_narrow_from_float(element, NAN, true), formats[i].nan);
        assert_int_equal(ingot_narrow_from_float(element, NAN, false), formats[i].nan);
        const float large[] = {formats[i].first_too_large, 1e30f, INFINITY};
        for (size_t j = 0; j < 3; j++) {
            assert_int_equal(ingot_narrow_from_float(element, large[j], true), formats[i].greatest_bits);
            assert_int_equal(ingot_narrow_from_float(element, large[j], false), formats[i].overflow);
            assert_int_equal(ingot_narrow_from_float(element, -large[j], true), formats[i].greatest_bits | 0x80);
        }
        assert_int_equal(ingot_narrow_from_float(element, nextafterf(formats[i].first_too_large, 0), false),
                         formats[i].greatest_bits);
        assert_int_equal(ingot_narrow_from_float(element, formats[i].least / 2, true), 0);
    }
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT8E4M3FN, -0.0f, true), 0x80);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT8E4M3FNUZ, -0.0f, true), 0x00);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT8E5M2FNUZ, -1e-9f, true), 0x00);
    assert_true(isinf(ingot_narrow_to_float(INGOT_FLOAT8E5M2, 0xfc)));
}

static void every_narrow_value_comes_back_as_it_was(void **state)
{
    static const ingot_element elements[] = {INGOT_FLOAT8E4M3FN,   INGOT_FLOAT8E4M3FNUZ, INGOT_FLOAT8E5M2,
                                             INGOT_FLOAT8E5M2FNUZ, INGOT_FLOAT8E8M0,     INGOT_FLOAT4E2M1};
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        for (unsigned bits = 1; bits < (elements[i] == INGOT_FLOAT4E2M1 ? 16 : 256); bits++) {
            const float value = ingot_narrow_to_float(elements[i], (uint8_t)bits);
            if (!isnan(value))
                assert_int_equal(ingot_narrow_from_float(elements[i], value, false), bits);
        }
    }
}

static void float4_has_eight_magnitudes(void **state)
{
    static const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    for (unsigned bits = 0; bits < 8; bits++) {
        assert_true(ingot_narrow_to_float(INGOT_FLOAT4E2M1, (uint8_t)bits) == values[bits]);
        assert_true(ingot_narrow_to_float(INGOT_FLOAT4E2M1, (uint8_t)(bits | 8)) == -values[bits]);
    }
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT4E2M1, 0.25f, true), 0);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT4E2M1, 2.5f, true), 4);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT4E2M1, 5, true), 6);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT4E2M1, 1e6f, false), 7);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT4E2M1, -INFINITY, false), 15);
}

static void float8e8m0_is_a_power_of_two_rounded_up(void **state)
{
    assert_true(ingot_narrow_to_float(INGOT_FLOAT8E8M0, 127) == 1);
    assert_true(ingot_narrow_to_float(INGOT_FLOAT8E8M0, 0) == 0x1p-127f);
    assert_true(isnan(ingot_narrow_to_float(INGOT_FLOAT8E8M0, 255)));
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT8E8M0, 4, true), 129);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT8E8M0, 4.001f, true), 130);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT8E8M0, 3e38f, true), 254);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT8E8M0, 3e38f, false), 255);
    assert_int_equal(ingot_narrow_from_float(INGOT_FLOAT8E8M0, NAN, true), 255);
}

static void every_type_stores_and_loads_small_numbers(void **state)
{
    for (int e = 1; e < INGOT_ELEMENT_COUNT; e++) {
        const ingot_element element = (ingot_element)e;
        unsigned char data[16 * 9 + 1] = {0};
        unsigned char *odd = data + 1; /* no alignment is needed */
        if (element == INGOT_STRING)
            continue;
        for (size_t i = 0; i < 9; i++)
            ingot_store_i64(element, odd, i, 1);
        ingot_store_double(element, odd, 4, element == INGOT_BOOL ? 0.5 : 1.0);
        for (size_t i = 0; i < 9; i++) {
            assert_int_equal(ingot_load_i64(element, odd, i), 1);
            assert_true(ingot_load_double(element, odd, i) == 1);
        }
        if (ingot_element_is_signed(element)) {
            ingot_store_double(element, odd, 8, -1);
            assert_int_equal(ingot_load_i64(element, odd, 8), -1);
            assert_true(ingot_load_double(element, odd, 8) == -1);
            assert_int_equal(ingot_load_i64(element, odd, 7), 1);
        }
    }
}

static void doubles_become_integers_toward_zero_and_wrap(void **state)
{
    int8_t small;
    ingot_store_double(INGOT_INT8, &small, 0, -1.9);
    assert_int_equal(small, -1);
    ingot_store_double(INGOT_INT8, &small, 0, 200);
    assert_int_equal(small, -56);
    uint8_t byte;
    ingot_store_double(INGOT_UINT8, &byte, 0, -1);
    assert_int_equal(byte, 255);
    int64_t wide;
    ingot_store_double(INGOT_INT64, &wide, 0, NAN);
    assert_true(wide == INT64_MIN);
    ingot_store_double(INGOT_INT64, &wide, 0, 1e30);
    assert_true(wide == INT64_MIN);
    uint64_t unsigned_wide;
    ingot_store_double(INGOT_UINT64, &unsigned_wide, 0, 0x1.8p63);
    assert_true(unsigned_wide == UINT64_C(3) << 62);
    assert_true(ingot_load_double(INGOT_UINT64, &unsigned_wide, 0) == 0x1.8p63);
}

/* 2^60 + 2^52 + 1: to double first it would be the tie of bfloat16, which rounds down. */
static void a_wide_integer_is_rounded_once(void **state)
{
    uint16_t bits;
    ingot_store_i64(INGOT_BFLOAT16, &bits, 0, (INT64_C(1) << 60) + (INT64_C(1) << 52) + 1);
    assert_true(ingot_bfloat16_to_float(bits) == 0x1.02p60f);
    ingot_store_i64(INGOT_BFLOAT16, &bits, 0, (INT64_C(1) << 60) + (INT64_C(1) << 52));
    assert_true(ingot_bfloat16_to_float(bits) == 0x1p60f);
    int64_t exact;
    ingot_store_i64(INGOT_INT64, &exact, 0, INT64_MAX - 1);
    assert_true(ingot_load_i64(INGOT_INT64, &exact, 0) == INT64_MAX - 1);
}

static void packed_elements_lie_from_the_low_bits_up(void **state)
{
    unsigned char data[2] = {0xff, 0xff};
    ingot_store_i64(INGOT_INT4, data, 1, -8);
    assert_int_equal(data[0], 0x8f);
    assert_int_equal(ingot_load_i64(INGOT_INT4, data, 0), -1);
    assert_int_equal(ingot_load_i64(INGOT_UINT4, data, 1), 8);
    ingot_store_i64(INGOT_UINT2, data, 5, 1);
    assert_int_equal(data[1], 0xf7);
    assert_int_equal(ingot_load_i64(INGOT_INT2, data, 5), 1);
    assert_int_equal(ingot_load_i64(INGOT_INT2, data, 6), -1);
}

static void runs_of_elements_are_copied_at_any_offset(void **state)
{
    static const size_t widths[] = {2, 4, 8, 16, 32, 64, 128};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        const size_t bits = widths[w];
        for (size_t from = 0; from < 5; from++) {
            for (size_t to = 0; to < 5; to++) {
                unsigned char source[400], target[400], expected[400];
                for (size_t i = 0; i < sizeof source; i++)
                    source[i] = (unsigned char)(i * 29 + 7);
                memset(target, 0xa5, sizeof target);
                memset(expected, 0xa5, sizeof expected);
                for (size_t i = 0; i < 11 * bits; i++) { /* bit by bit */
                    const size_t s = from * bits + i, t = to * bits + i;
                    const unsigned bit = source[s / 8] >> s % 8 & 1;
                    expected[t / 8] = (unsigned char)((expected[t / 8] & ~(1u << t % 8)) | bit << t % 8);
                }
                ingot_copy_elements(bits, target, to, source, from, 11);
                assert_memory_equal(target, expected, sizeof target);
            }
        }
    }
}

static void kinds_of_types_are_told_apart(void **state)
{
    assert_true(ingot_element_is_float(INGOT_FLOAT8E5M2) && ingot_element_is_float(INGOT_FLOAT4E2M1));
    assert_false(ingot_element_is_float(INGOT_INT32) || ingot_element_is_float(INGOT_COMPLEX64));
    assert_true(ingot_element_is_integer(INGOT_UINT2) && ingot_element_is_integer(INGOT_INT64));
    assert_false(ingot_element_is_integer(INGOT_BOOL) || ingot_element_is_integer(INGOT_STRING));
    assert_true(ingot_element_is_signed(INGOT_INT4) && ingot_element_is_signed(INGOT_FLOAT));
    assert_false(ingot_element_is_signed(INGOT_UINT8) || ingot_element_is_signed(INGOT_FLOAT8E8M0));
    assert_false(ingot_element_is_float((ingot_element)99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_values_are_exact),
        cmocka_unit_test(every_half_and_bfloat16_comes_back_as_it_was),
        cmocka_unit_test(half_rounds_ties_to_even),
        cmocka_unit_test(a_double_is_rounded_once),
        cmocka_unit_test(bfloat16_rounds_ties_to_even_and_keeps_nan),
        cmocka_unit_test(float8_follows_the_tables_of_the_standard),
        cmocka_unit_test(every_narrow_value_comes_back_as_it_was),
        cmocka_unit_test(float4_has_eight_magnitudes),
        cmocka_unit_test(float8e8m0_is_a_power_of_two_rounded_up),
        cmocka_unit_test(every_type_stores_and_loads_small_numbers),
        cmocka_unit_test(doubles_become_integers_toward_zero_and_wrap),
        cmocka_unit_test(a_wide_integer_is_rounded_once),
        cmocka_unit_test(packed_elements_lie_from_the_low_bits_up),
        cmocka_unit_test(runs_of_elements_are_copied_at_any_offset),
        cmocka_unit_test(kinds_of_types_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
