#include "cpu/reduce/reduce.h"

#include <math.h>

#include "base/threads.h"
#include "cpu/eltwise/vec_table.h"
#include "cpu/reduce/reduce_table.h"

/* Elements read by a chunk: some microseconds of work. */
#define CHUNK ((size_t)32 << 10)
/* What a call for a short row costs, in elements. */
#define CALL 48
/* Columns that one call takes: a few cache lines of each row. */
#define COLUMNS ((size_t)64)

static const ingot_reduce_table *const tables[] = {
#define INGOT_LEVEL(suffix, features) &ingot_reduce_table_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

const ingot_reduce_table *ingot_reduce_table_at(int level)
{
    return tables[level];
}

/* Work on rows or blocks of columns: how many there are, and how many a chunk takes. */
typedef struct pieces {
    size_t count, per_chunk;
} pieces;

static pieces make_pieces(size_t count, size_t elements)
{
    size_t cost = elements + CALL;
    return (pieces){count, cost < CHUNK ? CHUNK / cost : 1};
}

static size_t chunks_of(const pieces *p)
{
    return (p->count + p->per_chunk - 1) / p->per_chunk;
}

static size_t end_of(const pieces *p, size_t chunk)
{
    return (chunk + 1) * p->per_chunk < p->count ? (chunk + 1) * p->per_chunk : p->count;
}

/* x[outer, count, inner]: a piece is a row where inner is 1, else a block of columns. */
typedef struct axis_task {
    const ingot_reduce_table *table;
    pieces pieces;
    ingot_reduce_kind kind;
    bool logarithm;
    size_t count, inner, blocks;
    const float *x;
    float *y;
} axis_task;

static axis_task make_axis_task(size_t outer, size_t count, size_t inner, const float *x, float *y)
{
    axis_task task = {.table = tables[ingot_level_best()], .count = count, .inner = inner, .x = x, .y = y};
    task.blocks = (inner + COLUMNS - 1) / COLUMNS;
    task.pieces = make_pieces(outer * task.blocks, count * (inner < COLUMNS ? inner : COLUMNS));
    return task;
}

static void run_reduce(void *argument, size_t chunk, int participant)
{
    const axis_task *task = argument;
    for (size_t i = chunk * task->pieces.per_chunk; i < end_of(&task->pieces, chunk); i++) {
        size_t outer = i / task->blocks, column = i % task->blocks * COLUMNS;
        size_t columns = task->inner - column < COLUMNS ? task->inner - column : COLUMNS;
        const float *x = task->x + outer * task->count * task->inner + column;
        float *y = task->y + outer * task->inner + column;
        if (task->inner == 1)
            *y = task->table->row(task->kind, x, task->count);
        else
            task->table->columns(task->kind, x, task->count, task->inner, columns, y);
        for (size_t j = 0; task->kind == INGOT_REDUCE_MEAN && j < columns; j++)
            y[j] /= (float)task->count;
    }
}

void ingot_reduce_f32(ingot_reduce_kind kind, size_t outer, size_t count, size_t inner, const float *x, float *y,
                      int threads)
{
    axis_task task = make_axis_task(outer, count, inner, x, y);
    task.kind = kind;
    ingot_parallel(threads, chunks_of(&task.pieces), run_reduce, &task);
}

static void run_softmax(void *argument, size_t chunk, int participant)
{
    const axis_task *task = argument;
    size_t first = chunk * task->pieces.per_chunk, end = end_of(&task->pieces, chunk);
    if (task->inner == 1) {
        task->table->softmax_rows(task->logarithm, task->x + first * task->count, end - first, task->count,
                                  task->y + first * task->count);
        return;
    }
    for (size_t i = first; i < end; i++) {
        size_t outer = i / task->blocks, column = i % task->blocks * COLUMNS;
        size_t columns = task->inner - column < COLUMNS ? task->inner - column : COLUMNS;
        size_t at = outer * task->count * task->inner + column;
        task->table->softmax_columns(task->logarithm, task->x + at, task->count, task->inner, columns, task->y + at);
    }
}

void ingot_softmax_f32(bool logarithm, size_t outer, size_t count, size_t inner, const float *x, float *y, int threads)
{
    axis_task task = make_axis_task(outer, count, inner, x, y);
    task.logarithm = logarithm;
    if (count > 0)
        ingot_parallel(threads, chunks_of(&task.pieces), run_softmax, &task);
}

typedef struct layer_task {
    const ingot_reduce_table *table;
    const ingot_layer_norm *norm;
    pieces pieces;
} layer_task;

/* Few rows at a time: they are still near when they are normalized. */
static void run_layer_norm(void *argument, size_t chunk, int participant)
{
    enum { AT_ONCE = 4 };
    const layer_task *task = argument;
    const ingot_layer_norm *norm = task->norm;
    float means[AT_ONCE], squares[AT_ONCE];
    for (size_t row = chunk * task->pieces.per_chunk, end = end_of(&task->pieces, chunk); row < end; row += AT_ONCE) {
        size_t rows = end - row < AT_ONCE ? end - row : AT_ONCE;
        const float *x = norm->x + row * norm->count;
        float *y = norm->y + row * norm->count;
        task->table->moments(x, rows, norm->count, norm->root_mean_square, means, squares);
        for (size_t i = 0; i < rows; i++, x += norm->count, y += norm->count) {
            float inverse = 1.0f / sqrtf(squares[i] + norm->epsilon);
            task->table->normalize(x, norm->count, means[i], inverse, norm->scale, norm->bias, y);
            if (norm->mean)
                norm->mean[row + i] = means[i];
            if (norm->inverse)
                norm->inverse[row + i] = inverse;
        }
    }
}

void ingot_layer_norm_f32(const ingot_layer_norm *norm, int threads)
{
    layer_task task = {tables[ingot_level_best()], norm, make_pieces(norm->rows, norm->count)};
    if (norm->count > 0)
        ingot_parallel(threads, chunks_of(&task.pieces), run_layer_norm, &task);
}

typedef struct group_task {
    const ingot_reduce_table *table;
    ingot_vec_unary_function affine;
    const ingot_group_norm *norm;
    pieces pieces;
} group_task;

static void run_group_norm(void *argument, size_t chunk, int participant)
{
    const group_task *task = argument;
    const ingot_group_norm *norm = task->norm;
    size_t channels = norm->channels / norm->groups;
    for (size_t i = chunk * task->pieces.per_chunk; i < end_of(&task->pieces, chunk); i++) {
        const float *x = norm->x + i * channels * norm->inner;
        float *y = norm->y + i * channels * norm->inner, mean, square;
        task->table->moments(x, 1, channels * norm->inner, false, &mean, &square);
        float inverse = 1.0f / sqrtf(square + norm->epsilon);
        for (size_t c = 0; c < channels; c++) {
            size_t channel = i % norm->groups * channels + c;
            float scale = norm->scale ? norm->scale[channel] : 1.0f, bias = norm->bias ? norm->bias[channel] : 0.0f;
            task->table->normalize(x + c * norm->inner, norm->inner, mean, inverse, NULL, NULL, y + c * norm->inner);
            task->affine(y + c * norm->inner, y + c * norm->inner, norm->inner, scale, bias);
        }
    }
}

void ingot_group_norm_f32(const ingot_group_norm *norm, int threads)
{
    group_task task = {.table = tables[ingot_level_best()], .norm = norm};
    task.affine = ingot_vec_table_best()->unary[INGOT_UNARY_AFFINE];
    if (norm->channels * norm->inner == 0)
        return;
    task.pieces = make_pieces(norm->batch * norm->groups, norm->channels / norm->groups * norm->inner);
    ingot_parallel(threads, chunks_of(&task.pieces), run_group_norm, &task);
}

typedef struct pool_task {
    const ingot_reduce_table *table;
    const ingot_pool *pool;
    pieces pieces;
    const float *x;
    float *y;
} pool_task;

static void run_pool(void *argument, size_t chunk, int participant)
{
    const pool_task *task = argument;
    const ingot_pool *pool = task->pool;
    for (size_t row = chunk * task->pieces.per_chunk; row < end_of(&task->pieces, chunk); row++) {
        size_t plane = row / pool->out_height;
        task->table->pool_row(pool, task->x + plane * pool->in_height * pool->in_width, row % pool->out_height,
                              task->y + row * pool->out_width);
    }
}

void ingot_pool_f32(const ingot_pool *pool, const float *x, float *y, int threads)
{
    pool_task task = {.table = tables[ingot_level_best()], .pool = pool, .x = x, .y = y};
    task.pieces = make_pieces(pool->planes * pool->out_height, pool->out_width * pool->kernel_height * 2);
    if (pool->out_width > 0)
        ingot_parallel(threads, chunks_of(&task.pieces), run_pool, &task);
}
