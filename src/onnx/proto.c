#include "onnx/proto.h"

#include <string.h>

#include "onnx/proto_table.h"

/* A message that is being read; the frames form a stack instead of C calls. */
typedef struct frame {
    const ingot_proto_message *message;
    char *target; /* the struct it is read into */
    ingot_wire wire;
} frame;

typedef struct reader {
    ingot_arena *arena;
    ingot_budget *budget;
    ingot_error *error;
    frame frames[INGOT_PROTO_MAX_DEPTH];
    int depth, graph_depth;
} reader;

bool ingot_span_is(ingot_span text, const char *name)
{
    return text.size == strlen(name) && (text.size == 0 || memcmp(text.data, name, text.size) == 0);
}

bool ingot_span_equal(ingot_span a, ingot_span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static const ingot_proto_field *find_field(const ingot_proto_message *message, uint32_t number)
{
    for (size_t i = 0; i < message->field_count; i++)
        if (message->fields[i].number == number)
            return &message->fields[i];
    return NULL;
}

/* The wire type of one value of each kind; repeated numbers may also be packed into a length. */
static ingot_wire_type wire_type_of(ingot_proto_kind kind)
{
    static const ingot_wire_type types[] = {
        [INGOT_PROTO_INTEGER] = INGOT_WIRE_VARINT,  [INGOT_PROTO_FLOAT] = INGOT_WIRE_FIXED32,
        [INGOT_PROTO_TEXT] = INGOT_WIRE_LENGTH,     [INGOT_PROTO_MESSAGE] = INGOT_WIRE_LENGTH,
        [INGOT_PROTO_TEXTS] = INGOT_WIRE_LENGTH,    [INGOT_PROTO_MESSAGES] = INGOT_WIRE_LENGTH,
        [INGOT_PROTO_INTEGERS] = INGOT_WIRE_VARINT, [INGOT_PROTO_FLOATS] = INGOT_WIRE_FIXED32,
        [INGOT_PROTO_DOUBLES] = INGOT_WIRE_FIXED64,
    };
    return types[kind];
}

static bool is_numbers(ingot_proto_kind kind)
{
    return kind >= INGOT_PROTO_INTEGERS;
}

static ingot_status check_wire_type(const reader *r, const frame *f, const ingot_proto_field *field,
                                    const ingot_wire_field *value)
{
    ingot_wire_type expected = wire_type_of(field->kind);
    if (value->type == expected || (is_numbers(field->kind) && value->type == INGOT_WIRE_LENGTH))
        return INGOT_OK;
    return ingot_fail(r->error, INGOT_INVALID_MODEL,
                      "field %s of %s, which ends at byte %zu, has wire type %d where the standard has %d", field->name,
                      f->message->name, ingot_wire_offset(&f->wire), (int)value->type, (int)expected);
}

/* Numbers in one occurrence of a repeated number field. */
static ingot_status count_numbers(const reader *r, const ingot_wire *wire, ingot_proto_kind kind,
                                  const ingot_wire_field *value, size_t *count)
{
    *count = 1;
    if (value->type != INGOT_WIRE_LENGTH)
        return INGOT_OK;
    ingot_wire packed = ingot_wire_inside(wire, value->bytes);
    size_t size = kind == INGOT_PROTO_FLOATS ? 4 : 8;
    if (kind != INGOT_PROTO_INTEGERS) {
        *count = value->bytes.size / size;
        if (value->bytes.size % size == 0)
            return INGOT_OK;
        return ingot_fail(r->error, INGOT_INVALID_MODEL,
                          "byte %zu: packed numbers of %zu bytes each have %zu bytes, which is no multiple",
                          ingot_wire_offset(&packed), size, value->bytes.size);
    }
    *count = 0;
    while (!ingot_wire_done(&packed)) {
        uint64_t unused;
        INGOT_TRY(ingot_wire_varint(&packed, &unused, r->error));
        ++*count;
    }
    return INGOT_OK;
}

static ingot_status allocate(const reader *r, size_t count, size_t size, void **memory)
{
    size_t bytes;
    if (!ingot_mul_size(count, size, &bytes))
        return ingot_fail_memory(r->error, SIZE_MAX, "the structure of the model");
    INGOT_TRY(ingot_budget_take(r->budget, bytes, "the structure of the model", r->error));
    *memory = ingot_arena_alloc(r->arena, bytes);
    return *memory != NULL ? INGOT_OK : ingot_fail_memory(r->error, bytes, "the structure of the model");
}

static size_t list_item_size(const ingot_proto_field *field)
{
    return field->kind == INGOT_PROTO_TEXTS ? sizeof(ingot_span) : field->message->size;
}

/* Goes over the fields of a message once, without entering them, and makes its lists as long as they must be. */
static ingot_status make_lists(const reader *r, const frame *f)
{
    const ingot_proto_message *message = f->message;
    size_t counts[INGOT_PROTO_MAX_FIELDS] = {0};
    ingot_wire wire = f->wire;
    while (!ingot_wire_done(&wire)) {
        ingot_wire_field value;
        INGOT_TRY(ingot_wire_next(&wire, &value, r->error));
        const ingot_proto_field *field = find_field(message, value.number);
        if (field != NULL)
            counts[field - message->fields]++;
        if (field != NULL && field->kind == INGOT_PROTO_MESSAGES && value.bytes.size < field->message->min_size)
            return ingot_fail(r->error, INGOT_INVALID_MODEL,
                              "byte %zu: a %s of %zu bytes is too short to be valid, at least %zu are needed",
                              ingot_wire_offset(&wire), field->message->name, value.bytes.size,
                              field->message->min_size);
    }
    for (size_t i = 0; i < message->field_count; i++) {
        const ingot_proto_field *field = &message->fields[i];
        if (counts[i] == 0 || (field->kind != INGOT_PROTO_TEXTS && field->kind != INGOT_PROTO_MESSAGES))
            continue;
        ingot_proto_list list = {0};
        INGOT_TRY(allocate(r, counts[i], list_item_size(field), &list.items));
        memcpy(f->target + field->offset, &list, sizeof list);
    }
    return INGOT_OK;
}

/* Starts to read a message into target, which holds zeros. */
static ingot_status push(reader *r, const ingot_proto_message *message, ingot_wire wire, char *target)
{
    bool graph = message == &ingot_proto_graph;
    if (graph && r->graph_depth == INGOT_PROTO_MAX_GRAPHS)
        return ingot_fail(r->error, INGOT_INVALID_MODEL,
                          "byte %zu: graphs nest deeper than %d levels, the most that is accepted",
                          ingot_wire_offset(&wire), INGOT_PROTO_MAX_GRAPHS);
    if (r->depth == INGOT_PROTO_MAX_DEPTH)
        return ingot_fail(r->error, INGOT_INVALID_MODEL,
                          "byte %zu: messages nest deeper than %d levels, the most that is accepted",
                          ingot_wire_offset(&wire), INGOT_PROTO_MAX_DEPTH);
    frame *f = &r->frames[r->depth++];
    *f = (frame){.message = message, .target = target, .wire = wire};
    r->graph_depth += graph;
    if (make_lists(r, f) != INGOT_OK)
        return ingot_fail_at(r->error, "in %s", message->name);
    return INGOT_OK;
}

static void pop(reader *r)
{
    r->graph_depth -= r->frames[--r->depth].message == &ingot_proto_graph;
}

static ingot_status read_message(reader *r, const frame *f, const ingot_proto_field *field, ingot_span bytes)
{
    void *child = NULL;
    memcpy(&child, f->target + field->offset, sizeof child);
    if (child != NULL)
        return ingot_fail(r->error, INGOT_INVALID_MODEL, "byte %zu: %s.%s is given twice", ingot_wire_offset(&f->wire),
                          f->message->name, field->name);
    INGOT_TRY(allocate(r, 1, field->message->size, &child));
    memcpy(f->target + field->offset, &child, sizeof child);
    return push(r, field->message, ingot_wire_inside(&f->wire, bytes), child);
}

static ingot_status read_list_item(reader *r, const frame *f, const ingot_proto_field *field, ingot_span bytes)
{
    ingot_proto_list list;
    memcpy(&list, f->target + field->offset, sizeof list);
    char *item = (char *)list.items + list.count * list_item_size(field);
    list.count++;
    memcpy(f->target + field->offset, &list, sizeof list);
    if (field->kind == INGOT_PROTO_MESSAGES)
        return push(r, field->message, ingot_wire_inside(&f->wire, bytes), item);
    memcpy(item, &bytes, sizeof bytes);
    return INGOT_OK;
}

static ingot_status read_numbers(const reader *r, const frame *f, const ingot_proto_field *field,
                                 const ingot_wire_field *value, const char *start)
{
    ingot_proto_numbers numbers;
    memcpy(&numbers, f->target + field->offset, sizeof numbers);
    size_t count;
    INGOT_TRY(count_numbers(r, &f->wire, field->kind, value, &count));
    if (numbers.region.data == NULL)
        numbers.region.data = start;
    numbers.region.size = (size_t)(f->wire.at - numbers.region.data);
    numbers.field = field->number;
    numbers.count += count;
    memcpy(f->target + field->offset, &numbers, sizeof numbers);
    return INGOT_OK;
}

/* Stores one field, whose tag began at start; a message in it is pushed, to be read next. */
static ingot_status read_field(reader *r, const frame *f, const ingot_proto_field *field, const ingot_wire_field *value,
                               const char *start)
{
    INGOT_TRY(check_wire_type(r, f, field, value));
    uint32_t seen;
    memcpy(&seen, f->target, sizeof seen);
    seen |= 1u << (field - f->message->fields);
    memcpy(f->target, &seen, sizeof seen);
    char *member = f->target + field->offset;
    uint32_t low_bits = (uint32_t)value->integer;
    switch (field->kind) {
    case INGOT_PROTO_INTEGER:
        memcpy(member, &value->integer, sizeof value->integer);
        return INGOT_OK;
    case INGOT_PROTO_FLOAT:
        memcpy(member, &low_bits, sizeof low_bits);
        return INGOT_OK;
    case INGOT_PROTO_TEXT:
        memcpy(member, &value->bytes, sizeof value->bytes);
        return INGOT_OK;
    case INGOT_PROTO_MESSAGE:
        return read_message(r, f, field, value->bytes);
    case INGOT_PROTO_TEXTS:
    case INGOT_PROTO_MESSAGES:
        return read_list_item(r, f, field, value->bytes);
    default:
        return read_numbers(r, f, field, value, start);
    }
}

static ingot_status read_frames(reader *r)
{
    while (r->depth > 0) {
        frame *f = &r->frames[r->depth - 1];
        if (ingot_wire_done(&f->wire)) {
            pop(r);
            continue;
        }
        const char *start = f->wire.at;
        ingot_wire_field value;
        INGOT_TRY(ingot_wire_next(&f->wire, &value, r->error));
        const ingot_proto_field *field = find_field(f->message, value.number);
        if (field != NULL && read_field(r, f, field, &value, start) != INGOT_OK)
            return ingot_fail_at(r->error, "in %s.%s", f->message->name, field->name);
    }
    return INGOT_OK;
}

ingot_status ingot_proto_read(const ingot_proto_message *message, ingot_span data, ingot_arena *arena,
                              ingot_budget *budget, void *result, ingot_error *error)
{
    ingot_error unread = {0};
    reader r = {.arena = arena, .budget = budget, .error = error != NULL ? error : &unread};
    INGOT_TRY(push(&r, message, ingot_wire_of(data.data, data.size), result));
    return read_frames(&r);
}

/* ---- Repeated numbers ---- */

/* Stores the bits of one number. */
typedef void (*number_sink)(void *values, size_t index, uint64_t bits);

static void store8(void *values, size_t index, uint64_t bits)
{
    ((uint8_t *)values)[index] = (uint8_t)bits;
}

static void store16(void *values, size_t index, uint64_t bits)
{
    uint16_t low_bits = (uint16_t)bits;
    memcpy((char *)values + index * sizeof low_bits, &low_bits, sizeof low_bits);
}

static void store32(void *values, size_t index, uint64_t bits)
{
    uint32_t low_bits = (uint32_t)bits;
    memcpy((char *)values + index * sizeof low_bits, &low_bits, sizeof low_bits);
}

static void store64(void *values, size_t index, uint64_t bits)
{
    memcpy((char *)values + index * sizeof bits, &bits, sizeof bits);
}

static ingot_status unpack(const ingot_wire_field *field, ingot_wire_type type, number_sink sink, void *values,
                           size_t *index, ingot_error *error)
{
    ingot_wire packed = ingot_wire_of(field->bytes.data, field->bytes.size);
    while (!ingot_wire_done(&packed)) {
        uint64_t bits = 0;
        if (type == INGOT_WIRE_VARINT) {
            INGOT_TRY(ingot_wire_varint(&packed, &bits, error));
        } else {
            bits = type == INGOT_WIRE_FIXED32 ? ingot_wire_load32(packed.at) : ingot_wire_load64(packed.at);
            packed.at += type == INGOT_WIRE_FIXED32 ? 4 : 8;
        }
        sink(values, (*index)++, bits);
    }
    return INGOT_OK;
}

/* The region was checked when it was read; walking it again meets no fault unless the file has changed since. */
static ingot_status get_numbers(const ingot_proto_numbers *numbers, ingot_wire_type type, number_sink sink,
                                void *values, ingot_error *error)
{
    ingot_wire wire = ingot_wire_of(numbers->region.data, numbers->region.size);
    size_t index = 0;
    while (index < numbers->count) {
        ingot_wire_field field;
        INGOT_TRY(ingot_wire_next(&wire, &field, error));
        if (field.number != numbers->field)
            continue;
        if (field.type == INGOT_WIRE_LENGTH)
            INGOT_TRY(unpack(&field, type, sink, values, &index, error));
        else
            sink(values, index++, field.integer);
    }
    return INGOT_OK;
}

ingot_status ingot_proto_get_integers(const ingot_proto_numbers *numbers, size_t width, void *values,
                                      ingot_error *error)
{
    number_sink sink = width == 1 ? store8 : width == 2 ? store16 : width == 4 ? store32 : store64;
    return get_numbers(numbers, INGOT_WIRE_VARINT, sink, values, error);
}

ingot_status ingot_proto_get_floats(const ingot_proto_numbers *numbers, float *values, ingot_error *error)
{
    return get_numbers(numbers, INGOT_WIRE_FIXED32, store32, values, error);
}

ingot_status ingot_proto_get_doubles(const ingot_proto_numbers *numbers, double *values, ingot_error *error)
{
    return get_numbers(numbers, INGOT_WIRE_FIXED64, store64, values, error);
}
