#include "cpu/half/half.h"

#include "base/threads.h"
#include "cpu/half/half_table.h"

/* Elements of a chunk: some microseconds of work. */
#define CHUNK ((size_t)32 << 10)

static const ingot_half_table *const tables[] = {
#define INGOT_LEVEL(suffix, features) &ingot_half_table_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

const ingot_half_table *ingot_half_table_at(int level)
{
    return tables[level];
}

typedef struct half_task {
    ingot_half_function function;
    const char *x;
    char *y;
    size_t x_size, y_size, count;
} half_task;

static void run_chunk(void *argument, size_t chunk, int participant)
{
    const half_task *t = argument;
    size_t start = chunk * CHUNK, count = t->count - start < CHUNK ? t->count - start : CHUNK;
    t->function(t->x + start * t->x_size, t->y + start * t->y_size, count);
}

void ingot_half_convert(ingot_half_kind kind, const void *x, void *y, size_t count, int threads)
{
    bool widens = kind == INGOT_HALF_TO_FLOAT || kind == INGOT_HALF_BFLOAT16_TO_FLOAT;
    half_task task = {.function = tables[ingot_level_best()]->convert[kind],
                      .x = x,
                      .y = y,
                      .x_size = widens ? 2 : 4,
                      .y_size = widens ? 4 : 2,
                      .count = count};
    ingot_parallel(count < 3 * CHUNK ? 1 : threads, (count + CHUNK - 1) / CHUNK, run_chunk, &task);
}
