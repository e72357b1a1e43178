/* Files and folders. */
#ifndef INGOT_CLI_FILE_H
#define INGOT_CLI_FILE_H

#include "ingot/ingot.h"

/* The bytes of a file, with a NUL behind them. */
typedef struct cli_bytes {
    unsigned char *data; /* freed by cli_bytes_free */
    size_t size;
} cli_bytes;

ingot_status cli_file_read(const char *path, cli_bytes *bytes, ingot_error *error);
void cli_bytes_free(cli_bytes *bytes);

/* Writes a whole file: the two pieces, one after the other. A file that could not be finished is removed. */
ingot_status cli_file_write(const char *path, const void *first, size_t first_size, const void *second,
                            size_t second_size, ingot_error *error);

bool cli_file_exists(const char *path);
/* Bytes of a file, -1 where there is none. */
int64_t cli_file_size(const char *path);

/* Makes the folder where there is none yet; its parent must exist. */
ingot_status cli_folder_make(const char *path, ingot_error *error);

/* "FOLDER/name", made as printf does; to be freed; NULL where memory ends. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
char *
cli_format(const char *format, ...);

/* True where path ends in a dot and extension, in any case. */
bool cli_has_extension(const char *path, const char *extension);

#endif
