#include "base/block.h"

#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/threads.h"

enum {
    MAPPED =
        1 << 18, /* blocks of so many bytes or more are mappings of their own: the heap does not come to have holes */
    PIECE = 1 << 19, /* that is touched at once: some 100 us */
    PAGE = 4096,     /* at least: what mappings are rounded to, and how far apart they are touched */
};

static void release_memory(char *data, size_t capacity)
{
    if (capacity >= MAPPED)
        munmap(data, capacity);
    else
        ingot_free(data);
}

static void touch_piece(char *data, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    const size_t skip = (PAGE - (size_t)data % PAGE) % PAGE;
    if (bytes > PAGE + skip && madvise(data + skip, bytes - skip, MADV_POPULATE_WRITE) == 0)
        return;
#endif
    for (size_t at = 0; at < bytes; at += PAGE)
        ((volatile char *)data)[at] = 0;
}

/* Fresh memory that threads touch piece by piece. */
typedef struct fresh {
    char *data;
    size_t bytes;
} fresh;

static void touch_chunk(void *argument, size_t chunk, int participant)
{
    const fresh *f = argument;
    const size_t at = chunk * PIECE;
    touch_piece(f->data + at, f->bytes - at < PIECE ? f->bytes - at : PIECE);
}

size_t ingot_memory_touch(char *data, size_t bytes, int threads, uint64_t until)
{
    const size_t most = (size_t)(threads > 1 ? threads : 1) * PIECE;
    size_t at = 0;
    while (at < bytes && (!until || ingot_clock_ns() < until)) {
        fresh f = {data + at, bytes - at < most ? bytes - at : most};
        ingot_parallel(threads, f.bytes / PIECE + (f.bytes % PIECE != 0), touch_chunk, &f);
        at += f.bytes;
    }
    return at;
}

void ingot_block_touch(ingot_block *block, int threads, uint64_t until)
{
    if (block->touched == block->capacity)
        return;
    block->touched +=
        ingot_memory_touch(block->data + block->touched, block->capacity - block->touched, threads, until);
}

/* A mapping in place of the block's: moved and made longer where it has one, with all the pages that it has. */
static char *map(const ingot_block *block, size_t bytes)
{
    if (!ingot_may_allocate(bytes))
        return NULL;
    char *data = block->capacity >= MAPPED
                     ? mremap(block->data, block->capacity, bytes, MREMAP_MAYMOVE)
                     : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? NULL : data;
}

/* The block is smaller than bytes. */
static bool grow(ingot_block *block, size_t bytes)
{
    const size_t had = block->capacity >= MAPPED ? block->capacity : 0;
    if (bytes >= MAPPED) {
        char *data = map(block, bytes);
        if (!data)
            return false;
        if (!had)
            ingot_free(block->data);
        *block = (ingot_block){data, bytes, had ? block->touched : 0};
        return true;
    }
    ingot_free(block->data);
    block->data = ingot_malloc_aligned(bytes);
    block->capacity = block->data ? bytes : 0;
    block->touched = block->capacity;
    if (block->data)
        memset(block->data, 0, bytes);
    return block->data != NULL;
}

ingot_status ingot_block_reserve(ingot_block *block, size_t bytes, ingot_budget *budget, const char *what,
                                 ingot_error *error)
{
    const size_t before = block->capacity;
    if (bytes <= before)
        return INGOT_OK;
    if (bytes >= MAPPED && (!ingot_add_size(bytes, PAGE - 1, &bytes) || bytes > PTRDIFF_MAX))
        return ingot_fail_memory(error, bytes, what);
    if (bytes >= MAPPED)
        bytes -= bytes % PAGE;
    if (budget)
        INGOT_TRY(ingot_budget_take(budget, bytes - before, what, error));
    const bool grown = grow(block, bytes);
    if (budget && !grown)
        ingot_budget_give(budget, bytes - block->capacity);
    return grown ? INGOT_OK : ingot_fail_memory(error, bytes, what);
}

void ingot_block_release(ingot_block *block, ingot_budget *budget)
{
    if (budget)
        ingot_budget_give(budget, block->capacity);
    release_memory(block->data, block->capacity);
    *block = (ingot_block){0};
}
