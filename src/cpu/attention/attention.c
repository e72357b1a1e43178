#include "cpu/attention/attention.h"

#include <math.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/attention/attention_work.h"

/* Scores that are made at a time: they, and they once more as an operand, stay in the L2 cache. */
#define SCORES_AT_ONCE (48u << 10)
/* Multiply-adds of a chunk, at least. */
#define CHUNK_WORK (2u << 20)
/* A batch of fewer matrices is split by rows too, as far as so many rows are left to each part. */
#define FEW_MATRICES 8
#define ROWS_OF_PART 64

static size_t round_up(size_t floats)
{
    size_t line = INGOT_ALIGNMENT / sizeof(float);
    return ingot_ceil_div(floats, line) * line;
}

static size_t panels_size(const ingot_gemm_kernel *kernel, size_t steps, size_t columns)
{
    return round_up(ingot_ceil_div(columns, kernel->columns) * kernel->columns * steps);
}

static void size_rows(const ingot_attention *a, ingot_attention_way *way)
{
    size_t tile = way->kernel->rows, tiles = SCORES_AT_ONCE / (a->keys > 0 ? a->keys : 1) / tile;
    way->rows_at_once = (tiles > 0 ? tiles : 1) * tile;
    way->rows_at_once = way->rows_at_once < a->rows ? way->rows_at_once : a->rows;
    way->k = panels_size(way->kernel, a->depth, a->keys);
    way->v = panels_size(way->kernel, a->keys, a->width);
    way->q = round_up(way->rows_at_once * a->depth);
    way->scores = way->packed_scores = round_up(way->rows_at_once * a->keys);
}

static void size_columns(const ingot_attention *a, ingot_attention_way *way)
{
    bool masked = false;
    for (size_t i = 0; i < a->change_count; i++)
        masked = masked || !a->changes[i].is_number;
    way->rows_at_once = way->kernel->columns;
    way->k = round_up(a->keys * a->depth);
    way->v = round_up(a->keys * a->width);
    way->q = panels_size(way->kernel, a->depth, 1);
    way->scores = panels_size(way->kernel, a->keys, 1);
    way->mask = masked ? way->scores : 0;
    way->result = panels_size(way->kernel, a->width, 1);
}

static ingot_attention_way choose_way(const ingot_attention *a)
{
    ingot_attention_way way = {.kernel = ingot_gemm_kernel_best(), .parts = 1, .per_chunk = 1};
    way.by_columns = a->keys > 0 && a->rows >= way.kernel->columns;
    double work = (double)a->rows * (double)a->keys * (double)(a->depth + a->width + 1);
    if (a->count < FEW_MATRICES && work > CHUNK_WORK)
        way.parts = a->rows / ROWS_OF_PART > 1 ? a->rows / ROWS_OF_PART : 1;
    else if (work > 0 && work < CHUNK_WORK)
        way.per_chunk = (size_t)(CHUNK_WORK / work) + 1;
    if (way.by_columns)
        size_columns(a, &way);
    else
        size_rows(a, &way);
    return way;
}

static size_t scratch_size(const ingot_attention_way *way)
{
    return way->k + way->v + way->q + way->scores + way->packed_scores + way->mask + way->result;
}

size_t ingot_attention_f32_workspace(const ingot_attention *attention, int threads)
{
    ingot_attention_way way = choose_way(attention);
    return scratch_size(&way) * (size_t)(threads > 1 ? threads : 1) * sizeof(float);
}

ptrdiff_t ingot_attention_offset(const ingot_matrices *m, size_t index)
{
    ptrdiff_t offset = 0;
    for (int d = m->rank - 1; d >= 0; d--) {
        offset += (ptrdiff_t)(index % m->dims[d]) * m->strides[d];
        index /= m->dims[d];
    }
    return offset;
}

void ingot_attention_scale(const ingot_attention_work *w, const ingot_matrices *m, float *packed, size_t count)
{
    if (m->scaled)
        w->task->table->binary[INGOT_BINARY_MUL][INGOT_VEC_ONE_B](packed, &m->scale, packed, count);
}

/* A division by a power of two has the bits of a product. */
bool ingot_attention_first_is_factor(const ingot_attention *a, float *scale)
{
    const ingot_score_change *first = &a->changes[0];
    int exponent;
    if (a->change_count == 0 || !first->is_number)
        return false;
    *scale = first->kind == INGOT_BINARY_DIV ? 1.0f / first->number : first->number;
    return first->kind == INGOT_BINARY_MUL ||
           (first->kind == INGOT_BINARY_DIV && fabsf(frexpf(first->number, &exponent)) == 0.5f && isnormal(*scale));
}

static void run_chunk(void *argument, size_t chunk, int participant)
{
    const ingot_attention_task *task = argument;
    const ingot_attention_way *way = &task->way;
    ingot_attention_work w = {.task = task, .k = task->scratch + (size_t)participant * scratch_size(way)};
    w.v = w.k + way->k;
    w.q = w.v + way->v;
    w.scores = w.q + way->q;
    w.packed_scores = w.scores + way->scores;
    w.mask = w.packed_scores + way->packed_scores;
    w.result = w.mask + way->mask;
    size_t part = chunk % way->parts, first = ingot_part_begin(task->a->rows, way->parts, part);
    size_t end = ingot_part_begin(task->a->rows, way->parts, part + 1);
    for (size_t i = 0; i < way->per_chunk; i++) {
        w.index = chunk / way->parts * way->per_chunk + i;
        if (w.index >= task->a->count)
            return;
        (way->by_columns ? ingot_attention_pack_columns : ingot_attention_pack_rows)(&w);
        for (size_t row = first; row < end; row += way->rows_at_once) {
            size_t rows = end - row < way->rows_at_once ? end - row : way->rows_at_once;
            (way->by_columns ? ingot_attend_columns : ingot_attend_rows)(&w, row, rows);
        }
    }
}

void ingot_attention_f32(const ingot_attention *attention, void *workspace, int threads)
{
    ingot_attention_task task = {attention, choose_way(attention), ingot_vec_table_best(), workspace};
    if (attention->rows > 0 && attention->width > 0)
        ingot_parallel(threads, ingot_ceil_div(attention->count, task.way.per_chunk) * task.way.parts, run_chunk,
                       &task);
}
