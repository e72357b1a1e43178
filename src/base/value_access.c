/* Looking inside a value through the public functions. NULL and wrong kinds give nothing. */
#include "base/value.h"

static bool is_kind(const ingot_value *value, ingot_kind kind)
{
    return value && value->kind == kind;
}

ingot_kind ingot_value_kind(const ingot_value *value)
{
    return value ? value->kind : INGOT_KIND_NONE;
}

ingot_element ingot_value_element(const ingot_value *value)
{
    return value ? value->element : INGOT_UNDEFINED;
}

int ingot_value_rank(const ingot_value *value)
{
    return value ? value->rank : 0;
}

const int64_t *ingot_value_dims(const ingot_value *value)
{
    return value ? value->dims : NULL;
}

size_t ingot_value_count(const ingot_value *value)
{
    size_t count = 0;
    if (is_kind(value, INGOT_KIND_TENSOR))
        ingot_count_elements(value->rank, value->dims, &count);
    return count;
}

/* Of strings: the bytes of all of them together. */
size_t ingot_value_bytes(const ingot_value *value)
{
    size_t bytes = 0;
    if (!is_kind(value, INGOT_KIND_TENSOR))
        return 0;
    if (value->element != INGOT_STRING) {
        ingot_tensor_bytes(value->element, value->rank, value->dims, &bytes);
        return bytes;
    }
    const ingot_string *strings = value->data;
    const size_t count = ingot_value_count(value);
    for (size_t i = 0; i < count; i++)
        bytes += strings[i].length;
    return bytes;
}

void *ingot_value_data(const ingot_value *value)
{
    return is_kind(value, INGOT_KIND_TENSOR) && value->element != INGOT_STRING ? value->data : NULL;
}

const char *ingot_value_string(const ingot_value *value, size_t index, size_t *length)
{
    if (length)
        *length = 0;
    if (!is_kind(value, INGOT_KIND_TENSOR) || value->element != INGOT_STRING || index >= ingot_value_count(value))
        return NULL;
    const ingot_string string = ((const ingot_string *)value->data)[index];
    if (length)
        *length = string.length;
    return string.length ? value->strings + string.offset : "";
}

size_t ingot_value_item_count(const ingot_value *value)
{
    return is_kind(value, INGOT_KIND_SEQUENCE) ? value->item_count : 0;
}

const ingot_value *ingot_value_item(const ingot_value *value, size_t index)
{
    return index < ingot_value_item_count(value) ? value->items[index] : NULL;
}

static const ingot_value *item_of(const ingot_value *value, ingot_kind kind, size_t index)
{
    return is_kind(value, kind) && index < value->item_count ? value->items[index] : NULL;
}

const ingot_value *ingot_value_map_keys(const ingot_value *map)
{
    return item_of(map, INGOT_KIND_MAP, 0);
}

const ingot_value *ingot_value_map_values(const ingot_value *map)
{
    return item_of(map, INGOT_KIND_MAP, 1);
}

const ingot_value *ingot_value_optional_item(const ingot_value *optional)
{
    return item_of(optional, INGOT_KIND_OPTIONAL, 0);
}
