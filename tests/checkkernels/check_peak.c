#include "check.h"
#include "cpu/peak/peak_kernel.h"
#include "cpu/simd/level.h"
#include "ingot/tools.h"

#define READ_UNIT 512

/* Reads no byte beyond its memory, which ends, or begins, at a page that cannot be read. */
static void check_readers(void)
{
    static ingot_peak_reader *const readers[] = {
#define INGOT_LEVEL(suffix, features) ingot_peak_read_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
    };
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (size_t units = 0; units < 20 && wants_level(level); units++) {
            readers[level](guard_memory(units * READ_UNIT, units % 2), units * READ_UNIT);
            check_case(true, "read %s", ingot_level_name(level));
            guard_release();
        }
    }
}

static void check(void)
{
    ingot_error error = {0};
    ingot_peak peak;
    check_readers();
    for (size_t i = 0; i < ingot_peak_count(); i++)
        for (size_t t = 0; t < 4; t++)
            check_case(ingot_peak_measure(i, check_threads[t], 0, &peak, &error) == INGOT_OK && peak.rate > 0 &&
                           peak.threads == check_threads[t],
                       "peak %zu, %d threads: %s", i, check_threads[t], error.message);
    check_case(ingot_peak_measure(ingot_peak_count(), 1, 0, &peak, &error) == INGOT_NOT_FOUND, "past the last peak");
}

static void bench(void)
{
    ingot_peak peak;
    for (size_t i = 0; i < ingot_peak_count(); i++)
        if (ingot_peak_measure(i, 1, 0.1, &peak, NULL) == INGOT_OK)
            printf("%-12s %9.1f G/s, clock %.2f GHz\n", peak.name, peak.rate * 1e-9, peak.clock * 1e-9);
}

static void list(void)
{
#define INGOT_PEAK_KERNEL(name, text, features, operations) puts("peak " text);
#include "cpu/peak/peak_kernels.def"
#undef INGOT_PEAK_KERNEL
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++)
        printf("peak read %s\n", ingot_level_name(level));
}

const check_part check_peak = {"peak", check, bench, list};
