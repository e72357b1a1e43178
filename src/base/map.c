/* Hashing by folded products, and a map with linear probing. */
#include "base/map.h"

#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

__extension__ typedef unsigned __int128 product_bits;

/* Odd numbers with about as many ones as zeros: the fractional parts of the square roots of 2, 3 and 5. */
#define MIX_1 UINT64_C(0x6a09e667f3bcc909)
#define MIX_2 UINT64_C(0xbb67ae8584caa73b)
#define MIX_3 UINT64_C(0x3c6ef372fe94f82b)

static uint64_t fold(uint64_t a, uint64_t b)
{
    product_bits product = (product_bits)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load_word(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

uint64_t ingot_hash_bytes(const void *data, size_t size, uint64_t seed)
{
    /* The keys come from the seed, so that who does not know it cannot make a factor 0 and so a collision. */
    const uint64_t key_1 = fold(seed ^ MIX_1, MIX_2), key_2 = fold(seed ^ MIX_3, MIX_1);
    const unsigned char *bytes = data;
    uint64_t state = key_1 ^ size;
    size_t left = size;
    for (; left > 16; left -= 16, bytes += 16)
        state = fold(load_word(bytes) ^ key_1, load_word(bytes + 8) ^ key_2 ^ state);
    unsigned char tail[16] = {0};
    if (left)
        memcpy(tail, bytes, left);
    state = fold(load_word(tail) ^ key_1, load_word(tail + 8) ^ key_2 ^ state);
    return fold(state ^ MIX_2, key_2 ^ size);
}

/* Drawn once for the process; two threads that draw at the same time agree on the first one. */
static uint64_t process_seed(void)
{
    static _Atomic uint64_t seed;
    uint64_t known = atomic_load_explicit(&seed, memory_order_relaxed);
    if (known)
        return known;
    uint64_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != (ssize_t)sizeof drawn)
        drawn = fold(ingot_clock_ns() ^ MIX_1, (uint64_t)(uintptr_t)&drawn ^ MIX_2);
    drawn |= 1; /* 0 stands for not drawn */
    return atomic_compare_exchange_strong(&seed, &known, drawn) ? drawn : known;
}

/* The entry of the key, or the free one where it would go. There is one: a table is never full. */
static ingot_map_entry *find(const ingot_map *map, const char *key, size_t length, uint64_t hash)
{
    size_t mask = map->capacity - 1, index = hash & mask;
    for (;; index = (index + 1) & mask) {
        ingot_map_entry *entry = &map->entries[index];
        if (!entry->key)
            return entry;
        if (entry->hash == hash && entry->length == length && (length == 0 || memcmp(entry->key, key, length) == 0))
            return entry;
    }
}

void *ingot_map_get(const ingot_map *map, const char *key, size_t length)
{
    if (map->count == 0)
        return NULL;
    const ingot_map_entry *entry = find(map, key, length, ingot_hash_bytes(key, length, process_seed()));
    return entry->key ? entry->value : NULL;
}

static ingot_status enlarge(ingot_map *map, ingot_error *error)
{
    ingot_map larger = {.count = map->count, .capacity = map->capacity ? map->capacity * 2 : 16};
    larger.entries = ingot_calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return ingot_fail_memory(error, larger.capacity * sizeof *larger.entries, "a table of names");
    for (size_t i = 0; i < map->capacity; i++) {
        const ingot_map_entry *entry = &map->entries[i];
        if (entry->key)
            *find(&larger, entry->key, entry->length, entry->hash) = *entry;
    }
    ingot_free(map->entries);
    *map = larger;
    return INGOT_OK;
}

ingot_status ingot_map_put(ingot_map *map, const char *key, size_t length, void *value, void **previous,
                           ingot_error *error)
{
    if (map->count >= map->capacity - map->capacity / 4)
        INGOT_TRY(enlarge(map, error));
    uint64_t hash = ingot_hash_bytes(key, length, process_seed());
    ingot_map_entry *entry = find(map, key, length, hash);
    if (previous)
        *previous = entry->key ? entry->value : NULL;
    if (!entry->key) {
        /* NULL marks a free entry, so an empty key that comes as NULL gets another pointer. */
        *entry = (ingot_map_entry){.key = key ? key : "", .length = length, .hash = hash};
        map->count++;
    }
    entry->value = value;
    return INGOT_OK;
}

void ingot_map_remove(ingot_map *map, const char *key, size_t length)
{
    if (map->count == 0)
        return;
    ingot_map_entry *hole = find(map, key, length, ingot_hash_bytes(key, length, process_seed()));
    if (!hole->key)
        return;
    /* Entries behind the hole that are not at home move up into it, so that searches need no markers of what was. */
    size_t mask = map->capacity - 1, at = (size_t)(hole - map->entries);
    for (size_t next = (at + 1) & mask; map->entries[next].key; next = (next + 1) & mask) {
        size_t home = map->entries[next].hash & mask;
        if (((next - home) & mask) >= ((next - at) & mask)) {
            map->entries[at] = map->entries[next];
            at = next;
        }
    }
    map->entries[at] = (ingot_map_entry){0};
    map->count--;
}

void ingot_map_clear(ingot_map *map)
{
    ingot_free(map->entries);
    *map = (ingot_map){0};
}
