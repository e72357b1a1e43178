/* With 64 bits asked for, mmap would be but another name of mmap64. */
#undef _FILE_OFFSET_BITS
#include "allocations.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_size_t allocated, freed, mapped;

allocation_counts count_allocations(void)
{
    return (allocation_counts){atomic_load(&allocated), atomic_load(&freed), atomic_load(&mapped)};
}

#if ALLOCATIONS_ARE_COUNTED

#pragma GCC visibility push(default) /* for calls from shared libraries too */

/* The C library's own, under the names that stay when others are put in front. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static void *counted(void *memory)
{
    if (memory)
        atomic_fetch_add(&allocated, 1);
    return memory;
}

void *malloc(size_t size)
{
    return counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    void *result = __libc_realloc(memory, size);
    if (memory && (result || size == 0))
        atomic_fetch_add(&freed, 1);
    return counted(result);
}

void *memalign(size_t alignment, size_t size)
{
    return counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = counted(__libc_memalign(alignment, size));
    return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
    if (memory)
        atomic_fetch_add(&freed, 1);
    __libc_free(memory);
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    atomic_fetch_add(&mapped, 1);
    return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset)
{
    return mmap(address, size, protection, flags, file, offset);
}

int munmap(void *address, size_t size)
{
    atomic_fetch_add(&mapped, 1);
    return (int)syscall(SYS_munmap, address, size);
}

void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *new_address = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    atomic_fetch_add(&mapped, 1);
    return (void *)syscall(SYS_mremap, address, size, new_size, flags, new_address);
}

/* Nobody but malloc moves the break; who tries here is counted and told that there is no memory. */
int brk(void *address)
{
    (void)address;
    atomic_fetch_add(&mapped, 1);
    errno = ENOMEM;
    return -1;
}

void *sbrk(intptr_t increment)
{
    (void)increment;
    atomic_fetch_add(&mapped, 1);
    errno = ENOMEM;
    return (void *)-1;
}

#pragma GCC visibility pop

#endif
