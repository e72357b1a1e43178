/* Opening files: mapped and read, what is refused, and files over 2 GB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

static char folder[64], path[96];

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/ingot-file-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

static void write_file(const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static void expect_refusal(const char *name, ingot_status status, const char *words)
{
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        ingot_file *file = (ingot_file *)folder;
        ingot_error error = {0};
        assert_int_equal(ingot_file_open(name, no_mmap, &file, &error), status);
        assert_null(file);
        if (!strstr(error.message, words) || !strstr(error.message, name))
            fail_msg("'%s' or the path is not in '%s'", words, error.message);
    }
}

static void a_file_is_mapped_or_read(void **state)
{
    char content[10000];
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i * 7);
    write_file(content, sizeof content);
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        ingot_file *file = NULL;
        assert_int_equal(ingot_file_open(path, no_mmap, &file, NULL), INGOT_OK);
        assert_int_equal(file->size, sizeof content);
        assert_string_equal(file->path, path);
        assert_memory_equal(file->data, content, sizeof content);
        assert_int_equal((uintptr_t)file->data % INGOT_ALIGNMENT, 0);
        assert_ptr_equal(ingot_file_retain(file), file);
        ingot_file_close(file);
        assert_memory_equal(file->data, content, sizeof content);
        ingot_file_close(file);
    }
    ingot_file_close(NULL);
    assert_null(ingot_file_retain(NULL));
}

static void a_file_that_was_read_may_change(void **state)
{
    write_file("before", 6);
    ingot_file *file = NULL;
    assert_int_equal(ingot_file_open(path, true, &file, NULL), INGOT_OK);
    assert_int_equal(truncate(path, 0), 0);
    assert_memory_equal(file->data, "before", 6);
    ingot_file_close(file);
}

static void what_is_no_file_is_refused_by_name(void **state)
{
    expect_refusal(path, INGOT_NOT_FOUND, "No such file");
    expect_refusal(folder, INGOT_IO_ERROR, "folder");
    expect_refusal("/dev/null", INGOT_IO_ERROR, "regular file");
    write_file("", 0);
    expect_refusal(path, INGOT_INVALID_MODEL, "empty");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal(path, INGOT_IO_ERROR, "pipe"); /* and does not wait for a writer */
}

static void a_file_of_more_than_2_gb_is_mapped(void **state)
{
    const off_t size = (off_t)5 << 30;
    int descriptor = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(descriptor >= 0);
    assert_int_equal(pwrite(descriptor, "end", 3, size - 3), 3);
    close(descriptor);
    ingot_file *file = NULL;
    assert_int_equal(ingot_file_open(path, false, &file, NULL), INGOT_OK);
    assert_true(file->size == (size_t)size);
    assert_memory_equal(file->data + file->size - 3, "end", 3);
    ingot_file_close(file);
}

static size_t allowed;

static bool allow_some(size_t bytes)
{
    return allowed-- > 0;
}

static void every_allocation_may_fail(void **state)
{
    write_file("content", 7);
    for (size_t some = 0; some < 3; some++) {
        ingot_file *file = NULL;
        ingot_error error = {0};
        allowed = some;
        ingot_set_allocation_hook(allow_some);
        assert_int_equal(ingot_file_open(path, true, &file, &error), INGOT_OUT_OF_MEMORY);
        ingot_set_allocation_hook(NULL);
        assert_null(file);
    }
}

#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_file_is_mapped_or_read),           FILE_TEST(a_file_that_was_read_may_change),
        FILE_TEST(what_is_no_file_is_refused_by_name), FILE_TEST(a_file_of_more_than_2_gb_is_mapped),
        FILE_TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
