/* ZIP archives, which .npz files are: entries stored or deflated, sizes of 64 bits too. Everything lies in memory. */
#ifndef INGOT_CLI_ZIP_H
#define INGOT_CLI_ZIP_H

#include "file.h"

/* An entry of the archive; name and content lie in the archive's bytes. */
typedef struct cli_zip_entry {
    const char *name; /* name_size bytes, no NUL behind */
    size_t name_size;
    unsigned method; /* 0 stored, 8 deflated */
    uint32_t checksum;
    const unsigned char *content;
    size_t content_size, size; /* in the archive; unpacked */
} cli_zip_entry;

/* Where a walk over the entries stands. */
typedef struct cli_zip {
    const unsigned char *data;
    size_t size;
    size_t at, end; /* in the central directory */
} cli_zip;

/* Opens the archive that lies in data, which stays the caller's. */
ingot_status cli_zip_open(const unsigned char *data, size_t size, cli_zip *zip, ingot_error *error);

/* Goes to the next entry; *found is false past the last. */
ingot_status cli_zip_next(cli_zip *zip, cli_zip_entry *entry, bool *found, ingot_error *error);

/* Unpacks an entry; the bytes are the caller's. */
ingot_status cli_zip_unpack(const cli_zip_entry *entry, cli_bytes *bytes, ingot_error *error);

#endif
