/* A session on one of the small models, and what the tests of the public functions expect of failures. Include it after
 * cmocka.h. */
#ifndef API_FIXTURE_H
#define API_FIXTURE_H

#include "library_run.h"

typedef struct fixture {
    ingot_model *model;
    ingot_session *session;
    ingot_error error;
} fixture;

static inline void open_fixture(fixture *f, const char *name, const ingot_session_options *options)
{
    const struct library_model *m = library_model(name);
    *f = (fixture){0};
    if (ingot_model_open_memory(m->data, m->size, NULL, &f->model, &f->error) != INGOT_OK ||
        ingot_session_create(f->model, options, &f->session, &f->error) != INGOT_OK)
        fail_msg("%s", f->error.message);
}

static inline void close_fixture(fixture *f)
{
    ingot_session_release(f->session);
    ingot_model_release(f->model);
}

static inline ingot_value *floats(int rank, const int64_t *dims, float *data, size_t count)
{
    ingot_value *value = NULL;
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, rank, dims, data, count * sizeof *data, &value, NULL),
                     INGOT_OK);
    return value;
}
#define DIMS(...)                                                           \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) \
    {                                                                       \
        __VA_ARGS__                                                         \
    }

/* The call fails with this status and its message holds all of the words; without an error to fill it fails alike. */
static inline void expect_failure(ingot_status status, const ingot_error *error, ingot_status silent,
                                  ingot_status expected, const char *const *words)
{
    if (status != expected)
        fail_msg("%s instead of %s: %s", ingot_status_name(status), ingot_status_name(expected), error->message);
    assert_int_equal(error->status, expected);
    assert_int_equal(silent, expected);
    for (; *words; words++)
        if (!strstr(error->message, *words))
            fail_msg("'%s' is not in '%s'", *words, error->message);
}
#define EXPECT(expected, call_with_error, call_without, ...)                                                       \
    do {                                                                                                           \
        ingot_error error = {0};                                                                                   \
        expect_failure(call_with_error, &error, call_without, expected, (const char *const[]){__VA_ARGS__, NULL}); \
    } while (0)

/* One run of a session whose only output is asked for. */
static inline ingot_status run(const fixture *f, const char *name, const ingot_value *input, const char *output_name,
                               ingot_value **output, ingot_error *error)
{
    return ingot_session_run(f->session, NULL, &name, &input, 1, &output_name, output, 1, error);
}

#endif
