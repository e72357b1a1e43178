#include "file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "report.h"

/* Reads stream to its end; size is what it is expected to hold. */
static ingot_status read_all(FILE *stream, size_t size, cli_bytes *bytes, ingot_error *error)
{
    size_t capacity = size + 1; /* one more than there is, so that the first read finds the end */
    for (;;) {
        unsigned char *grown = realloc(bytes->data, capacity + 1);
        if (!grown)
            return cli_fail_memory(error, "the file");
        bytes->data = grown;
        bytes->size += fread(bytes->data + bytes->size, 1, capacity - bytes->size, stream);
        if (bytes->size < capacity)
            break;
        if (capacity > SIZE_MAX / 4)
            return cli_fail_memory(error, "the file");
        capacity *= 2;
    }
    bytes->data[bytes->size] = '\0';
    return ferror(stream) ? cli_fail(error, INGOT_IO_ERROR, "%s", strerror(errno)) : INGOT_OK;
}

ingot_status cli_file_read(const char *path, cli_bytes *bytes, ingot_error *error)
{
    struct stat facts;
    *bytes = (cli_bytes){NULL, 0};
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return cli_fail(error, errno == ENOENT ? INGOT_NOT_FOUND : INGOT_IO_ERROR, "%s: %s", path, strerror(errno));
    bool known = fstat(fileno(stream), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size >= 0;
    ingot_status status = read_all(stream, known ? (size_t)facts.st_size : 4096, bytes, error);
    fclose(stream);
    if (status != INGOT_OK) {
        cli_bytes_free(bytes);
        return cli_fail_at(error, "%s", path);
    }
    return INGOT_OK;
}

void cli_bytes_free(cli_bytes *bytes)
{
    free(bytes->data);
    *bytes = (cli_bytes){NULL, 0};
}

ingot_status cli_file_write(const char *path, const void *first, size_t first_size, const void *second,
                            size_t second_size, ingot_error *error)
{
    FILE *stream = fopen(path, "wb");
    if (!stream)
        return cli_fail(error, INGOT_IO_ERROR, "%s: %s", path, strerror(errno));
    bool written = (first_size == 0 || fwrite(first, 1, first_size, stream) == first_size) &&
                   (second_size == 0 || fwrite(second, 1, second_size, stream) == second_size);
    int why = errno;
    if (fclose(stream) != 0 && written) {
        written = false;
        why = errno;
    }
    if (written)
        return INGOT_OK;
    remove(path);
    return cli_fail(error, INGOT_IO_ERROR, "%s: %s", path, strerror(why));
}

bool cli_file_exists(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0;
}

int64_t cli_file_size(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (int64_t)facts.st_size : -1;
}

ingot_status cli_folder_make(const char *path, ingot_error *error)
{
    struct stat facts;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)))
        return INGOT_OK;
    return cli_fail(error, INGOT_IO_ERROR, "%s: %s", path, errno == EEXIST ? "is no folder" : strerror(errno));
}

char *cli_format(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}

bool cli_has_extension(const char *path, const char *extension)
{
    size_t length = strlen(path), wanted = strlen(extension);
    return length > wanted && path[length - wanted - 1] == '.' && strcasecmp(path + length - wanted, extension) == 0;
}
