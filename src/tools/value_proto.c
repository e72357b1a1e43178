/* Values from and to serialized ONNX. */
#include "ingot/tools.h"

#include "base/number.h"
#include "onnx/tensor.h"
#include "onnx/write.h"

/* Containers inside containers that are read. */
#define MAX_NESTING 16

typedef struct loader {
    ingot_tensor_source source; /* without files: data elsewhere is refused */
    ingot_error *error;
    int depth;
} loader;

/* Reads a tensor so that it does not point into the message. */
static ingot_status load_tensor(loader *l, const ingot_tensor_proto *proto, ingot_value *value)
{
    ingot_value borrowed;
    ingot_value_init(&borrowed);
    ingot_status status = ingot_tensor_read(proto, &l->source, &borrowed, l->error);
    if (status == INGOT_OK)
        status = ingot_value_copy(value, &borrowed, l->error);
    ingot_value_clear(&borrowed);
    return status;
}

static ingot_status load_sparse(loader *l, const ingot_sparse_proto *proto, ingot_value *value)
{
    ingot_value values, indices;
    ingot_value *item;
    int rank;
    int64_t dims[INGOT_MAX_RANK];
    ingot_value_init(&values);
    ingot_value_init(&indices);
    ingot_status status = ingot_tensor_read_sparse_parts(proto, &l->source, &values, &indices, &rank, dims, l->error);
    if (status == INGOT_OK)
        status = ingot_value_set_list(value, INGOT_KIND_SPARSE, values.element, l->error);
    const ingot_value *parts[] = {&values, &indices};
    for (size_t i = 0; i < 2 && status == INGOT_OK; i++) {
        status = ingot_value_add_item(value, &item, l->error);
        if (status == INGOT_OK)
            status = ingot_value_copy(item, parts[i], l->error);
    }
    if (status == INGOT_OK) {
        value->rank = rank;
        for (int i = 0; i < rank; i++)
            value->dims[i] = dims[i];
    }
    ingot_value_clear(&values);
    ingot_value_clear(&indices);
    return status;
}

static ingot_status load_keys(loader *l, const ingot_map_proto *proto, ingot_element element, ingot_value *keys)
{
    const ingot_span *strings = proto->string_keys.items;
    bool text = element == INGOT_STRING;
    int64_t count = (int64_t)(text ? proto->string_keys.count : proto->keys.count);
    INGOT_TRY(ingot_value_set_tensor(keys, element, 1, &count, l->error));
    if (!text)
        return ingot_proto_get_integers(&proto->keys, ingot_element_size(element), keys->data, l->error);
    for (size_t i = 0; i < (size_t)count; i++)
        INGOT_TRY(ingot_value_set_string(keys, i, strings[i].data, strings[i].size, l->error));
    return INGOT_OK;
}

/* Puts the single element of a tensor at a place of values, which gets its type from the first. */
static ingot_status load_map_value(loader *l, const ingot_tensor_proto *proto, size_t index, size_t count,
                                   ingot_value *values)
{
    ingot_value one;
    ingot_value_init(&one);
    int64_t length = (int64_t)count;
    ingot_status status = ingot_tensor_read(proto, &l->source, &one, l->error);
    if (status == INGOT_OK && index == 0)
        status = ingot_value_set_tensor(values, one.element, 1, &length, l->error);
    if (status == INGOT_OK && (ingot_value_count(&one) != 1 || one.element != values->element))
        status = ingot_fail(l->error, INGOT_UNSUPPORTED,
                            "value number %zu of a map is no single %s; maps hold numbers or strings of one type",
                            index, ingot_element_name(values->element));
    if (status == INGOT_OK && one.element == INGOT_STRING) {
        const ingot_string *string = one.data;
        status = ingot_value_set_string(values, index, one.strings + string->offset, string->length, l->error);
    } else if (status == INGOT_OK) {
        ingot_copy_elements(ingot_element_bits(one.element), values->data, index, one.data, 0, 1);
    }
    ingot_value_clear(&one);
    return status;
}

static ingot_status load_map(loader *l, const ingot_map_proto *proto, ingot_value *value)
{
    ingot_element key_type;
    ingot_value *keys, *values;
    int64_t none = 0;
    INGOT_TRY(ingot_element_from_number(proto->key_type, &key_type, l->error));
    if (key_type != INGOT_STRING && !ingot_element_is_integer(key_type))
        return ingot_fail(l->error, INGOT_INVALID_MODEL, "a map has keys of type %s; integers or strings are allowed",
                          ingot_element_name(key_type));
    size_t count = proto->values != NULL ? proto->values->tensors.count : 0;
    if (ingot_element_size(key_type) == 0 ||
        count != (key_type == INGOT_STRING ? proto->string_keys.count : proto->keys.count))
        return ingot_fail(l->error, INGOT_INVALID_MODEL, "a map has not as many tensors as keys of type %s",
                          ingot_element_name(key_type));
    INGOT_TRY(ingot_value_set_list(value, INGOT_KIND_MAP, key_type, l->error));
    INGOT_TRY(ingot_value_add_item(value, &keys, l->error));
    INGOT_TRY(load_keys(l, proto, key_type, keys));
    INGOT_TRY(ingot_value_add_item(value, &values, l->error));
    INGOT_TRY(ingot_value_set_tensor(values, INGOT_FLOAT, 1, &none, l->error));
    const ingot_tensor_proto *tensors = count > 0 ? proto->values->tensors.items : NULL;
    for (size_t i = 0; i < count; i++)
        INGOT_TRY(load_map_value(l, &tensors[i], i, count, values));
    return INGOT_OK;
}

static ingot_status load_sequence(loader *l, const ingot_sequence_proto *proto, ingot_value *value);
static ingot_status load_optional(loader *l, const ingot_optional_proto *proto, ingot_value *value);

static ingot_status load_item(loader *l, int64_t type, const void *proto, ingot_value *list)
{
    ingot_value *item;
    INGOT_TRY(ingot_value_add_item(list, &item, l->error));
    ingot_status status = INGOT_OK;
    switch (type) {
    case INGOT_PROTO_ITEM_TENSOR:
        status = load_tensor(l, proto, item);
        list->element = item->element;
        return status;
    case INGOT_PROTO_ITEM_SPARSE:
        return load_sparse(l, proto, item);
    case INGOT_PROTO_ITEM_SEQUENCE:
        return load_sequence(l, proto, item);
    case INGOT_PROTO_ITEM_MAP:
        return load_map(l, proto, item);
    default:
        return load_optional(l, proto, item);
    }
}

static ingot_status enter(loader *l)
{
    if (l->depth == MAX_NESTING)
        return ingot_fail(l->error, INGOT_UNSUPPORTED, "containers nest deeper than %d levels", MAX_NESTING);
    l->depth++;
    return INGOT_OK;
}

/* The items of the kind that elem_type names; those of other kinds are not allowed. */
static ingot_status load_sequence(loader *l, const ingot_sequence_proto *proto, ingot_value *value)
{
    const struct {
        const ingot_proto_list *list;
        size_t size;
    } kinds[] = {
        [INGOT_PROTO_ITEM_TENSOR] = {&proto->tensors, sizeof(ingot_tensor_proto)},
        [INGOT_PROTO_ITEM_SPARSE] = {&proto->sparses, sizeof(ingot_sparse_proto)},
        [INGOT_PROTO_ITEM_SEQUENCE] = {&proto->sequences, sizeof(ingot_sequence_proto)},
        [INGOT_PROTO_ITEM_MAP] = {&proto->maps, sizeof(ingot_map_proto)},
        [INGOT_PROTO_ITEM_OPTIONAL] = {&proto->optionals, sizeof(ingot_optional_proto)},
    };
    INGOT_TRY(enter(l));
    INGOT_TRY(ingot_value_set_list(value, INGOT_KIND_SEQUENCE, INGOT_FLOAT, l->error));
    for (size_t kind = INGOT_PROTO_ITEM_TENSOR; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        const ingot_proto_list *list = kinds[kind].list;
        if (list->count > 0 && proto->elem_type != (int64_t)kind)
            return ingot_fail(l->error, INGOT_INVALID_MODEL,
                              "a sequence of elem_type %lld holds items that belong to elem_type %zu",
                              (long long)proto->elem_type, kind);
        for (size_t i = 0; i < list->count; i++)
            INGOT_TRY(load_item(l, (int64_t)kind, (const char *)list->items + i * kinds[kind].size, value));
    }
    l->depth--;
    return INGOT_OK;
}

static ingot_status load_optional(loader *l, const ingot_optional_proto *proto, ingot_value *value)
{
    const void *const items[] = {
        [INGOT_PROTO_ITEM_TENSOR] = proto->tensor,     [INGOT_PROTO_ITEM_SPARSE] = proto->sparse,
        [INGOT_PROTO_ITEM_SEQUENCE] = proto->sequence, [INGOT_PROTO_ITEM_MAP] = proto->map,
        [INGOT_PROTO_ITEM_OPTIONAL] = proto->optional,
    };
    int64_t type = proto->elem_type;
    if (type < INGOT_PROTO_ITEM_UNDEFINED || type > INGOT_PROTO_ITEM_OPTIONAL)
        return ingot_fail(l->error, INGOT_INVALID_MODEL, "an optional has elem_type %lld; 0 to %d are allowed",
                          (long long)type, INGOT_PROTO_ITEM_OPTIONAL);
    INGOT_TRY(enter(l));
    INGOT_TRY(ingot_value_set_list(value, INGOT_KIND_OPTIONAL, INGOT_FLOAT, l->error));
    if (items[type] != NULL)
        INGOT_TRY(load_item(l, type, items[type], value));
    l->depth--;
    return INGOT_OK;
}

/* ---- Public functions ---- */

static ingot_status load(loader *l, ingot_kind kind, ingot_span data, ingot_arena *arena, ingot_value *value)
{
    ingot_budget *budget = l->source.budget;
    ingot_tensor_proto tensor = {0};
    ingot_sparse_proto sparse = {0};
    ingot_sequence_proto sequence = {0};
    ingot_map_proto map = {0};
    ingot_optional_proto optional = {0};
    switch (kind) {
    case INGOT_KIND_TENSOR:
        INGOT_TRY(ingot_proto_read(&ingot_proto_tensor, data, arena, budget, &tensor, l->error));
        return load_tensor(l, &tensor, value);
    case INGOT_KIND_SPARSE:
        INGOT_TRY(ingot_proto_read(&ingot_proto_sparse, data, arena, budget, &sparse, l->error));
        return load_sparse(l, &sparse, value);
    case INGOT_KIND_SEQUENCE:
        INGOT_TRY(ingot_proto_read(&ingot_proto_sequence, data, arena, budget, &sequence, l->error));
        return load_sequence(l, &sequence, value);
    case INGOT_KIND_MAP:
        INGOT_TRY(ingot_proto_read(&ingot_proto_map, data, arena, budget, &map, l->error));
        return load_map(l, &map, value);
    case INGOT_KIND_OPTIONAL:
        INGOT_TRY(ingot_proto_read(&ingot_proto_optional, data, arena, budget, &optional, l->error));
        return load_optional(l, &optional, value);
    default:
        return ingot_fail(l->error, INGOT_INVALID_ARGUMENT, "a value of kind %d cannot be read", (int)kind);
    }
}

ingot_status ingot_value_from_proto(const void *data, size_t size, const ingot_type_info *type, ingot_value **value,
                                    ingot_error *error)
{
    if (value == NULL || (data == NULL && size > 0))
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_value_from_proto: data and value must be given");
    *value = NULL;
    ingot_error unread = {0};
    ingot_budget budget;
    ingot_budget_init(&budget, 0);
    loader l = {.source = {.files = NULL, .budget = &budget}, .error = error != NULL ? error : &unread};
    ingot_arena *arena = ingot_arena_create();
    ingot_value *created = ingot_malloc(sizeof *created);
    if (arena == NULL || created == NULL) {
        ingot_arena_release(arena);
        ingot_free(created);
        return ingot_fail_memory(error, sizeof *created, "a value");
    }
    ingot_value_init(created);
    ingot_kind kind = type != NULL ? type->kind : INGOT_KIND_TENSOR;
    ingot_status status = load(&l, kind, (ingot_span){data, size}, arena, created);
    ingot_arena_release(arena);
    if (status == INGOT_OK)
        *value = created;
    else
        ingot_value_release(created);
    return status;
}

ingot_status ingot_value_to_proto(const ingot_value *value, const char *name, void **data, size_t *size,
                                  ingot_error *error)
{
    if (value == NULL || data == NULL || size == NULL)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_value_to_proto: value, data and size must be given");
    ingot_writer writer = {.error = error};
    ingot_write_value(&writer, value, name);
    if (writer.status != INGOT_OK) {
        ingot_free(writer.data);
        return writer.status;
    }
    *data = writer.data;
    *size = writer.size;
    return INGOT_OK;
}
