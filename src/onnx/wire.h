/* The protobuf wire format over bytes in memory: every read is checked against the end, nothing is copied. */
#ifndef INGOT_ONNX_WIRE_H
#define INGOT_ONNX_WIRE_H

#include "base/status.h"

/* Weights are used where they lie in the file, which is little-endian. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Ingot runs on little-endian machines only"
#endif

/* Bytes or text that somebody else owns, without a NUL at the end. */
typedef struct ingot_span {
    const char *data;
    size_t size;
} ingot_span;

typedef enum ingot_wire_type {
    INGOT_WIRE_VARINT = 0,
    INGOT_WIRE_FIXED64 = 1,
    INGOT_WIRE_LENGTH = 2, /* a length and so many bytes: text, a message, packed numbers */
    INGOT_WIRE_GROUP = 3,
    INGOT_WIRE_GROUP_END = 4,
    INGOT_WIRE_FIXED32 = 5,
} ingot_wire_type;

/* Groups inside groups, of unknown fields alone, before a file is refused. */
#define INGOT_WIRE_MAX_GROUPS 64

/* A place in a message that ends at end. Offsets in messages count from begin, the first byte of the file. */
typedef struct ingot_wire {
    const char *begin, *at, *end;
} ingot_wire;

/* One field: its number, and its value as the wire type says. */
typedef struct ingot_wire_field {
    uint32_t number;
    ingot_wire_type type;
    uint64_t integer; /* varint, fixed64 and fixed32: the bits */
    ingot_span bytes; /* length: the content, inside the message; else empty */
} ingot_wire_field;

ingot_wire ingot_wire_of(const void *data, size_t size);
/* A reader of the content of a field of the same file. */
ingot_wire ingot_wire_inside(const ingot_wire *outer, ingot_span bytes);

static inline bool ingot_wire_done(const ingot_wire *wire)
{
    return wire->at == wire->end;
}

/* Offset of the next byte in the file. */
static inline size_t ingot_wire_offset(const ingot_wire *wire)
{
    return (size_t)(wire->at - wire->begin);
}

/* Each fails with INGOT_INVALID_MODEL and the offset, and then leaves wire where it was or past the fault. */
ingot_status ingot_wire_varint(ingot_wire *wire, uint64_t *value, ingot_error *error);
/* The next field, at least one byte being left. A group is skipped with its content: its field has no value. */
ingot_status ingot_wire_next(ingot_wire *wire, ingot_wire_field *field, ingot_error *error);

/* Little-endian numbers at any address, on any machine. */
uint32_t ingot_wire_load32(const char *at);
uint64_t ingot_wire_load64(const char *at);

#endif
