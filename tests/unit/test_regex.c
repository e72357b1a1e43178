/* Regular expressions: what RE2's syntax page says of its constructs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/regex.h"

static int make_arena(void **state)
{
    *state = ingot_arena_create();
    return *state ? 0 : -1;
}

static int release_arena(void **state)
{
    ingot_arena_release(*state);
    return 0;
}

static int workspace[INGOT_REGEX_SPACE];

static const ingot_regex *compile(void **state, const char *pattern)
{
    const ingot_regex *regex = NULL;
    ingot_error error = {0};
    ingot_status status = ingot_regex_compile(*state, pattern, strlen(pattern), &regex, &error);
    if (status == INGOT_UNSUPPORTED)
        skip();
    if (status != INGOT_OK)
        fail_msg("%s: %s", pattern, error.message);
    return regex;
}

static bool matches(void **state, const char *pattern, const char *text, size_t size)
{
    ingot_regex_space space = {workspace, INGOT_REGEX_SPACE};
    ingot_regex_result result = ingot_regex_match(compile(state, pattern), text, size, space);
    assert_true(result == INGOT_REGEX_FOUND || result == INGOT_REGEX_NOT_FOUND);
    return result == INGOT_REGEX_FOUND;
}

static bool refused(void **state, const char *pattern)
{
    const ingot_regex *regex;
    ingot_error error = {0};
    ingot_status status = ingot_regex_compile(*state, pattern, strlen(pattern), &regex, &error);
    if (status == INGOT_UNSUPPORTED)
        skip();
    return status == INGOT_INVALID_MODEL;
}

static void only_the_whole_text_matches(void **state)
{
    assert_true(matches(state, "ab|abc", "abc", 3));
    assert_false(matches(state, "ab", "abc", 3));
    assert_false(matches(state, "bc", "abc", 3));
    assert_true(matches(state, "", "", 0));
    assert_true(matches(state, "a*?", "aaa", 3));
    assert_false(matches(state, "a$", "a\n", 2));
    assert_false(matches(state, "a.b", "a\nb", 3));
    assert_true(matches(state, "(?s)a.b", "a\nb", 3));
    assert_true(matches(state, "a.b", "a\rb", 3));
    assert_true(matches(state, "a.b", "a\0b", 3));
}

static void characters_are_not_bytes(void **state)
{
    assert_true(matches(state, ".", "\xC3\xA9", 2));
    assert_true(matches(state, "(?i)\xC3\x89", "\xC3\xA9", 2));
    assert_true(matches(state, "\\pL\\p{Greek}[^a]", "\xC3\xA9\xCE\xB1\xE4\xB8\xAD", 7));
    assert_false(matches(state, "\\w", "\xC3\xA9", 2));
    assert_false(matches(state, "\\d", "\xD9\xA3", 2));
}

static void white_space_is_without_the_vertical_tab(void **state)
{
    assert_true(matches(state, "\\s[\\s]\\S[\\S]", " \n\v\v", 4));
    assert_false(matches(state, "\\s", "\v", 1));
    assert_false(matches(state, "[\\s]", "\v", 1));
    assert_true(matches(state, "\\v[\\v]", "\v\v", 2));
    assert_true(matches(state, "[\\s\\S]{3}", "a\v ", 3));
}

static void braces_brackets_and_quotes_may_stand_for_themselves(void **state)
{
    assert_true(matches(state, "a{,2}", "a{,2}", 5));
    assert_true(matches(state, "{", "{", 1));
    assert_true(matches(state, "[]a[]+", "]a[", 3));
    assert_true(matches(state, "[^]a]", "b", 1));
    assert_true(matches(state, "\\Qa.b*\\E+", "a.b**", 5));
    assert_true(matches(state, "\\101\\x42\\x{43}\\0", "ABC\0", 4));
    assert_true(matches(state, "[[:^digit:]][[:alpha:]]", "ab", 2));
    assert_true(matches(state, "(?P<one>a)(?<two>b)(?i:C)", "abc", 3));
}

static void what_is_no_pattern_is_refused(void **state)
{
    const char *const patterns[] = {
        "(",      ")",     "[a",      "[z-a]",  "*a",           "a**",    "a*+",
        "a{2}+",  "(?=a)", "(?!a)",   "(?<=a)", "(?>a)",        "(a)\\1", "\\",
        "\\R",    "\\K",   "(*UCP)",  "(?#a)",  "\\Z",          "\\h",    "a{1001}",
        "(?P=a)", "(?R)",  "[[:x:]]", "\\xZ",   "\\p{Nothing}", "[\\b]",  "(?P<n>a)(?P<n>b)",
        "a{2,1}"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (!refused(state, patterns[i]))
            fail_msg("%s is not refused", patterns[i]);
}

static void a_search_finds_the_longest_match_from_a_place_on(void **state)
{
    size_t first, end;
    ingot_regex_space space = {workspace, INGOT_REGEX_SPACE};
    const ingot_regex *regex = compile(state, "a|ab|abc");
    assert_int_equal(ingot_regex_find(regex, "xabcab", 6, 0, space, &first, &end), INGOT_REGEX_FOUND);
    assert_int_equal(first, 1);
    assert_int_equal(end, 4);
    assert_int_equal(ingot_regex_find(regex, "xabcab", 6, 4, space, &first, &end), INGOT_REGEX_FOUND);
    assert_int_equal(first, 4);
    assert_int_equal(end, 6);
    assert_int_equal(ingot_regex_find(regex, "xabcab", 6, 6, space, &first, &end), INGOT_REGEX_NOT_FOUND);
    assert_int_equal(ingot_regex_find(regex, "a\xFF", 2, 0, space, &first, &end), INGOT_REGEX_NO_UTF8);
}

static void patterns_that_make_others_go_back_for_ever_end_soon(void **state)
{
    char text[4096];
    memset(text, 'a', sizeof text);
    assert_false(matches(state, "(a*)*b", text, sizeof text));
    assert_false(matches(state, "(a|aa)+$b", text, sizeof text));
    assert_true(matches(state, "(a?){64}a*", text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_the_whole_text_matches, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(characters_are_not_bytes, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(white_space_is_without_the_vertical_tab, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(braces_brackets_and_quotes_may_stand_for_themselves, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(what_is_no_pattern_is_refused, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(a_search_finds_the_longest_match_from_a_place_on, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(patterns_that_make_others_go_back_for_ever_end_soon, make_arena, release_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
