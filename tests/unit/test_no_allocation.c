/* A run at sizes that were seen allocates nothing: malloc and its kin, mmap and brk of the whole process are counted.
 * The folder that INGOT_TEST_DATA names adds real models to the small ones; so do paths on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/resource.h>

#include "allocations.h"
#include "base/value.h"
#include "library_run.h"

enum { THREADS = 2, RUNS = 2 };

/* One model made ready, with a context and inputs of up to two sizes. */
typedef struct subject {
    ingot_model *model;
    ingot_session *session;
    ingot_context *context;
    ingot_value *inputs[2][MOST_VALUES];
    ingot_error error;
} subject;

static void close_subject(subject *s)
{
    ingot_context_release(s->context);
    ingot_session_release(s->session);
    ingot_model_release(s->model);
    release_values(s->inputs[0]);
    release_values(s->inputs[1]);
    *s = (subject){0};
}

/* Makes what runs the model, which is released where that fails. */
static ingot_status prepare(subject *s, int64_t size, int64_t other_size)
{
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.threads = THREADS;
    ingot_status status = ingot_session_create(s->model, &options, &s->session, &s->error);
    if (status == INGOT_OK)
        status = ingot_context_create(s->session, &s->context, &s->error);
    if (status == INGOT_OK && (ingot_session_input_count(s->session) > MOST_VALUES ||
                               !make_inputs(s->session, size, false, s->inputs[0], &s->error) ||
                               !make_inputs(s->session, other_size, false, s->inputs[1], &s->error)))
        status = INGOT_UNSUPPORTED;
    return status;
}

static ingot_status run_with(subject *s, int which)
{
    for (size_t i = 0; i < ingot_session_input_count(s->session); i++)
        ingot_context_bind_input(s->context, ingot_session_input(s->session, i)->name, s->inputs[which][i], NULL);
    return ingot_context_run(s->context, NULL, &s->error);
}

/* Runs with both sizes in turn until all is seen, then counts. A model may refuse one of the sizes. */
static void expect_no_allocation(const char *name, subject *s)
{
    bool good[2] = {false, false};
    for (int i = 0; i < 4; i++)
        good[i % 2] = run_with(s, i % 2) == INGOT_OK;
    allocation_counts before = count_allocations();
    for (int i = 0; i < 2 * RUNS; i++)
        if (good[i % 2])
            run_with(s, i % 2);
    allocation_counts after = count_allocations();
    size_t allocated = after.allocated - before.allocated, freed = after.freed - before.freed,
           mapped = after.mapped - before.mapped;
    print_message("%s: %d sizes, %zu allocations, %zu frees, %zu maps\n", name, good[0] + good[1], allocated, freed,
                  mapped);
    if (!good[0] && !good[1])
        fail_msg("%s: %s", name, s->error.message);
    assert_int_equal(allocated + freed + mapped, 0);
}

static void the_counts_count(void **state)
{
    allocation_counts before = count_allocations();
    void *volatile memory = malloc(100);
    free(memory);
    memory = aligned_alloc(64, 128);
    free(memory);
    allocation_counts after = count_allocations();
    assert_int_equal(after.allocated - before.allocated, 2);
    assert_int_equal(after.freed - before.freed, 2);
}

static void small_models_allocate_nothing(void **state)
{
    for (size_t i = 0; i < LIBRARY_MODEL_COUNT; i++) {
        subject s = {0};
        const struct library_model *m = &library_models[i];
        if (ingot_model_open_memory(m->data, m->size, NULL, &s.model, &s.error) != INGOT_OK ||
            prepare(&s, 8, 5) != INGOT_OK)
            fail_msg("%s: %s", m->name, s.error.message);
        expect_no_allocation(m->name, &s);
        close_subject(&s);
    }
}

/* ---- First runs ---- */

static void open_small(subject *s, const char *name, int64_t size)
{
    const struct library_model *m = library_model(name);
    const int64_t dims[] = {size, size};
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.threads = THREADS;
    options.warmup_shapes = &(ingot_warmup_shape){.input = "x", .rank = 2, .dims = dims};
    options.warmup_shape_count = size ? 1 : 0;
    assert_int_equal(ingot_model_open_memory(m->data, m->size, NULL, &s->model, &s->error), INGOT_OK);
    assert_int_equal(ingot_session_create(s->model, &options, &s->session, &s->error), INGOT_OK);
    assert_true(make_inputs(s->session, size, false, s->inputs[0], &s->error));
    assert_true(make_inputs(s->session, size, false, s->inputs[1], &s->error));
}

/* Creation has run both branches, though it did not know the condition. */
static void the_first_run_of_either_branch_allocates_nothing(void **state)
{
    subject s = {0};
    open_small(&s, "branches", 0);
    assert_int_equal(ingot_context_create(s.session, &s.context, &s.error), INGOT_OK);
    *(bool *)ingot_value_data(s.inputs[0][1]) = true;
    *(bool *)ingot_value_data(s.inputs[1][1]) = false;
    const allocation_counts before = count_allocations();
    const ingot_status then_status = run_with(&s, 0), else_status = run_with(&s, 1);
    const allocation_counts after = count_allocations();
    assert_int_equal(then_status, INGOT_OK);
    assert_int_equal(else_status, INGOT_OK);
    assert_int_equal(after.allocated - before.allocated + after.freed - before.freed, 0);
    close_subject(&s);
}

/* Of this process. An emulator's own would be among them, so tests that count them are skipped there. */
static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* 512x512 numbers are 256 pages of 4 KiB, in values of the session's own and in those that a run makes. */
static void the_first_run_finds_its_output_in_memory(void **state)
{
    enum { SIZE = 512, PAGES = SIZE * SIZE * sizeof(float) / 4096 };
    if (getenv("INGOT_TEST_EMULATED"))
        skip();
    subject s = {0};
    open_small(&s, "large", SIZE);
    assert_int_equal(ingot_context_create(s.session, &s.context, &s.error), INGOT_OK);
    long before = page_faults();
    assert_int_equal(run_with(&s, 0), INGOT_OK);
    assert_true(page_faults() - before < PAGES / 2);
    close_subject(&s);

    open_small(&s, "large", SIZE);
    const char *input = "x", *output = "y";
    ingot_value *made = NULL;
    const ingot_value *given = s.inputs[0][0];
    before = page_faults();
    assert_int_equal(ingot_session_run(s.session, NULL, &input, &given, 1, &output, &made, 1, &s.error), INGOT_OK);
    assert_true(page_faults() - before < PAGES / 2);
    ingot_value_release(made);
    close_subject(&s);
}

/* What creation made for an output of its shapes stays with the session, whose memory is limited. */
static void a_small_output_does_not_take_the_memory_of_a_large_one(void **state)
{
    enum { SIZE = 512 };
    subject small = {0}, large = {0};
    open_small(&small, "large", 4);
    open_small(&large, "large", SIZE);
    const char *input = "x", *output = "y";
    ingot_value *made = NULL;
    const ingot_value *given = small.inputs[0][0];
    assert_int_equal(ingot_session_run(large.session, NULL, &input, &given, 1, &output, &made, 1, &large.error),
                     INGOT_OK);
    assert_true(made->capacity <= 2 * ingot_value_bytes(made));
    ingot_value_release(made);
    close_subject(&small);
    close_subject(&large);
}

/* ---- Real models ---- */

static bool is_model(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".onnx") == 0 && strncmp(name, "refuse_", 7) != 0;
}

/* Free sizes of real models: most take 1, some only another one. */
static const int64_t sizes[][2] = {{1, 2}, {16, 32}, {64, 96}, {256, 512}};

/* Whether the model runs with made-up inputs of one of these sizes. */
static bool open_real(subject *s, const char *path, const int64_t *two)
{
    *s = (subject){0};
    if (ingot_model_open(path, NULL, &s->model, &s->error) == INGOT_OK && prepare(s, two[0], two[1]) == INGOT_OK &&
        (run_with(s, 0) == INGOT_OK || run_with(s, 1) == INGOT_OK))
        return true;
    close_subject(s);
    return false;
}

static bool check_real(const char *path)
{
    subject s;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!open_real(&s, path, sizes[i]))
            continue;
        expect_no_allocation(path, &s);
        close_subject(&s);
        return true;
    }
    print_message("%s: does not take made-up inputs\n", path);
    return false;
}

/* Paths that the command line gives; else the models of the test data. */
static char **given_paths;

static void real_models_allocate_nothing(void **state)
{
    const char *data = getenv("INGOT_TEST_DATA");
    char folder[4096], path[8192];
    size_t checked = 0;
    for (char **given = given_paths; *given; given++)
        checked += check_real(*given);
    if (!data || !data[0] || *given_paths)
        skip();
    snprintf(folder, sizeof folder, "%s/models", data);
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (!is_model(entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        checked += check_real(path);
    }
    closedir(list);
    print_message("%zu real models\n", checked);
    assert_true(checked > 0);
}

int main(int argc, char **argv)
{
    given_paths = argv + 1;
    if (argc > 1)
        cmocka_set_test_filter("real_models*");
    if (!ALLOCATIONS_ARE_COUNTED) {
        printf("1..0 # SKIP a sanitizer owns malloc here\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counts_count),
        cmocka_unit_test(small_models_allocate_nothing),
        cmocka_unit_test(the_first_run_of_either_branch_allocates_nothing),
        cmocka_unit_test(the_first_run_finds_its_output_in_memory),
        cmocka_unit_test(a_small_output_does_not_take_the_memory_of_a_large_one),
        cmocka_unit_test(real_models_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
