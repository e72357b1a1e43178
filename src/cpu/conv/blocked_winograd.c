#include "cpu/conv/blocked_winograd.h"

#include <math.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/conv/blocked_points.h"
#include "cpu/eltwise/vec.h"

#define TILE 4 /* outputs of a tile, across and down */

/* Blocks of channels whose products are summed before the next ones' weights are brought to the points. */
#define K_BLOCKS 8
/* Bytes of input at the points, about, and bounds of the tiles that are worked on together. */
#define INPUT_BYTES (1u << 20)
#define LEAST_TILES 48
#define MOST_TILES  256
/* Blocks of tiles that a chunk brings to the points; chunks that the products are cut into at least, of so many tiles. */
#define INPUT_CHUNK  64
#define LEAST_CHUNKS 4
#define CHUNK_TILES  42

/* Clocks, roughly, on a processor of 32 multiply-adds a clock: what suits depends on ratios alone. */
#define PRODUCT_RATE   28.0 /* multiply-adds a clock in a product */
#define WEIGHT_CLOCKS  3.0  /* to bring a channel's window for one output to the points */
#define TILE_CLOCKS    90.0 /* to bring a block of channels of a tile to the points, or back */
#define LEAST_CHANNELS 8
/* Fewer tiles take as long: the weights must come from the L2 cache. */
#define LEAST_COLUMNS 8.0

/* Tiles of an image: here those of a phase follow each other, across and then down, then come the phases. */
static size_t count_tiles(const ingot_winograd *w)
{
    return w->phases_down * w->tiles_down * w->row_tiles;
}

/* The first output of a tile. */
static void find_tile(const ingot_winograd *g, size_t tile, size_t *y, size_t *x)
{
    size_t across = tile % g->tiles_across, down = tile / g->tiles_across % g->tiles_down;
    size_t phase = tile / g->tiles_across / g->tiles_down;
    *y = TILE * down * g->conv->dilation_height + phase / g->phases_across;
    *x = TILE * across * g->conv->dilation_width + phase % g->phases_across;
}

bool ingot_blocked_winograd_suits(const ingot_conv *c)
{
    if (c->kernel_height != 3 || c->kernel_width != 3 || c->stride_height != 1 || c->stride_width != 1 ||
        c->out_height == 0 || c->out_width == 0)
        return false;
    size_t channels = c->channels / c->groups, outputs = c->outputs / c->groups;
    if (channels < LEAST_CHANNELS || outputs < LEAST_CHANNELS)
        return false;
    ingot_winograd grid = ingot_winograd_tiles(c);
    double out_blocks = (double)ingot_block_count(outputs), in_blocks = (double)ingot_block_count(channels);
    double pairs = (double)channels * out_blocks * INGOT_BLOCK, tiles = (double)count_tiles(&grid);
    double columns = fmax(tiles, LEAST_COLUMNS);
    double here = pairs * (INGOT_WINOGRAD_POINTS * columns / PRODUCT_RATE + ceil(tiles / LEAST_TILES) * WEIGHT_CLOCKS);
    here += TILE_CLOCKS * tiles * (in_blocks + out_blocks);
    double direct = pairs * ingot_winograd_direct_taps(c) / PRODUCT_RATE;
    return here < 0.9 * direct;
}

/* How a group of channels is cut up. Sizes are in floats. */
typedef struct winograd_way {
    const ingot_conv_table *table;
    ingot_winograd grid;
    size_t image_tiles;
    ingot_blocked_groups groups;
    size_t channels, outputs, in_blocks;
    size_t blocks, tiles;         /* blocks of tiles that are worked on together, and the most tiles of one */
    size_t k_parts, tile_chunks;  /* chunks of a block's tiles */
    size_t input_chunk;           /* tiles */
    size_t point_size;            /* of the input, for one point */
    size_t weight_size, sum_size; /* for a participant, for one point */
    size_t input, work;           /* all points; work is a participant's */
} winograd_way;

static winograd_way find_way(const ingot_conv *c)
{
    const ingot_gemm_kernel *kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best();
    winograd_way way = {.table = ingot_conv_table_at(ingot_level_for(kernel->features)),
                        .grid = ingot_winograd_tiles(c)};
    way.image_tiles = count_tiles(&way.grid);
    way.channels = c->channels / c->groups;
    way.outputs = c->outputs / c->groups;
    way.in_blocks = ingot_block_count(way.channels);
    way.groups = ingot_blocked_find_groups(way.outputs, way.table->blocked.most_blocks);
    size_t all = c->batch * way.image_tiles;
    size_t tiles = INPUT_BYTES / (INGOT_WINOGRAD_POINTS * sizeof(float) * way.in_blocks * INGOT_BLOCK);
    tiles = tiles < LEAST_TILES ? LEAST_TILES : tiles > MOST_TILES ? MOST_TILES : tiles;
    way.blocks = ingot_ceil_div(all, tiles);
    way.tiles = ingot_ceil_div(all, way.blocks);
    way.k_parts = ingot_ceil_div(way.in_blocks, K_BLOCKS);
    way.tile_chunks = 1;
    if (way.groups.count < LEAST_CHUNKS) {
        size_t chunks = ingot_ceil_div(LEAST_CHUNKS, way.groups.count), most = ingot_ceil_div(way.tiles, CHUNK_TILES);
        way.tile_chunks = chunks < most ? chunks : most;
    }
    if (way.tile_chunks == 1 && way.tiles >= LEAST_TILES)
        way.tile_chunks = 2; /* each core then meets its half of the image */
    way.input_chunk = way.tiles < INPUT_CHUNK ? way.tiles : INPUT_CHUNK;
    way.point_size = ingot_point_pitch(way.in_blocks * way.tiles * INGOT_BLOCK);
    size_t width = way.groups.most * INGOT_BLOCK, steps = ingot_ceil_div(way.in_blocks, way.k_parts) * INGOT_BLOCK;
    way.weight_size = ingot_point_pitch(steps * width + INGOT_BLOCK);
    way.sum_size = ingot_point_pitch(ingot_ceil_div(way.tiles, way.tile_chunks) * width);
    way.input = INGOT_WINOGRAD_POINTS * way.point_size;
    way.work = INGOT_WINOGRAD_POINTS * (way.weight_size + way.sum_size + INGOT_BLOCK);
    return way;
}

size_t ingot_blocked_winograd_workspace(const ingot_conv *c, int threads)
{
    winograd_way way = find_way(c);
    return (way.input + way.work * (size_t)(threads > 1 ? threads : 1)) * sizeof(float);
}

typedef struct winograd_task {
    const ingot_conv *conv;
    const winograd_way *way;
    const ingot_epilogue *epilogue;
    const float *input, *packed; /* of all groups; of this one */
    size_t group;
    float *output, *points, *work;
    size_t first_tile, tiles, chunks; /* of the block; chunks of input tiles */
    bool limits;
    float low, high;
} winograd_task;

/* Some tiles of one block of channels. */
static void run_input(void *argument, size_t chunk, int participant)
{
    const winograd_task *task = argument;
    const winograd_way *way = task->way;
    const ingot_conv *c = task->conv;
    size_t block = chunk % way->in_blocks, part = chunk / way->in_blocks,
           plane = c->in_height * c->in_width * INGOT_BLOCK;
    size_t all_blocks = ingot_block_count(c->channels), row_size = c->in_width * INGOT_BLOCK;
    ingot_blocked_points p = {.row = c->dilation_height * row_size,
                              .column = c->dilation_width * INGOT_BLOCK,
                              .point_stride = way->point_size};
    p.scratch = task->work + (size_t)participant * way->work;
    for (size_t i = ingot_part_begin(task->tiles, task->chunks, part);
         i < ingot_part_begin(task->tiles, task->chunks, part + 1); i++) {
        size_t tile = task->first_tile + i, image = tile / way->image_tiles, y, x;
        find_tile(&way->grid, tile % way->image_tiles, &y, &x);
        const float *from = task->input + (image * all_blocks + task->group * way->in_blocks + block) * plane;
        size_t first = y < c->pad_top ? ingot_ceil_div(c->pad_top - y, c->dilation_height) : 0;
        p.first_row = first;
        p.end_row =
            c->in_height + c->pad_top > y ? ingot_ceil_div(c->in_height + c->pad_top - y, c->dilation_height) : 0;
        p.first_column = x < c->pad_left ? ingot_ceil_div(c->pad_left - x, c->dilation_width) : 0;
        p.end_column =
            c->in_width + c->pad_left > x ? ingot_ceil_div(c->in_width + c->pad_left - x, c->dilation_width) : 0;
        p.end_row = p.end_row < 6 ? p.end_row : 6;
        p.end_column = p.end_column < 6 ? p.end_column : 6;
        /* May lie before the image: what is there is not read. */
        p.from = (const float *)((uintptr_t)from +
                                 ((y - c->pad_top) * row_size + (x - c->pad_left) * INGOT_BLOCK) * sizeof(float));
        p.to = task->points + (block * task->tiles + i) * INGOT_BLOCK;
        way->table->blocked_winograd.points(&p);
    }
}

/* One block of outputs of a tile, from its sums on. */
static void finish_tile_outputs(const winograd_task *task, size_t tile, size_t block, float *sums, float *buffer)
{
    const winograd_way *way = task->way;
    const ingot_conv *c = task->conv;
    const ingot_epilogue *e = task->epilogue;
    size_t output = block * INGOT_BLOCK, image = tile / way->image_tiles, y, x;
    ingot_blocked_sums s = {.from = sums, .point_stride = way->sum_size, .to = buffer};
    s.lanes = way->outputs - output < INGOT_BLOCK ? way->outputs - output : INGOT_BLOCK;
    s.bias = e->row_bias ? e->row_bias + task->group * way->outputs + output : NULL;
    way->table->blocked_winograd.sums(&s);
    find_tile(&way->grid, tile % way->image_tiles, &y, &x);
    size_t plane = (image * ingot_block_count(c->outputs) + task->group * way->groups.blocks + block) * c->out_height;
    size_t place = ((plane + y) * c->out_width + x) * INGOT_BLOCK;
    ingot_blocked_store store = {.from = buffer, .out = task->output + place, .low = task->low, .high = task->high};
    store.add = e->add ? e->add + place : NULL;
    store.add_last = e->add_last;
    store.rows = ingot_ceil_div(c->out_height - y, c->dilation_height);
    store.rows = store.rows < TILE ? store.rows : TILE;
    store.columns = ingot_ceil_div(c->out_width - x, c->dilation_width);
    store.columns = store.columns < TILE ? store.columns : TILE;
    store.row = c->dilation_height * c->out_width * INGOT_BLOCK;
    store.column = c->dilation_width * INGOT_BLOCK;
    if (!task->limits && (!store.add || store.add_last)) {
        ingot_vec_unary(&e->activation, buffer, buffer, (size_t)TILE * TILE * INGOT_BLOCK);
    } else if (!task->limits) {
        ingot_blocked_store join = store; /* the sum goes back to the buffer, pixel by pixel as it lies there */
        float sum[TILE * TILE * INGOT_BLOCK];
        for (size_t i = 0; i < store.rows * store.columns; i++) {
            join.from = buffer + (i / store.columns * TILE + i % store.columns) * INGOT_BLOCK;
            join.add = store.add + i / store.columns * store.row + i % store.columns * store.column;
            join.out = sum + (join.from - buffer);
            join.rows = join.columns = 1;
            way->table->blocked_winograd.store(&join);
        }
        ingot_vec_unary(&e->activation, sum, buffer, (size_t)TILE * TILE * INGOT_BLOCK);
        store.add = NULL;
    }
    way->table->blocked_winograd.store(&store);
}

/* A group of outputs, for some tiles of the block. */
static void run_outputs(void *argument, size_t chunk, int participant)
{
    const winograd_task *task = argument;
    const winograd_way *way = task->way;
    size_t group = chunk % way->groups.count, part = chunk / way->groups.count;
    size_t tile = ingot_part_begin(task->tiles, way->tile_chunks, part);
    size_t tiles = ingot_part_begin(task->tiles, way->tile_chunks, part + 1) - tile;
    size_t first = ingot_blocked_group(&way->groups, group), end = ingot_blocked_group(&way->groups, group + 1);
    size_t width = (end - first) * INGOT_BLOCK;
    const float *packed = task->packed + first * INGOT_BLOCK * way->channels * 9;
    float *weights = task->work + (size_t)participant * way->work;
    float *sums = weights + INGOT_WINOGRAD_POINTS * way->weight_size;
    float *buffer = sums + INGOT_WINOGRAD_POINTS * way->sum_size;
    ingot_point_products products = {.kernel = &way->table->blocked,
                                     .points = INGOT_WINOGRAD_POINTS,
                                     .tiles = tiles,
                                     .blocks = end - first,
                                     .channels = way->channels,
                                     .in = task->points + tile * INGOT_BLOCK,
                                     .in_block = task->tiles * INGOT_BLOCK,
                                     .in_pitch = way->point_size,
                                     .weights = weights,
                                     .weight_pitch = way->weight_size,
                                     .sums = sums,
                                     .sum_pitch = way->sum_size};
    for (size_t k = 0; k < way->k_parts; k++) {
        size_t first_block = ingot_part_begin(way->in_blocks, way->k_parts, k);
        size_t end_block = ingot_part_begin(way->in_blocks, way->k_parts, k + 1);
        for (size_t block = first_block; block < end_block; block++) {
            size_t rest = way->channels - block * INGOT_BLOCK, channels = rest < INGOT_BLOCK ? rest : INGOT_BLOCK;
            way->table->blocked_winograd.weights(packed + block * INGOT_BLOCK * 9 * width, channels, width,
                                                 weights + (block - first_block) * INGOT_BLOCK * width,
                                                 way->weight_size);
        }
        products.first_block = first_block;
        products.end_block = end_block;
        ingot_blocked_multiply_points(&products);
    }
    for (size_t block = first; block < end; block++) {
        for (size_t i = 0; i < tiles; i++)
            finish_tile_outputs(task, task->first_tile + tile + i, block,
                                sums + ((block - first) * tiles + i) * INGOT_BLOCK, buffer);
    }
}

void ingot_blocked_winograd_f32(const ingot_conv *c, const float *input, const float *packed,
                                const ingot_epilogue *epilogue, float *output, float *workspace, int threads)
{
    winograd_way way = find_way(c);
    ingot_unary_kind kind = epilogue->activation.kind;
    winograd_task task = {.conv = c, .way = &way, .epilogue = epilogue, .input = input, .output = output};
    task.points = workspace;
    task.work = workspace + way.input;
    task.limits = kind == INGOT_UNARY_IDENTITY || kind == INGOT_UNARY_RELU || kind == INGOT_UNARY_CLIP;
    task.low = kind == INGOT_UNARY_RELU ? 0.0f : kind == INGOT_UNARY_CLIP ? epilogue->activation.a : -INFINITY;
    task.high = kind == INGOT_UNARY_CLIP ? epilogue->activation.b : INFINITY;
    size_t all = c->batch * way.image_tiles;
    for (task.group = 0; task.group < c->groups; task.group++) {
        task.packed = packed + task.group * way.groups.blocks * INGOT_BLOCK * way.channels * 9;
        for (size_t block = 0; block < way.blocks; block++) {
            task.first_tile = ingot_part_begin(all, way.blocks, block);
            task.tiles = ingot_part_begin(all, way.blocks, block + 1) - task.first_tile;
            task.chunks = ingot_ceil_div(task.tiles, way.input_chunk);
            ingot_parallel(threads, way.in_blocks * task.chunks, run_input, &task);
            ingot_parallel(threads, way.groups.count * way.tile_chunks, run_outputs, &task);
        }
    }
}
