#include "onnx/external.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/map.h"

typedef struct data_file {
    struct data_file *next;
    ingot_file *file;
    char location[]; /* the key of the map */
} data_file;

struct ingot_model_files {
    char *folder; /* as the caller named it; NULL: none */
    bool no_mmap;
    ingot_file *model;     /* NULL: a model from memory */
    ingot_map by_location; /* of data_file */
    data_file *first;
};

/* ---- What the model says ---- */

/* A number in decimal digits, as the standard writes it. */
static ingot_status read_number(ingot_span text, const char *key, uint64_t *number, ingot_error *error)
{
    uint64_t value = 0;
    bool valid = text.size > 0;
    for (size_t i = 0; i < text.size && valid; i++) {
        unsigned digit = (unsigned)(text.data[i] - '0');
        valid = digit <= 9 && value <= (uint64_t)(INT64_MAX - 9) / 10;
        value = value * 10 + digit;
    }
    *number = value;
    if (valid)
        return INGOT_OK;
    return ingot_fail(error, INGOT_INVALID_MODEL,
                      "%s of the external data is '%.*s'; a number of bytes, 0 or more, is expected", key,
                      INGOT_SPAN_ARG(text));
}

ingot_status ingot_external_place_read(const ingot_proto_list *entries, ingot_external_place *place, ingot_error *error)
{
    *place = (ingot_external_place){0};
    const ingot_entry_proto *entry = entries->items;
    for (size_t i = 0; i < entries->count; i++) {
        if (ingot_span_is(entry[i].key, "location")) {
            place->location = entry[i].value;
        } else if (ingot_span_is(entry[i].key, "offset")) {
            INGOT_TRY(read_number(entry[i].value, "the offset", &place->offset, error));
        } else if (ingot_span_is(entry[i].key, "length")) {
            INGOT_TRY(read_number(entry[i].value, "the length", &place->length, error));
            place->has_length = true;
        }
    }
    if (place->location.size == 0)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "the data is in another file, but its location is not given (external_data, key 'location')");
    return INGOT_OK;
}

/* ---- Files ---- */

ingot_status ingot_model_files_create(const char *folder, bool no_mmap, ingot_model_files **files, ingot_error *error)
{
    ingot_model_files *created = ingot_calloc(1, sizeof *created);
    if (created == NULL)
        return ingot_fail_memory(error, sizeof *created, "the files of a model");
    created->no_mmap = no_mmap;
    if (folder != NULL) {
        created->folder = ingot_strndup(folder[0] != '\0' ? folder : ".", folder[0] != '\0' ? strlen(folder) : 1);
        if (created->folder == NULL) {
            ingot_free(created);
            return ingot_fail_memory(error, strlen(folder), "the name of the data folder");
        }
    }
    *files = created;
    return INGOT_OK;
}

ingot_status ingot_model_files_open(ingot_model_files *files, const char *path, ingot_span *content, ingot_error *error)
{
    INGOT_TRY(ingot_file_open(path, files->no_mmap, &files->model, error));
    *content = (ingot_span){(const char *)files->model->data, files->model->size};
    return INGOT_OK;
}

void ingot_model_files_release(ingot_model_files *files)
{
    if (files == NULL)
        return;
    ingot_file_close(files->model);
    for (data_file *file = files->first; file != NULL;) {
        data_file *next = file->next;
        ingot_file_close(file->file);
        ingot_free(file);
        file = next;
    }
    ingot_map_clear(&files->by_location);
    ingot_free(files->folder);
    ingot_free(files);
}

void ingot_model_files_forget(ingot_model_files *files, const void *data, size_t size)
{
    if (files->model != NULL)
        ingot_file_forget(files->model, data, size);
    for (data_file *file = files->first; file != NULL; file = file->next)
        ingot_file_forget(file->file, data, size);
}

/* A location must name a place below the folder by itself, whatever lies on the disk. */
static ingot_status check_location(ingot_span location, ingot_error *error)
{
    const char *reason = NULL;
    if (location.data[0] == '/')
        reason = "is an absolute path; data must lie in the folder of the model, named relative to it";
    else if (memchr(location.data, '\0', location.size) != NULL || location.size >= PATH_MAX)
        reason = "is no name of a file";
    for (size_t i = 0, start = 0; i <= location.size && reason == NULL; i++) {
        if (i < location.size && location.data[i] != '/')
            continue;
        if (i - start == 2 && memcmp(location.data + start, "..", 2) == 0)
            reason = "leaves the folder of the model by '..'";
        start = i + 1;
    }
    if (reason == NULL)
        return INGOT_OK;
    return ingot_fail(error, INGOT_INVALID_MODEL, "the location '%.*s' of the external data %s",
                      INGOT_SPAN_ARG(location), reason);
}

static bool lies_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (length > 0 && folder[length - 1] == '/')
        length--;
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* Follows all links and makes sure that a regular file below the folder is meant; path holds PATH_MAX bytes. */
static ingot_status resolve(const ingot_model_files *files, const char *location, char *path, ingot_error *error)
{
    char joined[PATH_MAX], folder[PATH_MAX];
    int length = snprintf(joined, sizeof joined, "%s/%s", files->folder, location);
    if (length < 0 || (size_t)length >= sizeof joined)
        return ingot_fail(error, INGOT_NOT_FOUND, "the path of the data file '%.200s' is too long", location);
    if (realpath(files->folder, folder) == NULL)
        return ingot_fail(error, INGOT_NOT_FOUND, "the data folder '%.200s': %s", files->folder, strerror(errno));
    if (realpath(joined, path) == NULL)
        return ingot_fail(error, errno == ENOENT ? INGOT_NOT_FOUND : INGOT_IO_ERROR,
                          "the data file '%.200s' in the folder '%.200s': %s", location, files->folder,
                          strerror(errno));
    struct stat status;
    if (stat(path, &status) != 0)
        return ingot_fail(error, INGOT_IO_ERROR, "the data file '%.200s': %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return ingot_fail(error, INGOT_INVALID_MODEL, "the location '%.200s' of the external data is %s, not a file",
                          location, S_ISDIR(status.st_mode) ? "a folder" : "something else");
    if (!lies_below(path, folder))
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "the location '%.200s' of the external data is a link to '%.200s', outside the folder "
                          "'%.200s'; name the folder that holds the files (data_folder) if that is meant",
                          location, path, folder);
    return INGOT_OK;
}

static ingot_status open_file(ingot_model_files *files, ingot_span location, data_file **opened, ingot_error *error)
{
    INGOT_TRY(check_location(location, error));
    data_file *file = ingot_calloc(1, sizeof *file + location.size + 1);
    if (file == NULL)
        return ingot_fail_memory(error, sizeof *file + location.size + 1, "a data file");
    memcpy(file->location, location.data, location.size);
    char path[PATH_MAX];
    ingot_status status = resolve(files, file->location, path, error);
    if (status == INGOT_OK)
        status = ingot_file_open(path, files->no_mmap, &file->file, error);
    if (status != INGOT_OK) {
        ingot_free(file);
        return status;
    }
    file->next = files->first;
    files->first = file;
    *opened = file;
    return ingot_map_put(&files->by_location, file->location, location.size, file, NULL, error);
}

ingot_status ingot_model_files_get(ingot_model_files *files, const ingot_external_place *place, size_t needed,
                                   ingot_span *bytes, ingot_error *error)
{
    ingot_span location = place->location;
    if (files->folder == NULL)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "the data is in the file '%.*s', but the model was given without a folder for its data "
                          "(data_folder)",
                          INGOT_SPAN_ARG(location));
    data_file *file = ingot_map_get(&files->by_location, location.data, location.size);
    if (file == NULL)
        INGOT_TRY(open_file(files, location, &file, error));
    uint64_t size = file->file->size;
    uint64_t length = place->has_length ? place->length : needed;
    if (place->offset > size || length > size - place->offset)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "the external data at offset %llu, %llu bytes, lies past the end of '%.*s', which has %llu",
                          (unsigned long long)place->offset, (unsigned long long)length, INGOT_SPAN_ARG(location),
                          (unsigned long long)size);
    *bytes = (ingot_span){(const char *)file->file->data + place->offset, (size_t)length};
    return INGOT_OK;
}
