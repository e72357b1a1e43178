#include "fuzz.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_VALUES = 64, MOST_ELEMENTS = 1 << 14, LIMIT = 16 << 20 };

void fuzz_expect(bool condition, const char *text)
{
    if (condition)
        return;
    fprintf(stderr, "does not hold: %s\n", text);
    abort();
}

void fuzz_expect_error(ingot_status status, const ingot_error *error)
{
    if (status != error->status || (status != INGOT_OK) != (error->message[0] != '\0') || status == INGOT_INTERNAL) {
        fprintf(stderr, "status %s, error %s: %s\n", ingot_status_name(status), ingot_status_name(error->status),
                error->message);
        abort();
    }
}

/* ---- Deadline ---- */

static ingot_cancel *token;
static atomic_uint ticks; /* since the input began */

static void *watch(void *argument)
{
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        if (atomic_fetch_add(&ticks, 1) == 5)
            ingot_cancel_raise(token);
    }
    return argument;
}

ingot_cancel *fuzz_deadline(void)
{
    if (!token) {
        pthread_t thread;
        FUZZ_EXPECT(ingot_cancel_create(&token, NULL) == INGOT_OK);
        FUZZ_EXPECT(pthread_create(&thread, NULL, watch, NULL) == 0);
        pthread_detach(thread);
    }
    atomic_store(&ticks, 0);
    ingot_cancel_reset(token);
    return token;
}

/* ---- Values ---- */

static ingot_value *make_strings(int rank, const int64_t *dims, size_t elements, const uint8_t *bytes, size_t count)
{
    static const char *const words[] = {"", "a", "one", "12", "-1.5e3", "nan", "\xc3\xa9t\xc3\xa9 and more"};
    const char **strings = calloc(elements + 1, sizeof *strings);
    ingot_value *value = NULL;
    FUZZ_EXPECT(strings != NULL);
    for (size_t i = 0; i < elements; i++)
        strings[i] = words[(count ? bytes[i % count] : i) % (sizeof words / sizeof *words)];
    ingot_value_create_strings(rank, dims, strings, NULL, &value, NULL);
    free(strings);
    return value;
}

static void fill(ingot_value *value, const uint8_t *bytes, size_t count)
{
    static const uint8_t own[] = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    uint8_t *data = ingot_value_data(value);
    size_t size = ingot_value_bytes(value), elements = ingot_value_count(value);
    const uint8_t *from = count ? bytes : own;
    count = count ? count : sizeof own;
    for (size_t i = 0; i < elements; i++) {
        int8_t small = (int8_t)from[i % count];
        if (ingot_value_element(value) == INGOT_FLOAT)
            ((float *)(void *)data)[i] = small == 127 ? 1e30f : (float)small / 8;
        else if (ingot_value_element(value) == INGOT_INT64)
            ((int64_t *)(void *)data)[i] = small == 127 ? INT64_MAX : small;
        else if (ingot_value_element(value) == INGOT_INT32)
            ((int32_t *)(void *)data)[i] = small == 127 ? INT32_MIN : small;
        else if (ingot_value_element(value) == INGOT_BOOL)
            data[i] = small & 1;
    }
    for (size_t i = 0; i < size; i++) {
        ingot_element e = ingot_value_element(value);
        if (e != INGOT_FLOAT && e != INGOT_INT64 && e != INGOT_INT32 && e != INGOT_BOOL)
            data[i] = from[i % count];
    }
}

static ingot_value *make_tensor(const ingot_type_info *type, int64_t free_size, const uint8_t *bytes, size_t count)
{
    int64_t dims[INGOT_MAX_RANK];
    ingot_value *value = NULL;
    size_t elements;
    int rank = type->rank < 0 ? 1 : type->rank;
    for (int i = 0; i < rank; i++)
        dims[i] = type->rank < 0 || type->dims[i] < 0 ? free_size : type->dims[i];
    if (!ingot_count_elements(rank, dims, &elements) || elements > MOST_ELEMENTS)
        return NULL;
    ingot_element element = type->element == INGOT_UNDEFINED ? INGOT_FLOAT : type->element;
    if (element == INGOT_STRING)
        return make_strings(rank, dims, elements, bytes, count);
    if (ingot_value_create_tensor(element, rank, dims, NULL, 0, &value, NULL) == INGOT_OK)
        fill(value, bytes, count);
    return value;
}

static ingot_value *make_map(const ingot_type_info *type, const uint8_t *bytes, size_t count)
{
    const int64_t two = 2;
    ingot_value *map = NULL;
    ingot_type_info key = {.kind = INGOT_KIND_TENSOR, .element = type->element, .rank = 1, .dims = &two};
    ingot_type_info item = {.kind = INGOT_KIND_TENSOR, .rank = 1, .dims = &two};
    item.element = type->item ? type->item->element : INGOT_FLOAT;
    ingot_value *keys = make_tensor(&key, 0, bytes, count), *values = make_tensor(&item, 0, bytes, count);
    if (ingot_value_create_map(keys, values, &map, NULL) == INGOT_OK)
        return map;
    ingot_value_release(keys);
    ingot_value_release(values);
    return NULL;
}

static ingot_value *make_list(const ingot_type_info *type, int64_t free_size, const uint8_t *bytes, size_t count)
{
    ingot_value *items[2] = {NULL, NULL}, *list = NULL;
    size_t wanted = type->kind == INGOT_KIND_OPTIONAL || free_size == 0 ? 1 : 2;
    if (!type->item)
        return NULL;
    for (size_t i = 0; i < wanted; i++)
        items[i] = fuzz_make_value(type->item, free_size, bytes, count);
    ingot_status status = !items[0] || !items[wanted - 1] ? INGOT_INVALID_INPUT
                          : type->kind == INGOT_KIND_OPTIONAL
                              ? ingot_value_create_optional(items[0], &list, NULL)
                              : ingot_value_create_sequence(items, wanted, INGOT_FLOAT, &list, NULL);
    for (size_t i = 0; i < wanted && status != INGOT_OK; i++)
        ingot_value_release(items[i]);
    return list;
}

ingot_value *fuzz_make_value(const ingot_type_info *type, int64_t free_size, const uint8_t *bytes, size_t count)
{
    switch (type->kind) {
    case INGOT_KIND_SEQUENCE:
    case INGOT_KIND_OPTIONAL:
        return make_list(type, free_size, bytes, count);
    case INGOT_KIND_MAP:
        return make_map(type, bytes, count);
    case INGOT_KIND_SPARSE:
        return NULL;
    default:
        return make_tensor(type, free_size, bytes, count);
    }
}

/* ---- Runs ---- */

/* Adds the message of value to the result; what has none (an empty optional) adds nothing. */
static void append_value(fuzz_result *result, const ingot_value *value)
{
    void *data = NULL;
    size_t size = 0;
    ingot_error error = {0};
    ingot_status status = ingot_value_to_proto(value, NULL, &data, &size, &error);
    fuzz_expect_error(status, &error);
    result->data = realloc(result->data, result->size + size + 1);
    FUZZ_EXPECT(result->data != NULL);
    if (size)
        memcpy(result->data + result->size, data, size);
    result->size += size;
    ingot_memory_free(data);
}

fuzz_result fuzz_run(ingot_session *session, int64_t free_size, const uint8_t *bytes, size_t count)
{
    fuzz_result result = {.status = INGOT_UNSUPPORTED};
    const char *names[MOST_VALUES], *output_names[MOST_VALUES];
    const ingot_value *inputs[MOST_VALUES] = {NULL};
    ingot_value *outputs[MOST_VALUES] = {NULL};
    size_t input_count = ingot_session_input_count(session), output_count = ingot_session_output_count(session),
           given = 0;
    if (input_count > MOST_VALUES || output_count > MOST_VALUES)
        return result;
    bool complete = true;
    for (size_t i = 0; i < input_count; i++) {
        const ingot_value_info *info = ingot_session_input(session, i);
        if (info->has_default)
            continue;
        names[given] = info->name;
        inputs[given] = fuzz_make_value(info->type, free_size, bytes + i % (count + 1), count - i % (count + 1));
        complete = complete && inputs[given];
        given++;
    }
    for (size_t i = 0; i < output_count; i++)
        output_names[i] = ingot_session_output(session, i)->name;
    if (complete) {
        ingot_error error = {0};
        result.status =
            ingot_session_run(session, NULL, names, inputs, given, output_names, outputs, output_count, &error);
        fuzz_expect_error(result.status, &error);
    }
    for (size_t i = 0; i < output_count; i++) {
        FUZZ_EXPECT((outputs[i] != NULL) == (result.status == INGOT_OK));
        if (outputs[i])
            append_value(&result, outputs[i]);
        ingot_value_release(outputs[i]);
    }
    for (size_t i = 0; i < given; i++)
        ingot_value_release((ingot_value *)(uintptr_t)inputs[i]);
    return result;
}

void fuzz_result_clear(fuzz_result *result)
{
    free(result->data);
    *result = (fuzz_result){0};
}

static void run_thrice(ingot_session *session, bool exact, const uint8_t *bytes, size_t count)
{
    fuzz_result first = fuzz_run(session, 2, bytes, count), other = fuzz_run(session, 3, bytes, count),
                again = fuzz_run(session, 2, bytes, count);
    if (exact && first.status != INGOT_CANCELLED && other.status != INGOT_CANCELLED &&
        again.status != INGOT_CANCELLED) {
        FUZZ_EXPECT(first.status == again.status);
        FUZZ_EXPECT(first.size == again.size);
        FUZZ_EXPECT(first.size == 0 || memcmp(first.data, again.data, first.size) == 0);
    }
    fuzz_result_clear(&first);
    fuzz_result_clear(&other);
    fuzz_result_clear(&again);
}

void fuzz_whole(const void *data, size_t size, ingot_opt_level level, bool exact, const uint8_t *bytes, size_t count)
{
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_error error = {0};
    ingot_model_options model_options;
    ingot_session_options options;
    ingot_model_options_init(&model_options);
    ingot_session_options_init(&options);
    model_options.memory_limit = options.memory_limit = LIMIT;
    options.threads = 1;
    options.opt_level = level;
    options.cancel = fuzz_deadline();
    ingot_status status = ingot_model_open_memory(data, size, &model_options, &model, &error);
    if (status == INGOT_OK)
        status = ingot_session_create(model, &options, &session, &error);
    fuzz_expect_error(status, &error);
    FUZZ_EXPECT((session != NULL) == (status == INGOT_OK));
    if (session)
        run_thrice(session, exact, bytes, count);
    ingot_session_release(session);
    ingot_model_release(model);
}
