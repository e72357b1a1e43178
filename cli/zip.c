#include "zip.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"
#ifdef INGOT_HAVE_ZLIB
#include <zlib.h>
#endif

/* Record sizes and signatures of the ZIP format; all numbers are little-endian. */
enum { END_SIZE = 22, END64_SIZE = 56, LOCATOR64_SIZE = 20, ENTRY_SIZE = 46, LOCAL_SIZE = 30, EXTRA64 = 1 };
static const uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, locator64_mark = 0x07064b50,
                      entry_mark = 0x02014b50, local_mark = 0x04034b50;

static uint64_t number(const unsigned char *bytes, int size)
{
    uint64_t value = 0;
    while (size > 0)
        value = value << 8 | bytes[--size];
    return value;
}

static ingot_status damaged(ingot_error *error, const char *what)
{
    return cli_fail(error, INGOT_INVALID_INPUT, "the archive is damaged: %s", what);
}

/* Finds the record that ends every archive; only a comment of up to 65535 bytes may follow it. */
static bool find_end(const cli_zip *zip, size_t *end)
{
    if (zip->size < END_SIZE)
        return false;
    size_t last = zip->size - END_SIZE, first = last > 65535 ? last - 65535 : 0;
    for (size_t at = last + 1; at-- > first;) {
        if (number(zip->data + at, 4) == end_mark && number(zip->data + at + 20, 2) == zip->size - END_SIZE - at) {
            *end = at;
            return true;
        }
    }
    return false;
}

ingot_status cli_zip_open(const unsigned char *data, size_t size, cli_zip *zip, ingot_error *error)
{
    size_t end;
    *zip = (cli_zip){data, size, 0, 0};
    if (!find_end(zip, &end))
        return cli_fail(error, INGOT_INVALID_INPUT, "is no .npz file: it does not end as a ZIP archive does");
    uint64_t directory_size = number(data + end + 12, 4), start = number(data + end + 16, 4);
    if (end >= LOCATOR64_SIZE && number(data + end - LOCATOR64_SIZE, 4) == locator64_mark) {
        uint64_t end64 = number(data + end - LOCATOR64_SIZE + 8, 8);
        if (end64 > size || size - end64 < END64_SIZE || number(data + end64, 4) != end64_mark)
            return damaged(error, "its 64-bit end record is missing");
        directory_size = number(data + end64 + 40, 8);
        start = number(data + end64 + 48, 8);
    }
    if (start > end || directory_size > end - start)
        return damaged(error, "its directory lies outside the file");
    zip->at = (size_t)start;
    zip->end = (size_t)(start + directory_size);
    return INGOT_OK;
}

/* Replaces sizes and place of an entry by those of its 64-bit extra field, where the short ones say so. */
static ingot_status read_extra(const unsigned char *extra, size_t size, uint64_t fields[3], ingot_error *error)
{
    while (size >= 4) {
        size_t id = (size_t)number(extra, 2), length = (size_t)number(extra + 2, 2);
        if (length > size - 4)
            return damaged(error, "an extra field is too long");
        for (size_t used = 0, i = 0; id == EXTRA64 && i < 3; i++) {
            if (fields[i] != UINT32_MAX)
                continue;
            if (length - used < 8)
                return damaged(error, "a 64-bit extra field is too short");
            fields[i] = number(extra + 4 + used, 8);
            used += 8;
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return INGOT_OK;
}

/* Finds the content behind the entry's local header. */
static ingot_status find_content(const cli_zip *zip, uint64_t place, cli_zip_entry *entry, ingot_error *error)
{
    if (place > zip->size || zip->size - place < LOCAL_SIZE || number(zip->data + place, 4) != local_mark)
        return damaged(error, "an entry lies outside the file");
    const unsigned char *local = zip->data + place;
    size_t left = zip->size - (size_t)place - LOCAL_SIZE,
           names = (size_t)(number(local + 26, 2) + number(local + 28, 2));
    if (names > left || entry->content_size > left - names)
        return damaged(error, "an entry reaches past the end of the file");
    entry->content = local + LOCAL_SIZE + names;
    return INGOT_OK;
}

ingot_status cli_zip_next(cli_zip *zip, cli_zip_entry *entry, bool *found, ingot_error *error)
{
    *found = zip->at < zip->end;
    if (!*found)
        return INGOT_OK;
    const unsigned char *at = zip->data + zip->at;
    size_t left = zip->end - zip->at;
    if (left < ENTRY_SIZE || number(at, 4) != entry_mark)
        return damaged(error, "its directory holds something else than entries");
    size_t name = (size_t)number(at + 28, 2), extra = (size_t)number(at + 30, 2), comment = (size_t)number(at + 32, 2);
    if (name + extra + comment > left - ENTRY_SIZE)
        return damaged(error, "its directory is cut off");
    uint64_t fields[3] = {number(at + 24, 4), number(at + 20, 4), number(at + 42, 4)};
    CLI_TRY(read_extra(at + ENTRY_SIZE + name, extra, fields, error));
    *entry = (cli_zip_entry){(const char *)at + ENTRY_SIZE,
                             name,
                             (unsigned)number(at + 10, 2),
                             (uint32_t)number(at + 16, 4),
                             NULL,
                             (size_t)fields[1],
                             (size_t)fields[0]};
    if (number(at + 8, 2) & 1)
        return cli_fail(error, INGOT_UNSUPPORTED, "the archive is encrypted");
    zip->at += ENTRY_SIZE + name + extra + comment;
    return find_content(zip, fields[2], entry, error);
}

#ifdef INGOT_HAVE_ZLIB
/* zlib counts in 32 bits, so both sides are handed over in pieces. */
static bool inflate_all(const cli_zip_entry *entry, unsigned char *to)
{
    const size_t most = (size_t)1 << 30;
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    size_t taken = 0, given = 0;
    int result = Z_OK;
    while (result == Z_OK) {
        size_t in = entry->content_size - taken < most ? entry->content_size - taken : most;
        size_t out = entry->size - given < most ? entry->size - given : most;
        stream.next_in = (z_const Bytef *)(uintptr_t)(entry->content + taken);
        stream.avail_in = (uInt)in;
        stream.next_out = to + given;
        stream.avail_out = (uInt)out;
        result = inflate(&stream, Z_NO_FLUSH);
        taken += in - stream.avail_in;
        given += out - stream.avail_out;
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END && given == entry->size;
}

static bool checksum_is_right(const cli_zip_entry *entry, const unsigned char *data)
{
    uLong checksum = crc32(0, NULL, 0);
    for (size_t at = 0; at < entry->size;) {
        size_t piece = entry->size - at < 1u << 30 ? entry->size - at : 1u << 30;
        checksum = crc32(checksum, data + at, (uInt)piece);
        at += piece;
    }
    return checksum == entry->checksum;
}
#endif

/* Deflate makes at most 1032 bytes of one: a larger claim is false, and not worth the memory. */
static bool size_is_possible(const cli_zip_entry *entry)
{
    if (entry->method == 0)
        return entry->size == entry->content_size;
    return entry->size / 1032 <= entry->content_size;
}

static ingot_status unpack(const cli_zip_entry *entry, cli_bytes *bytes, ingot_error *error)
{
    if (entry->method == 0)
        memcpy(bytes->data, entry->content, entry->size);
#ifdef INGOT_HAVE_ZLIB
    if (entry->method == 8 && !inflate_all(entry, bytes->data))
        return damaged(error, "an entry does not unpack");
    if (!checksum_is_right(entry, bytes->data))
        return damaged(error, "the checksum of an entry does not match");
#endif
    return INGOT_OK;
}

ingot_status cli_zip_unpack(const cli_zip_entry *entry, cli_bytes *bytes, ingot_error *error)
{
#ifdef INGOT_HAVE_ZLIB
    bool known = entry->method == 0 || entry->method == 8;
#else
    bool known = entry->method == 0;
    if (entry->method == 8)
        return cli_fail(error, INGOT_UNSUPPORTED,
                        "the archive is compressed, and this ingot was built without zlib; write it with numpy.savez");
#endif
    if (!known)
        return cli_fail(error, INGOT_UNSUPPORTED,
                        "the archive uses compression method %u; stored (0) and deflated (8) are "
                        "known",
                        entry->method);
    if (!size_is_possible(entry))
        return damaged(error, "an entry claims an impossible size");
    *bytes = (cli_bytes){malloc(entry->size + 1), entry->size};
    if (!bytes->data)
        return cli_fail_memory(error, "an entry of the archive");
    ingot_status status = unpack(entry, bytes, error);
    if (status != INGOT_OK)
        cli_bytes_free(bytes);
    return status;
}
