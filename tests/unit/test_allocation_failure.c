/* Every allocation fails once: opening, creating, running and releasing then end with INGOT_OUT_OF_MEMORY or do without, nothing
 * crashes and nothing is lost. With the address sanitizer, its leak check looks instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "allocations.h"
#include "base/memory.h"
#include "ingot/tools.h"
#include "library_run.h"
#include "onnx/write.h"

enum { MOST_ALLOCATIONS = 20000 }; /* of one pass; more would mean that the pass does not end */

/* Allocations until the one that fails; below zero: it has failed. */
static long left;

static bool fail_one(size_t size)
{
    return left-- != 0;
}

/* Pieces of memory that were not freed. */
static size_t pieces_in_use(void)
{
    allocation_counts counts = count_allocations();
    return counts.allocated - counts.freed;
}

/* ---- A pass: from the bytes of a model, or its file, to the released session ---- */

typedef struct subject {
    const struct library_model *model; /* NULL: path */
    const char *path;
    ingot_opt_level level;
} subject;

/* One run; what it gives must be there where it succeeds, and nothing where not. */
static ingot_status run_once(ingot_session *session, int64_t size, ingot_error *error)
{
    const char *names[MOST_VALUES], *output_names[MOST_VALUES];
    ingot_value *inputs[MOST_VALUES] = {NULL}, *outputs[MOST_VALUES] = {NULL};
    size_t input_count = ingot_session_input_count(session), output_count = ingot_session_output_count(session);
    for (size_t i = 0; i < input_count; i++)
        names[i] = ingot_session_input(session, i)->name;
    for (size_t i = 0; i < output_count; i++)
        output_names[i] = ingot_session_output(session, i)->name;
    ingot_status status = INGOT_OUT_OF_MEMORY;
    if (make_inputs(session, size, true, inputs, error))
        status = ingot_session_run(session, NULL, names, (const ingot_value *const *)inputs, input_count, output_names,
                                   outputs, output_count, error);
    for (size_t i = 0; i < output_count; i++)
        if ((outputs[i] != NULL) != (status == INGOT_OK))
            fail_msg("output %zu of a run that ended with %s", i, ingot_status_name(status));
    release_values(inputs);
    release_values(outputs);
    return status;
}

static ingot_status run_in_context(ingot_session *session, ingot_error *error)
{
    ingot_context *context = NULL;
    ingot_value *inputs[MOST_VALUES] = {NULL};
    ingot_status status = ingot_context_create(session, &context, error);
    if (status == INGOT_OK && !make_inputs(session, 5, true, inputs, error))
        status = INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < ingot_session_input_count(session) && status == INGOT_OK; i++)
        status = ingot_context_bind_input(context, ingot_session_input(session, i)->name, inputs[i], error);
    if (status == INGOT_OK)
        status = ingot_context_run(context, NULL, error);
    if (status == INGOT_OUT_OF_MEMORY && context != NULL && inputs[0] != NULL) {
        ingot_status again = ingot_context_run(context, NULL, NULL); /* a context is usable after an error */
        if (again != INGOT_OK && again != INGOT_INVALID_INPUT)
            fail_msg("the run after a failed one ended with %s", ingot_status_name(again));
    }
    ingot_context_release(context);
    release_values(inputs);
    return status;
}

static ingot_status pass(const subject *s, ingot_error *error)
{
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.threads = 1;
    options.opt_level = s->level;
    ingot_status status = s->model != NULL
                              ? ingot_model_open_memory(s->model->data, s->model->size, NULL, &model, error)
                              : ingot_model_open(s->path, NULL, &model, error);
    if (status == INGOT_OK)
        status = ingot_session_create(model, &options, &session, error);
    ingot_model_release(model);
    if (status == INGOT_OK)
        status = run_once(session, 4, error);
    if (status == INGOT_OK)
        status = run_in_context(session, error);
    ingot_session_release(session);
    return status;
}

/* Passes of the subject, each with another allocation that fails, until one needs no more of them. */
static void fail_each(const char *name, const subject *s)
{
    ingot_error error = {0};
    left = -1;
    ingot_status good = pass(s, &error);
    if (good != INGOT_OK && s->path != NULL && s->path == name) {
        print_message("%s: does not take made-up inputs: %s\n", name, error.message);
        return;
    }
    if (good != INGOT_OK)
        fail_msg("%s: %s", name, error.message);
    size_t before = pieces_in_use();
    ingot_set_allocation_hook(fail_one);
    for (long n = 0; n < MOST_ALLOCATIONS; n++) {
        error = (ingot_error){0};
        left = n;
        ingot_status status = pass(s, &error);
        if (left >= 0) {
            ingot_set_allocation_hook(NULL);
            assert_int_equal(status, INGOT_OK);
            print_message("%s: %ld allocations failed\n", name, n);
            return;
        }
        if (status != INGOT_OK && (status != INGOT_OUT_OF_MEMORY || error.status != status || error.message[0] == '\0'))
            fail_msg("%s, allocation %ld: %s: '%s'", name, n, ingot_status_name(status), error.message);
        if (pieces_in_use() > before)
            fail_msg("%s, allocation %ld: %zu pieces of memory were lost", name, n, pieces_in_use() - before);
    }
    fail_msg("%s: does not end", name);
}

static void no_model_crashes_or_leaks(void **state)
{
    for (size_t i = 0; i < LIBRARY_MODEL_COUNT; i++)
        fail_each(library_models[i].name, &(subject){.model = &library_models[i], .level = INGOT_OPT_ALL});
}

/* Paths on the command line. */
static char **given_paths;

static void models_of_the_command_line_do_not_either(void **state)
{
    if (!*given_paths)
        skip();
    for (char **path = given_paths; *path; path++)
        fail_each(*path, &(subject){.path = *path, .level = INGOT_OPT_ALL});
}

static void without_passes_no_model_crashes_or_leaks(void **state)
{
    for (size_t i = 0; i < LIBRARY_MODEL_COUNT; i++)
        fail_each(library_models[i].name, &(subject){.model = &library_models[i], .level = INGOT_OPT_NONE});
}

/* ---- External data ---- */

static void write_value_info(ingot_writer *w, uint32_t field, const char *name)
{
    size_t info = ingot_write_begin(w, field);
    ingot_write_text(w, 1, name);
    size_t type = ingot_write_begin(w, 2), tensor = ingot_write_begin(w, 1);
    ingot_write_integer(w, 1, INGOT_FLOAT);
    size_t shape = ingot_write_begin(w, 2), dim = ingot_write_begin(w, 1);
    ingot_write_integer(w, 1, 4);
    ingot_write_end(w, dim);
    ingot_write_end(w, shape);
    ingot_write_end(w, tensor);
    ingot_write_end(w, type);
    ingot_write_end(w, info);
}

static void write_external(ingot_writer *w, const char *key, const char *value)
{
    size_t entry = ingot_write_begin(w, 13);
    ingot_write_text(w, 1, key);
    ingot_write_text(w, 2, value);
    ingot_write_end(w, entry);
}

/* y = x + w, w in the file "data". */
static void write_model(ingot_writer *w)
{
    ingot_write_integer(w, 1, 8);
    size_t opset = ingot_write_begin(w, 8);
    ingot_write_integer(w, 2, 17);
    ingot_write_end(w, opset);
    size_t graph = ingot_write_begin(w, 7), node = ingot_write_begin(w, 1);
    ingot_write_text(w, 1, "x");
    ingot_write_text(w, 1, "w");
    ingot_write_text(w, 2, "y");
    ingot_write_text(w, 4, "Add");
    ingot_write_end(w, node);
    size_t tensor = ingot_write_begin(w, 5);
    ingot_write_integer(w, 1, 4);
    ingot_write_integer(w, 2, INGOT_FLOAT);
    ingot_write_text(w, 8, "w");
    write_external(w, "location", "data");
    write_external(w, "offset", "16");
    write_external(w, "length", "16");
    ingot_write_integer(w, 14, 1);
    ingot_write_end(w, tensor);
    write_value_info(w, 11, "x");
    write_value_info(w, 12, "y");
    ingot_write_end(w, graph);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void external_data_does_not_either(void **state)
{
    char folder[] = "/tmp/ingot_allocation_XXXXXX", model[64], data[64];
    ingot_writer w = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(model, sizeof model, "%s/model.onnx", folder);
    snprintf(data, sizeof data, "%s/data", folder);
    write_model(&w);
    assert_int_equal(w.status, INGOT_OK);
    write_file(model, w.data, w.size);
    write_file(data, (const float[8]){0}, sizeof(float[8]));
    fail_each("external data", &(subject){.path = model, .level = INGOT_OPT_ALL});
    unlink(model);
    unlink(data);
    rmdir(folder);
    ingot_free(w.data);
}

/* ---- Values as messages ---- */

static ingot_status there_and_back(const ingot_type_info *type, ingot_error *error)
{
    ingot_value *value = make_value(type, 3, error), *back = NULL;
    void *data = NULL;
    size_t size = 0;
    ingot_status status = value != NULL ? ingot_value_to_proto(value, "v", &data, &size, error) : INGOT_OUT_OF_MEMORY;
    if (status == INGOT_OK)
        status = ingot_value_from_proto(data, size, type, &back, error);
    assert_true((back != NULL) == (status == INGOT_OK));
    ingot_memory_free(data);
    ingot_value_release(value);
    ingot_value_release(back);
    return status;
}

static void messages_of_values_do_not_either(void **state)
{
    static const int64_t dims[] = {2, -1};
    static const ingot_type_info types[] = {
        {.kind = INGOT_KIND_TENSOR, .element = INGOT_FLOAT, .rank = 2, .dims = dims},
        {.kind = INGOT_KIND_TENSOR, .element = INGOT_STRING, .rank = 2, .dims = dims},
        {.kind = INGOT_KIND_SEQUENCE, .item = &types[1]},
        {.kind = INGOT_KIND_SEQUENCE, .item = &types[0]},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        ingot_error error = {0};
        assert_int_equal(there_and_back(&types[i], &error), INGOT_OK);
        size_t before = pieces_in_use();
        ingot_set_allocation_hook(fail_one);
        for (long n = 0;; n++) {
            left = n;
            error = (ingot_error){0};
            ingot_status status = there_and_back(&types[i], &error);
            if (left >= 0)
                break;
            if (status != INGOT_OUT_OF_MEMORY)
                fail_msg("type %zu, allocation %ld: %s: '%s'", i, n, ingot_status_name(status), error.message);
            assert_true(pieces_in_use() <= before);
        }
        ingot_set_allocation_hook(NULL);
    }
}

static int take_hook_away(void **state)
{
    ingot_set_allocation_hook(NULL);
    return 0;
}

int main(int argc, char **argv)
{
    given_paths = argv + 1;
    if (argc > 1)
        cmocka_set_test_filter("models_of_the_command_line*");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(no_model_crashes_or_leaks, take_hook_away),
        cmocka_unit_test_teardown(without_passes_no_model_crashes_or_leaks, take_hook_away),
        cmocka_unit_test_teardown(models_of_the_command_line_do_not_either, take_hook_away),
        cmocka_unit_test_teardown(external_data_does_not_either, take_hook_away),
        cmocka_unit_test_teardown(messages_of_values_do_not_either, take_hook_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
