/* Free sizes: what a session keeps for them, what it gives back, and the limit that holds for all of it together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api_fixture.h"

static ingot_statistics statistics_of(const ingot_session *session)
{
    ingot_statistics statistics;
    ingot_statistics_init(&statistics);
    assert_int_equal(ingot_session_statistics(session, &statistics, NULL), INGOT_OK);
    return statistics;
}

/* One run whose free sizes are all size; what every output then is, as one sum that tells runs apart. */
static double run_size(fixture *f, ingot_context *context, int64_t size)
{
    double sum = 0;
    ingot_value *inputs[MOST_VALUES] = {NULL};
    assert_true(make_inputs(f->session, size, true, inputs, &f->error));
    for (size_t i = 0; i < ingot_session_input_count(f->session); i++)
        assert_int_equal(
            ingot_context_bind_input(context, ingot_session_input(f->session, i)->name, inputs[i], &f->error),
            INGOT_OK);
    if (ingot_context_run(context, NULL, &f->error) != INGOT_OK)
        fail_msg("%s", f->error.message);
    const ingot_value *output = ingot_context_output(context, 0);
    for (size_t i = 0; i < ingot_value_count(output); i++)
        sum += (double)((const float *)ingot_value_data(output))[i] * (double)(i % 13 + 1);
    release_values(inputs);
    return sum;
}

static const char *const models[] = {"attention", "conv", "elementwise", "recurrent", "control"};

static void memory_is_what_the_largest_size_needs(void **state)
{
    enum { RUNS = 150, LARGEST = 40 };
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        fixture f;
        ingot_context *context = NULL;
        open_fixture(&f, models[m], NULL);
        assert_int_equal(ingot_context_create(f.session, &context, NULL), INGOT_OK);
        run_size(&f, context, LARGEST);
        const size_t alone = statistics_of(f.session).arena_bytes;
        ingot_context_release(context);
        close_fixture(&f);

        open_fixture(&f, models[m], NULL);
        assert_int_equal(ingot_context_create(f.session, &context, NULL), INGOT_OK);
        srandom(1);
        for (int i = 0; i < RUNS; i++) {
            run_size(&f, context, i == RUNS / 2 ? LARGEST : 4 + random() % (LARGEST - 4));
            assert_in_range(statistics_of(f.session).arena_bytes, 1, alone * 105 / 100);
        }
        assert_in_range(statistics_of(f.session).cached_shapes, 1, 64);
        ingot_context_release(context);
        close_fixture(&f);
    }
}

static void memory_that_is_handed_back_is_made_again(void **state)
{
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        fixture f;
        ingot_context *context = NULL;
        open_fixture(&f, models[m], NULL);
        assert_int_equal(ingot_context_create(f.session, &context, NULL), INGOT_OK);
        const double expected = run_size(&f, context, 20);
        assert_in_range(statistics_of(f.session).arena_bytes, 1, SIZE_MAX);
        assert_int_equal(ingot_context_trim(context, &f.error), INGOT_OK);
        assert_int_equal(statistics_of(f.session).arena_bytes, 0);
        assert_null(ingot_context_output(context, 0));
        ingot_session_trim(f.session);
        assert_int_equal(statistics_of(f.session).cached_shapes, 0);
        assert_true(run_size(&f, context, 20) == expected);
        assert_int_equal(statistics_of(f.session).cached_shapes, 1);
        ingot_context_release(context);
        close_fixture(&f);
    }
}

static void a_session_hands_back_what_its_idle_contexts_hold(void **state)
{
    fixture f;
    float data[2 * 3] = {1, 2, 3, 4, 5, 6};
    const char *names[] = {"x", "y"}, *output_name = "twice";
    open_fixture(&f, "add", NULL);
    ingot_value *x = floats(DIMS(2, 3), data, 6), *outputs[2] = {NULL};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ingot_session_run(f.session, NULL, names, (const ingot_value *[]){x, x}, 2, &output_name,
                                           &outputs[i], 1, &f.error),
                         INGOT_OK);
        ingot_session_trim(f.session);
        assert_int_equal(statistics_of(f.session).arena_bytes, 0);
        assert_int_equal(statistics_of(f.session).cached_shapes, 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(((const float *)ingot_value_data(outputs[i]))[5] == 24);
        ingot_value_release(outputs[i]);
    }
    ingot_value_release(x);
    ingot_session_trim(NULL);
    close_fixture(&f);
}

static void trimming_needs_a_context(void **state)
{
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_context_trim(NULL, &error), ingot_context_trim(NULL, NULL), "context");
}

/* ---- The memory limit ---- */

enum { STRINGS = 100000 };

static ingot_status run_strings(size_t memory_limit, size_t *arena_bytes, ingot_error *error)
{
    fixture f;
    ingot_session_options options;
    ingot_value *inputs[3] = {NULL}, *output = NULL;
    const char *names[] = {"i", "s", "b"}, *output_name = "s2", **strings = calloc(STRINGS, sizeof *strings);
    int64_t *numbers = calloc(STRINGS, sizeof *numbers);
    bool yes = true;
    assert_non_null(strings);
    assert_non_null(numbers);
    for (int i = 0; i < STRINGS; i++)
        strings[i] = "thirty-three bytes of text, or so";
    ingot_session_options_init(&options);
    options.memory_limit = memory_limit;
    open_fixture(&f, "mixed_types", &options);
    assert_int_equal(
        ingot_value_create_tensor(INGOT_INT64, DIMS(STRINGS), numbers, STRINGS * sizeof *numbers, &inputs[0], NULL),
        INGOT_OK);
    assert_int_equal(ingot_value_create_strings(DIMS(STRINGS), strings, NULL, &inputs[1], NULL), INGOT_OK);
    assert_int_equal(ingot_value_create_tensor(INGOT_BOOL, DIMS(1), &yes, sizeof yes, &inputs[2], NULL), INGOT_OK);
    ingot_status status = ingot_session_run(f.session, NULL, names, (const ingot_value *const *)inputs, 3, &output_name,
                                            &output, 1, error);
    *arena_bytes = statistics_of(f.session).arena_bytes;
    ingot_value_release(output);
    for (int i = 0; i < 3; i++)
        ingot_value_release(inputs[i]);
    close_fixture(&f);
    free(strings);
    free(numbers);
    return status;
}

/* No single value of the run passes the limit. */
static void values_whose_sizes_only_a_run_tells_count_together(void **state)
{
    ingot_error error = {0};
    size_t all, some;
    assert_int_equal(run_strings(0, &all, &error), INGOT_OK);
    assert_in_range(all, STRINGS * (16 + 66), 3 * STRINGS * (16 + 66) + STRINGS * 9);
    assert_int_equal(run_strings(all + (8 << 20), &some, &error), INGOT_OK);
    assert_int_equal(some, all);
    assert_int_equal(run_strings(all / 4 * 3, &some, &error), INGOT_OUT_OF_MEMORY);
    assert_in_range(some, 0, all / 4 * 3);
    assert_non_null(strstr(error.message, "memory_limit"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_what_the_largest_size_needs),
        cmocka_unit_test(memory_that_is_handed_back_is_made_again),
        cmocka_unit_test(a_session_hands_back_what_its_idle_contexts_hold),
        cmocka_unit_test(trimming_needs_a_context),
        cmocka_unit_test(values_whose_sizes_only_a_run_tells_count_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
