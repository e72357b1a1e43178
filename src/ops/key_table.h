/* Looking up elements of tensors among the keys of an attribute: a hash table that lives in a module's arena. */
#ifndef INGOT_OPS_KEY_TABLE_H
#define INGOT_OPS_KEY_TABLE_H

#include "graph/graph.h"

/* A list of an attribute, whichever of the forms it was given in: texts for INGOT_STRING, else data. */
typedef struct ingot_key_list {
    ingot_element element; /* UNDEFINED: no list */
    size_t count;
    const void *data;
    const ingot_text *texts;
} ingot_key_list;

typedef struct ingot_key_table {
    ingot_key_list keys;
    const int32_t *slots; /* index into keys; -1: free */
    size_t capacity;      /* a power of two */
} ingot_key_table;

/* Of a key that is there several times the last one counts. NaN equals NaN, and 0 equals -0. */
ingot_status ingot_key_table_build(ingot_arena *arena, const ingot_key_list *keys, ingot_key_table *table,
                                   ingot_error *error);

/* Index of an element of a tensor of the keys' type; -1: not there. Thread-safe. */
int64_t ingot_key_table_find(const ingot_key_table *table, const ingot_value *value, size_t index);
int64_t ingot_key_table_find_text(const ingot_key_table *table, const char *text, size_t size);
int64_t ingot_key_table_find_i64(const ingot_key_table *table, int64_t key); /* keys of type int64 */

#endif
