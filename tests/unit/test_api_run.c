/* Runs as a caller meets them: bindings, defaults, values of all kinds. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api_fixture.h"

/* ---- Bindings ---- */

static void outputs_are_written_where_the_caller_wants_them(void **state)
{
    fixture f;
    open_fixture(&f, "add", NULL);
    float x[] = {1, 2, 3}, y[] = {10, 20, 30}, sum[3] = {0};
    ingot_value *inputs[] = {floats(DIMS(1, 3), x, 3), floats(DIMS(1, 3), y, 3)};
    ingot_value *outputs[] = {floats(DIMS(1, 3), sum, 3), NULL};
    const char *names[] = {"x", "y"}, *output_names[] = {"sum", "twice"};
    assert_int_equal(ingot_session_run(f.session, NULL, names, (const ingot_value *const *)inputs, 2, output_names,
                                       outputs, 2, &f.error),
                     INGOT_OK);
    assert_ptr_equal(ingot_value_data(outputs[0]), sum);
    assert_memory_equal(sum, ((float[]){11, 22, 33}), sizeof sum);
    assert_non_null(outputs[1]);
    assert_memory_equal(ingot_value_data(outputs[1]), ((float[]){22, 44, 66}), sizeof sum);
    assert_int_equal(ingot_value_dims(outputs[1])[0], 1);
    for (int i = 0; i < 2; i++) {
        ingot_value_release(inputs[i]);
        ingot_value_release(outputs[i]);
    }
    close_fixture(&f);
}

static void an_output_asked_for_twice_comes_twice(void **state)
{
    fixture f;
    open_fixture(&f, "add", NULL);
    float x[] = {1, 2, 3}, first[3] = {0}, small[2] = {0};
    ingot_value *in = floats(DIMS(1, 3), x, 3);
    const ingot_value *inputs[] = {in, in};
    ingot_value *outputs[] = {floats(DIMS(1, 3), first, 3), NULL, NULL};
    const char *names[] = {"x", "y"}, *output_names[] = {"sum", "sum", "sum"};
    assert_int_equal(ingot_session_run(f.session, NULL, names, inputs, 2, output_names, outputs, 3, &f.error),
                     INGOT_OK);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(ingot_value_data(outputs[i]), ((float[]){2, 4, 6}), sizeof first);
    assert_ptr_equal(ingot_value_data(outputs[0]), first);
    ingot_value *wrong[] = {floats(DIMS(1, 2), small, 2), outputs[0]};
    EXPECT(INGOT_INVALID_INPUT, ingot_session_run(f.session, NULL, names, inputs, 2, output_names, wrong, 2, &error),
           ingot_session_run(f.session, NULL, names, inputs, 2, output_names, wrong, 2, NULL), "sum", "float[1,2]",
           "float[1,3]");
    ingot_value_release(wrong[0]);
    for (int i = 0; i < 3; i++)
        ingot_value_release(outputs[i]);
    ingot_value_release(in);
    close_fixture(&f);
}

static void a_context_keeps_its_bindings_from_run_to_run(void **state)
{
    fixture f;
    ingot_context *c = NULL;
    open_fixture(&f, "add", NULL);
    float x[] = {1, 2, 3}, sum[3] = {0};
    ingot_value *in = floats(DIMS(1, 3), x, 3), *out = floats(DIMS(1, 3), sum, 3);
    assert_int_equal(ingot_context_create(f.session, &c, NULL), INGOT_OK);
    assert_null(ingot_context_output(c, 0));
    assert_int_equal(ingot_context_bind_input(c, "x", in, NULL), INGOT_OK);
    EXPECT(INGOT_INVALID_INPUT, ingot_context_run(c, NULL, &error), ingot_context_run(c, NULL, NULL), "'y'", "missing",
           "float[N,3]");
    assert_int_equal(ingot_context_bind_input(c, "y", in, NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_output(c, "sum", out, NULL), INGOT_OK);
    for (int trip = 1; trip < 4; trip++) {
        x[0] = (float)trip;
        assert_int_equal(ingot_context_run(c, NULL, &f.error), INGOT_OK);
        assert_true(sum[0] == 2 * x[0]);
        assert_ptr_equal(ingot_context_output(c, 0), out);
        assert_true(((const float *)ingot_value_data(ingot_context_output(c, 1)))[0] == 4 * x[0]);
    }
    assert_null(ingot_context_output(c, 2));
    assert_int_equal(ingot_context_bind_output(c, "sum", NULL, NULL), INGOT_OK);
    assert_int_equal(ingot_context_run(c, NULL, NULL), INGOT_OK);
    assert_ptr_not_equal(ingot_value_data(ingot_context_output(c, 0)), sum);
    ingot_context_release(c);
    ingot_value_release(in);
    ingot_value_release(out);
    close_fixture(&f);
}

static void an_output_is_not_bound_to_memory_that_is_in_use(void **state)
{
    fixture f;
    ingot_context *c = NULL;
    open_fixture(&f, "add", NULL);
    float x[] = {1, 2, 3, 4};
    ingot_value *in = floats(DIMS(1, 3), x, 3), *shifted = floats(DIMS(1, 3), x + 1, 3);
    ingot_value *other = NULL;
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, 2, (const int64_t[]){1, 3}, NULL, 0, &other, NULL),
                     INGOT_OK);
    assert_int_equal(ingot_context_create(f.session, &c, NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_input(c, "x", in, NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_input(c, "y", in, NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_output(c, "sum", shifted, NULL), INGOT_OK);
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_context_run(c, NULL, &error), ingot_context_run(c, NULL, NULL), "'sum'",
           "'x'");
    assert_int_equal(ingot_context_bind_output(c, "sum", other, NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_output(c, ingot_session_output(f.session, 1)->name, other, NULL), INGOT_OK);
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_context_run(c, NULL, &error), ingot_context_run(c, NULL, NULL), "'sum'",
           "same memory");
    ingot_context_release(c);
    ingot_value_release(in);
    ingot_value_release(shifted);
    ingot_value_release(other);
    close_fixture(&f);
}

static void a_default_may_be_left_out_given_and_left_out_again(void **state)
{
    fixture f;
    open_fixture(&f, "defaults", NULL);
    assert_false(ingot_session_input(f.session, 0)->has_default);
    assert_true(ingot_session_input(f.session, 1)->has_default);
    float x[] = {1, 2}, w[] = {5, 6};
    ingot_value *in[] = {floats(DIMS(2), x, 2), floats(DIMS(2), w, 2)};
    const char *names[] = {"x", "w"}, *output_name = "y";
    for (int trip = 0; trip < 3; trip++) {
        ingot_value *out = NULL;
        assert_int_equal(ingot_session_run(f.session, NULL, names, (const ingot_value *const *)in, trip == 1 ? 2 : 1,
                                           &output_name, &out, 1, &f.error),
                         INGOT_OK);
        const float *y = ingot_value_data(out);
        assert_true(y[0] == (trip == 1 ? 6 : 11) && y[1] == (trip == 1 ? 8 : 22));
        ingot_value_release(out);
    }
    ingot_value_release(in[0]);
    ingot_value_release(in[1]);
    close_fixture(&f);
}

/* Model "defaults": y = x + w, where w is (10, 20) unless given. */
static void expect_sum(ingot_context *c, float first, float second)
{
    ingot_error error = {0};
    if (ingot_context_run(c, NULL, &error) != INGOT_OK)
        fail_msg("%s", error.message);
    const float *y = ingot_value_data(ingot_context_output(c, 0));
    assert_true(y[0] == first && y[1] == second);
}

static void a_context_replaces_a_default_and_takes_it_again(void **state)
{
    fixture f;
    ingot_context *c, *other;
    open_fixture(&f, "defaults", NULL);
    float x[] = {1, 2}, w[] = {5, 6}, three[] = {1, 2, 3};
    ingot_value *in = floats(DIMS(2), x, 2), *given = floats(DIMS(2), w, 2), *wrong = floats(DIMS(3), three, 3);
    assert_int_equal(ingot_context_create(f.session, &c, NULL), INGOT_OK);
    assert_int_equal(ingot_context_create(f.session, &other, NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_input(c, "x", in, NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_input(other, "x", in, NULL), INGOT_OK);
    for (int trip = 0; trip < 3; trip++) {
        expect_sum(c, 11, 22);
        assert_int_equal(ingot_context_bind_input(c, "w", given, NULL), INGOT_OK);
        expect_sum(c, 6, 8);
        expect_sum(other, 11, 22);
        assert_int_equal(ingot_context_bind_input(c, "w", wrong, NULL), INGOT_OK);
        EXPECT(INGOT_INVALID_INPUT, ingot_context_run(c, NULL, &error), ingot_context_run(c, NULL, NULL), "'w'");
        assert_int_equal(ingot_context_bind_input(c, "w", NULL, NULL), INGOT_OK);
        assert_int_equal(ingot_context_trim(c, NULL), INGOT_OK);
    }
    ingot_context_release(c);
    ingot_context_release(other);
    ingot_value_release(in);
    ingot_value_release(given);
    ingot_value_release(wrong);
    close_fixture(&f);
}

static void *replace_now_and_then(void *argument)
{
    float x[] = {1, 2}, w[] = {5, 6};
    ingot_value *in[] = {floats(DIMS(2), x, 2), floats(DIMS(2), w, 2)};
    const char *names[] = {"x", "w"}, *output_name = "y";
    uintptr_t wrong = 0;
    for (int trip = 0; trip < 60; trip++) {
        ingot_value *out = NULL;
        const bool given = trip % 3 == 1;
        if (ingot_session_run(argument, NULL, names, (const ingot_value *const *)in, given ? 2 : 1, &output_name, &out,
                              1, NULL) != INGOT_OK)
            return (void *)(uintptr_t)1000;
        const float *y = ingot_value_data(out);
        wrong += y[0] != (given ? 6 : 11) || y[1] != (given ? 8 : 22);
        ingot_value_release(out);
    }
    ingot_value_release(in[0]);
    ingot_value_release(in[1]);
    return (void *)wrong;
}

static void threads_replace_a_default_at_once(void **state)
{
    fixture f;
    pthread_t threads[4];
    open_fixture(&f, "defaults", NULL);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, replace_now_and_then, f.session), 0);
    for (size_t i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_int_equal((uintptr_t)wrong, 0);
    }
    close_fixture(&f);
}

static void inputs_and_constants_that_are_outputs_are_handed_on(void **state)
{
    fixture f;
    open_fixture(&f, "pass_on", NULL);
    float x[] = {1, 2, 3}, same[3] = {0}, fixed[2] = {0};
    ingot_value *in = floats(DIMS(3), x, 3), *outputs[] = {floats(DIMS(3), same, 3), floats(DIMS(2), fixed, 2)};
    const char *name = "x", *output_names[] = {"same", "fixed"};
    assert_int_equal(ingot_session_run(f.session, NULL, &name, (const ingot_value *const *)&in, 1, output_names,
                                       outputs, 2, &f.error),
                     INGOT_OK);
    assert_memory_equal(same, x, sizeof x);
    assert_memory_equal(fixed, ((float[]){7, 8}), sizeof fixed);
    ingot_value_release(in);
    ingot_value_release(outputs[0]);
    ingot_value_release(outputs[1]);
    close_fixture(&f);
}

/* ---- Values of other kinds ---- */

static void strings_numbers_and_bools_go_in_and_out(void **state)
{
    fixture f;
    open_fixture(&f, "mixed_types", NULL);
    int64_t numbers[] = {1, -2}, two = 2, one = 1;
    uint8_t yes = 1;
    ingot_value *in[3], *out[3] = {NULL};
    assert_int_equal(ingot_value_create_tensor(INGOT_INT64, 1, &two, numbers, sizeof numbers, &in[0], NULL), INGOT_OK);
    assert_int_equal(ingot_value_create_strings(1, &two, (const char *const[]){"a\0b", "\xc3\xa9"},
                                                (const size_t[]){3, 2}, &in[1], NULL),
                     INGOT_OK);
    assert_int_equal(ingot_value_create_tensor(INGOT_BOOL, 1, &one, &yes, 1, &in[2], NULL), INGOT_OK);
    const char *names[] = {"i", "s", "b"}, *output_names[] = {"i2", "s2", "b2"};
    if (ingot_session_run(f.session, NULL, names, (const ingot_value *const *)in, 3, output_names, out, 3, &f.error))
        fail_msg("%s", f.error.message);
    assert_memory_equal(ingot_value_data(out[0]), ((int64_t[]){2, -4}), 16);
    size_t length;
    assert_memory_equal(ingot_value_string(out[1], 0, &length), "a\0ba\0b", 6);
    assert_int_equal(length, 6);
    assert_memory_equal(ingot_value_string(out[1], 1, &length), "\xc3\xa9\xc3\xa9", 4);
    assert_int_equal(*(uint8_t *)ingot_value_data(out[2]), 0);
    for (int i = 0; i < 3; i++) {
        ingot_value_release(in[i]);
        ingot_value_release(out[i]);
    }
    close_fixture(&f);
}

static ingot_value *run_first(const char *model, int64_t size, const char *output, fixture *f)
{
    const char *names[MOST_VALUES];
    ingot_value *inputs[MOST_VALUES] = {NULL}, *out = NULL;
    open_fixture(f, model, NULL);
    assert_true(make_inputs(f->session, size, true, inputs, &f->error));
    for (size_t i = 0; i < ingot_session_input_count(f->session); i++)
        names[i] = ingot_session_input(f->session, i)->name;
    if (ingot_session_run(f->session, NULL, names, (const ingot_value *const *)inputs,
                          ingot_session_input_count(f->session), &output, &out, 1, &f->error) != INGOT_OK)
        fail_msg("%s", f->error.message);
    release_values(inputs);
    return out;
}

static void sequences_come_out_and_outlive_the_session(void **state)
{
    fixture f;
    ingot_value *longer = run_first("sequences", 3, "longer", &f);
    close_fixture(&f);
    assert_int_equal(ingot_value_kind(longer), INGOT_KIND_SEQUENCE);
    assert_int_equal(ingot_value_item_count(longer), 3);
    assert_int_equal(ingot_value_dims(ingot_value_item(longer, 2))[0], 3);
    assert_true(((const float *)ingot_value_data(ingot_value_item(longer, 0)))[0] == -1);
    assert_null(ingot_value_item(longer, 3));
    ingot_value_release(longer);
}

static void a_sequence_of_maps_comes_out(void **state)
{
    fixture f;
    ingot_value *scores = run_first("classifier", 2, "scores", &f);
    assert_int_equal(ingot_value_item_count(scores), 2);
    const ingot_value *map = ingot_value_item(scores, 1);
    assert_int_equal(ingot_value_kind(map), INGOT_KIND_MAP);
    assert_memory_equal(ingot_value_data(ingot_value_map_keys(map)), ((int64_t[]){4, 5}), 16);
    const float *p = ingot_value_data(ingot_value_map_values(map));
    assert_true(p[0] + p[1] > 0.999f && p[0] + p[1] < 1.001f);
    ingot_value_release(scores);
    close_fixture(&f);
}

static void an_optional_comes_out(void **state)
{
    fixture f;
    ingot_value *o = run_first("optionals", 2, "o", &f);
    assert_int_equal(ingot_value_kind(o), INGOT_KIND_OPTIONAL);
    assert_int_equal(ingot_value_count(ingot_value_optional_item(o)), 2);
    ingot_value_release(o);
    close_fixture(&f);
}

static void a_sequence_of_wrong_tensors_is_refused(void **state)
{
    fixture f;
    open_fixture(&f, "sequences", NULL);
    float x[4] = {1, 2, 3, 4};
    int64_t numbers[2] = {1, 2};
    ingot_value *in[2] = {floats(DIMS(2, 2), x, 4), NULL}, *item = NULL, *out = NULL;
    assert_int_equal(ingot_value_create_tensor(INGOT_INT64, 2, (int64_t[]){1, 2}, numbers, 16, &item, NULL), INGOT_OK);
    assert_int_equal(ingot_value_create_sequence(&item, 1, INGOT_INT64, &in[1], NULL), INGOT_OK);
    const char *names[] = {"x", "given"}, *name = "longer";
    EXPECT(INGOT_INVALID_INPUT,
           ingot_session_run(f.session, NULL, names, (const ingot_value *const *)in, 2, &name, &out, 1, &error),
           ingot_session_run(f.session, NULL, names, (const ingot_value *const *)in, 2, &name, &out, 1, NULL),
           "'given'", "int64", "float");
    ingot_value_release(in[0]);
    ingot_value_release(in[1]);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_written_where_the_caller_wants_them),
        cmocka_unit_test(an_output_asked_for_twice_comes_twice),
        cmocka_unit_test(a_context_keeps_its_bindings_from_run_to_run),
        cmocka_unit_test(an_output_is_not_bound_to_memory_that_is_in_use),
        cmocka_unit_test(a_default_may_be_left_out_given_and_left_out_again),
        cmocka_unit_test(a_context_replaces_a_default_and_takes_it_again),
        cmocka_unit_test(threads_replace_a_default_at_once),
        cmocka_unit_test(inputs_and_constants_that_are_outputs_are_handed_on),
        cmocka_unit_test(strings_numbers_and_bools_go_in_and_out),
        cmocka_unit_test(sequences_come_out_and_outlive_the_session),
        cmocka_unit_test(a_sequence_of_maps_comes_out),
        cmocka_unit_test(an_optional_comes_out),
        cmocka_unit_test(a_sequence_of_wrong_tensors_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
