#include "ops/key_table.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/number.h"

/* What is hashed and compared: the text itself, or 8 bytes that are the same for equal numbers. */
typedef struct key_bytes {
    const char *data;
    size_t size;
    char number[8];
} key_bytes;

static void number_bytes(ingot_element element, const void *data, size_t index, key_bytes *key)
{
    if (ingot_element_is_float(element)) {
        double value = ingot_load_double(element, data, index);
        if (isnan(value))
            value = (double)NAN;
        else if (value == 0)
            value = 0;
        memcpy(key->number, &value, sizeof value);
    } else {
        int64_t value = ingot_load_i64(element, data, index);
        memcpy(key->number, &value, sizeof value);
    }
    key->data = key->number;
    key->size = sizeof key->number;
}

static void key_at(const ingot_key_list *keys, size_t index, key_bytes *key)
{
    if (keys->element == INGOT_STRING) {
        key->data = keys->texts[index].data;
        key->size = keys->texts[index].size;
    } else {
        number_bytes(keys->element, keys->data, index, key);
    }
}

/* The slot of a key, or the free one where it belongs. */
static size_t find_slot(const ingot_key_table *table, const int32_t *slots, const char *data, size_t size)
{
    size_t slot = (size_t)ingot_hash_bytes(data, size, 0) & (table->capacity - 1);
    while (slots[slot] >= 0) {
        key_bytes key;
        key_at(&table->keys, (size_t)slots[slot], &key);
        if (key.size == size && (size == 0 || memcmp(key.data, data, size) == 0))
            break;
        slot = (slot + 1) & (table->capacity - 1);
    }
    return slot;
}

ingot_status ingot_key_table_build(ingot_arena *arena, const ingot_key_list *keys, ingot_key_table *table,
                                   ingot_error *error)
{
    if (keys->count >= INT32_MAX / 4)
        return ingot_fail(error, INGOT_UNSUPPORTED, "it has %zu keys, more than can be looked up", keys->count);
    size_t capacity = 4;
    while (capacity < 2 * keys->count)
        capacity *= 2;
    int32_t *slots = ingot_arena_alloc_array(arena, capacity, sizeof *slots);
    if (!slots)
        return ingot_fail_memory(error, capacity * sizeof *slots, "a table of keys");
    for (size_t i = 0; i < capacity; i++)
        slots[i] = -1;
    *table = (ingot_key_table){.keys = *keys, .slots = slots, .capacity = capacity};
    for (size_t i = 0; i < keys->count; i++) {
        key_bytes key;
        key_at(keys, i, &key);
        slots[find_slot(table, slots, key.data, key.size)] = (int32_t)i;
    }
    return INGOT_OK;
}

int64_t ingot_key_table_find_text(const ingot_key_table *table, const char *text, size_t size)
{
    return table->slots[find_slot(table, table->slots, text, size)];
}

int64_t ingot_key_table_find_i64(const ingot_key_table *table, int64_t number)
{
    key_bytes key;
    number_bytes(INGOT_INT64, &number, 0, &key);
    return ingot_key_table_find_text(table, key.data, key.size);
}

int64_t ingot_key_table_find(const ingot_key_table *table, const ingot_value *value, size_t index)
{
    if (value->element == INGOT_STRING) {
        const ingot_string *string = (const ingot_string *)value->data + index;
        return ingot_key_table_find_text(table, string->length ? value->strings + string->offset : "", string->length);
    }
    key_bytes key;
    number_bytes(value->element, value->data, index, &key);
    return ingot_key_table_find_text(table, key.data, key.size);
}
