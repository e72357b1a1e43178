#include "base/number.h"
#include "check.h"
#include "cpu/half/half_table.h"

static const char *const names[] = {"half to float", "half from float", "bfloat16 to float", "bfloat16 from float"};

/* Every bit pattern of a 16-bit float gives its number. */
static void check_widening(int level, ingot_half_kind kind, float (*truth)(uint16_t), size_t count)
{
    uint16_t *x = guard_memory(count * sizeof *x, true);
    float *y = guard_floats(count, true);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        x[i] = (uint16_t)(count == 65536 ? i : random_bits());
    ingot_half_table_at(level)->convert[kind](x, y, count);
    for (size_t i = 0; i < count; i++)
        good = good && (y[i] == truth(x[i]) || (isnan(y[i]) && isnan(truth(x[i]))));
    check_case(good, "%s %s, %zu elements", ingot_level_name(level), names[kind], count);
    guard_release();
}

/* Any float, and those around the middle between two narrow ones, gives the nearest, and the even one in the middle. */
static void check_narrowing(int level, ingot_half_kind kind, uint16_t (*truth)(float), float (*back)(uint16_t),
                            size_t count)
{
    float *x = guard_floats(count, true);
    uint16_t *y = guard_memory(count * sizeof *y, true);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = random_bits(), middle;
        float narrow = back((uint16_t)bits);
        memcpy(&middle, &narrow, sizeof middle);
        middle += (kind == INGOT_HALF_FROM_FLOAT ? 0x1000 : 0x8000) + bits % 3 - 1;
        memcpy(&x[i], i % 2 ? &bits : &middle, sizeof *x);
    }
    ingot_half_table_at(level)->convert[kind](x, y, count);
    for (size_t i = 0; i < count; i++)
        good = good && (isnan(x[i]) ? isnan(back(y[i])) : y[i] == truth(x[i]));
    check_case(good, "%s %s, %zu elements", ingot_level_name(level), names[kind], count);
    guard_release();
}

static void check(void)
{
    static const size_t counts[] = {1, 7, 8, 15, 16, 33, 65536};
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts && wants_level(level); i++) {
            check_widening(level, INGOT_HALF_TO_FLOAT, ingot_half_to_float, counts[i]);
            check_widening(level, INGOT_HALF_BFLOAT16_TO_FLOAT, ingot_bfloat16_to_float, counts[i]);
            check_narrowing(level, INGOT_HALF_FROM_FLOAT, ingot_half_from_float, ingot_half_to_float, counts[i]);
            check_narrowing(level, INGOT_HALF_BFLOAT16_FROM_FLOAT, ingot_bfloat16_from_float, ingot_bfloat16_to_float,
                            counts[i]);
        }
    }
}

typedef struct half_bench {
    int level;
    ingot_half_kind kind;
    float *wide;
    uint16_t *narrow;
} half_bench;

#define BENCH_COUNT 16384

static void convert(void *argument)
{
    const half_bench *b = argument;
    bool widens = b->kind == INGOT_HALF_TO_FLOAT || b->kind == INGOT_HALF_BFLOAT16_TO_FLOAT;
    const void *x = widens ? (const void *)b->narrow : b->wide;
    void *y = widens ? (void *)b->wide : b->narrow;
    ingot_half_table_at(b->level)->convert[b->kind](x, y, BENCH_COUNT);
}

static void bench(void)
{
    half_bench b = {.wide = random_floats(BENCH_COUNT, true), .narrow = guard_memory(BENCH_COUNT * 2, true)};
    memset(b.narrow, 0, BENCH_COUNT * 2);
    for (b.level = 0; b.level < INGOT_LEVEL_COUNT; b.level++)
        for (int kind = 0; kind < INGOT_HALF_KIND_COUNT && wants_level(b.level); kind++) {
            b.kind = (ingot_half_kind)kind;
            printf("%-8s %-20s %6.2f elements a nanosecond\n", ingot_level_name(b.level), names[kind],
                   BENCH_COUNT / best_time(convert, &b));
        }
    guard_release();
}

static void list(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++)
        for (int kind = 0; kind < INGOT_HALF_KIND_COUNT; kind++)
            printf("%s %s\n", names[kind], ingot_level_name(level));
}

const check_part check_half = {"half", check, bench, list};
