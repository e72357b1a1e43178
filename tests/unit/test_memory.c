/* Allocation, checked sizes, the arena, the budget, and the limits of control groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/block.h"
#include "base/cgroup.h"
#include "base/memory.h"

static size_t allowed;

static bool allow_some(size_t size)
{
    if (allowed == 0)
        return false;
    allowed--;
    return true;
}

static void sizes_of_zero_and_giant_sizes_are_handled(void **state)
{
    void *nothing = ingot_malloc(0);
    assert_non_null(nothing);
    ingot_free(nothing);
    ingot_free(NULL);
    assert_null(ingot_malloc(SIZE_MAX));
    assert_null(ingot_malloc_aligned(SIZE_MAX - 8));
    assert_null(ingot_calloc(SIZE_MAX / 2, 3));
    assert_null(ingot_realloc(NULL, (size_t)PTRDIFF_MAX + 1));
    assert_null(ingot_strndup("", SIZE_MAX));
}

static void aligned_memory_is_aligned(void **state)
{
    for (size_t size = 0; size < 300; size += 7) {
        void *memory = ingot_malloc_aligned(size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % INGOT_ALIGNMENT, 0);
        ingot_free(memory);
    }
}

static void the_hook_makes_every_kind_of_allocation_fail(void **state)
{
    allowed = 0;
    ingot_set_allocation_hook(allow_some);
    assert_null(ingot_malloc(1));
    assert_null(ingot_calloc(1, 1));
    assert_null(ingot_realloc(NULL, 1));
    assert_null(ingot_malloc_aligned(1));
    assert_null(ingot_strndup("a", 1));
    assert_null(ingot_arena_create());
    int *list = NULL;
    size_t capacity = 0;
    ingot_error error = {0};
    assert_int_equal(ingot_grow(&list, &capacity, 1, sizeof *list, &error), INGOT_OUT_OF_MEMORY);
    assert_null(list);
    assert_int_equal(capacity, 0);
    allowed = 1;
    ingot_arena *arena = ingot_arena_create();
    assert_null(ingot_arena_alloc(arena, 1));
    ingot_set_allocation_hook(NULL);
    assert_non_null(ingot_arena_alloc(arena, 1));
    ingot_arena_release(arena);
}

static void memory_is_touched_to_its_end_for_any_number_of_threads(void **state)
{
    enum { BYTES = (3 << 20) + 1 };
    for (int threads = 0; threads < 3; threads++) {
        char *data = ingot_malloc_aligned(BYTES);
        assert_non_null(data);
        assert_int_equal(ingot_memory_touch(data, BYTES, threads, 0), BYTES);
        ingot_free(data);
    }
}

static void a_list_grows_and_keeps_its_content(void **state)
{
    int *list = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(ingot_grow(&list, &capacity, (size_t)i + 1, sizeof *list, NULL), INGOT_OK);
        list[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(list[i], i);
    assert_in_range(capacity, 1000, 2000);
    assert_int_equal(ingot_grow(&list, &capacity, SIZE_MAX / 2, sizeof *list, NULL), INGOT_OUT_OF_MEMORY);
    assert_int_equal(list[999], 999);
    ingot_free(list);
}

static void overflow_is_seen_and_leaves_the_result_alone(void **state)
{
    size_t size = 5;
    int64_t number = 5;
    assert_false(ingot_mul_size(SIZE_MAX, 2, &size));
    assert_false(ingot_add_size(SIZE_MAX, 1, &size));
    assert_int_equal(size, 5);
    assert_true(ingot_mul_size(SIZE_MAX / 2, 2, &size));
    assert_true(size == SIZE_MAX - 1);
    assert_false(ingot_mul_i64(INT64_MIN, -1, &number));
    assert_false(ingot_mul_i64(INT64_MAX / 2, 3, &number));
    assert_false(ingot_add_i64(INT64_MAX, 1, &number));
    assert_false(ingot_add_i64(INT64_MIN, -1, &number));
    assert_int_equal(number, 5);
    assert_true(ingot_mul_i64(-3, 4, &number));
    assert_int_equal(number, -12);
}

static void elements_are_counted_with_care(void **state)
{
    size_t count = 7, bytes = 7;
    assert_true(ingot_count_elements(0, NULL, &count));
    assert_int_equal(count, 1);
    assert_true(ingot_count_elements(3, (int64_t[]){2, 3, 4}, &count));
    assert_int_equal(count, 24);
    assert_true(ingot_count_elements(2, (int64_t[]){0, 9}, &count));
    assert_int_equal(count, 0);
    count = 7;
    assert_false(ingot_count_elements(2, (int64_t[]){2, -1}, &count));
    assert_false(ingot_count_elements(2, (int64_t[]){0, -1}, &count));
    assert_false(ingot_count_elements(2, (int64_t[]){INT64_C(1) << 33, INT64_C(1) << 33}, &count));
    assert_false(ingot_count_elements(3, (int64_t[]){0, INT64_C(1) << 33, INT64_C(1) << 33}, &count));
    assert_false(ingot_count_elements(-1, NULL, &count));
    assert_int_equal(count, 7);
    assert_false(ingot_tensor_bytes(INGOT_DOUBLE, 1, (int64_t[]){INT64_C(1) << 61}, &bytes));
    assert_false(ingot_tensor_bytes(INGOT_UNDEFINED, 1, (int64_t[]){1}, &bytes));
    assert_int_equal(bytes, 7);
    assert_true(ingot_tensor_bytes(INGOT_INT4, 1, (int64_t[]){5}, &bytes));
    assert_int_equal(bytes, 3);
    assert_true(ingot_tensor_bytes(INGOT_UINT2, 1, (int64_t[]){5}, &bytes));
    assert_int_equal(bytes, 2);
    assert_true(ingot_tensor_bytes(INGOT_INT4, 1, (int64_t[]){INT64_MAX}, &bytes));
    assert_true(bytes == (size_t)1 << 62);
    assert_true(ingot_tensor_bytes(INGOT_FLOAT, 2, (int64_t[]){3, 5}, &bytes));
    assert_int_equal(bytes, 60);
}

static void an_arena_gives_zeroed_separate_memory(void **state)
{
    ingot_arena *arena = ingot_arena_create();
    unsigned char *places[200];
    size_t sizes[200];
    for (size_t i = 0; i < 200; i++) {
        sizes[i] = i % 50 == 49 ? 3000000 : i * 37 % 700;
        places[i] = ingot_arena_alloc(arena, sizes[i]);
        assert_non_null(places[i]);
        assert_int_equal((uintptr_t)places[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(places[i][j], 0);
        memset(places[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t j = 0; j < sizes[i]; j += 13)
            assert_int_equal(places[i][j], (unsigned char)(i + 1));
    assert_true(ingot_arena_used(arena) >= 12000000);
    assert_string_equal(ingot_arena_strndup(arena, "names", 3), "nam");
    assert_string_equal(ingot_arena_strndup(arena, NULL, 0), "");
    assert_memory_equal(ingot_arena_copy(arena, "abc", 3), "abc", 3);
    assert_non_null(ingot_arena_copy(arena, NULL, 0));
    assert_null(ingot_arena_alloc(arena, SIZE_MAX));
    assert_null(ingot_arena_alloc(arena, SIZE_MAX - 64));
    assert_null(ingot_arena_alloc_array(arena, SIZE_MAX / 2, 4));
    ingot_arena_release(arena);
    ingot_arena_release(NULL);
}

static void a_budget_refuses_what_passes_its_limit(void **state)
{
    ingot_budget budget;
    ingot_error error = {0};
    ingot_budget_init(&budget, 1000);
    assert_int_equal(ingot_budget_take(&budget, 600, "weights", &error), INGOT_OK);
    assert_int_equal(ingot_budget_take(&budget, 400, "weights", &error), INGOT_OK);
    assert_int_equal(ingot_budget_take(&budget, 1, "an arena", &error), INGOT_OUT_OF_MEMORY);
    assert_non_null(strstr(error.message, "an arena"));
    assert_non_null(strstr(error.message, "1000"));
    ingot_budget_give(&budget, 400);
    assert_int_equal(ingot_budget_take(&budget, SIZE_MAX, "a giant", NULL), INGOT_OUT_OF_MEMORY);
    assert_int_equal(ingot_budget_take(&budget, 400, "weights", NULL), INGOT_OK);
    ingot_budget_give(&budget, 1000);
    assert_int_equal(budget.used, 0);
}

static void the_default_budget_is_a_part_of_the_memory(void **state)
{
    ingot_budget budget;
    ingot_budget_init(&budget, 0);
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    assert_true(budget.limit > 0);
    assert_true((double)budget.limit <= memory * .8 + 1);
}

/* A folder with /proc and /sys as a test wants them. */
static char root[64];

static int make_root(void **state)
{
    snprintf(root, sizeof root, "/tmp/ingot-cgroup-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void write_at(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        mkdir(full, 0700);
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void without_control_groups_there_is_no_limit(void **state)
{
    assert_true(ingot_cgroup_memory(root) == UINT64_MAX);
    assert_true(ingot_cgroup_cpus(root) == 0);
}

static void version_2_groups_limit_by_the_least_of_their_levels(void **state)
{
    write_at("proc/self/cgroup", "0::/a/b\n");
    write_at("sys/fs/cgroup/a/memory.max", "5000000\n");
    write_at("sys/fs/cgroup/a/b/memory.max", "max\n");
    write_at("sys/fs/cgroup/a/cpu.max", "max 100000\n");
    write_at("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
    assert_true(ingot_cgroup_memory(root) == 5000000);
    assert_true(ingot_cgroup_cpus(root) == 1.5);
}

static void a_container_that_sees_the_path_of_its_host_reads_its_top_group(void **state)
{
    write_at("proc/self/cgroup", "0::/not/here\n");
    write_at("sys/fs/cgroup/memory.max", "7000000\n");
    write_at("sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_true(ingot_cgroup_memory(root) == 7000000);
    assert_true(ingot_cgroup_cpus(root) == .5);
}

static void version_1_groups_limit_too(void **state)
{
    write_at("proc/self/cgroup", "12:cpuset:/\n4:memory:/m\n3:cpu,cpuacct:/c\n0::/\n");
    write_at("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "3000000\n");
    write_at("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_at("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "300000\n");
    write_at("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
    write_at("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    write_at("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_true(ingot_cgroup_memory(root) == 3000000);
    assert_true(ingot_cgroup_cpus(root) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_zero_and_giant_sizes_are_handled),
        cmocka_unit_test(aligned_memory_is_aligned),
        cmocka_unit_test(the_hook_makes_every_kind_of_allocation_fail),
        cmocka_unit_test(memory_is_touched_to_its_end_for_any_number_of_threads),
        cmocka_unit_test(a_list_grows_and_keeps_its_content),
        cmocka_unit_test(overflow_is_seen_and_leaves_the_result_alone),
        cmocka_unit_test(elements_are_counted_with_care),
        cmocka_unit_test(an_arena_gives_zeroed_separate_memory),
        cmocka_unit_test(a_budget_refuses_what_passes_its_limit),
        cmocka_unit_test(the_default_budget_is_a_part_of_the_memory),
        cmocka_unit_test_setup_teardown(without_control_groups_there_is_no_limit, make_root, remove_root),
        cmocka_unit_test_setup_teardown(version_2_groups_limit_by_the_least_of_their_levels, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_container_that_sees_the_path_of_its_host_reads_its_top_group, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(version_1_groups_limit_too, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
