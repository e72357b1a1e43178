/* Registering custom operators: what is refused, and what the registry then knows. The command's tests run them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/custom.h"

static ingot_status kernel(ingot_custom_run *run)
{
    return (run->fail)(run, "never called"); /* in brackets: cmocka has a macro of that name */
}

static const ingot_custom_operand one[] = {{.name = "x"}};
static const ingot_custom_operand two[] = {{.name = "x", .variadic = true}, {.name = "y"}};

static ingot_custom_op plain(const char *name)
{
    return (ingot_custom_op){.size = sizeof(ingot_custom_op),
                             .domain = "test.registry",
                             .name = name,
                             .since_version = 1,
                             .inputs = one,
                             .input_count = 1,
                             .outputs = one,
                             .output_count = 1,
                             .kernel = kernel};
}

static void refuse(const ingot_custom_op *op, const char *words)
{
    ingot_error error = {0};
    assert_int_equal(ingot_register_op(op, &error), INGOT_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, words));
}

static void a_descriptor_that_breaks_the_rules_is_refused(void **state)
{
    static const ingot_custom_attribute outside[] = {{.name = "a", .kind = INGOT_PARAM_INT, .offset = 4}};
    static const ingot_custom_attribute wordless[] = {{.name = "a", .kind = INGOT_PARAM_WORD}};
    ingot_custom_op op;
    refuse(NULL, "NULL");
    op = plain("Old"), op.size -= 8, refuse(&op, "another size");
    op = plain(""), refuse(&op, "no domain or no name");
    op = plain("Bad"), op.domain = NULL, refuse(&op, "no domain or no name");
    op = plain("Bad"), op.since_version = 0, refuse(&op, "since_version");
    op = plain("Bad"), op.kernel = NULL, refuse(&op, "no kernel");
    op = plain("Bad"), op.output_count = 0, refuse(&op, "no outputs");
    op = plain("Bad"), op.input_count = INGOT_CUSTOM_MAX_OPERANDS, refuse(&op, "too many inputs");
    op = plain("Bad"), op.inputs = two, op.input_count = 2, refuse(&op, "not the last");
    op = plain("Bad"), op.inputs = NULL, refuse(&op, "without the list");
    op = plain("Bad"), op.input_count = 0, refuse(&op, "neither a shape rule nor an input");
    op = plain("Bad"), op.attributes = outside, op.attribute_count = 1, op.params_size = 8, refuse(&op, "params_size");
    op = plain("Bad"), op.attributes = wordless, op.attribute_count = 1, op.params_size = 8,
    refuse(&op, "without words");
    op = plain("Relu"), op.domain = "ai.onnx", refuse(&op, "runs itself");
    assert_null(ingot_custom_find("test.registry", "Bad", 1));
}

static void the_greatest_version_that_fits_is_found(void **state)
{
    static ingot_custom_op first, third;
    first = plain("Grow"), third = plain("Grow"), third.since_version = 3;
    assert_int_equal(ingot_register_op(&first, NULL), INGOT_OK);
    assert_int_equal(ingot_register_op(&third, NULL), INGOT_OK);
    assert_ptr_equal(ingot_custom_find("test.registry", "Grow", 2), &first);
    assert_ptr_equal(ingot_custom_find("test.registry", "Grow", 9), &third);
    assert_null(ingot_custom_find("test.registry", "Grow", 0));
    assert_null(ingot_custom_find("test.other", "Grow", 2));
}

static void the_same_descriptor_may_come_again_and_another_may_not(void **state)
{
    static ingot_custom_op op, other;
    op = plain("Once"), other = plain("Once");
    assert_int_equal(ingot_register_op(&op, NULL), INGOT_OK);
    assert_int_equal(ingot_register_op(&op, NULL), INGOT_OK);
    refuse(&other, "registered already");
}

static void of_a_list_all_are_registered_or_none(void **state)
{
    static ingot_custom_op good, taken, again;
    good = plain("Good"), taken = plain("Taken"), again = plain("Taken");
    const ingot_custom_op *const list[] = {&good, &taken, &again};
    ingot_error error = {0};
    assert_int_equal(ingot_custom_register(list, 3, &error), INGOT_INVALID_ARGUMENT);
    assert_null(ingot_custom_find("test.registry", "Good", 1));
    assert_int_equal(ingot_custom_register(list, 2, NULL), INGOT_OK);
    assert_ptr_equal(ingot_custom_find("test.registry", "Good", 1), &good);
}

static void a_library_that_is_none_is_refused_by_its_path(void **state)
{
    ingot_error error = {0};
    assert_int_equal(ingot_register_library("no/such/library.so", &error), INGOT_NOT_FOUND);
    assert_non_null(strstr(error.message, "no/such/library.so"));
    assert_int_equal(ingot_register_library(NULL, NULL), INGOT_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_descriptor_that_breaks_the_rules_is_refused),
        cmocka_unit_test(the_greatest_version_that_fits_is_found),
        cmocka_unit_test(the_same_descriptor_may_come_again_and_another_may_not),
        cmocka_unit_test(of_a_list_all_are_registered_or_none),
        cmocka_unit_test(a_library_that_is_none_is_refused_by_its_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
