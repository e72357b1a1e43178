/* Hashing, and a map from byte strings to pointers (open addressing; keys are borrowed). */
#ifndef INGOT_BASE_MAP_H
#define INGOT_BASE_MAP_H

#include "base/memory.h"

/* Not for untrusted key floods beyond table use; seeded per process. */
uint64_t ingot_hash_bytes(const void *data, size_t size, uint64_t seed);

typedef struct ingot_map_entry {
    const char *key; /* NULL: free */
    size_t length;
    uint64_t hash;
    void *value;
} ingot_map_entry;

typedef struct ingot_map {
    ingot_map_entry *entries;
    size_t count, capacity; /* capacity is a power of two, or 0 */
} ingot_map;

/* {0} is an empty map. */
void *ingot_map_get(const ingot_map *map, const char *key, size_t length); /* NULL: not there */
/* Adds or replaces; value must not be NULL. *previous (may be NULL) gets the value replaced, or NULL. */
ingot_status ingot_map_put(ingot_map *map, const char *key, size_t length, void *value, void **previous,
                           ingot_error *error);
void ingot_map_remove(ingot_map *map, const char *key, size_t length);
void ingot_map_clear(ingot_map *map); /* frees its memory */

#endif
