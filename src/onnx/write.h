/* Writing the protobuf wire format, and values as ONNX messages. */
#ifndef INGOT_ONNX_WRITE_H
#define INGOT_ONNX_WRITE_H

#include "base/value.h"
#include "onnx/wire.h"

/* Bytes written so far. {0} is an empty writer; the first failure is kept and later calls do nothing. */
typedef struct ingot_writer {
    char *data; /* by ingot_malloc; whoever ends the writer takes or frees it */
    size_t size, capacity;
    ingot_status status;
    ingot_error *error; /* may be NULL */
} ingot_writer;

void ingot_write_integer(ingot_writer *writer, uint32_t field, int64_t value);
void ingot_write_bytes(ingot_writer *writer, uint32_t field, const void *data, size_t size);
/* Nothing where text is NULL. */
void ingot_write_text(ingot_writer *writer, uint32_t field, const char *text);

/* An embedded message: what is written between begin and end. begin returns a mark for end. */
size_t ingot_write_begin(ingot_writer *writer, uint32_t field);
void ingot_write_end(ingot_writer *writer, size_t mark);

/* The content of a TensorProto, SparseTensorProto, SequenceProto, MapProto or OptionalProto, as value's kind says.
 * name may be NULL. INGOT_INVALID_ARGUMENT for what ONNX has no message for. */
void ingot_write_value(ingot_writer *writer, const ingot_value *value, const char *name);

#endif
