#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "file.h"
#include "npy_header.h"
#include "report.h"
#include "utf8.h"

static ingot_element element_of(const cli_npy_header *header)
{
    for (int element = 1; element < INGOT_ELEMENT_COUNT; element++)
        if (element != INGOT_STRING && cli_element_trait(element)->numpy == header->letter &&
            ingot_element_bits(element) == header->item_size * 8)
            return element;
    return INGOT_UNDEFINED;
}

/* Copies one element, turning the bytes of each of its parts where they are big-endian. */
static void copy_element(unsigned char *to, const unsigned char *from, const cli_npy_header *header)
{
    if (!header->big_endian) {
        memcpy(to, from, header->item_size);
        return;
    }
    size_t unit = header->letter == 'U' ? 4 : header->letter == 'c' ? header->item_size / 2 : header->item_size;
    if (header->letter == 'S')
        unit = 1;
    for (size_t start = 0; start < header->item_size; start += unit)
        for (size_t i = 0; i < unit; i++)
            to[start + i] = from[start + unit - 1 - i];
}

/* Copies the elements into row-major, little-endian order. */
static void copy_elements(unsigned char *to, const unsigned char *from, const cli_npy_header *header)
{
    int64_t position[INGOT_MAX_RANK] = {0};
    for (size_t i = 0; i < header->count; i++, to += header->item_size) {
        size_t source = i;
        if (header->fortran_order) {
            source = 0;
            for (int d = header->rank - 1; d >= 0; d--)
                source = source * (size_t)header->dims[d] + (size_t)position[d];
            for (int d = header->rank - 1; d >= 0 && ++position[d] == header->dims[d]; d--)
                position[d] = 0;
        }
        copy_element(to, from + source * header->item_size, header);
    }
}

/* Turns one <U element into UTF-8 at to; returns its bytes, SIZE_MAX where a character is none of Unicode's. NULs at the
 * end fill the element up and are no part of the string. */
static size_t string_from_ucs4(char *to, const unsigned char *from, size_t bytes)
{
    uint32_t point;
    size_t characters = bytes / 4, length = 0;
    for (; characters > 0; characters--) {
        memcpy(&point, from + (characters - 1) * 4, 4);
        if (point)
            break;
    }
    for (size_t i = 0; i < characters; i++) {
        memcpy(&point, from + i * 4, 4);
        if (!cli_is_unicode(point))
            return SIZE_MAX;
        length += cli_utf8_encode(to + length, point);
    }
    return length;
}

static size_t string_from_bytes(char *to, const unsigned char *from, size_t bytes)
{
    while (bytes > 0 && from[bytes - 1] == 0)
        bytes--;
    memcpy(to, from, bytes);
    return bytes;
}

/* elements: count items of header->item_size bytes, row-major; UTF-8 of a character is never longer than its UCS-4. */
static ingot_status make_strings(const unsigned char *elements, const cli_npy_header *header, ingot_value **value,
                                 ingot_error *error)
{
    size_t bytes = header->count * header->item_size, used = 0;
    char *heap = malloc(bytes + 1);
    const char **strings = calloc(header->count + 1, sizeof *strings);
    size_t *lengths = calloc(header->count + 1, sizeof *lengths);
    ingot_status status = INGOT_OK;
    if (!heap || !strings || !lengths)
        status = cli_fail_memory(error, "the strings");
    for (size_t i = 0; i < header->count && status == INGOT_OK; i++) {
        const unsigned char *from = elements + i * header->item_size;
        strings[i] = heap + used;
        lengths[i] = header->letter == 'U' ? string_from_ucs4(heap + used, from, header->item_size)
                                           : string_from_bytes(heap + used, from, header->item_size);
        if (lengths[i] == SIZE_MAX)
            status = cli_fail(error, INGOT_INVALID_INPUT, "string %zu holds a character that Unicode does not have", i);
        else
            used += lengths[i];
    }
    if (status == INGOT_OK)
        status = ingot_value_create_strings(header->rank, header->dims, strings, lengths, value, error);
    free(heap);
    free(strings);
    free(lengths);
    return status;
}

ingot_status cli_npy_read(const void *data, size_t size, ingot_value **value, ingot_error *error)
{
    cli_npy_header header;
    CLI_TRY(cli_npy_header_read(data, size, &header, error));
    const unsigned char *elements = (const unsigned char *)data + header.data_start;
    if (header.letter != 'U' && header.letter != 'S') {
        CLI_TRY(ingot_value_create_tensor(element_of(&header), header.rank, header.dims, NULL, 0, value, error));
        if (header.fortran_order || header.big_endian)
            copy_elements(ingot_value_data(*value), elements, &header);
        else if (header.count > 0)
            memcpy(ingot_value_data(*value), elements, header.count * header.item_size);
        return INGOT_OK;
    }
    unsigned char *ordered = malloc(header.count * header.item_size + 1);
    if (!ordered)
        return cli_fail_memory(error, "the strings");
    copy_elements(ordered, elements, &header);
    ingot_status status = make_strings(ordered, &header, value, error);
    free(ordered);
    return status;
}

bool cli_npy_holds(ingot_element element)
{
    return cli_element_trait(element)->numpy != 0;
}

/* The header for an array of this type, with the spaces that align the elements; returns its bytes. */
static size_t make_header(char *to, size_t room, const ingot_value *tensor, char letter, size_t item_size)
{
    char text[64 + 24 * INGOT_MAX_RANK];
    int rank = ingot_value_rank(tensor);
    const int64_t *dims = ingot_value_dims(tensor);
    bool order = letter != 'S' && item_size > 1;
    int used = snprintf(text, sizeof text, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (", order ? '<' : '|',
                        letter, letter == 'U' ? item_size / 4 : item_size);
    for (int i = 0; i < rank; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%" PRId64 "%s", i ? " " : "", dims[i],
                         i + 1 < rank || rank == 1 ? "," : "");
    used += snprintf(text + used, sizeof text - (size_t)used, "), }");
    size_t total = (10 + (size_t)used + 1 + 63) / 64 * 64;
    memset(to, ' ', room);
    memcpy(to, "\x93NUMPY\x01\x00", 8);
    to[8] = (char)((total - 10) & 0xFF);
    to[9] = (char)((total - 10) >> 8);
    memcpy(to + 10, text, (size_t)used);
    to[total - 1] = '\n';
    return total;
}

/* The characters of the longest string, at least 1; 0 where a string is no UTF-8. *bytes is the longest in bytes. */
static size_t longest_string(const ingot_value *tensor, size_t *bytes)
{
    size_t longest = 1;
    bool valid = true;
    *bytes = 1;
    for (size_t i = 0; i < ingot_value_count(tensor); i++) {
        size_t length, characters = 0, at = 0, step;
        uint32_t point;
        const char *string = ingot_value_string(tensor, i, &length);
        *bytes = length > *bytes ? length : *bytes;
        for (; valid && at < length; at += step, characters++)
            valid = (step = cli_utf8_decode(string + at, length - at, &point)) > 0;
        longest = characters > longest ? characters : longest;
    }
    return valid ? longest : 0;
}

static ingot_status write_strings(const char *path, const ingot_value *tensor, ingot_error *error)
{
    char header[1024];
    size_t bytes, count = ingot_value_count(tensor), characters = longest_string(tensor, &bytes);
    size_t item_size = characters ? characters * 4 : bytes;
    if (count && item_size > SIZE_MAX / count)
        return cli_fail_memory(error, "the strings");
    unsigned char *elements = calloc(count + !count, item_size);
    if (!elements)
        return cli_fail_memory(error, "the strings");
    for (size_t i = 0; i < count; i++) {
        size_t length, at = 0;
        uint32_t point = 0;
        const char *string = ingot_value_string(tensor, i, &length);
        unsigned char *to = elements + i * item_size;
        if (!characters && length)
            memcpy(to, string, length);
        for (; characters && at < length; to += 4) {
            at += cli_utf8_decode(string + at, length - at, &point);
            memcpy(to, &point, 4);
        }
    }
    size_t header_size = make_header(header, sizeof header, tensor, characters ? 'U' : 'S', item_size);
    ingot_status status = cli_file_write(path, header, header_size, elements, count * item_size, error);
    free(elements);
    return status;
}

ingot_status cli_npy_write(const char *path, const ingot_value *tensor, ingot_error *error)
{
    char header[1024];
    ingot_element element = ingot_value_element(tensor);
    if (element == INGOT_STRING)
        return write_strings(path, tensor, error);
    size_t header_size =
        make_header(header, sizeof header, tensor, cli_element_trait(element)->numpy, ingot_element_bits(element) / 8);
    return cli_file_write(path, header, header_size, ingot_value_data(tensor), ingot_value_bytes(tensor), error);
}
