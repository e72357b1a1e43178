/* Allocation, and sizes that cannot overflow unseen. */
#include "base/memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "ingot/tools.h"

static _Atomic(ingot_allocation_hook) allocation_hook;

void ingot_set_allocation_hook(ingot_allocation_hook hook)
{
    atomic_store(&allocation_hook, hook);
}

bool ingot_may_allocate(size_t size)
{
    ingot_allocation_hook hook = atomic_load_explicit(&allocation_hook, memory_order_acquire);
    return size <= PTRDIFF_MAX && (!hook || hook(size));
}

void *ingot_malloc(size_t size)
{
    return ingot_may_allocate(size) ? malloc(size ? size : 1) : NULL;
}

void *ingot_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (!ingot_mul_size(count, size, &bytes) || !ingot_may_allocate(bytes))
        return NULL;
    return calloc(1, bytes ? bytes : 1);
}

void *ingot_realloc(void *memory, size_t size)
{
    return ingot_may_allocate(size) ? realloc(memory, size ? size : 1) : NULL;
}

void *ingot_malloc_aligned(size_t size)
{
    void *memory = NULL;
    if (!ingot_may_allocate(size) || posix_memalign(&memory, INGOT_ALIGNMENT, size ? size : 1) != 0)
        return NULL;
    return memory;
}

char *ingot_strndup(const char *text, size_t length)
{
    size_t size;
    if (!ingot_add_size(length, 1, &size))
        return NULL;
    char *copy = ingot_malloc(size);
    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void ingot_free(void *memory)
{
    free(memory);
}

void ingot_memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void ingot_memory_free(void *memory)
{
    ingot_free(memory);
}

ingot_status ingot_grow(void *array, size_t *capacity, size_t count, size_t size, ingot_error *error)
{
    enum { FIRST_CAPACITY = 8 };
    if (count <= *capacity)
        return INGOT_OK;
    size_t wanted = *capacity <= SIZE_MAX / 2 ? *capacity * 2 : SIZE_MAX, bytes;
    wanted = wanted < FIRST_CAPACITY ? FIRST_CAPACITY : wanted;
    wanted = wanted < count ? count : wanted;
    if (!ingot_mul_size(wanted, size, &bytes))
        return ingot_fail_memory(error, SIZE_MAX, "a growing list");

    void *memory; /* array points to a pointer of some type: it is read and written as bytes */
    memcpy(&memory, array, sizeof memory);
    memory = ingot_realloc(memory, bytes);
    if (!memory)
        return ingot_fail_memory(error, bytes, "a growing list");
    memcpy(array, &memory, sizeof memory);
    *capacity = wanted;
    return INGOT_OK;
}

bool ingot_mul_size(size_t a, size_t b, size_t *result)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *result = product;
    return true;
}

bool ingot_add_size(size_t a, size_t b, size_t *result)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *result = sum;
    return true;
}

bool ingot_mul_i64(int64_t a, int64_t b, int64_t *result)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *result = product;
    return true;
}

bool ingot_add_i64(int64_t a, int64_t b, int64_t *result)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *result = sum;
    return true;
}

bool ingot_count_elements(int rank, const int64_t *dims, size_t *count)
{
    if (rank < 0)
        return false;
    /* Zeros are left out of the product that is checked: strides, too, are products of sizes and must not overflow. */
    size_t product = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return false;
        if (dims[i] == 0)
            empty = true;
        else if ((uint64_t)dims[i] > SIZE_MAX || !ingot_mul_size(product, (size_t)dims[i], &product))
            return false;
    }
    if (product > PTRDIFF_MAX)
        return false;
    *count = empty ? 0 : product;
    return true;
}

bool ingot_tensor_bytes(ingot_element element, int rank, const int64_t *dims, size_t *bytes)
{
    size_t bits = ingot_element_bits(element), count, result;
    if (bits == 0 || !ingot_count_elements(rank, dims, &count))
        return false;
    if (bits >= 8) {
        if (!ingot_mul_size(count, bits / 8, &result) || result > PTRDIFF_MAX)
            return false;
    } else {
        size_t per_byte = 8 / bits;
        result = count / per_byte + (count % per_byte != 0);
    }
    *bytes = result;
    return true;
}
