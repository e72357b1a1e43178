/* Operations on the channels of blocked tensors, split over threads by blocks and parts of their images. */
#include "cpu/c16/c16.h"

#include <string.h>

#include "cpu/c16/c16_table.h"
#include "cpu/eltwise/vec_table.h"
#include "cpu/layout/plane_grid.h"

/* Pixels of a block that a chunk of work takes: 32 KiB of input. */
#define CHUNK 512
/* Images of so many pixels are reduced half by half: each core finds the half that it wrote in its own cache. */
#define HALVED_IMAGE 64
/* Planes that are reduced so at a time. */
#define HALVED_PLANES 64

static const ingot_c16_table *const tables[] = {
#define INGOT_LEVEL(suffix, features) &ingot_c16_table_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

const ingot_c16_table *ingot_c16_table_best(void)
{
    return tables[ingot_level_best()];
}

/* Channels of block number index. */
static size_t lanes_of(size_t channels, size_t index)
{
    size_t rest = channels - index * INGOT_BLOCK;
    return rest < INGOT_BLOCK ? rest : INGOT_BLOCK;
}

/* ---- A number a channel ---- */

typedef struct channel_task {
    const ingot_channel_op *op;
    ingot_channel_function function;
    ingot_vec_unary_function then; /* NULL: nothing */
    size_t blocks;
    ingot_plane_grid grid;
} channel_task;

static void run_channels(void *argument, size_t chunk, int participant)
{
    const channel_task *t = argument;
    const ingot_channel_op *op = t->op;
    ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    size_t count = range.end_row - range.first_row;
    for (size_t plane = range.first_plane; plane < range.end_plane; plane++) {
        size_t block = plane % t->blocks, channel = block * INGOT_BLOCK;
        size_t at = (plane * op->image + range.first_row) * INGOT_BLOCK;
        const float *b = op->b + plane / t->blocks * op->b_batch + channel;
        t->function(op->x + at, b, op->c ? op->c + channel : NULL, lanes_of(op->channels, block), op->y + at, count);
        if (t->then)
            t->then(op->y + at, op->y + at, count * INGOT_BLOCK, op->then.a, op->then.b);
    }
}

void ingot_c16_channels_f32(const ingot_channel_op *op, int threads)
{
    channel_task t = {
        .op = op, .function = ingot_c16_table_best()->channel[op->kind], .blocks = ingot_block_count(op->channels)};
    if (op->then.kind != INGOT_UNARY_IDENTITY)
        t.then = ingot_vec_table_best()->unary[op->then.kind];
    t.grid = ingot_plane_grid_of(op->batch * t.blocks, op->image, 1, CHUNK);
    ingot_plane_run(&t.grid, threads, run_channels, &t);
}

/* ---- Reductions of whole images ---- */

typedef struct reduce_task {
    const ingot_c16_table *table;
    ingot_reduce_kind kind;
    size_t blocks, channels, image;
    const float *x;
    float *y;
    size_t first; /* plane of the grid's first one */
    ingot_plane_grid grid;
    float halves[HALVED_PLANES][2][INGOT_BLOCK];
} reduce_task;

static float *reduced(const reduce_task *t, size_t plane)
{
    return t->y + plane / t->blocks * t->channels + plane % t->blocks * INGOT_BLOCK;
}

static void run_reduce(void *argument, size_t chunk, int participant)
{
    const reduce_task *t = argument;
    ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    for (size_t plane = range.first_plane; plane < range.end_plane; plane++)
        t->table->reduce(t->kind, t->x + plane * t->image * INGOT_BLOCK, t->image,
                         lanes_of(t->channels, plane % t->blocks), reduced(t, plane));
}

static void run_halves(void *argument, size_t chunk, int participant)
{
    reduce_task *t = argument;
    const ingot_reduce_kind kind = t->kind == INGOT_REDUCE_MEAN ? INGOT_REDUCE_SUM : t->kind;
    ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    for (size_t i = range.first_plane; i < range.end_plane; i++) {
        for (size_t half = range.first_row; half < range.end_row; half++) {
            size_t first = ingot_part_begin(t->image, 2, half), end = ingot_part_begin(t->image, 2, half + 1);
            t->table->reduce(kind, t->x + ((t->first + i) * t->image + first) * INGOT_BLOCK, end - first,
                             lanes_of(t->channels, (t->first + i) % t->blocks), t->halves[i][half]);
        }
    }
}

/* The halves are two pixels. */
static void join_halves(const reduce_task *t, size_t plane)
{
    const size_t lanes = lanes_of(t->channels, (t->first + plane) % t->blocks);
    float *y = reduced(t, t->first + plane);
    t->table->reduce(t->kind == INGOT_REDUCE_MEAN ? INGOT_REDUCE_SUM : t->kind, t->halves[plane][0], 2, lanes, y);
    for (size_t lane = 0; t->kind == INGOT_REDUCE_MEAN && lane < lanes; lane++)
        y[lane] /= (float)t->image;
}

static void reduce_halves(reduce_task *t, size_t planes, int threads)
{
    for (; t->first < planes; t->first += HALVED_PLANES) {
        const size_t count = planes - t->first < HALVED_PLANES ? planes - t->first : HALVED_PLANES;
        t->grid = ingot_plane_grid_of(count, 2, t->image / 2, CHUNK);
        ingot_plane_run(&t->grid, threads, run_halves, t);
        for (size_t i = 0; i < count; i++)
            join_halves(t, i);
    }
}

void ingot_c16_reduce_f32(ingot_reduce_kind kind, size_t batch, size_t channels, size_t image, const float *x, float *y,
                          int threads)
{
    reduce_task t;
    t.table = ingot_c16_table_best();
    t.kind = kind;
    t.blocks = ingot_block_count(channels);
    t.channels = channels;
    t.image = image;
    t.x = x;
    t.y = y;
    t.first = 0; /* the halves are left as they are */
    if (image >= HALVED_IMAGE) {
        reduce_halves(&t, batch * t.blocks, threads);
        return;
    }
    t.grid = ingot_plane_grid_of(batch * t.blocks, 1, image, CHUNK);
    ingot_plane_run(&t.grid, threads, run_reduce, &t);
}

/* ---- Copies of channels ---- */

typedef struct copy_task {
    const ingot_channel_copy *copy;
    size_t x_blocks, y_blocks, blocks; /* blocks: of y that are written */
    ingot_plane_grid grid;
} copy_task;

/* Lanes of some pixels, from one block to another. */
static void copy_lanes(const float *x, float *y, size_t lanes, size_t count)
{
    if (lanes == INGOT_BLOCK) {
        memcpy(y, x, count * INGOT_BLOCK * sizeof *y);
        return;
    }
    for (size_t i = 0; i < count; i++, x += INGOT_BLOCK, y += INGOT_BLOCK)
        for (size_t lane = 0; lane < lanes; lane++)
            y[lane] = x[lane];
}

/* Some pixels of one block of y: its lanes come from one or two blocks of x. */
static void copy_block(const copy_task *t, size_t n, size_t block, size_t pixel, size_t count)
{
    const ingot_channel_copy *c = t->copy;
    size_t y_block = c->y_first / INGOT_BLOCK + block, begin = y_block * INGOT_BLOCK, end = begin + INGOT_BLOCK;
    begin = begin < c->y_first ? c->y_first : begin;
    end = end > c->y_first + c->count ? c->y_first + c->count : end;
    while (begin < end) {
        size_t from = begin - c->y_first + c->x_first, rest = INGOT_BLOCK - from % INGOT_BLOCK;
        size_t lanes = rest < end - begin ? rest : end - begin;
        /* The last channels of both: the lanes behind them do not matter. */
        bool whole = from % INGOT_BLOCK == 0 && begin % INGOT_BLOCK == 0 && begin + lanes == c->y_channels;
        copy_lanes(c->x + ((n * t->x_blocks + from / INGOT_BLOCK) * c->image + pixel) * INGOT_BLOCK +
                       from % INGOT_BLOCK,
                   c->y + ((n * t->y_blocks + y_block) * c->image + pixel) * INGOT_BLOCK + begin % INGOT_BLOCK,
                   whole ? INGOT_BLOCK : lanes, count);
        begin += lanes;
    }
}

static void run_copy(void *argument, size_t chunk, int participant)
{
    const copy_task *t = argument;
    ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    for (size_t plane = range.first_plane; plane < range.end_plane; plane++)
        copy_block(t, plane / t->blocks, plane % t->blocks, range.first_row, range.end_row - range.first_row);
}

void ingot_c16_copy_f32(const ingot_channel_copy *copy, int threads)
{
    copy_task t = {
        .copy = copy, .x_blocks = ingot_block_count(copy->x_channels), .y_blocks = ingot_block_count(copy->y_channels)};
    if (copy->count == 0)
        return;
    t.blocks = (copy->y_first + copy->count - 1) / INGOT_BLOCK - copy->y_first / INGOT_BLOCK + 1;
    t.grid = ingot_plane_grid_of(copy->batch * t.blocks, copy->image, 1, CHUNK);
    ingot_plane_run(&t.grid, threads, run_copy, &t);
}
