/* All memory of the library comes from here, so that tests can make any allocation fail and sessions can be limited. */
#ifndef INGOT_BASE_MEMORY_H
#define INGOT_BASE_MEMORY_H

#include <stdatomic.h>

#include "base/status.h"

#define INGOT_ALIGNMENT 64 /* of tensors: a cache line, and an AVX-512 register */

/* NULL where memory is out; size 0 gives a pointer that may be freed. ingot_free takes NULL. */
void *ingot_malloc(size_t size);
void *ingot_calloc(size_t count, size_t size); /* checks the product */
void *ingot_realloc(void *memory, size_t size);
void *ingot_malloc_aligned(size_t size); /* aligned to INGOT_ALIGNMENT, not zeroed; freed by ingot_free */
char *ingot_strndup(const char *text, size_t length);
void ingot_free(void *memory);

/* For tests: is called before each allocation, which fails where it returns false. NULL takes it away. */
typedef bool (*ingot_allocation_hook)(size_t size);
void ingot_set_allocation_hook(ingot_allocation_hook hook);
bool ingot_may_allocate(size_t size); /* what the hook says */

/* Lets the heap give free memory back to the system. */
void ingot_memory_trim(void);

/* Makes *array (elements of size bytes) hold at least count elements: doubles capacity, keeps the content.
 * ingot_status INGOT_OUT_OF_MEMORY where that fails; then nothing has changed. */
ingot_status ingot_grow(void *array, size_t *capacity, size_t count, size_t size, ingot_error *error);

/* ---- Checked sizes: false where the result does not fit; then *result is not written ---- */
bool ingot_mul_size(size_t a, size_t b, size_t *result);
bool ingot_add_size(size_t a, size_t b, size_t *result);
bool ingot_mul_i64(int64_t a, int64_t b, int64_t *result);
bool ingot_add_i64(int64_t a, int64_t b, int64_t *result);
/* The product of dims (1 for rank 0) and the bytes of so many elements; false on a negative size or overflow. */
bool ingot_count_elements(int rank, const int64_t *dims, size_t *count);
bool ingot_tensor_bytes(ingot_element element, int rank, const int64_t *dims, size_t *bytes);

/* ---- Bump arena: many small objects that go together; all zeroed ---- */
typedef struct ingot_arena ingot_arena;
ingot_arena *ingot_arena_create(void);
void *ingot_arena_alloc(ingot_arena *arena, size_t size); /* aligned for any type; NULL: out of memory */
void *ingot_arena_alloc_array(ingot_arena *arena, size_t count, size_t size);
char *ingot_arena_strndup(ingot_arena *arena, const char *text, size_t length);
void *ingot_arena_copy(ingot_arena *arena, const void *data, size_t size); /* NULL data with size 0 is fine */
size_t ingot_arena_used(const ingot_arena *arena);
void ingot_arena_release(ingot_arena *arena);

/* ---- Budget: the memory limit of a model or session ---- */
typedef struct ingot_budget ingot_budget;
struct ingot_budget {
    size_t limit;
    _Atomic size_t used;
    ingot_budget *parent; /* counts the same bytes, too; NULL: none */
};

/* limit 0: .8 of the smaller of the machine's memory and the cgroup's limit. */
void ingot_budget_init(ingot_budget *budget, size_t limit);
/* A part of parent's bytes, with no limit but its. */
void ingot_budget_init_part(ingot_budget *budget, ingot_budget *parent);
/* Counts bytes before they are allocated; INGOT_OUT_OF_MEMORY, naming what, the bytes and the limit, where they pass it. */
ingot_status ingot_budget_take(ingot_budget *budget, size_t bytes, const char *what, ingot_error *error);
void ingot_budget_give(ingot_budget *budget, size_t bytes);

#endif
