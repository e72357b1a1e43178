/* How the tables of proto_table.c describe a message to the reader in proto.c. */
#ifndef INGOT_ONNX_PROTO_TABLE_H
#define INGOT_ONNX_PROTO_TABLE_H

#include "onnx/proto.h"

typedef enum ingot_proto_kind {
    INGOT_PROTO_INTEGER,  /* int64_t, from a varint */
    INGOT_PROTO_FLOAT,    /* float */
    INGOT_PROTO_TEXT,     /* ingot_span */
    INGOT_PROTO_MESSAGE,  /* pointer to a struct of field->message */
    INGOT_PROTO_TEXTS,    /* ingot_proto_list of ingot_span */
    INGOT_PROTO_MESSAGES, /* ingot_proto_list of structs of field->message */
    INGOT_PROTO_INTEGERS, /* ingot_proto_numbers: varints */
    INGOT_PROTO_FLOATS,   /* ingot_proto_numbers: 4 bytes each */
    INGOT_PROTO_DOUBLES,  /* ingot_proto_numbers: 8 bytes each */
} ingot_proto_kind;

typedef struct ingot_proto_field {
    uint32_t number;
    ingot_proto_kind kind;
    size_t offset; /* of the member in the struct */
    const char *name;
    const ingot_proto_message *message;
} ingot_proto_field;

#define INGOT_PROTO_MAX_FIELDS 32 /* bits of seen */

struct ingot_proto_message {
    const char *name;
    size_t size;     /* bytes of the struct, whose first member is uint32_t seen */
    size_t min_size; /* bytes of the shortest valid message: keeps memory in proportion to the file */
    const ingot_proto_field *fields;
    size_t field_count;
};

extern const ingot_proto_message ingot_proto_graph;

#endif
