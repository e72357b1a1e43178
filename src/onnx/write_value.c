/* Values as the messages of onnx.proto and onnx-data.proto; the numbers of fields are theirs. */
#include <string.h>

#include "base/number.h"
#include "onnx/proto.h"
#include "onnx/write.h"

/* Containers inside containers that are written. */
#define MAX_NESTING 16

static void fail(ingot_writer *writer, const char *what)
{
    if (writer->status == INGOT_OK)
        writer->status = ingot_fail(writer->error, INGOT_INVALID_ARGUMENT, "a value cannot be written: %s", what);
}

static void write_dims(ingot_writer *writer, uint32_t field, const ingot_value *value)
{
    for (int i = 0; i < value->rank; i++)
        ingot_write_integer(writer, field, value->dims[i]);
}

static size_t element_count(const ingot_value *value)
{
    size_t count = 0;
    ingot_count_elements(value->rank, value->dims, &count);
    return count;
}

static void write_tensor(ingot_writer *writer, const ingot_value *value, const char *name)
{
    size_t bytes = 0;
    write_dims(writer, 1, value);
    ingot_write_integer(writer, 2, value->element);
    ingot_write_text(writer, 8, name);
    if (value->element == INGOT_STRING) {
        const ingot_string *strings = value->data;
        for (size_t i = 0; i < element_count(value); i++)
            ingot_write_bytes(writer, 6, value->strings + strings[i].offset, strings[i].length);
        return;
    }
    if (!ingot_tensor_bytes(value->element, value->rank, value->dims, &bytes))
        fail(writer, "its shape is too large");
    else
        ingot_write_bytes(writer, 9, value->data, bytes);
}

static void write_tensor_field(ingot_writer *writer, uint32_t field, const ingot_value *value, const char *name)
{
    size_t mark = ingot_write_begin(writer, field);
    write_tensor(writer, value, name);
    ingot_write_end(writer, mark);
}

static void write_sparse(ingot_writer *writer, const ingot_value *value, const char *name)
{
    if (value->item_count != 2) {
        fail(writer, "a sparse tensor without values and indices");
        return;
    }
    write_tensor_field(writer, 1, value->items[0], name); /* a sparse tensor has the name of its values */
    write_tensor_field(writer, 2, value->items[1], NULL);
    write_dims(writer, 3, value);
}

/* Values [n] as a SequenceProto of n scalars. */
static void write_map_values(ingot_writer *writer, const ingot_value *values)
{
    ingot_write_integer(writer, 2, INGOT_PROTO_ITEM_TENSOR);
    for (size_t i = 0; i < element_count(values); i++) {
        size_t mark = ingot_write_begin(writer, 3);
        ingot_write_integer(writer, 2, values->element);
        if (values->element == INGOT_STRING) {
            const ingot_string *string = (const ingot_string *)values->data + i;
            ingot_write_bytes(writer, 6, values->strings + string->offset, string->length);
        } else {
            char element[16] = {0};
            size_t bits = ingot_element_bits(values->element);
            ingot_copy_elements(bits, element, 0, values->data, i, 1);
            ingot_write_bytes(writer, 9, element, (bits + 7) / 8);
        }
        ingot_write_end(writer, mark);
    }
}

static void write_map(ingot_writer *writer, const ingot_value *value, const char *name)
{
    if (value->item_count != 2) {
        fail(writer, "a map without keys and values");
        return;
    }
    const ingot_value *keys = value->items[0];
    const ingot_string *strings = keys->data;
    ingot_write_text(writer, 1, name);
    ingot_write_integer(writer, 2, keys->element);
    for (size_t i = 0; i < element_count(keys); i++) {
        if (keys->element == INGOT_STRING)
            ingot_write_bytes(writer, 4, keys->strings + strings[i].offset, strings[i].length);
        else
            ingot_write_integer(writer, 3, ingot_load_i64(keys->element, keys->data, i));
    }
    size_t mark = ingot_write_begin(writer, 5);
    write_map_values(writer, value->items[1]);
    ingot_write_end(writer, mark);
}

/* elem_type of a container for items of each kind; in SequenceProto and OptionalProto such an item lies in the field
 * elem_type + 2. */
static int item_type(ingot_kind kind)
{
    static const int types[] = {
        [INGOT_KIND_NONE] = INGOT_PROTO_ITEM_UNDEFINED,    [INGOT_KIND_TENSOR] = INGOT_PROTO_ITEM_TENSOR,
        [INGOT_KIND_SEQUENCE] = INGOT_PROTO_ITEM_SEQUENCE, [INGOT_KIND_MAP] = INGOT_PROTO_ITEM_MAP,
        [INGOT_KIND_OPTIONAL] = INGOT_PROTO_ITEM_OPTIONAL, [INGOT_KIND_SPARSE] = INGOT_PROTO_ITEM_SPARSE,
    };
    return types[kind];
}

static void write_value(ingot_writer *writer, const ingot_value *value, const char *name, int depth);

/* A sequence or optional; an empty one is said to be of tensors, as no item tells. */
static void write_items(ingot_writer *writer, const ingot_value *value, const char *name, int depth)
{
    int type = value->item_count > 0                ? item_type(value->items[0]->kind)
               : value->kind == INGOT_KIND_SEQUENCE ? INGOT_PROTO_ITEM_TENSOR
                                                    : INGOT_PROTO_ITEM_UNDEFINED;
    ingot_write_text(writer, 1, name);
    ingot_write_integer(writer, 2, type);
    for (size_t i = 0; i < value->item_count; i++) {
        if (item_type(value->items[i]->kind) != type) {
            fail(writer, "its items are of different kinds");
            return;
        }
        size_t mark = ingot_write_begin(writer, (uint32_t)type + 2);
        write_value(writer, value->items[i], NULL, depth + 1);
        ingot_write_end(writer, mark);
    }
}

static void write_value(ingot_writer *writer, const ingot_value *value, const char *name, int depth)
{
    if (depth == MAX_NESTING) {
        fail(writer, "its containers nest too deep");
        return;
    }
    switch (value->kind) {
    case INGOT_KIND_TENSOR:
        write_tensor(writer, value, name);
        break;
    case INGOT_KIND_SPARSE:
        write_sparse(writer, value, name);
        break;
    case INGOT_KIND_MAP:
        write_map(writer, value, name);
        break;
    case INGOT_KIND_SEQUENCE:
    case INGOT_KIND_OPTIONAL:
        write_items(writer, value, name, depth);
        break;
    default:
        fail(writer, "it is of no kind that ONNX has a message for");
    }
}

void ingot_write_value(ingot_writer *writer, const ingot_value *value, const char *name)
{
    write_value(writer, value, name, 0);
}
