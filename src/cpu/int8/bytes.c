/* Splits elementwise work on bytes over threads. */
#include "cpu/int8/bytes.h"

#include "base/threads.h"
#include "cpu/int8/bytes_table.h"

#define MOST_RANGES 256 /* at most so many chunks */
/* Elements of a chunk: some microseconds of work. */
#define CHUNK ((size_t)32 << 10)

static const ingot_int8_bytes_table *const tables[] = {
#define INGOT_LEVEL(suffix, features) &ingot_int8_bytes_table_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

const ingot_int8_bytes_table *ingot_int8_bytes_table_at(int level)
{
    return tables[level];
}

typedef struct bytes_task {
    const ingot_int8_bytes_table *table;
    const void *what; /* the operation's own */
    const void *a, *b;
    void *y;
    size_t count;
    float *lows, *highs;
    size_t range_chunk;
} bytes_task;

static void run_all(bytes_task *t, ingot_task task, int threads)
{
    t->table = tables[ingot_level_best()];
    ingot_parallel(t->count < 2 * CHUNK ? 1 : threads, (t->count + CHUNK - 1) / CHUNK, task, t);
}

static size_t chunk_count(const bytes_task *t, size_t start)
{
    return t->count - start < CHUNK ? t->count - start : CHUNK;
}

static void quantize_chunk(void *argument, size_t chunk, int participant)
{
    const bytes_task *t = argument;
    size_t start = chunk * CHUNK;
    t->table->quantize((const float *)t->a + start, t->what, (uint8_t *)t->y + start, chunk_count(t, start));
}

void ingot_int8_quantize(const float *x, const ingot_int8_scale *scale, void *y, size_t count, int threads)
{
    bytes_task t = {.what = scale, .a = x, .y = y, .count = count};
    run_all(&t, quantize_chunk, threads);
}

static void dequantize_chunk(void *argument, size_t chunk, int participant)
{
    const bytes_task *t = argument;
    size_t start = chunk * CHUNK;
    t->table->dequantize((const uint8_t *)t->a + start, t->what, (float *)t->y + start, chunk_count(t, start));
}

void ingot_int8_dequantize(const void *x, const ingot_int8_scale *scale, float *y, size_t count, int threads)
{
    bytes_task t = {.what = scale, .a = x, .y = y, .count = count};
    run_all(&t, dequantize_chunk, threads);
}

static void add_chunk(void *argument, size_t chunk, int participant)
{
    const bytes_task *t = argument;
    size_t start = chunk * CHUNK;
    t->table->add(t->what, (const uint8_t *)t->a + start, t->b ? (const uint8_t *)t->b + start : NULL,
                  (uint8_t *)t->y + start, chunk_count(t, start));
}

void ingot_int8_add(const ingot_int8_sum *sum, const void *a, const void *b, void *y, size_t count, int threads)
{
    bytes_task t = {.what = sum, .a = a, .b = b, .y = y, .count = count};
    run_all(&t, add_chunk, threads);
}

static void multiply_chunk(void *argument, size_t chunk, int participant)
{
    const bytes_task *t = argument;
    size_t start = chunk * CHUNK;
    t->table->multiply(t->what, (const uint8_t *)t->a + start, (const uint8_t *)t->b + start, (uint8_t *)t->y + start,
                       chunk_count(t, start));
}

void ingot_int8_multiply_bytes(const ingot_int8_times *times, const void *a, const void *b, void *y, size_t count,
                               int threads)
{
    bytes_task t = {.what = times, .a = a, .b = b, .y = y, .count = count};
    run_all(&t, multiply_chunk, threads);
}

static void look_up_chunk(void *argument, size_t chunk, int participant)
{
    const bytes_task *t = argument;
    size_t start = chunk * CHUNK, count = chunk_count(t, start);
    const uint8_t *table = t->what, *x = (const uint8_t *)t->a + start;
    uint8_t *y = (uint8_t *)t->y + start;
    for (size_t i = 0; i < count; i++)
        y[i] = table[x[i]];
}

void ingot_int8_look_up(const uint8_t table[256], const void *x, void *y, size_t count, int threads)
{
    bytes_task t = {.what = table, .a = x, .y = y, .count = count};
    run_all(&t, look_up_chunk, threads);
}

/* ---- Softmax ---- */

typedef struct softmax_task {
    const ingot_int8_bytes_table *table;
    const ingot_int8_softmax *s;
    const uint8_t *x;
    uint8_t *y;
    size_t outer_step, rows, groups; /* groups: of INGOT_INT8_ROWS rows */
} softmax_task;

static void softmax_chunk(void *argument, size_t chunk, int participant)
{
    const softmax_task *t = argument;
    size_t first = chunk % t->groups * INGOT_INT8_ROWS, rest = t->rows - first;
    size_t start = chunk / t->groups * t->outer_step + first * t->s->row_step;
    t->table->softmax(t->s, t->x + start, t->y + start, rest < INGOT_INT8_ROWS ? rest : INGOT_INT8_ROWS);
}

void ingot_int8_softmax_rows(const ingot_int8_softmax *s, const void *x, void *y, size_t outer, size_t outer_step,
                             size_t rows, int threads)
{
    softmax_task t = {
        .table = tables[ingot_level_best()], .s = s, .x = x, .y = y, .outer_step = outer_step, .rows = rows};
    t.groups = (rows + INGOT_INT8_ROWS - 1) / INGOT_INT8_ROWS;
    ingot_parallel(outer * rows * s->length < CHUNK ? 1 : threads, outer * t.groups, softmax_chunk, &t);
}

/* ---- Range ---- */

static void range_chunk(void *argument, size_t chunk, int participant)
{
    const bytes_task *t = argument;
    size_t start = chunk * t->range_chunk, rest = t->count - start;
    t->table->range((const float *)t->a + start, rest < t->range_chunk ? rest : t->range_chunk, &t->lows[chunk],
                    &t->highs[chunk]);
}

void ingot_int8_range(const float *x, size_t count, float *low, float *high, int threads)
{
    float lows[MOST_RANGES], highs[MOST_RANGES];
    bytes_task t = {.table = tables[ingot_level_best()], .a = x, .count = count, .lows = lows, .highs = highs};
    t.range_chunk = (count + MOST_RANGES - 1) / MOST_RANGES;
    t.range_chunk = t.range_chunk < CHUNK ? CHUNK : t.range_chunk;
    size_t parts = (count + t.range_chunk - 1) / t.range_chunk;
    ingot_parallel(threads, parts, range_chunk, &t);
    *low = *high = 0;
    for (size_t i = 0; i < parts; i++) {
        *low = lows[i] < *low ? lows[i] : *low;
        *high = highs[i] > *high ? highs[i] : *high;
    }
}
