/* Several threads on one session, runs that are cancelled, and releasing in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "api_fixture.h"

#define ENDLESS INT64_MAX /* trips of the Loop in the model "twice" */

static void wait_milliseconds(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Runs of the model "twice": y is x, doubled so many times. */
typedef struct loop_inputs {
    int64_t trips;
    float x[2];
    ingot_value *values[2];
} loop_inputs;

static void make_loop_inputs(loop_inputs *in, int64_t trips)
{
    *in = (loop_inputs){.trips = trips, .x = {1, 3}};
    assert_int_equal(ingot_value_create_tensor(INGOT_INT64, 0, NULL, &in->trips, 8, &in->values[0], NULL), INGOT_OK);
    in->values[1] = floats(DIMS(2), in->x, 2);
}

static void release_loop_inputs(loop_inputs *in)
{
    ingot_value_release(in->values[0]);
    ingot_value_release(in->values[1]);
}

static ingot_status run_loop(ingot_session *session, loop_inputs *in, ingot_cancel *cancel, ingot_value **y,
                             ingot_error *error)
{
    static const char *const names[] = {"n", "x"}, *const output_name = "y";
    ingot_run_options options;
    ingot_run_options_init(&options);
    options.cancel = cancel;
    return ingot_session_run(session, &options, names, (const ingot_value *const *)in->values, 2, &output_name, y, 1,
                             error);
}

/* ---- Cancelling ---- */

static void a_raised_token_ends_a_run_and_a_reset_one_does_not(void **state)
{
    fixture f;
    loop_inputs in;
    ingot_cancel *cancel = NULL;
    ingot_value *y = NULL;
    open_fixture(&f, "twice", NULL);
    make_loop_inputs(&in, 4);
    assert_int_equal(ingot_cancel_create(&cancel, NULL), INGOT_OK);
    ingot_cancel_raise(cancel);
    EXPECT(INGOT_CANCELLED, run_loop(f.session, &in, cancel, &y, &error), run_loop(f.session, &in, cancel, &y, NULL),
           "cancelled");
    assert_null(y);
    ingot_cancel_reset(cancel);
    assert_int_equal(run_loop(f.session, &in, cancel, &y, &f.error), INGOT_OK);
    assert_memory_equal(ingot_value_data(y), ((float[]){16, 48}), 8);
    ingot_cancel_release(cancel);
    ingot_value_release(y);
    release_loop_inputs(&in);
    close_fixture(&f);
}

static void a_raised_token_ends_creation_and_every_run_of_its_session(void **state)
{
    fixture f;
    loop_inputs in;
    ingot_value *y = NULL;
    ingot_session *session = NULL;
    ingot_session_options options;
    ingot_session_options_init(&options);
    assert_int_equal(ingot_cancel_create(&options.cancel, NULL), INGOT_OK);
    open_fixture(&f, "twice", &options);
    make_loop_inputs(&in, 4);
    ingot_cancel_raise(options.cancel);
    EXPECT(INGOT_CANCELLED, run_loop(f.session, &in, NULL, &y, &error), run_loop(f.session, &in, NULL, &y, NULL),
           "cancelled");
    EXPECT(INGOT_CANCELLED, ingot_session_create(f.model, &options, &session, &error),
           ingot_session_create(f.model, &options, &session, NULL), "cancelled");
    ingot_cancel_reset(options.cancel);
    ingot_cancel_release(options.cancel); /* the session has its own reference */
    assert_int_equal(run_loop(f.session, &in, NULL, &y, &f.error), INGOT_OK);
    ingot_value_release(y);
    release_loop_inputs(&in);
    close_fixture(&f);
}

static void *raise_soon(void *cancel)
{
    wait_milliseconds(30);
    ingot_cancel_raise(cancel);
    return NULL;
}

static void a_long_loop_ends_when_another_thread_asks_for_it(void **state)
{
    fixture f;
    loop_inputs in;
    pthread_t thread;
    ingot_cancel *cancel = NULL;
    ingot_value *y = NULL;
    open_fixture(&f, "twice", NULL);
    make_loop_inputs(&in, ENDLESS);
    assert_int_equal(ingot_cancel_create(&cancel, NULL), INGOT_OK);
    assert_int_equal(pthread_create(&thread, NULL, raise_soon, cancel), 0);
    assert_int_equal(run_loop(f.session, &in, cancel, &y, &f.error), INGOT_CANCELLED);
    pthread_join(thread, NULL);
    ingot_cancel_release(cancel);
    release_loop_inputs(&in);
    close_fixture(&f);
}

/* ---- Threads ---- */

typedef struct worker {
    fixture *f;
    ingot_context *context;
    ingot_cancel *cancel;
    int number;
    unsigned wrong;
    ingot_status status;
} worker;

static void *run_often(void *argument)
{
    worker *w = argument;
    loop_inputs in;
    make_loop_inputs(&in, w->number + 1);
    for (int trip = 0; trip < 50; trip++) {
        ingot_value *y = NULL;
        if (run_loop(w->f->session, &in, NULL, &y, NULL) != INGOT_OK ||
            ((const float *)ingot_value_data(y))[1] != (float)(3u << (w->number + 1)))
            w->wrong++;
        ingot_value_release(y);
        ingot_statistics s;
        ingot_statistics_init(&s);
        w->wrong += ingot_session_statistics(w->f->session, &s, NULL) != INGOT_OK;
    }
    release_loop_inputs(&in);
    return NULL;
}

static void several_threads_run_one_session_with_a_bounded_set_of_contexts(void **state)
{
    enum { THREADS = 6, CONTEXTS = 2 };
    fixture f;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    ingot_statistics s;
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.max_contexts = CONTEXTS;
    open_fixture(&f, "twice", &options);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.f = &f, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    ingot_statistics_init(&s);
    assert_int_equal(ingot_session_statistics(f.session, &s, NULL), INGOT_OK);
    assert_int_equal(s.runs, THREADS * 50);
    assert_true(s.context_count <= CONTEXTS);
    close_fixture(&f);
}

static void *run_context(void *argument)
{
    worker *w = argument;
    ingot_run_options options;
    ingot_run_options_init(&options);
    options.cancel = w->cancel;
    do /* the test's own thread may have been first for once */
        w->status = ingot_context_run(w->context, &options, NULL);
    while (w->status == INGOT_BUSY);
    return NULL;
}

static void a_context_that_runs_is_busy_for_others(void **state)
{
    fixture f;
    loop_inputs in;
    pthread_t thread;
    worker w = {.f = &f};
    open_fixture(&f, "twice", NULL);
    make_loop_inputs(&in, ENDLESS);
    assert_int_equal(ingot_cancel_create(&w.cancel, NULL), INGOT_OK);
    assert_int_equal(ingot_context_create(f.session, &w.context, NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_input(w.context, "n", in.values[0], NULL), INGOT_OK);
    assert_int_equal(ingot_context_bind_input(w.context, "x", in.values[1], NULL), INGOT_OK);
    assert_int_equal(pthread_create(&thread, NULL, run_context, &w), 0);
    ingot_cancel *raised = NULL; /* so that a run of this thread, were it first, ends at once */
    ingot_run_options options;
    ingot_run_options_init(&options);
    assert_int_equal(ingot_cancel_create(&raised, NULL), INGOT_OK);
    ingot_cancel_raise(raised);
    options.cancel = raised;
    ingot_error error;
    do {
        error = (ingot_error){0};
        wait_milliseconds(1);
    } while (ingot_context_run(w.context, &options, &error) == INGOT_CANCELLED);
    assert_int_equal(error.status, INGOT_BUSY);
    assert_non_null(strstr(error.message, "another thread"));
    ingot_cancel_raise(w.cancel);
    pthread_join(thread, NULL);
    assert_int_equal(w.status, INGOT_CANCELLED);
    in.trips = 1; /* the context is free again, and its bindings are as they were */
    assert_int_equal(ingot_context_run(w.context, NULL, &f.error), INGOT_OK);
    assert_true(((const float *)ingot_value_data(ingot_context_output(w.context, 0)))[1] == 6);
    ingot_context_release(w.context);
    ingot_cancel_release(w.cancel);
    ingot_cancel_release(raised);
    release_loop_inputs(&in);
    close_fixture(&f);
}

static void every_number_of_threads_gives_the_same_bits(void **state)
{
    static const int counts[] = {1, 2, 3, 7};
    float expected[8 * 5] = {0};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fixture f;
        ingot_value *inputs[MOST_VALUES] = {NULL}, *y = NULL;
        const char *name = "x", *output_name = "y";
        ingot_session_options options;
        ingot_session_options_init(&options);
        options.threads = counts[i];
        open_fixture(&f, "conv", &options);
        assert_true(make_inputs(f.session, 8, true, inputs, NULL));
        assert_int_equal(ingot_session_run(f.session, NULL, &name, (const ingot_value *const *)inputs, 1, &output_name,
                                           &y, 1, &f.error),
                         INGOT_OK);
        assert_int_equal(ingot_value_bytes(y), sizeof expected);
        if (i == 0)
            memcpy(expected, ingot_value_data(y), sizeof expected);
        assert_memory_equal(ingot_value_data(y), expected, sizeof expected);
        ingot_value_release(y);
        release_values(inputs);
        close_fixture(&f);
    }
}

/* ---- Release ---- */

static void contexts_may_outlive_the_session_and_sessions_the_model(void **state)
{
    fixture f;
    loop_inputs in;
    ingot_context *contexts[3];
    open_fixture(&f, "twice", NULL);
    ingot_model_release(f.model);
    make_loop_inputs(&in, 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ingot_context_create(f.session, &contexts[i], NULL), INGOT_OK);
        assert_int_equal(ingot_context_bind_input(contexts[i], "n", in.values[0], NULL), INGOT_OK);
        assert_int_equal(ingot_context_bind_input(contexts[i], "x", in.values[1], NULL), INGOT_OK);
    }
    assert_int_equal(ingot_context_run(contexts[0], NULL, NULL), INGOT_OK);
    ingot_context_release(contexts[1]);
    ingot_session_release(f.session);
    assert_int_equal(ingot_context_run(contexts[2], NULL, NULL), INGOT_OK);
    assert_true(((const float *)ingot_value_data(ingot_context_output(contexts[0], 0)))[1] == 12);
    ingot_context_release(contexts[0]);
    assert_true(((const float *)ingot_value_data(ingot_context_output(contexts[2], 0)))[1] == 12);
    ingot_context_release(contexts[2]);
    release_loop_inputs(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_raised_token_ends_a_run_and_a_reset_one_does_not),
        cmocka_unit_test(a_raised_token_ends_creation_and_every_run_of_its_session),
        cmocka_unit_test(a_long_loop_ends_when_another_thread_asks_for_it),
        cmocka_unit_test(several_threads_run_one_session_with_a_bounded_set_of_contexts),
        cmocka_unit_test(a_context_that_runs_is_busy_for_others),
        cmocka_unit_test(every_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(contexts_may_outlive_the_session_and_sessions_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
