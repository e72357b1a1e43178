/* INGOT_CPU is read once, so each value is tried in a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "ingot/tools.h"

enum {
    UP_TO_AVX2 = INGOT_CPU_SSE4 | INGOT_CPU_AVX2,
    UP_TO_AVX512 = UP_TO_AVX2 | INGOT_CPU_AVX512,
    UP_TO_VNNI = UP_TO_AVX512 | INGOT_CPU_VNNI,
    UP_TO_BF16 = UP_TO_VNNI | INGOT_CPU_BF16,
};

/* The features in use with a value of INGOT_CPU; NULL: not set. */
static uint32_t features_with(const char *value)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (value)
            setenv("INGOT_CPU", value, 1);
        else
            unsetenv("INGOT_CPU");
        _exit((int)ingot_cpu_features());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return (uint32_t)WEXITSTATUS(status);
}

static void the_mask_takes_features_away(void **state)
{
    const uint32_t all = features_with(NULL);
    assert_int_equal(features_with(""), all);
    assert_int_equal(features_with("scalar"), 0);
    assert_int_equal(features_with("no such level"), 0);
    assert_int_equal(features_with("sse4"), all & INGOT_CPU_SSE4);
    assert_int_equal(features_with("avx2"), all & UP_TO_AVX2);
    assert_int_equal(features_with("avx512"), all & UP_TO_AVX512);
    assert_int_equal(features_with("avx512_vnni"), all & UP_TO_VNNI);
    assert_int_equal(features_with("avx512_bf16"), all & UP_TO_BF16);
    assert_int_equal(features_with("avx2,avx512_vnni"), all & UP_TO_VNNI);
    assert_int_equal(features_with("neon"), all & INGOT_CPU_NEON);
    assert_int_equal(features_with("avx"), 0);
}

/* From here on this process has read the variable. */
static void a_level_comes_with_those_before_it(void **state)
{
    const uint32_t found = ingot_cpu_features_found();
    assert_true(!(found & INGOT_CPU_AVX2) || (found & INGOT_CPU_SSE4));
    assert_true(!(found & INGOT_CPU_AVX512) || (found & INGOT_CPU_AVX2));
    assert_true(!(found & INGOT_CPU_VNNI) || (found & INGOT_CPU_AVX512));
    assert_true(!(found & INGOT_CPU_BF16) || (found & INGOT_CPU_VNNI));
    assert_int_equal(ingot_cpu_features() & ~found, 0);
}

static void the_description_names_what_is_in_use(void **state)
{
    const char *text = ingot_cpu_description();
    assert_int_equal(strstr(text, "avx2") != NULL, (ingot_cpu_features() & INGOT_CPU_AVX2) != 0);
    assert_int_equal(strstr(text, "scalar") != NULL, ingot_cpu_features() == 0);
    assert_ptr_equal(ingot_cpu_description(), text);
}

static void cache_sizes_are_plausible(void **state)
{
    const ingot_cpu_caches caches = ingot_cpu_cache_sizes();
    assert_in_range(caches.l1_data, 8 << 10, 1 << 20);
    assert_in_range(caches.l2, 64 << 10, 256 << 20);
    assert_true(caches.l3 > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mask_takes_features_away),
        cmocka_unit_test(a_level_comes_with_those_before_it),
        cmocka_unit_test(the_description_names_what_is_in_use),
        cmocka_unit_test(cache_sizes_are_plausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
