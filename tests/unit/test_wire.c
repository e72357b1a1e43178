/* The wire reader. The bytes are those of the protobuf encoding guide, or damaged on purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "onnx/wire.h"

#define WIRE(bytes) ingot_wire_of(bytes, sizeof(bytes) - 1)

static void expect_failure(const char *data, size_t size, const char *words)
{
    ingot_wire wire = ingot_wire_of(data, size);
    ingot_wire_field field;
    ingot_error error = {0};
    ingot_status status = INGOT_OK;
    while (status == INGOT_OK && !ingot_wire_done(&wire))
        status = ingot_wire_next(&wire, &field, &error);
    assert_int_equal(status, INGOT_INVALID_MODEL);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, error.message);
}
#define FAILS(bytes, words) expect_failure(bytes, sizeof(bytes) - 1, words)

static void a_field_of_each_wire_type_is_read(void **state)
{
    (void)state;
    ingot_wire wire = WIRE("\x08\x96\x01"                           /* 1: varint 150 */
                           "\x12\x07testing"                        /* 2: "testing" */
                           "\x1d\x00\x00\x80\x3f"                   /* 3: fixed32 1.0f */
                           "\x21\x00\x00\x00\x00\x00\x00\xf0\x3f"); /* 4: fixed64 1.0 */
    ingot_wire_field field;
    assert_int_equal(ingot_wire_next(&wire, &field, NULL), INGOT_OK);
    assert_int_equal(field.number, 1);
    assert_true(field.integer == 150);
    assert_int_equal(ingot_wire_next(&wire, &field, NULL), INGOT_OK);
    assert_int_equal(field.bytes.size, 7);
    assert_memory_equal(field.bytes.data, "testing", 7);
    assert_int_equal(ingot_wire_next(&wire, &field, NULL), INGOT_OK);
    assert_true(field.integer == 0x3f800000);
    assert_int_equal(ingot_wire_next(&wire, &field, NULL), INGOT_OK);
    assert_true(field.integer == UINT64_C(0x3ff0000000000000));
    assert_true(ingot_wire_done(&wire));
}

static void minus_one_takes_ten_bytes(void **state)
{
    (void)state;
    ingot_wire wire = WIRE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    uint64_t value;
    assert_int_equal(ingot_wire_varint(&wire, &value, NULL), INGOT_OK);
    assert_true(value == UINT64_MAX);
}

static void a_number_of_eleven_bytes_or_more_than_64_bits_is_refused(void **state)
{
    (void)state;
    FAILS("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "64 bits");
    FAILS("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", "64 bits");
    FAILS("\x08\x80\x80", "ends inside a number");
}

static void a_length_past_the_end_is_refused_with_its_place(void **state)
{
    (void)state;
    FAILS("\x12\x05"
          "abcd",
          "byte 1: field 2 says that it has 5 bytes, but its message ends after 4");
    FAILS("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "18446744073709551615 bytes");
    FAILS("\x1d\x00\x00\x80", "ends inside the 4 bytes");
    FAILS("\x21\x00\x00\x80", "ends inside the 8 bytes");
}

static void field_number_zero_and_unknown_wire_types_are_refused(void **state)
{
    (void)state;
    FAILS("\x00\x01", "field number 0");
    FAILS("\x0e", "wire type 6");
    FAILS("\x0f", "wire type 7");
    FAILS("<html>", "never opened");
    FAILS("\x80\x80\x80\x80\x80\x01", "field number 4294967296");
}

static void groups_are_skipped_with_their_content(void **state)
{
    (void)state;
    ingot_wire wire = WIRE("\x0b\x08\x01\x13\x1a\x01x\x14\x0c\x10\x05"); /* 1 { 1: 1, 2 { 3: "x" } }, 2: 5 */
    ingot_wire_field field;
    assert_int_equal(ingot_wire_next(&wire, &field, NULL), INGOT_OK);
    assert_int_equal(field.number, 1);
    assert_int_equal(ingot_wire_next(&wire, &field, NULL), INGOT_OK);
    assert_int_equal(field.number, 2);
    assert_true(field.integer == 5);
}

static void groups_that_do_not_match_or_nest_too_deep_are_refused(void **state)
{
    (void)state;
    FAILS("\x0b\x08\x01", "group 1 is never closed");
    FAILS("\x0b\x14", "group 1 is closed as group 2");
    FAILS("\x0c", "never opened");
    char deep[1000];
    memset(deep, 0x0b, sizeof deep);
    expect_failure(deep, sizeof deep, "nest deeper than 64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_of_each_wire_type_is_read),
        cmocka_unit_test(minus_one_takes_ten_bytes),
        cmocka_unit_test(a_number_of_eleven_bytes_or_more_than_64_bits_is_refused),
        cmocka_unit_test(a_length_past_the_end_is_refused_with_its_place),
        cmocka_unit_test(field_number_zero_and_unknown_wire_types_are_refused),
        cmocka_unit_test(groups_are_skipped_with_their_content),
        cmocka_unit_test(groups_that_do_not_match_or_nest_too_deep_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
