/* Messages: the first error wins, valid UTF-8 whatever comes, cut at a character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"

static void the_version_is_that_of_the_header(void **state)
{
    assert_string_equal(ingot_version(), "0.1.0");
}

static void every_status_has_a_name_and_a_text(void **state)
{
    assert_string_equal(ingot_status_name(INGOT_OK), "INGOT_OK");
    assert_string_equal(ingot_status_name(INGOT_INVALID_MODEL), "INGOT_INVALID_MODEL");
    assert_string_equal(ingot_status_text(INGOT_CANCELLED), "the work was cancelled");
    for (int status = -2; status < 20; status++) {
        assert_non_null(ingot_status_name((ingot_status)status));
        assert_non_null(ingot_status_text((ingot_status)status));
    }
}

static void element_types_have_the_names_and_sizes_of_onnx(void **state)
{
    assert_string_equal(ingot_element_name(INGOT_FLOAT16), "float16");
    assert_int_equal(ingot_element_bits(INGOT_FLOAT16), 16);
    assert_int_equal(ingot_element_bits(INGOT_INT4), 4);
    assert_int_equal(ingot_element_bits(INGOT_UNDEFINED), 0);
    assert_int_equal(ingot_element_bits((ingot_element)-1), 0);
    assert_int_equal(ingot_element_bits((ingot_element)INGOT_ELEMENT_COUNT), 0);
    assert_non_null(ingot_element_name((ingot_element)1000));
}

static void the_first_error_is_kept(void **state)
{
    ingot_error error = {0};
    assert_int_equal(ingot_fail(&error, INGOT_NOT_FOUND, "no %s", "file"), INGOT_NOT_FOUND);
    assert_int_equal(ingot_fail(&error, INGOT_IO_ERROR, "later"), INGOT_IO_ERROR);
    assert_int_equal(error.status, INGOT_NOT_FOUND);
    assert_string_equal(error.message, "no file");
    assert_int_equal(ingot_fail(NULL, INGOT_BUSY, "nobody reads this"), INGOT_BUSY);
}

static void places_go_in_front(void **state)
{
    ingot_error error = {0};
    assert_int_equal(ingot_fail_at(&error, "nothing to prefix"), INGOT_OK);
    assert_string_equal(error.message, "");
    ingot_fail(&error, INGOT_INVALID_MODEL, "a cycle");
    assert_int_equal(ingot_fail_at(&error, "node %d", 7), INGOT_INVALID_MODEL);
    assert_int_equal(ingot_fail_at(&error, "a.onnx"), INGOT_INVALID_MODEL);
    assert_string_equal(error.message, "a.onnx: node 7: a cycle");
    assert_int_not_equal(ingot_fail_at(NULL, "the status is lost"), INGOT_OK);
}

static void expect_message(const char *text, const char *expected)
{
    ingot_error error = {0};
    ingot_fail(&error, INGOT_INVALID_MODEL, "%s", text);
    assert_string_equal(error.message, expected);
}

/* The table of well-formed byte sequences of the Unicode standard, and what lies beside each of its rows. */
static void bytes_that_are_no_utf8_become_question_marks(void **state)
{
    expect_message("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    expect_message("a\xff"
                   "b\x80"
                   "c",
                   "a?b?c");
    expect_message("\xc0\xaf", "??");           /* overlong */
    expect_message("\xe0\x9f\xbf", "???");      /* overlong */
    expect_message("\xf0\x8f\xbf\xbf", "????"); /* overlong */
    expect_message("\xed\xa0\x80", "???");      /* a surrogate */
    expect_message("\xf4\x90\x80\x80", "????"); /* past U+10FFFF */
    expect_message("\xe2\x82", "??");           /* ends early, but was not cut by us */
    expect_message("\xe2\x82x", "??x");
    expect_message("\xed\x9f\xbf\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xf4\x8f\xbf\xbf"); /* the last ones that are good */
}

static void long_messages_are_cut_at_a_character(void **state)
{
    for (size_t shift = 0; shift < 3; shift++) {
        char text[3000];
        memset(text, 'a', shift);
        for (size_t i = shift; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 4);
        ingot_error error = {0};
        ingot_fail(&error, INGOT_INVALID_MODEL, "%s", text);
        const size_t length = strlen(error.message);
        assert_in_range(length, sizeof error.message - 4, sizeof error.message - 1);
        assert_int_equal((length - shift) % 3, 0);
        assert_null(strchr(error.message, '?'));
        assert_int_equal(ingot_fail_at(&error, "place"), INGOT_INVALID_MODEL);
        assert_null(strchr(error.message, '?'));
        assert_memory_equal(error.message, "place: ", 7);
    }
}

static void running_out_of_memory_says_for_what(void **state)
{
    ingot_error error = {0};
    assert_int_equal(ingot_fail_memory(&error, 123, "weights"), INGOT_OUT_OF_MEMORY);
    assert_non_null(strstr(error.message, "123"));
    assert_non_null(strstr(error.message, "weights"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_that_of_the_header),
        cmocka_unit_test(every_status_has_a_name_and_a_text),
        cmocka_unit_test(element_types_have_the_names_and_sizes_of_onnx),
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(places_go_in_front),
        cmocka_unit_test(bytes_that_are_no_utf8_become_question_marks),
        cmocka_unit_test(long_messages_are_cut_at_a_character),
        cmocka_unit_test(running_out_of_memory_says_for_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
