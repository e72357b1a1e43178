#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

typedef struct opened_file {
    ingot_file file; /* first: what callers hold points to it */
    atomic_uint references;
    bool mapped;
} opened_file;

static ingot_status fail_system(const char *path, const char *what, int code, ingot_error *error)
{
    return ingot_fail(error, code == ENOENT || code == ENOTDIR ? INGOT_NOT_FOUND : INGOT_IO_ERROR, "%s: %s: %s", path,
                      what, strerror(code));
}

static ingot_status fail_changed(const char *path, ingot_error *error)
{
    return ingot_fail(error, INGOT_IO_ERROR, "%s: the file changed its size while it was being opened; try again",
                      path);
}

static ingot_status check_file(const char *path, const struct stat *about, ingot_error *error)
{
    if (S_ISDIR(about->st_mode))
        return ingot_fail(error, INGOT_IO_ERROR, "%s: this is a folder, not a file", path);
    if (!S_ISREG(about->st_mode))
        return ingot_fail(error, INGOT_IO_ERROR, "%s: this is a device, pipe or socket, not a regular file", path);
    if (about->st_size <= 0)
        return ingot_fail(error, INGOT_INVALID_MODEL, "%s: the file is empty", path);
    if ((uintmax_t)about->st_size > PTRDIFF_MAX)
        return ingot_fail(error, INGOT_OUT_OF_MEMORY, "%s: the file is too large for this machine", path);
    return INGOT_OK;
}

static ingot_status map_content(opened_file *opened, int descriptor, ingot_error *error)
{
    const char *path = opened->file.path;
    void *data = mmap(NULL, opened->file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED)
        return ingot_fail(error, errno == ENOMEM ? INGOT_OUT_OF_MEMORY : INGOT_IO_ERROR,
                          "%s: cannot map the file: %s; reading it instead (no_mmap, --no-mmap) may work", path,
                          strerror(errno));
    opened->file.data = data;
    opened->mapped = true;
    return INGOT_OK;
}

static ingot_status read_content(opened_file *opened, int descriptor, ingot_error *error)
{
    const char *path = opened->file.path;
    const size_t size = opened->file.size;
    unsigned char *data = ingot_malloc_aligned(size);
    if (!data)
        return ingot_fail_memory(error, size, path);
    opened->file.data = data;
    for (size_t done = 0; done < size;) {
        const ssize_t got = read(descriptor, data + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_system(path, "cannot read the file", errno, error);
        if (got == 0)
            return fail_changed(path, error);
        done += (size_t)got;
    }
    return INGOT_OK;
}

static ingot_status load(opened_file *opened, int descriptor, bool no_mmap, ingot_error *error)
{
    const char *path = opened->file.path;
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return fail_system(path, "cannot examine the file", errno, error);
    INGOT_TRY(check_file(path, &about, error));
    opened->file.size = (size_t)about.st_size;
    INGOT_TRY(no_mmap ? read_content(opened, descriptor, error) : map_content(opened, descriptor, error));
    /* A file that has shrunk would raise a signal when the pages past its end are touched. */
    if (fstat(descriptor, &about) != 0)
        return fail_system(path, "cannot examine the file", errno, error);
    return (uintmax_t)about.st_size == opened->file.size ? INGOT_OK : fail_changed(path, error);
}

ingot_status ingot_file_open(const char *path, bool no_mmap, ingot_file **file, ingot_error *error)
{
    *file = NULL;
    /* Not blocking, so that a pipe without a writer is refused instead of waited for. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0)
        return fail_system(path, "cannot open the file", errno, error);

    ingot_status status = INGOT_OK;
    opened_file *opened = ingot_calloc(1, sizeof *opened);
    char *copy = ingot_strndup(path, strlen(path));
    if (!opened || !copy) {
        status = ingot_fail_memory(error, sizeof *opened + strlen(path), path);
        ingot_free(opened);
        ingot_free(copy);
    } else {
        atomic_init(&opened->references, 1);
        opened->file.path = copy;
        status = load(opened, descriptor, no_mmap, error);
        if (status == INGOT_OK)
            *file = &opened->file;
        else
            ingot_file_close(&opened->file);
    }
    close(descriptor);
    return status;
}

ingot_file *ingot_file_retain(ingot_file *file)
{
    if (file)
        atomic_fetch_add_explicit(&((opened_file *)file)->references, 1, memory_order_relaxed);
    return file;
}

void ingot_file_forget(ingot_file *file, const void *data, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)data, end = start + size;
    uintptr_t file_start = (uintptr_t)file->data;
    if (!((opened_file *)file)->mapped || start < file_start || end > file_start + file->size)
        return;
    start = (start + page - 1) / page * page;
    end = end / page * page;
    if (start < end)
        madvise((void *)start, end - start, MADV_DONTNEED);
}

void ingot_file_close(ingot_file *file)
{
    opened_file *opened = (opened_file *)file;
    if (!opened || atomic_fetch_sub_explicit(&opened->references, 1, memory_order_acq_rel) != 1)
        return;
    if (opened->mapped)
        munmap((void *)file->data, file->size);
    else
        ingot_free((void *)file->data);
    ingot_free((char *)file->path);
    ingot_free(opened);
}
