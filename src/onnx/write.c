#include "onnx/write.h"

#include <string.h>

#define MAX_VARINT_BYTES 10

static void append(ingot_writer *writer, const void *data, size_t size)
{
    size_t end;
    if (writer->status != INGOT_OK)
        return;
    if (!ingot_add_size(writer->size, size, &end)) {
        writer->status = ingot_fail_memory(writer->error, SIZE_MAX, "a message");
        return;
    }
    writer->status = ingot_grow(&writer->data, &writer->capacity, end, 1, writer->error);
    if (writer->status != INGOT_OK || size == 0)
        return;
    memcpy(writer->data + writer->size, data, size);
    writer->size = end;
}

static size_t encode_varint(uint64_t value, char *bytes)
{
    size_t size = 0;
    while (value >= 0x80) {
        bytes[size++] = (char)(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = (char)value;
    return size;
}

static void append_varint(ingot_writer *writer, uint64_t value)
{
    char bytes[MAX_VARINT_BYTES];
    append(writer, bytes, encode_varint(value, bytes));
}

static void append_tag(ingot_writer *writer, uint32_t field, ingot_wire_type type)
{
    append_varint(writer, (uint64_t)field << 3 | type);
}

void ingot_write_integer(ingot_writer *writer, uint32_t field, int64_t value)
{
    append_tag(writer, field, INGOT_WIRE_VARINT);
    append_varint(writer, (uint64_t)value);
}

void ingot_write_bytes(ingot_writer *writer, uint32_t field, const void *data, size_t size)
{
    append_tag(writer, field, INGOT_WIRE_LENGTH);
    append_varint(writer, size);
    append(writer, data, size);
}

void ingot_write_text(ingot_writer *writer, uint32_t field, const char *text)
{
    if (text != NULL)
        ingot_write_bytes(writer, field, text, strlen(text));
}

size_t ingot_write_begin(ingot_writer *writer, uint32_t field)
{
    append_tag(writer, field, INGOT_WIRE_LENGTH);
    return writer->size;
}

void ingot_write_end(ingot_writer *writer, size_t mark)
{
    if (writer->status != INGOT_OK)
        return;
    char length[MAX_VARINT_BYTES];
    size_t content = writer->size - mark;
    size_t size = encode_varint(content, length);
    append(writer, length, size); /* makes room; the content then moves behind its length */
    if (writer->status != INGOT_OK)
        return;
    memmove(writer->data + mark + size, writer->data + mark, content);
    memcpy(writer->data + mark, length, size);
}
