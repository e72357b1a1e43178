/* Files read as a whole: models and their external data. */
#ifndef INGOT_BASE_FILE_H
#define INGOT_BASE_FILE_H

#include "base/status.h"

/* An opened file. Immutable, reference-counted, may be used from several threads. */
typedef struct ingot_file ingot_file;
struct ingot_file {
    const unsigned char *data; /* size bytes; page-aligned, or aligned to INGOT_ALIGNMENT where it was read */
    size_t size;               /* at least 1 */
    const char *path;          /* as it was given */
};

/* Opens a regular file that is not empty, of any size, and maps it read-only, or reads it into memory where no_mmap is
 * set. A mapped file must not be changed in place while it is open; reading is safe where it may. Messages name the path.
 * INGOT_NOT_FOUND: there is no such file; INGOT_INVALID_MODEL: it is empty; else INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY. */
ingot_status ingot_file_open(const char *path, bool no_mmap, ingot_file **file, ingot_error *error);

/* One more owner, who gives it back with ingot_file_close. NULL is fine; returns file. */
ingot_file *ingot_file_retain(ingot_file *file);

/* The pages wholly inside data ... data + size, where that lies in the file and the file is mapped, may leave the process's
 * memory; they come back, from the file, when they are read again. */
void ingot_file_forget(ingot_file *file, const void *data, size_t size);

/* Gives one reference back; the last one closes the file. NULL is fine. */
void ingot_file_close(ingot_file *file);

#endif
