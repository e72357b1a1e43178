/* Windows: pads and output sizes as the formulas of the ONNX text give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/window.h"

static const ingot_node node = {.name = "Pool_0", .domain = "ai.onnx", .op_type = "MaxPool"};

/* One axis; pads are begin and end. */
typedef struct axis_case {
    ingot_auto_pad auto_pad;
    bool ceil_mode;
    int64_t in, kernel, stride, dilation, pads[2];
    int64_t out, begin, end;
} axis_case;

static ingot_status resolve(const axis_case *c, ingot_dims *dims, ingot_dim in, ingot_window *window,
                            ingot_error *error)
{
    const ingot_window_params params = {
        .auto_pad = (int)c->auto_pad,
        .ceil_mode = c->ceil_mode,
        .kernel_shape = {&c->kernel, 1, true},
        .strides = {&c->stride, 1, true},
        .dilations = {&c->dilation, 1, true},
        .pads = {c->pads, 2, true},
    };
    return ingot_window_resolve(&node, &params, dims, 1, &in, NULL, window, error);
}

static void check_cases(const axis_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ingot_window window;
        ingot_error error = {0};
        assert_int_equal(resolve(&cases[i], NULL, cases[i].in, &window, &error), INGOT_OK);
        assert_int_equal(window.out[0], cases[i].out);
        assert_int_equal(window.begin[0], cases[i].begin);
        assert_int_equal(window.end[0], cases[i].end);
    }
}

static void test_explicit_pads_round_down(void **state)
{
    (void)state;
    static const axis_case cases[] = {
        {INGOT_AUTO_PAD_NOTSET, false, 7, 3, 2, 1, {1, 1}, 4, 1, 1},
        {INGOT_AUTO_PAD_NOTSET, false, 6, 3, 2, 1, {0, 0}, 2, 0, 0},
        {INGOT_AUTO_PAD_NOTSET, false, 9, 3, 1, 2, {0, 1}, 6, 0, 1},
        {INGOT_AUTO_PAD_NOTSET, false, 0, 1, 1, 1, {0, 0}, 0, 0, 0},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void test_ceil_mode_drops_a_window_that_starts_in_the_end_padding(void **state)
{
    (void)state;
    static const axis_case cases[] = {
        {INGOT_AUTO_PAD_NOTSET, true, 6, 3, 2, 1, {0, 0}, 3, 0, 0},
        {INGOT_AUTO_PAD_NOTSET, true, 2, 1, 2, 1, {0, 0}, 1, 0, 0},
        {INGOT_AUTO_PAD_NOTSET, true, 3, 2, 3, 1, {0, 1}, 1, 0, 1},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void test_same_puts_the_odd_pad_at_the_end_or_the_beginning(void **state)
{
    (void)state;
    static const axis_case cases[] = {
        {INGOT_AUTO_PAD_SAME_UPPER, false, 5, 4, 2, 1, {0, 0}, 3, 1, 2},
        {INGOT_AUTO_PAD_SAME_LOWER, false, 5, 4, 2, 1, {0, 0}, 3, 2, 1},
        {INGOT_AUTO_PAD_SAME_UPPER, false, 8, 3, 1, 2, {0, 0}, 8, 2, 2},
        {INGOT_AUTO_PAD_SAME_UPPER, false, 9, 1, 3, 1, {0, 0}, 3, 0, 0},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void test_valid_ignores_pads_and_ceil_mode(void **state)
{
    (void)state;
    static const axis_case cases[] = {
        {INGOT_AUTO_PAD_VALID, false, 7, 3, 2, 1, {1, 1}, 3, 0, 0},
        {INGOT_AUTO_PAD_VALID, true, 6, 3, 2, 1, {1, 1}, 2, 0, 0},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void test_a_kernel_that_does_not_fit_is_refused_by_name(void **state)
{
    (void)state;
    const axis_case c = {INGOT_AUTO_PAD_NOTSET, false, 2, 5, 1, 1, {0, 0}, 0, 0, 0};
    ingot_window window;
    ingot_error error = {0};
    assert_int_equal(resolve(&c, NULL, c.in, &window, &error), INGOT_INVALID_INPUT);
    assert_non_null(strstr(error.message, "Pool_0"));
    assert_non_null(strstr(error.message, "does not fit"));
}

static void test_a_symbolic_size_gives_an_expression(void **state)
{
    (void)state;
    const axis_case c = {INGOT_AUTO_PAD_SAME_UPPER, false, 0, 3, 2, 1, {0, 0}, 0, 0, 0};
    ingot_dims *dims = ingot_dims_create();
    assert_non_null(dims);
    ingot_dim n = ingot_dim_symbol(dims, "N", 1);
    ingot_window window;
    assert_int_equal(resolve(&c, dims, n, &window, NULL), INGOT_OK);
    assert_true(window.out[0] == ingot_dim_make(dims, INGOT_DIM_CEIL_DIV, n, 2));
    assert_true(window.begin[0] == INGOT_DIM_UNKNOWN);
    ingot_dims_release(dims);
}

static void test_attributes_out_of_range_are_refused(void **state)
{
    (void)state;
    static const int64_t zero = 0, minus_one = -1, pads[] = {1, 2, 3};
    const struct {
        ingot_window_params params;
        const char *word;
    } cases[] = {
        {{.kernel_shape = {&zero, 1, true}}, "kernel_shape"},
        {{.strides = {&zero, 1, true}}, "strides"},
        {{.dilations = {&minus_one, 1, true}}, "dilations"},
        {{.pads = {&minus_one, 1, true}}, "pads"},
        {{.pads = {pads, 3, true}}, "pads"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ingot_error error = {0};
        assert_int_equal(ingot_window_check(&node, &cases[i].params, &error), INGOT_INVALID_MODEL);
        assert_non_null(strstr(error.message, cases[i].word));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explicit_pads_round_down),
        cmocka_unit_test(test_ceil_mode_drops_a_window_that_starts_in_the_end_padding),
        cmocka_unit_test(test_same_puts_the_odd_pad_at_the_end_or_the_beginning),
        cmocka_unit_test(test_valid_ignores_pads_and_ceil_mode),
        cmocka_unit_test(test_a_kernel_that_does_not_fit_is_refused_by_name),
        cmocka_unit_test(test_a_symbolic_size_gives_an_expression),
        cmocka_unit_test(test_attributes_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
