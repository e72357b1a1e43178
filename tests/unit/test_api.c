/* The public functions as a caller meets them: options, names, bindings, refusals, statistics, values of all kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "api_fixture.h"

/* ---- Models and options ---- */

static void a_model_opens_from_a_file_and_from_memory(void **state)
{
    char path[] = "/tmp/ingot_api_XXXXXX";
    const struct library_model *m = library_model("add");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, m->data, m->size), m->size);
    close(file);
    for (int no_mmap = 0; no_mmap < 3; no_mmap++) {
        ingot_model_options options;
        ingot_model *model = NULL;
        ingot_model_options_init(&options);
        options.no_mmap = no_mmap == 1;
        ingot_status status = no_mmap == 2 ? ingot_model_open_memory(m->data, m->size, NULL, &model, NULL)
                                           : ingot_model_open(path, &options, &model, NULL);
        assert_int_equal(status, INGOT_OK);
        assert_int_equal(ingot_model_input_count(model), 2);
        assert_string_equal(ingot_model_input(model, 1)->name, "y");
        assert_null(ingot_model_input(model, 2));
        assert_int_equal(ingot_model_output_count(model), 2);
        assert_string_equal(ingot_model_output(model, 0)->name, "sum");
        assert_int_equal(ingot_model_output(model, 0)->type->rank, 2);
        assert_int_equal(ingot_model_output(model, 0)->type->dims[1], 3);
        assert_int_equal(ingot_model_ir_version(model), 10);
        ingot_model_release(model);
    }
    unlink(path);
}

static void a_file_that_is_not_there_is_named(void **state)
{
    ingot_model *model = (ingot_model *)1;
    EXPECT(INGOT_NOT_FOUND, ingot_model_open("/nowhere/such.onnx", NULL, &model, &error),
           ingot_model_open("/nowhere/such.onnx", NULL, &model, NULL), "/nowhere/such.onnx");
    assert_null(model);
}

static void options_of_a_size_that_no_version_had_are_refused(void **state)
{
    const struct library_model *m = library_model("add");
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_model_options model_options;
    ingot_session_options options;
    ingot_model_options_init(&model_options);
    ingot_session_options_init(&options);
    assert_int_equal(ingot_model_open_memory(m->data, m->size, &model_options, &model, NULL), INGOT_OK);
    model_options.size = options.size = 0;
    EXPECT(INGOT_INVALID_ARGUMENT,
           ingot_model_open_memory(m->data, m->size, &model_options, &(ingot_model *){0}, &error),
           ingot_model_open_memory(m->data, m->size, &model_options, &(ingot_model *){0}, NULL), "size", "init");
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_session_create(model, &options, &session, &error),
           ingot_session_create(model, &options, &session, NULL), "size", "init");
    options.size = sizeof options + 8;
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_session_create(model, &options, &session, &error),
           ingot_session_create(model, &options, &session, NULL), "size", "init");
    assert_null(session);
    ingot_model_release(model);
}

static void session_options_out_of_range_are_refused(void **state)
{
    fixture f;
    open_fixture(&f, "add", NULL);
    static const struct {
        ingot_session_options options;
        ingot_status status;
        const char *words[2];
    } cases[] = {
        {{.threads = -1, .opt_level = 2}, INGOT_INVALID_ARGUMENT, {"threads", "-1"}},
        {{.threads = 100000, .opt_level = 2}, INGOT_INVALID_ARGUMENT, {"threads", "100000"}},
        {{.opt_level = (ingot_opt_level)7}, INGOT_INVALID_ARGUMENT, {"opt_level", "7"}},
        {{.device = "toaster", .opt_level = 2}, INGOT_UNSUPPORTED, {"toaster", "cpu"}},
        {{.precision = "fp7", .opt_level = 2}, INGOT_UNSUPPORTED, {"fp7", "fp32"}},
        {{.disabled_passes = "no-such-pass", .opt_level = 2}, INGOT_INVALID_ARGUMENT, {"no-such-pass", "no-such-pass"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ingot_session_options options = cases[i].options;
        ingot_session *session = (ingot_session *)1;
        options.size = sizeof options;
        EXPECT(cases[i].status, ingot_session_create(f.model, &options, &session, &error),
               ingot_session_create(f.model, &options, &session, NULL), cases[i].words[0], cases[i].words[1]);
        assert_null(session);
    }
    close_fixture(&f);
}

static void warm_up_shapes_that_are_none_are_refused(void **state)
{
    fixture f;
    open_fixture(&f, "add", NULL);
    static const int64_t good[] = {1, 3}, negative[] = {-1, 3}, other[] = {1, 4};
    static const struct {
        ingot_warmup_shape shape;
        ingot_status status;
        const char *words[2];
    } cases[] = {
        {{"q", 2, good}, INGOT_NOT_FOUND, {"'q'", "'x'"}},
        {{NULL, 2, good}, INGOT_NOT_FOUND, {"input", "'x'"}},
        {{"x", 99, good}, INGOT_INVALID_ARGUMENT, {"'x'", "shape"}},
        {{"x", -1, good}, INGOT_INVALID_ARGUMENT, {"'x'", "shape"}},
        {{"x", 2, negative}, INGOT_INVALID_ARGUMENT, {"'x'", "shape"}},
        {{"x", 2, NULL}, INGOT_INVALID_ARGUMENT, {"'x'", "shape"}},
        {{"x", 2, other}, INGOT_INVALID_INPUT, {"'x'", "dimension 1"}},
    };
    ingot_session_options options;
    ingot_session *session = NULL;
    ingot_session_options_init(&options);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ingot_warmup_shape shapes[] = {{"y", 2, good}, cases[i].shape};
        options.warmup_shapes = shapes;
        options.warmup_shape_count = 2;
        EXPECT(cases[i].status, ingot_session_create(f.model, &options, &session, &error),
               ingot_session_create(f.model, &options, &session, NULL), cases[i].words[0], cases[i].words[1]);
        assert_null(session);
    }
    options.warmup_shapes = NULL;
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_session_create(f.model, &options, &session, &error),
           ingot_session_create(f.model, &options, &session, NULL), "warmup_shapes");
    close_fixture(&f);
}

static void null_arguments_are_refused(void **state)
{
    fixture f;
    open_fixture(&f, "add", NULL);
    ingot_model *model;
    ingot_session *session;
    ingot_context *context;
    ingot_error e = {0};
    assert_int_equal(ingot_model_open(NULL, NULL, &model, &e), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_model_open("x", NULL, NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_model_open_memory(NULL, 4, NULL, &model, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_model_open_memory("", 0, NULL, &model, NULL), INGOT_INVALID_MODEL);
    assert_int_equal(ingot_session_create(NULL, NULL, &session, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_session_create(f.model, NULL, NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_context_create(NULL, &context, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_context_create(f.session, NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_context_bind_input(NULL, "x", NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_context_bind_output(NULL, "x", NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_context_run(NULL, NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_session_run(NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_session_run(f.session, NULL, NULL, NULL, 1, NULL, NULL, 0, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_session_run(f.session, NULL, NULL, NULL, 0, NULL, NULL, 1, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_session_statistics(NULL, NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_session_statistics(f.session, NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_session_statistics(f.session, &(ingot_statistics){0}, NULL), INGOT_INVALID_ARGUMENT);
    assert_null(ingot_context_output(NULL, 0));
    assert_null(ingot_session_input(NULL, 0));
    assert_null(ingot_session_output(f.session, 2));
    assert_false(ingot_session_region(f.session, 1000, &(ingot_region_info){0}));
    assert_int_equal(ingot_model_input_count(NULL) + ingot_model_output_count(NULL) + ingot_model_opset_count(NULL), 0);
    assert_null(ingot_model_input(NULL, 0));
    assert_null(ingot_model_opset(NULL, 0, NULL));
    assert_null(ingot_model_metadata(NULL, 0, NULL));
    assert_null(ingot_model_operator(NULL, 0, NULL));
    assert_string_equal(ingot_model_producer(NULL), "");
    ingot_model_options_init(NULL);
    ingot_session_options_init(NULL);
    ingot_run_options_init(NULL);
    ingot_statistics_init(NULL);
    ingot_model_release(NULL);
    ingot_session_release(NULL);
    ingot_context_release(NULL);
    ingot_value_release(NULL);
    ingot_cancel_release(NULL);
    ingot_cancel_raise(NULL);
    ingot_cancel_reset(NULL);
    close_fixture(&f);
}

/* ---- Refusals ---- */

static void wrong_values_are_refused_by_name_with_what_was_found_and_expected(void **state)
{
    fixture f;
    ingot_value *out = NULL, *wrong_kind = NULL, *wrong_type = NULL;
    open_fixture(&f, "defaults", NULL);
    float x[6] = {1, 2}, other[3] = {0};
    int64_t number = 1;
    ingot_value *good = floats(DIMS(2), x, 2), *long_one = floats(DIMS(3), other, 3), *flat = floats(DIMS(2, 1), x, 2);
    assert_int_equal(ingot_value_create_tensor(INGOT_INT64, 1, &number, &number, 8, &wrong_type, NULL), INGOT_OK);
    assert_int_equal(ingot_value_create_sequence(NULL, 0, INGOT_FLOAT, &wrong_kind, NULL), INGOT_OK);
    EXPECT(INGOT_INVALID_INPUT, run(&f, "x", long_one, "y", &out, &error), run(&f, "x", long_one, "y", &out, NULL),
           "'x'", "float[3]", "float[2]");
    EXPECT(INGOT_INVALID_INPUT, run(&f, "x", flat, "y", &out, &error), run(&f, "x", flat, "y", &out, NULL), "'x'",
           "float[2,1]", "float[2]", "rank");
    EXPECT(INGOT_INVALID_INPUT, run(&f, "x", wrong_type, "y", &out, &error), run(&f, "x", wrong_type, "y", &out, NULL),
           "'x'", "int64[1]", "float[2]");
    EXPECT(INGOT_INVALID_INPUT, run(&f, "x", wrong_kind, "y", &out, &error), run(&f, "x", wrong_kind, "y", &out, NULL),
           "'x'", "sequence", "float[2]");
    EXPECT(INGOT_NOT_FOUND, run(&f, "z", good, "y", &out, &error), run(&f, "z", good, "y", &out, NULL), "'z'", "'x'",
           "'w'");
    EXPECT(INGOT_NOT_FOUND, run(&f, "x", good, "z", &out, &error), run(&f, "x", good, "z", &out, NULL), "'z'", "'y'");
    EXPECT(INGOT_NOT_FOUND, run(&f, NULL, good, "y", &out, &error), run(&f, NULL, good, "y", &out, NULL), "'x'");
    EXPECT(INGOT_INVALID_ARGUMENT, run(&f, "x", NULL, "y", &out, &error), run(&f, "x", NULL, "y", &out, NULL), "'x'");
    assert_null(out);
    out = long_one;
    EXPECT(INGOT_INVALID_INPUT, run(&f, "x", good, "y", &out, &error), run(&f, "x", good, "y", &out, NULL), "'y'",
           "float[3]", "float[2]");
    out = wrong_kind;
    EXPECT(INGOT_INVALID_INPUT, run(&f, "x", good, "y", &out, &error), run(&f, "x", good, "y", &out, NULL), "'y'",
           "sequence", "float[2]");
    assert_int_equal(run(&f, "x", good, "y", (out = NULL, &out), &f.error), INGOT_OK); /* the session still works */
    ingot_value *values[MOST_VALUES] = {good, long_one, flat, wrong_type, wrong_kind, out};
    release_values(values);
    close_fixture(&f);
}

static void sizes_of_one_name_must_agree(void **state)
{
    fixture f;
    open_fixture(&f, "add", NULL);
    float data[9] = {0};
    ingot_value *x = floats(DIMS(1, 3), data, 3), *y = floats(DIMS(2, 3), data, 6), *out = NULL;
    const ingot_value *inputs[] = {x, y};
    const char *names[] = {"x", "y"}, *output_name = "sum";
    EXPECT(INGOT_INVALID_INPUT, ingot_session_run(f.session, NULL, names, inputs, 2, &output_name, &out, 1, &error),
           ingot_session_run(f.session, NULL, names, inputs, 2, &output_name, &out, 1, NULL), "'y'", "N", "1", "2");
    ingot_value_release(x);
    ingot_value_release(y);
    close_fixture(&f);
}

static void a_context_is_usable_after_an_error(void **state)
{
    fixture f;
    ingot_context *c = NULL;
    open_fixture(&f, "defaults", NULL);
    float x[] = {1, 2, 3}, y[3];
    ingot_value *good = floats(DIMS(2), x, 2), *bad = floats(DIMS(3), x, 3), *bad_y = floats(DIMS(3), y, 3);
    assert_int_equal(ingot_context_create(f.session, &c, NULL), INGOT_OK);
    for (int trip = 0; trip < 3; trip++) {
        assert_int_equal(ingot_context_bind_input(c, "x", bad, NULL), INGOT_OK);
        assert_int_equal(ingot_context_run(c, NULL, NULL), INGOT_INVALID_INPUT);
        assert_null(ingot_context_output(c, 0));
        assert_int_equal(ingot_context_bind_input(c, "x", good, NULL), INGOT_OK);
        assert_int_equal(ingot_context_bind_output(c, "y", bad_y, NULL), INGOT_OK);
        assert_int_equal(ingot_context_run(c, NULL, NULL), INGOT_INVALID_INPUT);
        assert_int_equal(ingot_context_bind_output(c, "y", NULL, NULL), INGOT_OK);
        assert_int_equal(ingot_context_run(c, NULL, &f.error), INGOT_OK);
        assert_true(((const float *)ingot_value_data(ingot_context_output(c, 0)))[1] == 22);
    }
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_context_run(c, &(ingot_run_options){.size = 3}, &error),
           ingot_context_run(c, &(ingot_run_options){.size = 3}, NULL), "size");
    ingot_context_release(c);
    ingot_value_release(good);
    ingot_value_release(bad);
    ingot_value_release(bad_y);
    close_fixture(&f);
}

static void the_first_error_is_kept(void **state)
{
    ingot_model *model;
    ingot_error error = {0};
    assert_int_equal(ingot_model_open("/nowhere/a.onnx", NULL, &model, &error), INGOT_NOT_FOUND);
    assert_int_equal(ingot_model_open(NULL, NULL, &model, &error), INGOT_INVALID_ARGUMENT);
    assert_int_equal(error.status, INGOT_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nowhere/a.onnx"));
}

/* ---- Memory and statistics ---- */

static ingot_status run_square(const fixture *f, int64_t size, ingot_error *error)
{
    ingot_value *in = NULL, *out = NULL;
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, 2, (int64_t[]){size, size}, NULL, 0, &in, NULL), INGOT_OK);
    ingot_status status = run(f, "x", in, "y", &out, error);
    ingot_value_release(in);
    ingot_value_release(out);
    return status;
}

static void the_memory_limit_holds_and_smaller_work_goes_on(void **state)
{
    fixture f;
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.memory_limit = 1 << 20;
    open_fixture(&f, "large", &options);
    EXPECT(INGOT_OUT_OF_MEMORY, run_square(&f, 1000, &error), run_square(&f, 1000, NULL), "limit", "1048576");
    assert_int_equal(run_square(&f, 8, &f.error), INGOT_OK);
    close_fixture(&f);
}

static void a_limit_too_small_for_the_weights_is_told_at_creation(void **state)
{
    const struct library_model *m = library_model("conv");
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.memory_limit = 1;
    assert_int_equal(ingot_model_open_memory(m->data, m->size, NULL, &model, NULL), INGOT_OK);
    EXPECT(INGOT_OUT_OF_MEMORY, ingot_session_create(model, &options, &session, &error),
           ingot_session_create(model, &options, &session, NULL), "limit", "1");
    assert_null(session);
    ingot_model_release(model);
}

static void memory_settles_however_many_shapes_come(void **state)
{
    enum { SHAPES = 1000, CACHED = 16 };
    fixture f;
    ingot_session_options options;
    ingot_statistics statistics;
    size_t settled = 0;
    ingot_session_options_init(&options);
    options.shape_cache_size = CACHED;
    options.threads = 1;
    open_fixture(&f, "large", &options);
    ingot_statistics_init(&statistics);
    for (int i = 0; i < SHAPES; i++) {
        assert_int_equal(run_square(&f, 1 + i * 7 % 40, &f.error), INGOT_OK);
        assert_int_equal(ingot_session_statistics(f.session, &statistics, NULL), INGOT_OK);
        assert_true(statistics.cached_shapes <= CACHED);
        if (i == SHAPES / 2)
            settled = statistics.arena_bytes;
    }
    assert_int_equal(statistics.arena_bytes, settled);
    assert_int_equal(statistics.cached_shapes, CACHED);
    close_fixture(&f);
}

static void statistics_count_what_was_done(void **state)
{
    fixture f;
    ingot_statistics s;
    open_fixture(&f, "add", NULL);
    float x[] = {1, 2, 3};
    ingot_value *in = floats(DIMS(1, 3), x, 3), *out = NULL;
    const ingot_value *inputs[] = {in, in};
    const char *names[] = {"x", "y"}, *output_name = "sum";
    for (int i = 0; i < 3; i++) {
        ingot_value_release(out);
        out = NULL;
        assert_int_equal(ingot_session_run(f.session, NULL, names, inputs, 2, &output_name, &out, 1, NULL), INGOT_OK);
    }
    assert_int_equal(ingot_session_run(f.session, NULL, names, inputs, 1, &output_name, &out, 1, NULL),
                     INGOT_INVALID_INPUT);
    ingot_statistics_init(&s);
    assert_int_equal(ingot_session_statistics(f.session, &s, NULL), INGOT_OK);
    assert_int_equal(s.runs, 3);
    assert_int_equal(s.failed_runs, 1);
    assert_int_equal(s.context_count, 1);
    assert_true(s.node_count >= 1 && s.region_count >= 1 && s.cached_shapes >= 1);
    assert_true(s.optimize_ms >= 0 && s.plan_ms >= 0 && s.warmup_ms >= 0);
    ingot_region_info region;
    assert_true(ingot_session_region(f.session, 0, &region));
    assert_non_null(strstr(region.operators, "Add"));
    assert_string_equal(region.backend, "cpu");
    ingot_value_release(in);
    ingot_value_release(out);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_opens_from_a_file_and_from_memory),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(options_of_a_size_that_no_version_had_are_refused),
        cmocka_unit_test(session_options_out_of_range_are_refused),
        cmocka_unit_test(warm_up_shapes_that_are_none_are_refused),
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(wrong_values_are_refused_by_name_with_what_was_found_and_expected),
        cmocka_unit_test(sizes_of_one_name_must_agree),
        cmocka_unit_test(a_context_is_usable_after_an_error),
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(the_memory_limit_holds_and_smaller_work_goes_on),
        cmocka_unit_test(a_limit_too_small_for_the_weights_is_told_at_creation),
        cmocka_unit_test(memory_settles_however_many_shapes_come),
        cmocka_unit_test(statistics_count_what_was_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
