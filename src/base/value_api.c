/* Values as the public header offers them: creation from what a caller gives, and looking inside. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { MAX_DEPTH = 16 }; /* of values in values */

static ingot_status create_empty(ingot_value **value, const char *function, ingot_error *error)
{
    if (!value)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "%s: no place for the value was given (NULL)", function);
    *value = ingot_malloc(sizeof **value);
    if (!*value)
        return ingot_fail_memory(error, sizeof **value, "a value");
    ingot_value_init(*value);
    return INGOT_OK;
}

/* Ends a creation: where status is a failure what was begun is freed. */
static ingot_status finish(ingot_value **value, ingot_status status)
{
    if (status != INGOT_OK) {
        ingot_value_release(*value);
        *value = NULL;
    }
    return status;
}

static ingot_status check_shape(ingot_element element, int rank, const int64_t *dims, size_t *bytes, ingot_error *error)
{
    if (ingot_element_bits(element) == 0)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "%d is not an element type", (int)element);
    if (rank < 0 || rank > INGOT_MAX_RANK)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a tensor of rank %d; the rank must be 0 to %d", rank,
                          INGOT_MAX_RANK);
    if (rank > 0 && !dims)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a tensor of rank %d without its sizes (dims is NULL)", rank);
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0)
            return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                              "size %d of a tensor is %" PRId64 "; it must not be negative", i, dims[i]);
    if (!ingot_tensor_bytes(element, rank, dims, bytes)) {
        char text[256];
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a tensor %s%s is too large for this machine",
                          ingot_element_name(element), ingot_dims_describe(rank, dims, text, sizeof text));
    }
    return INGOT_OK;
}

static ingot_status fill_tensor(ingot_value *v, ingot_element element, int rank, const int64_t *dims, void *data,
                                size_t bytes, ingot_error *error)
{
    size_t needed;
    INGOT_TRY(check_shape(element, rank, dims, &needed, error));
    if (!data) {
        INGOT_TRY(ingot_value_set_tensor(v, element, rank, dims, error));
        if (needed)
            memset(v->data, 0, needed);
        return INGOT_OK;
    }
    if (element == INGOT_STRING)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "memory of the caller cannot be a string tensor; use ingot_value_create_strings");
    if (bytes < needed) {
        char text[256];
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a tensor %s%s needs %zu bytes, but %zu were given",
                          ingot_element_name(element), ingot_dims_describe(rank, dims, text, sizeof text), needed,
                          bytes);
    }
    ingot_value_set_view(v, element, rank, dims, data, bytes);
    v->fixed = true;
    return INGOT_OK;
}

ingot_status ingot_value_create_tensor(ingot_element element, int rank, const int64_t *dims, void *data, size_t bytes,
                                       ingot_value **value, ingot_error *error)
{
    INGOT_TRY(create_empty(value, "ingot_value_create_tensor", error));
    return finish(value, fill_tensor(*value, element, rank, dims, data, bytes, error));
}

ingot_status ingot_value_create_like(const ingot_value *tensor, ingot_value **value, ingot_error *error)
{
    INGOT_TRY(create_empty(value, "ingot_value_create_like", error));
    return finish(value, ingot_value_set_tensor(*value, tensor->element, tensor->rank, tensor->dims, error));
}

static ingot_status fill_strings(ingot_value *v, int rank, const int64_t *dims, const char *const *strings,
                                 const size_t *lengths, ingot_error *error)
{
    size_t bytes;
    INGOT_TRY(check_shape(INGOT_STRING, rank, dims, &bytes, error));
    INGOT_TRY(ingot_value_set_tensor(v, INGOT_STRING, rank, dims, error));
    const size_t count = ingot_value_count(v);
    if (count && !strings)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a tensor of %zu strings, but strings is NULL", count);
    for (size_t i = 0; i < count; i++) {
        if (!strings[i])
            return ingot_fail(error, INGOT_INVALID_ARGUMENT, "string %zu of %zu is NULL", i, count);
        INGOT_TRY(ingot_value_set_string(v, i, strings[i], lengths ? lengths[i] : strlen(strings[i]), error));
    }
    return INGOT_OK;
}

ingot_status ingot_value_create_strings(int rank, const int64_t *dims, const char *const *strings,
                                        const size_t *lengths, ingot_value **value, ingot_error *error)
{
    INGOT_TRY(create_empty(value, "ingot_value_create_strings", error));
    return finish(value, fill_strings(*value, rank, dims, strings, lengths, error));
}

/* Levels of values in v, v included; counts no further than one past the greatest allowed. */
static int depth_of(const ingot_value *v, int limit)
{
    int deepest = 0;
    for (size_t i = 0; limit > 0 && i < v->item_count; i++) {
        const int depth = depth_of(v->items[i], limit - 1);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

static bool same_type(const ingot_value *a, const ingot_value *b)
{
    if (a->kind != b->kind || a->element != b->element)
        return false;
    if (a->kind == INGOT_KIND_MAP)
        return same_type(a->items[1], b->items[1]);
    if ((a->kind == INGOT_KIND_SEQUENCE || a->kind == INGOT_KIND_OPTIONAL) && a->item_count && b->item_count)
        return same_type(a->items[0], b->items[0]);
    return true;
}

static int compare_pointers(const void *a, const void *b)
{
    uintptr_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

static ingot_status check_items(ingot_value *const *items, size_t count, ingot_error *error)
{
    if (count && !items)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a value of %zu items, but items is NULL", count);
    for (size_t i = 0; i < count; i++) {
        if (!items[i])
            return ingot_fail(error, INGOT_INVALID_ARGUMENT, "item %zu of %zu is NULL", i, count);
        if (!same_type(items[i], items[0])) {
            char first[256], other[256];
            return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                              "items of a sequence must be of one type, but item 0 is %s and item %zu is %s",
                              ingot_value_describe(items[0], first, sizeof first), i,
                              ingot_value_describe(items[i], other, sizeof other));
        }
        if (depth_of(items[i], MAX_DEPTH) >= MAX_DEPTH)
            return ingot_fail(error, INGOT_INVALID_ARGUMENT, "values are nested more than %d deep", MAX_DEPTH);
    }
    return INGOT_OK;
}

/* Makes items those of v, which takes them when nothing fails. One item twice would be freed twice, so it is refused. */
static ingot_status take_items(ingot_value *v, ingot_value *const *items, size_t count, ingot_error *error)
{
    if (count == 0)
        return INGOT_OK;
    INGOT_TRY(ingot_grow(&v->items, &v->item_capacity, count, sizeof *v->items, error));
    memcpy(v->items, items, count * sizeof *v->items);
    qsort(v->items, count, sizeof *v->items, compare_pointers);
    for (size_t i = 1; i < count; i++)
        if (v->items[i] == v->items[i - 1])
            return ingot_fail(error, INGOT_INVALID_ARGUMENT, "one value was given as two items of the same value");
    memcpy(v->items, items, count * sizeof *v->items);
    v->item_count = count;
    return INGOT_OK;
}

static ingot_status fill_sequence(ingot_value *v, ingot_value *const *items, size_t count, ingot_element item_element,
                                  ingot_error *error)
{
    if (count == 0 && ingot_element_bits(item_element) == 0)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "an empty sequence needs the element type of its tensors");
    INGOT_TRY(check_items(items, count, error));
    INGOT_TRY(ingot_value_set_list(v, INGOT_KIND_SEQUENCE, count ? items[0]->element : item_element, error));
    return take_items(v, items, count, error);
}

ingot_status ingot_value_create_sequence(ingot_value *const *items, size_t count, ingot_element item_element,
                                         ingot_value **value, ingot_error *error)
{
    INGOT_TRY(create_empty(value, "ingot_value_create_sequence", error));
    return finish(value, fill_sequence(*value, items, count, item_element, error));
}

static bool may_be_key(ingot_element element)
{
    return element == INGOT_STRING || (ingot_element_is_integer(element) && ingot_element_bits(element) >= 8);
}

static ingot_status fill_map(ingot_value *v, ingot_value *keys, ingot_value *values, ingot_error *error)
{
    if (!keys || !values)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a map needs keys and values, but %s is NULL",
                          keys ? "values" : "keys");
    char text[256];
    if (keys->kind != INGOT_KIND_TENSOR || keys->rank != 1 || !may_be_key(keys->element))
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "keys of a map must be a tensor [n] of strings or integers, but they are %s",
                          ingot_value_describe(keys, text, sizeof text));
    if (values->kind != INGOT_KIND_TENSOR || values->rank != 1 || values->dims[0] != keys->dims[0])
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "values of a map must be a tensor [%" PRId64 "], but they are %s", keys->dims[0],
                          ingot_value_describe(values, text, sizeof text));
    INGOT_TRY(ingot_value_set_list(v, INGOT_KIND_MAP, keys->element, error));
    return take_items(v, (ingot_value *[]){keys, values}, 2, error);
}

ingot_status ingot_value_create_map(ingot_value *keys, ingot_value *values, ingot_value **map, ingot_error *error)
{
    INGOT_TRY(create_empty(map, "ingot_value_create_map", error));
    return finish(map, fill_map(*map, keys, values, error));
}

static ingot_status fill_optional(ingot_value *v, ingot_value *item, ingot_error *error)
{
    const size_t count = item ? 1 : 0;
    INGOT_TRY(check_items(&item, count, error));
    INGOT_TRY(ingot_value_set_list(v, INGOT_KIND_OPTIONAL, item ? item->element : INGOT_UNDEFINED, error));
    return take_items(v, &item, count, error);
}

ingot_status ingot_value_create_optional(ingot_value *item, ingot_value **value, ingot_error *error)
{
    INGOT_TRY(create_empty(value, "ingot_value_create_optional", error));
    return finish(value, fill_optional(*value, item, error));
}

void ingot_value_release(ingot_value *value)
{
    if (!value)
        return;
    ingot_value_clear(value);
    ingot_free(value);
}
