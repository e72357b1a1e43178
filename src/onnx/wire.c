#include "onnx/wire.h"

#define MAX_VARINT_BYTES 10

ingot_wire ingot_wire_of(const void *data, size_t size)
{
    const char *begin = data != NULL ? data : "";
    return (ingot_wire){.begin = begin, .at = begin, .end = begin + size};
}

ingot_wire ingot_wire_inside(const ingot_wire *outer, ingot_span bytes)
{
    return (ingot_wire){.begin = outer->begin, .at = bytes.data, .end = bytes.data + bytes.size};
}

uint32_t ingot_wire_load32(const char *at)
{
    uint32_t value = 0;
    for (int i = 3; i >= 0; i--)
        value = value << 8 | (uint8_t)at[i];
    return value;
}

uint64_t ingot_wire_load64(const char *at)
{
    return (uint64_t)ingot_wire_load32(at + 4) << 32 | ingot_wire_load32(at);
}

ingot_status ingot_wire_varint(ingot_wire *wire, uint64_t *value, ingot_error *error)
{
    size_t offset = ingot_wire_offset(wire);
    uint64_t result = 0;
    for (int i = 0; i < MAX_VARINT_BYTES; i++) {
        if (ingot_wire_done(wire))
            return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: the data ends inside a number", offset);
        uint8_t byte = (uint8_t)*wire->at++;
        if (i == MAX_VARINT_BYTES - 1 && byte > 1)
            return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: a number has more than 64 bits", offset);
        result |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *value = result;
            return INGOT_OK;
        }
    }
    return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: a number is longer than %d bytes", offset,
                      MAX_VARINT_BYTES);
}

static ingot_status read_tag(ingot_wire *wire, ingot_wire_field *field, ingot_error *error)
{
    size_t offset = ingot_wire_offset(wire);
    uint64_t tag;
    INGOT_TRY(ingot_wire_varint(wire, &tag, error));
    if (tag >> 3 == 0 || tag >> 32 != 0)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "byte %zu: field number %llu is not allowed (1 to 536870911 are); this is no ONNX file or it "
                          "is damaged",
                          offset, (unsigned long long)(tag >> 3));
    *field = (ingot_wire_field){.number = (uint32_t)(tag >> 3), .type = (ingot_wire_type)(tag & 7)};
    return INGOT_OK;
}

static ingot_status read_fixed(ingot_wire *wire, ingot_wire_field *field, size_t size, ingot_error *error)
{
    if ((size_t)(wire->end - wire->at) < size)
        return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: the data ends inside the %zu bytes of field %u",
                          ingot_wire_offset(wire), size, (unsigned)field->number);
    field->integer = size == 8 ? ingot_wire_load64(wire->at) : ingot_wire_load32(wire->at);
    wire->at += size;
    return INGOT_OK;
}

static ingot_status read_bytes(ingot_wire *wire, ingot_wire_field *field, ingot_error *error)
{
    size_t offset = ingot_wire_offset(wire);
    uint64_t size;
    INGOT_TRY(ingot_wire_varint(wire, &size, error));
    if (size > (uint64_t)(wire->end - wire->at))
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "byte %zu: field %u says that it has %llu bytes, but its message ends after %zu; the file is "
                          "cut off or damaged",
                          offset, (unsigned)field->number, (unsigned long long)size, (size_t)(wire->end - wire->at));
    field->bytes = (ingot_span){wire->at, (size_t)size};
    wire->at += size;
    return INGOT_OK;
}

/* Reads what follows the tag of a field that is no group. */
static ingot_status read_content(ingot_wire *wire, ingot_wire_field *field, ingot_error *error)
{
    switch (field->type) {
    case INGOT_WIRE_VARINT:
        return ingot_wire_varint(wire, &field->integer, error);
    case INGOT_WIRE_FIXED64:
        return read_fixed(wire, field, 8, error);
    case INGOT_WIRE_FIXED32:
        return read_fixed(wire, field, 4, error);
    case INGOT_WIRE_LENGTH:
        return read_bytes(wire, field, error);
    default:
        return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: field %u has wire type %d, which does not exist",
                          ingot_wire_offset(wire), (unsigned)field->number, (int)field->type);
    }
}

/* Skips the content of the group number and its end tag. */
static ingot_status skip_group(ingot_wire *wire, uint32_t number, ingot_error *error)
{
    size_t offset = ingot_wire_offset(wire);
    uint32_t open[INGOT_WIRE_MAX_GROUPS];
    int depth = 0;
    open[depth++] = number;
    while (depth > 0) {
        if (ingot_wire_done(wire))
            return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: group %u is never closed", offset,
                              (unsigned)open[depth - 1]);
        ingot_wire_field field;
        INGOT_TRY(read_tag(wire, &field, error));
        if (field.type == INGOT_WIRE_GROUP_END) {
            if (field.number != open[--depth])
                return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: group %u is closed as group %u",
                                  ingot_wire_offset(wire), (unsigned)open[depth], (unsigned)field.number);
        } else if (field.type == INGOT_WIRE_GROUP) {
            if (depth == INGOT_WIRE_MAX_GROUPS)
                return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: groups nest deeper than %d",
                                  ingot_wire_offset(wire), INGOT_WIRE_MAX_GROUPS);
            open[depth++] = field.number;
        } else {
            INGOT_TRY(read_content(wire, &field, error));
        }
    }
    return INGOT_OK;
}

ingot_status ingot_wire_next(ingot_wire *wire, ingot_wire_field *field, ingot_error *error)
{
    INGOT_TRY(read_tag(wire, field, error));
    if (field->type == INGOT_WIRE_GROUP)
        return skip_group(wire, field->number, error);
    if (field->type == INGOT_WIRE_GROUP_END)
        return ingot_fail(error, INGOT_INVALID_MODEL, "byte %zu: group %u is closed but was never opened",
                          ingot_wire_offset(wire), (unsigned)field->number);
    return read_content(wire, field, error);
}
