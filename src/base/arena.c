/* The bump arena: blocks that double in size, objects one after another, freed together. */
#include <stdalign.h>
#include <string.h>

#include "base/memory.h"

enum { FIRST_BLOCK = 4096, GREATEST_BLOCK = 1 << 20 };

typedef struct block {
    struct block *next;
    size_t size, used; /* bytes behind this head */
    max_align_t data[];
} block;

struct ingot_arena {
    block *blocks; /* the first one is being filled */
    size_t used, next_size;
};

ingot_arena *ingot_arena_create(void)
{
    ingot_arena *arena = ingot_calloc(1, sizeof *arena);
    if (arena)
        arena->next_size = FIRST_BLOCK;
    return arena;
}

/* A new block for an object of size bytes. A large object gets a block of its own, behind the one being filled. */
static block *add_block(ingot_arena *arena, size_t size)
{
    bool own = arena->blocks && size > arena->next_size / 4;
    size_t room = own || size > arena->next_size ? size : arena->next_size, bytes;
    if (!ingot_add_size(room, sizeof(block), &bytes))
        return NULL;
    block *added = ingot_calloc(1, bytes);
    if (!added)
        return NULL;
    added->size = room;
    if (own) {
        added->next = arena->blocks->next;
        arena->blocks->next = added;
    } else {
        added->next = arena->blocks;
        arena->blocks = added;
        if (arena->next_size < GREATEST_BLOCK)
            arena->next_size *= 2;
    }
    return added;
}

void *ingot_arena_alloc(ingot_arena *arena, size_t size)
{
    const size_t alignment = alignof(max_align_t);
    size_t rounded;
    if (!ingot_add_size(size, alignment - 1, &rounded))
        return NULL;
    rounded -= rounded % alignment;
    block *current = arena->blocks;
    if (!current || current->size - current->used < rounded) {
        current = add_block(arena, rounded);
        if (!current)
            return NULL;
    }
    void *memory = (char *)current->data + current->used;
    current->used += rounded;
    arena->used += rounded;
    return memory;
}

void *ingot_arena_alloc_array(ingot_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    return ingot_mul_size(count, size, &bytes) ? ingot_arena_alloc(arena, bytes) : NULL;
}

char *ingot_arena_strndup(ingot_arena *arena, const char *text, size_t length)
{
    size_t size;
    char *copy = ingot_add_size(length, 1, &size) ? ingot_arena_alloc(arena, size) : NULL;
    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

void *ingot_arena_copy(ingot_arena *arena, const void *data, size_t size)
{
    void *copy = ingot_arena_alloc(arena, size);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

size_t ingot_arena_used(const ingot_arena *arena)
{
    return arena->used;
}

void ingot_arena_release(ingot_arena *arena)
{
    if (!arena)
        return;
    for (block *current = arena->blocks; current;) {
        block *next = current->next;
        ingot_free(current);
        current = next;
    }
    ingot_free(arena);
}
