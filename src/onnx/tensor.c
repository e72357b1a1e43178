#include "onnx/tensor.h"

#include <stdio.h>
#include <string.h>

/* The typed fields of a TensorProto. */
typedef enum data_field {
    NO_DATA,
    FLOAT_DATA,
    INT32_DATA,
    INT64_DATA,
    DOUBLE_DATA,
    UINT64_DATA,
    STRING_DATA,
    DATA_FIELDS,
} data_field;

static const char *const field_names[DATA_FIELDS] = {
    "no field", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data",
};

/* Which field holds which element type, by the comments in onnx.proto. */
static const data_field field_of_element[INGOT_ELEMENT_COUNT] = {
    [INGOT_FLOAT] = FLOAT_DATA,       [INGOT_COMPLEX64] = FLOAT_DATA,      [INGOT_DOUBLE] = DOUBLE_DATA,
    [INGOT_COMPLEX128] = DOUBLE_DATA, [INGOT_INT64] = INT64_DATA,          [INGOT_UINT32] = UINT64_DATA,
    [INGOT_UINT64] = UINT64_DATA,     [INGOT_STRING] = STRING_DATA,        [INGOT_INT32] = INT32_DATA,
    [INGOT_UINT8] = INT32_DATA,       [INGOT_INT8] = INT32_DATA,           [INGOT_UINT16] = INT32_DATA,
    [INGOT_INT16] = INT32_DATA,       [INGOT_BOOL] = INT32_DATA,           [INGOT_FLOAT16] = INT32_DATA,
    [INGOT_BFLOAT16] = INT32_DATA,    [INGOT_FLOAT8E4M3FN] = INT32_DATA,   [INGOT_FLOAT8E4M3FNUZ] = INT32_DATA,
    [INGOT_FLOAT8E5M2] = INT32_DATA,  [INGOT_FLOAT8E5M2FNUZ] = INT32_DATA, [INGOT_UINT4] = INT32_DATA,
    [INGOT_INT4] = INT32_DATA,        [INGOT_FLOAT4E2M1] = INT32_DATA,     [INGOT_FLOAT8E8M0] = INT32_DATA,
    [INGOT_UINT2] = INT32_DATA,       [INGOT_INT2] = INT32_DATA,
};

/* Shape and size of the tensor that is being read. */
typedef struct shape {
    ingot_element element;
    int rank;
    int64_t dims[INGOT_MAX_RANK];
    size_t count, bytes;
} shape;

ingot_status ingot_element_from_number(int64_t number, ingot_element *element, ingot_error *error)
{
    if (number == INGOT_UNDEFINED)
        return ingot_fail(error, INGOT_INVALID_MODEL, "the element type is missing (0, undefined)");
    if (number < 0 || number >= INGOT_ELEMENT_COUNT)
        return ingot_fail(error, INGOT_UNSUPPORTED, "element type %lld is not known (1 to %d are)", (long long)number,
                          INGOT_ELEMENT_COUNT - 1);
    *element = (ingot_element)number;
    return INGOT_OK;
}

ingot_status ingot_dims_read(const ingot_proto_numbers *numbers, int *rank, int64_t *dims, ingot_error *error)
{
    if (numbers->count > INGOT_MAX_RANK)
        return ingot_fail(error, INGOT_UNSUPPORTED, "the tensor has %zu dimensions; at most %d are supported",
                          numbers->count, INGOT_MAX_RANK);
    INGOT_TRY(ingot_proto_get_integers(numbers, sizeof *dims, dims, error));
    *rank = (int)numbers->count;
    for (int i = 0; i < *rank; i++)
        if (dims[i] < 0)
            return ingot_fail(error, INGOT_INVALID_MODEL, "dimension %d is %lld; it must not be negative", i,
                              (long long)dims[i]);
    return INGOT_OK;
}

static ingot_status read_shape(const ingot_tensor_proto *proto, shape *s, ingot_error *error)
{
    char text[256];
    INGOT_TRY(ingot_element_from_number(proto->data_type, &s->element, error));
    INGOT_TRY(ingot_dims_read(&proto->dims, &s->rank, s->dims, error));
    if (!ingot_count_elements(s->rank, s->dims, &s->count) ||
        !ingot_tensor_bytes(s->element, s->rank, s->dims, &s->bytes))
        return ingot_fail(error, INGOT_INVALID_MODEL, "the shape %s is too large",
                          ingot_dims_describe(s->rank, s->dims, text, sizeof text));
    return INGOT_OK;
}

static size_t given(const ingot_tensor_proto *proto, data_field field)
{
    const size_t counts[DATA_FIELDS] = {
        [FLOAT_DATA] = proto->float_data.count,   [INT32_DATA] = proto->int32_data.count,
        [INT64_DATA] = proto->int64_data.count,   [DOUBLE_DATA] = proto->double_data.count,
        [UINT64_DATA] = proto->uint64_data.count, [STRING_DATA] = proto->string_data.count,
    };
    return counts[field];
}

/* Refuses typed data in a field that is not allowed. */
static ingot_status allow_only(const ingot_tensor_proto *proto, data_field allowed, const char *reason,
                               ingot_error *error)
{
    for (int field = NO_DATA; field < DATA_FIELDS; field++)
        if (field != (int)allowed && given(proto, (data_field)field) > 0)
            return ingot_fail(error, INGOT_INVALID_MODEL, "data in %s, but %s", field_names[field], reason);
    return INGOT_OK;
}

static ingot_status fail_size(const shape *s, const char *where, size_t found, size_t expected, const char *unit,
                              ingot_error *error)
{
    char text[256];
    return ingot_fail(error, INGOT_INVALID_MODEL, "%s has %zu %s, but the shape %s of %s needs %zu", where, found, unit,
                      ingot_dims_describe(s->rank, s->dims, text, sizeof text), ingot_element_name(s->element),
                      expected);
}

static ingot_status allocate(const shape *s, const ingot_tensor_source *source, ingot_value *value, ingot_error *error)
{
    INGOT_TRY(ingot_budget_take(source->budget, s->bytes, "a constant", error));
    return ingot_value_set_tensor(value, s->element, s->rank, s->dims, error);
}

/* ---- Bytes as they lie ---- */

/* Every byte but 0 means true to some writers; kernels read 0 and 1 only. */
static bool has_odd_bools(const shape *s, const char *data)
{
    if (s->element != INGOT_BOOL)
        return false;
    uint8_t bits = 0;
    for (size_t i = 0; i < s->bytes; i++)
        bits |= (uint8_t)data[i];
    return bits > 1;
}

static void make_bools(ingot_value *value, size_t count)
{
    uint8_t *bools = value->data;
    for (size_t i = 0; i < count; i++)
        bools[i] = bools[i] != 0;
}

static ingot_status use_bytes(const shape *s, const ingot_tensor_source *source, ingot_span bytes, const char *where,
                              ingot_value *value, ingot_error *error)
{
    if (s->element == INGOT_STRING)
        return ingot_fail(error, INGOT_INVALID_MODEL, "strings in %s; they must be in string_data", where);
    if (bytes.size != s->bytes)
        return fail_size(s, where, bytes.size, s->bytes, "bytes", error);
    bool aligned = (uintptr_t)bytes.data % ingot_element_alignment(s->element) == 0;
    if ((aligned || bytes.size >= INGOT_UNALIGNED_BYTES) && !has_odd_bools(s, bytes.data)) {
        /* A view of capacity 0 is never written, so that the const may be taken away. */
        ingot_value_set_view(value, s->element, s->rank, s->dims, (void *)(uintptr_t)bytes.data, 0);
        return INGOT_OK;
    }
    INGOT_TRY(allocate(s, source, value, error));
    if (bytes.size > 0)
        memcpy(value->data, bytes.data, bytes.size);
    if (s->element == INGOT_BOOL)
        make_bools(value, s->count);
    return INGOT_OK;
}

static ingot_status use_external(const ingot_tensor_proto *proto, const shape *s, const ingot_tensor_source *source,
                                 ingot_value *value, ingot_error *error)
{
    ingot_external_place place;
    INGOT_TRY(allow_only(proto, NO_DATA, "data_location says that it is in another file", error));
    INGOT_TRY(ingot_external_place_read(&proto->external_data, &place, error));
    if (source->files == NULL)
        return ingot_fail(error, INGOT_UNSUPPORTED, "the data is in another file, '%.*s', which is not allowed here",
                          INGOT_SPAN_ARG(place.location));
    ingot_span bytes;
    INGOT_TRY(ingot_model_files_get(source->files, &place, s->bytes, &bytes, error));
    if (use_bytes(s, source, bytes, "external data", value, error) != INGOT_OK)
        return ingot_fail_at(error, "'%.*s'", INGOT_SPAN_ARG(place.location));
    return INGOT_OK;
}

/* ---- Typed fields ---- */

static ingot_status use_strings(const ingot_tensor_proto *proto, const shape *s, const ingot_tensor_source *source,
                                ingot_value *value, ingot_error *error)
{
    const ingot_span *strings = proto->string_data.items;
    size_t heap = 0;
    for (size_t i = 0; i < s->count; i++)
        heap += strings[i].size; /* at most the size of the file */
    INGOT_TRY(ingot_budget_take(source->budget, heap, "the strings of a constant", error));
    INGOT_TRY(allocate(s, source, value, error));
    for (size_t i = 0; i < s->count; i++)
        INGOT_TRY(ingot_value_set_string(value, i, strings[i].data, strings[i].size, error));
    return INGOT_OK;
}

/* How many numbers the typed field must hold. */
static size_t numbers_needed(const shape *s)
{
    size_t bits = ingot_element_bits(s->element);
    if (bits < 8)
        return s->bytes;
    return s->element == INGOT_COMPLEX64 || s->element == INGOT_COMPLEX128 ? 2 * s->count : s->count;
}

static ingot_status use_field(const ingot_tensor_proto *proto, const shape *s, const ingot_tensor_source *source,
                              ingot_value *value, ingot_error *error)
{
    data_field field = field_of_element[s->element];
    char reason[96];
    snprintf(reason, sizeof reason, "%s belongs in %s", ingot_element_name(s->element), field_names[field]);
    INGOT_TRY(allow_only(proto, field, reason, error));
    if (given(proto, field) == 0 && s->count > 0)
        return fail_size(s, "the tensor", 0, numbers_needed(s), "elements", error);
    if (given(proto, field) != numbers_needed(s))
        return fail_size(s, field_names[field], given(proto, field), numbers_needed(s), "elements", error);
    if (field == STRING_DATA)
        return use_strings(proto, s, source, value, error);
    INGOT_TRY(allocate(s, source, value, error));
    if (s->count == 0)
        return INGOT_OK;
    if (field == FLOAT_DATA)
        return ingot_proto_get_floats(&proto->float_data, value->data, error);
    if (field == DOUBLE_DATA)
        return ingot_proto_get_doubles(&proto->double_data, value->data, error);
    const ingot_proto_numbers *numbers = field == INT32_DATA   ? &proto->int32_data
                                         : field == INT64_DATA ? &proto->int64_data
                                                               : &proto->uint64_data;
    size_t width = ingot_element_size(s->element);
    INGOT_TRY(ingot_proto_get_integers(numbers, width > 0 ? width : 1, value->data, error));
    if (s->element == INGOT_BOOL)
        make_bools(value, s->count);
    return INGOT_OK;
}

static ingot_status read_tensor(const ingot_tensor_proto *proto, const ingot_tensor_source *source, ingot_value *value,
                                ingot_error *error)
{
    shape s = {0};
    INGOT_TRY(read_shape(proto, &s, error));
    if (proto->segment.data != NULL)
        return ingot_fail(error, INGOT_UNSUPPORTED, "the tensor is stored in segments, which is not supported");
    if (proto->data_location == 1)
        return use_external(proto, &s, source, value, error);
    if (proto->data_location != 0)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "data_location is %lld; 0 (here) and 1 (another file) are allowed",
                          (long long)proto->data_location);
    if (proto->raw_data.data == NULL)
        return use_field(proto, &s, source, value, error);
    INGOT_TRY(allow_only(proto, NO_DATA, "there is raw_data, too", error));
    return use_bytes(&s, source, proto->raw_data, "raw_data", value, error);
}

ingot_status ingot_tensor_read(const ingot_tensor_proto *proto, const ingot_tensor_source *source, ingot_value *value,
                               ingot_error *error)
{
    ingot_error unread = {0};
    if (error == NULL)
        error = &unread;
    if (read_tensor(proto, source, value, error) == INGOT_OK)
        return INGOT_OK;
    if (proto->name.size > 0)
        return ingot_fail_at(error, "tensor '%.*s'", INGOT_SPAN_ARG(proto->name));
    return error->status;
}
