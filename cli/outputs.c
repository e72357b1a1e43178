#include "outputs.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "ingot/tools.h"
#include "npy.h"
#include "report.h"
#include "value.h"

static ingot_status write_proto(const char *path, const char *name, const ingot_value *value, ingot_error *error)
{
    void *data = NULL;
    size_t size;
    CLI_TRY(ingot_value_to_proto(value, name, &data, &size, error));
    ingot_status status = cli_file_write(path, data, size, NULL, 0, error);
    ingot_memory_free(data);
    return status;
}

static ingot_status write_json(const char *path, const ingot_value *value, ingot_error *error)
{
    json_t *json = cli_value_json(value);
    char *text = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text)
        return cli_fail(error, INGOT_INVALID_ARGUMENT, "%s: a string that is no UTF-8 cannot be written as JSON", path);
    ingot_status status = cli_file_write(path, text, strlen(text), "\n", 1, error);
    free(text);
    return status;
}

typedef ingot_status (*write_function)(const char *path, const char *name, const ingot_value *value,
                                       ingot_error *error);

static ingot_status write_array(const char *path, const char *name, const ingot_value *value, ingot_error *error)
{
    return cli_npy_write(path, value, error);
}

static ingot_status write_text(const char *path, const char *name, const ingot_value *value, ingot_error *error)
{
    return write_json(path, value, error);
}

static ingot_status write_file(const char *stem, const char *extension, const char *name, const ingot_value *value,
                               write_function write, ingot_error *error)
{
    char *path = cli_format("%s.%s", stem, extension);
    if (!path)
        return cli_fail_memory(error, "the name of a file");
    ingot_status status = write(path, name, value, error);
    free(path);
    return status;
}

static ingot_status write_value(const char *stem, const char *name, const ingot_value *value, ingot_error *error);

/* A sequence: JSON where it holds maps or nothing, else a file for each item. */
static ingot_status write_sequence(const char *stem, const char *name, const ingot_value *value, ingot_error *error)
{
    size_t count = ingot_value_item_count(value);
    if (count == 0 || ingot_value_kind(ingot_value_item(value, 0)) == INGOT_KIND_MAP)
        return write_file(stem, "json", name, value, write_text, error);
    for (size_t i = 0; i < count; i++) {
        char *item = cli_format("%s.%zu", stem, i);
        if (!item)
            return cli_fail_memory(error, "the name of a file");
        ingot_status status = write_value(item, name, ingot_value_item(value, i), error);
        free(item);
        CLI_TRY(status);
    }
    return INGOT_OK;
}

static ingot_status write_value(const char *stem, const char *name, const ingot_value *value, ingot_error *error)
{
    switch (ingot_value_kind(value)) {
    case INGOT_KIND_TENSOR:
        if (cli_npy_holds(ingot_value_element(value)))
            return write_file(stem, "npy", name, value, write_array, error);
        return write_file(stem, "pb", name, value, write_proto, error);
    case INGOT_KIND_SPARSE:
        return write_file(stem, "pb", name, value, write_proto, error);
    case INGOT_KIND_SEQUENCE:
        return write_sequence(stem, name, value, error);
    case INGOT_KIND_OPTIONAL:
        if (ingot_value_optional_item(value))
            return write_value(stem, name, ingot_value_optional_item(value), error);
        break;
    case INGOT_KIND_MAP:
    case INGOT_KIND_NONE:
        break;
    }
    return write_file(stem, "json", name, value, write_text, error);
}

/* The name of a file for output number index, unlike those of the outputs before it; to be freed. */
static char *stem_of(const char *const *names, char **stems, size_t index)
{
    size_t length = strlen(names[index]);
    char *stem = calloc(length + index + 2, 1);
    if (!stem)
        return NULL;
    memcpy(stem, names[index], length);
    for (char *byte = stem; *byte; byte++)
        if (*byte == '/' || *byte == ':')
            *byte = '_';
    if (length == 0)
        stem[length++] = '_';
    for (size_t i = 0; i < index; i++) {
        if (strcmp(stems[i], stem) == 0) {
            stem[length++] = '_'; /* at most once for each output before: it differs from all of them in the end */
            i = SIZE_MAX;
        }
    }
    return stem;
}

ingot_status cli_outputs_write(const char *folder, const char *const *names, const ingot_value *const *values,
                               size_t count, ingot_error *error)
{
    CLI_TRY(cli_folder_make(folder, error));
    char **stems = calloc(count + 1, sizeof *stems);
    ingot_status status = stems ? INGOT_OK : cli_fail_memory(error, "the names of files");
    for (size_t i = 0; i < count && status == INGOT_OK; i++) {
        stems[i] = stem_of(names, stems, i);
        char *path = stems[i] ? cli_format("%s/%s", folder, stems[i]) : NULL;
        status = path ? write_value(path, names[i], values[i], error) : cli_fail_memory(error, "the names of files");
        free(path);
    }
    for (size_t i = 0; stems && i < count; i++)
        free(stems[i]);
    free(stems);
    return status;
}

static void print_elements(const ingot_value *tensor)
{
    enum { SHOWN = 6 };
    char text[96];
    size_t count = ingot_value_count(tensor);
    for (size_t i = 0; i < count && i < SHOWN; i++)
        printf(" %s", cli_value_element_text(tensor, i, text, sizeof text));
    if (count > SHOWN)
        fputs(" ...", stdout);
}

static void print_map(const ingot_value *map)
{
    json_t *json = cli_value_json(map);
    char *text = json ? json_dumps(json, JSON_REAL_PRECISION(6)) : NULL;
    if (text)
        printf(" %.200s%s", text, strlen(text) > 200 ? "..." : "");
    free(text);
    json_decref(json);
}

/* Type, shape and the first elements; of a sequence, those of its first item. */
static void print_value(const ingot_value *value)
{
    char text[CLI_TYPE_TEXT];
    for (const char *joint = ""; value; joint = ": ") {
        printf("%s%s", joint, cli_value_text(value, text, sizeof text));
        switch (ingot_value_kind(value)) {
        case INGOT_KIND_SEQUENCE:
            value = ingot_value_item_count(value) ? ingot_value_item(value, 0) : NULL;
            continue;
        case INGOT_KIND_OPTIONAL:
            value = ingot_value_optional_item(value);
            continue;
        case INGOT_KIND_TENSOR:
            print_elements(value);
            return;
        case INGOT_KIND_MAP:
            print_map(value);
            return;
        case INGOT_KIND_SPARSE:
        case INGOT_KIND_NONE:
            return;
        }
    }
}

void cli_outputs_print(const char *const *names, const ingot_value *const *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cli_print_text(stdout, names[i]);
        fputs("  ", stdout);
        print_value(values[i]);
        putchar('\n');
    }
}
