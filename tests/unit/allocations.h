/* Counts what the whole process asks of malloc and the kernel: allocations.c puts its own functions in front of the C
 * library's. Not with the address or thread sanitizer, which do so themselves. */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOCATIONS_ARE_COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ALLOCATIONS_ARE_COUNTED 0
#endif
#endif
#ifndef ALLOCATIONS_ARE_COUNTED
#define ALLOCATIONS_ARE_COUNTED 1
#endif

/* Since the start of the process; zeros where nothing is counted. */
typedef struct allocation_counts {
    size_t allocated; /* by malloc, calloc, realloc, aligned_alloc, memalign and posix_memalign */
    size_t freed;
    size_t mapped; /* calls of mmap, mremap, munmap, brk and sbrk outside malloc */
} allocation_counts;

allocation_counts count_allocations(void);

#endif
