/* UTF-8 (RFC 3629) and the case of characters (Unicode's data files). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void every_character_comes_back(void **state)
{
    for (uint32_t rune = 0; rune <= 0x10FFFF; rune++) {
        char text[INGOT_UTF8_MAX];
        uint32_t back = 0;
        if (rune >= 0xD800 && rune <= 0xDFFF)
            continue;
        size_t length = ingot_utf8_encode(rune, text);
        assert_int_equal(length, rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4);
        assert_int_equal(ingot_utf8_decode(text, length, &back), length);
        assert_int_equal(back, rune);
        assert_int_equal(length > 1 ? ingot_utf8_decode(text, length - 1, &back) : 0, 0);
    }
}

static void what_is_no_utf8_is_told(void **state)
{
    const char *const texts[] = {
        "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xFF", "\xC3(",    "a\xC3"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(ingot_utf8_is_valid(texts[i], strlen(texts[i])));
    assert_true(ingot_utf8_is_valid("a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80", 10));
}

static void case_is_unicodes(void **state)
{
    if (!ingot_rune_has_case())
        skip();
    assert_int_equal(ingot_rune_upper('a'), 'A');
    assert_int_equal(ingot_rune_upper(0xE9), 0xC9);
    assert_int_equal(ingot_rune_lower(0x416), 0x436);
    assert_int_equal(ingot_rune_upper(0xFF), 0x178);
    assert_int_equal(ingot_rune_lower(0x10400), 0x10428);
    assert_int_equal(ingot_rune_lower('1'), '1');
    assert_int_equal(ingot_rune_fold(0x3C2), ingot_rune_fold(0x3A3));
    assert_int_equal(ingot_rune_fold(0x17F), 's');
}

static void white_space_is_unicodes(void **state)
{
    assert_true(ingot_rune_is_space(' ') && ingot_rune_is_space('\v') && ingot_rune_is_space(0xA0));
    assert_true(ingot_rune_is_space(0x3000) && ingot_rune_is_space(0x2028));
    assert_false(ingot_rune_is_space('a') || ingot_rune_is_space(0x200B) || ingot_rune_is_space(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_comes_back),
        cmocka_unit_test(what_is_no_utf8_is_told),
        cmocka_unit_test(case_is_unicodes),
        cmocka_unit_test(white_space_is_unicodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
