#include "cpu/attention/attention.h"

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/eltwise/vec_table.h"
#include "cpu/gemm/gemm_block.h"
#include "cpu/reduce/reduce.h"

/* Scores that are made at a time: they, and they once more as an operand, stay in the L2 cache. */
#define SCORES_AT_ONCE (48u << 10)
/* Multiply-adds of a chunk, at least. */
#define CHUNK_WORK (2u << 20)
/* A batch of fewer matrices is split by rows too, as far as so many rows are left to each part. */
#define FEW_MATRICES 8
#define ROWS_OF_PART 64
/* For fewer row tiles V is read where it lies. */
#define DIRECT_TILES 2

/* How a call is carried out; floats of each part of a participant's workspace. */
typedef struct attention_way {
    const ingot_gemm_kernel *kernel;
    size_t rows_at_once, parts, per_chunk; /* parts of a matrix's rows; matrices of a chunk */
    size_t k, v, q, scores, packed_scores;
} attention_way;

static size_t round_up(size_t floats)
{
    size_t line = INGOT_ALIGNMENT / sizeof(float);
    return ingot_ceil_div(floats, line) * line;
}

static size_t panels_size(const ingot_gemm_kernel *kernel, size_t steps, size_t columns)
{
    return round_up(ingot_ceil_div(columns, kernel->columns) * kernel->columns * steps);
}

static attention_way choose_way(const ingot_attention *a)
{
    attention_way way = {.kernel = ingot_gemm_kernel_best(), .parts = 1, .per_chunk = 1};
    size_t tile = way.kernel->rows, tiles = SCORES_AT_ONCE / (a->keys > 0 ? a->keys : 1) / tile;
    way.rows_at_once = (tiles > 0 ? tiles : 1) * tile;
    way.rows_at_once = way.rows_at_once < a->rows ? way.rows_at_once : a->rows;
    double work = (double)a->rows * (double)a->keys * (double)(a->depth + a->width + 1);
    if (a->count < FEW_MATRICES && work > CHUNK_WORK)
        way.parts = a->rows / ROWS_OF_PART > 1 ? a->rows / ROWS_OF_PART : 1;
    else if (work < CHUNK_WORK)
        way.per_chunk = (size_t)(CHUNK_WORK / work) + 1;
    way.k = panels_size(way.kernel, a->depth, a->keys);
    way.v = panels_size(way.kernel, a->keys, a->width);
    way.q = round_up(way.rows_at_once * a->depth);
    way.scores = way.packed_scores = round_up(way.rows_at_once * a->keys);
    return way;
}

static size_t scratch_size(const attention_way *way)
{
    return way->k + way->v + way->q + way->scores + way->packed_scores;
}

size_t ingot_attention_f32_workspace(const ingot_attention *attention, int threads)
{
    attention_way way = choose_way(attention);
    return scratch_size(&way) * (size_t)(threads > 1 ? threads : 1) * sizeof(float);
}

typedef struct attention_task {
    const ingot_attention *a;
    attention_way way;
    const ingot_vec_table *table;
    float *scratch;
} attention_task;

/* What one participant works with: operands of a matrix, packed, and its scores. */
typedef struct attention_work {
    const attention_task *task;
    size_t index; /* of the matrix */
    float *k, *v, *q, *scores, *packed_scores;
    const float *direct_v; /* in place of v, where it is read where it lies */
} attention_work;

static ptrdiff_t find_matrix(const ingot_matrices *m, size_t index)
{
    ptrdiff_t offset = 0;
    for (int d = m->rank - 1; d >= 0; d--) {
        offset += (ptrdiff_t)(index % m->dims[d]) * m->strides[d];
        index /= m->dims[d];
    }
    return offset;
}

static void scale_packed(const attention_work *w, const ingot_matrices *m, float *packed, size_t count)
{
    if (m->scaled)
        w->task->table->binary[INGOT_BINARY_MUL][INGOT_VEC_ONE_B](packed, &m->scale, packed, count);
}

static void pack_keys_and_values(attention_work *w)
{
    const ingot_attention *a = w->task->a;
    const attention_way *way = &w->task->way;
    const float *k = a->k.data + find_matrix(&a->k, w->index), *v = a->v.data + find_matrix(&a->v, w->index);
    ingot_gemm_f32_pack_panels(way->kernel, k, a->k.row, a->k.column, a->depth, a->keys, w->k);
    scale_packed(w, &a->k, w->k, way->k);
    w->direct_v = NULL;
    if (a->v.column == 1 && a->v.row >= 0 && !a->v.scaled &&
        ingot_gemm_row_tiles(way->kernel, a->rows) <= DIRECT_TILES) {
        w->direct_v = v;
        return;
    }
    ingot_gemm_f32_pack_panels(way->kernel, v, a->v.row, a->v.column, a->keys, a->width, w->v);
    scale_packed(w, &a->v, w->v, way->v);
}

/* Changes from number first on, of count rows from row on. */
static void change_scores(const attention_work *w, size_t first, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    for (size_t i = first; i < a->change_count; i++) {
        const ingot_score_change *change = &a->changes[i];
        const ingot_vec_binary_function *functions = w->task->table->binary[change->kind];
        if (change->is_number) {
            functions[INGOT_VEC_ONE_B](w->scores, &change->number, w->scores, rows * a->keys);
            continue;
        }
        const ingot_matrices *m = &change->matrices;
        const float *data = m->data + find_matrix(m, w->index) + (ptrdiff_t)row * m->row;
        for (size_t r = 0; r < rows; r++, data += m->row)
            functions[m->column ? INGOT_VEC_BOTH : INGOT_VEC_ONE_B](w->scores + r * a->keys, data,
                                                                    w->scores + r * a->keys, a->keys);
    }
}

static void make_scores(const attention_work *w, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    const attention_way *way = &w->task->way;
    ingot_gemm_plan plan = {.kernel = way->kernel, .m = rows, .n = a->keys, .k = a->depth, .packed_a = w->q};
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(way->kernel, rows), 0,
                              ingot_ceil_div(a->keys, way->kernel->columns)};
    ingot_gemm_f32_pack_a(way->kernel, rows, a->depth,
                          a->q.data + find_matrix(&a->q, w->index) + (ptrdiff_t)row * a->q.row, a->q.row, a->q.column,
                          0, range.end_tile, w->q);
    scale_packed(w, &a->q, w->q, rows * a->depth);
    plan.packed_b = w->k;
    plan.c = w->scores;
    plan.c_row = a->keys;
    bool scaled = a->change_count > 0 && a->changes[0].is_number && a->changes[0].kind == INGOT_BINARY_MUL;
    if (scaled) {
        plan.epilogue.scaled = true;
        plan.epilogue.scale = a->changes[0].number;
    }
    ingot_gemm_f32_block(&plan, &range, NULL);
    change_scores(w, scaled ? 1 : 0, row, rows);
}

static void attend(const attention_work *w, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    const attention_way *way = &w->task->way;
    make_scores(w, row, rows);
    ingot_softmax_f32(false, rows, a->keys, 1, w->scores, w->scores, 1);
    ingot_gemm_plan plan = {.kernel = way->kernel, .m = rows, .n = a->width, .k = a->keys};
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(way->kernel, rows), 0,
                              ingot_ceil_div(a->width, way->kernel->columns)};
    ingot_gemm_f32_pack_a(way->kernel, rows, a->keys, w->scores, (ptrdiff_t)a->keys, 1, 0, range.end_tile,
                          w->packed_scores);
    plan.packed_a = w->packed_scores;
    plan.packed_b = w->direct_v ? NULL : w->v;
    plan.direct_b = w->direct_v;
    plan.direct_b_row = (size_t)a->v.row;
    plan.c = a->y_data + find_matrix(&a->y, w->index) + (ptrdiff_t)row * a->y.row;
    plan.c_row = (size_t)a->y.row;
    ingot_gemm_f32_block(&plan, &range, NULL);
}

static void run_chunk(void *argument, size_t chunk, int participant)
{
    const attention_task *task = argument;
    const attention_way *way = &task->way;
    attention_work w = {.task = task, .k = task->scratch + (size_t)participant * scratch_size(way)};
    w.v = w.k + way->k;
    w.q = w.v + way->v;
    w.scores = w.q + way->q;
    w.packed_scores = w.scores + way->scores;
    size_t part = chunk % way->parts, first = ingot_part_begin(task->a->rows, way->parts, part);
    size_t end = ingot_part_begin(task->a->rows, way->parts, part + 1);
    for (size_t i = 0; i < way->per_chunk; i++) {
        w.index = chunk / way->parts * way->per_chunk + i;
        if (w.index >= task->a->count)
            return;
        pack_keys_and_values(&w);
        for (size_t row = first; row < end; row += way->rows_at_once)
            attend(&w, row, end - row < way->rows_at_once ? end - row : way->rows_at_once);
    }
}

void ingot_attention_f32(const ingot_attention *attention, void *workspace, int threads)
{
    attention_task task = {attention, choose_way(attention), ingot_vec_table_best(), workspace};
    if (attention->rows > 0 && attention->width > 0)
        ingot_parallel(threads, ingot_ceil_div(attention->count, task.way.per_chunk) * task.way.parts, run_chunk,
                       &task);
}
