#include "cpu/conv/winograd.h"

#include <math.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/conv/conv_table.h"
#include "cpu/eltwise/vec_table.h"
#include "cpu/gemm/gemm_block.h"

/* Channels whose products are summed before the next ones' weights are brought to the points. */
#define K_BLOCK 128
/* Bytes that a chunk's weights at the points may take: half of the L2 cache. */
#define WEIGHTS_BYTES (512u << 10)
/* Bytes of input at the points, about; and bounds of the tiles that are worked on together. */
#define INPUT_BYTES (2u << 20)
#define LEAST_TILES 96
#define MOST_TILES  256
/* Tiles of all channels that a chunk brings to the points. */
#define INPUT_CHUNK 1024
/* The widest vector: whole vectors are written. */
#define MAX_LANES 16

/* Clocks, roughly, on a processor of 32 multiply-adds a clock: what suits depends on ratios alone. */
#define PRODUCT_RATE   28.0  /* multiply-adds a clock in a matrix product */
#define WEIGHT_CLOCKS  5.0   /* to bring a channel's window for one output to the points */
#define TILES_CLOCKS   110.0 /* to bring a vector of tiles of one channel to the points, or back from them */
#define LEAST_CHANNELS 8

ingot_winograd ingot_winograd_tiles(const ingot_conv *c)
{
    ingot_winograd w = {.conv = c, .channels = c->channels / c->groups, .outputs = c->outputs / c->groups};
    w.phases_down = c->dilation_height < c->out_height ? c->dilation_height : c->out_height;
    w.phases_across = c->dilation_width < c->out_width ? c->dilation_width : c->out_width;
    w.tiles_down = ingot_ceil_div(ingot_ceil_div(c->out_height, c->dilation_height), 4);
    w.tiles_across = ingot_ceil_div(ingot_ceil_div(c->out_width, c->dilation_width), 4);
    w.rows = c->batch * w.phases_down * w.tiles_down;
    w.row_tiles = w.phases_across * w.tiles_across;
    return w;
}

/* Taps of an axis, over all outputs, that see the image, not padding. */
static double taps_inside(size_t in, size_t out, size_t dilation, size_t pad)
{
    double count = 0;
    for (size_t tap = 0; tap < 3; tap++) {
        size_t shift = tap * dilation, first = pad > shift ? pad - shift : 0;
        size_t end = in + pad > shift ? in + pad - shift : 0;
        end = end < out ? end : out;
        count += end > first ? (double)(end - first) : 0;
    }
    return count;
}

double ingot_winograd_direct_taps(const ingot_conv *c)
{
    return taps_inside(c->in_height, c->out_height, c->dilation_height, c->pad_top) *
           taps_inside(c->in_width, c->out_width, c->dilation_width, c->pad_left);
}

bool ingot_winograd_suits(const ingot_conv *c)
{
    if (c->kernel_height != 3 || c->kernel_width != 3 || c->stride_height != 1 || c->stride_width != 1 ||
        c->batch == 0 || c->out_height == 0 || c->out_width == 0)
        return false;
    ingot_winograd w = ingot_winograd_tiles(c);
    if (w.channels < LEAST_CHANNELS || w.outputs < LEAST_CHANNELS)
        return false;
    double pairs = (double)w.channels * (double)w.outputs, rows = (double)(w.rows / c->batch);
    double tiles = rows * (double)w.row_tiles, vectors = ceil(tiles / MAX_LANES);
    double blocks = ceil(tiles / LEAST_TILES);
    double here = pairs * (INGOT_WINOGRAD_POINTS * MAX_LANES * vectors / PRODUCT_RATE + blocks * WEIGHT_CLOCKS);
    vectors = rows * (double)(w.phases_across * ingot_ceil_div(w.tiles_across, MAX_LANES));
    here += (w.phases_across > 1 ? 2 : 1) * TILES_CLOCKS * vectors * (double)(w.channels + w.outputs);
    double direct = pairs * ingot_winograd_direct_taps(c) / PRODUCT_RATE;
    return here < 0.9 * direct;
}

static size_t round_up(size_t floats, size_t unit)
{
    return ingot_ceil_div(floats, unit) * unit;
}

ingot_winograd_layout ingot_winograd_input_layout(const ingot_winograd *w, size_t rows)
{
    ingot_winograd_layout layout;
    size_t across = round_up(w->tiles_across, MAX_LANES) * 4 + 2 * MAX_LANES;
    layout.columns = (4 * w->tiles_across + 1) * w->conv->dilation_width + w->phases_across;
    layout.row_size = round_up(layout.columns, MAX_LANES) + MAX_LANES;
    layout.row_size = layout.row_size > across ? layout.row_size : across;
    layout.phase_size = w->conv->dilation_width > 1 ? across : 0;
    /* An odd number of cache lines: else points that are a page apart would drive each other out of the cache. */
    layout.pitch = round_up(rows * w->row_tiles + MAX_LANES, 2 * MAX_LANES) + MAX_LANES;
    layout.size = 6 * layout.row_size + layout.phase_size + INGOT_WINOGRAD_POINTS * layout.pitch;
    return layout;
}

/* How a group is cut up. Sizes are in floats. */
typedef struct winograd_way {
    const ingot_gemm_kernel *kernel;
    size_t k_blocks, blocks, rows_per_block; /* rows of tiles that are worked on together */
    size_t tiles, panels;                    /* of a block, at most */
    size_t row_tiles, chunks;                /* of the weights */
    size_t channels_per_chunk;
    size_t point_size;                                                /* of the input, for one point */
    size_t weights_size, sums_pitch, sums_size, out_row, input, work; /* for a participant */
} winograd_way;

static winograd_way find_way(const ingot_winograd *w)
{
    const ingot_conv *c = w->conv;
    winograd_way way = {.kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best()};
    size_t k = w->channels, width = way.kernel->columns, most_rows = way.kernel->rows;
    way.k_blocks = ingot_ceil_div(k, K_BLOCK);
    size_t steps = ingot_ceil_div(k, way.k_blocks);
    size_t tiles = INPUT_BYTES / (INGOT_WINOGRAD_POINTS * sizeof(float) * k);
    tiles = tiles < LEAST_TILES ? LEAST_TILES : tiles > MOST_TILES ? MOST_TILES : tiles;
    way.blocks = ingot_ceil_div(w->rows, tiles / w->row_tiles > 0 ? tiles / w->row_tiles : 1);
    way.rows_per_block = ingot_ceil_div(w->rows, way.blocks);
    way.tiles = way.rows_per_block * w->row_tiles;
    way.panels = ingot_ceil_div(way.tiles, width);
    way.row_tiles = ingot_gemm_row_tiles(way.kernel, w->outputs);
    size_t tile_bytes = INGOT_WINOGRAD_POINTS * sizeof(float) * steps * most_rows;
    /* An even number of chunks: two threads take as many each. */
    way.chunks = ingot_ceil_div(way.row_tiles, tile_bytes < WEIGHTS_BYTES ? WEIGHTS_BYTES / tile_bytes : 1);
    if (way.chunks % 2 == 1 && way.chunks < way.row_tiles)
        way.chunks++;
    way.channels_per_chunk = way.tiles < INPUT_CHUNK ? ingot_ceil_div(INPUT_CHUNK, way.tiles) : 1;
    way.point_size = way.panels * width * k + MAX_LANES;
    size_t rows = ingot_ceil_div(way.row_tiles, way.chunks) * most_rows;
    way.weights_size = round_up(steps * rows, MAX_LANES) + MAX_LANES;
    way.sums_pitch = round_up(way.tiles, MAX_LANES);
    way.sums_size = way.sums_pitch * rows + MAX_LANES;
    way.out_row = 4 * way.sums_pitch + MAX_LANES;
    way.input = INGOT_WINOGRAD_POINTS * way.point_size;
    size_t work = INGOT_WINOGRAD_POINTS * (way.weights_size + way.sums_size) + 4 * way.out_row;
    size_t scratch = ingot_winograd_input_layout(w, way.rows_per_block).size;
    way.work = round_up(work > scratch ? work : scratch, MAX_LANES);
    return way;
}

size_t ingot_winograd_workspace(const ingot_conv *c, int threads)
{
    ingot_winograd w = ingot_winograd_tiles(c);
    winograd_way way = find_way(&w);
    return way.input + way.work * (size_t)(threads > 1 ? threads : 1);
}

typedef struct winograd_task {
    const ingot_winograd *w;
    winograd_way way;
    const ingot_conv_table *table;
    const ingot_epilogue *epilogue;
    const float *input, *packed; /* of the group */
    size_t first_output;
    float *output, *points, *work;
    ingot_winograd_part part;
    size_t tiles, panels; /* of the part */
} winograd_task;

/* Where block i of the channels begins among the input at a point. */
static size_t block_offset(const winograd_task *task, size_t k)
{
    return k * task->panels * task->way.kernel->columns;
}

static void run_input(void *argument, size_t chunk, int participant)
{
    const winograd_task *task = argument;
    const ingot_winograd *w = task->w;
    const winograd_way *way = &task->way;
    size_t first = chunk * way->channels_per_chunk, end = first + way->channels_per_chunk;
    size_t width = way->kernel->columns, plane = w->conv->in_height * w->conv->in_width, block = 0;
    end = end < w->channels ? end : w->channels;
    float *scratch = task->work + (size_t)participant * way->work;
    for (size_t channel = first; channel < end; channel++) {
        while (ingot_part_begin(w->channels, way->k_blocks, block + 1) <= channel)
            block++;
        size_t k0 = ingot_part_begin(w->channels, way->k_blocks, block);
        size_t steps = ingot_part_begin(w->channels, way->k_blocks, block + 1) - k0;
        ingot_winograd_target target = {.point_stride = way->point_size, .panel_stride = steps * width, .width = width};
        target.to = task->points + block_offset(task, k0) + (channel - k0) * width;
        task->table->winograd_input(&task->part, task->input + channel * plane, &target, scratch);
    }
}

/* One output channel of the part, from its sums on. */
static void finish_output(const winograd_task *task, size_t output, float *sums, float *buffer)
{
    const winograd_way *way = &task->way;
    const ingot_conv *c = task->w->conv;
    const ingot_epilogue *e = task->epilogue;
    size_t channel = task->first_output + output, plane = c->out_height * c->out_width;
    ingot_winograd_sums points = {.from = sums,
                                  .point_stride = way->sums_size,
                                  .tiles = task->tiles,
                                  .row_size = way->out_row,
                                  .scale = e->scaled ? e->scale : 1.0f,
                                  .bias = e->row_bias ? e->row_bias[channel] : 0.0f,
                                  .to = buffer};
    task->table->winograd_output(&points);
    ingot_winograd_store store = {.from = buffer, .row_size = way->out_row, .low = -INFINITY, .high = INFINITY};
    store.add = e->add ? e->add + channel * plane : NULL;
    store.add_last = e->add_last;
    ingot_unary_kind kind = e->activation.kind;
    if (kind == INGOT_UNARY_RELU || kind == INGOT_UNARY_CLIP) {
        store.low = kind == INGOT_UNARY_CLIP ? e->activation.a : 0.0f;
        store.high = kind == INGOT_UNARY_CLIP ? e->activation.b : INFINITY;
    } else if (kind != INGOT_UNARY_IDENTITY) {
        if (store.add && !store.add_last) {
            task->table->winograd_store(&task->part, &store);
            store.add = NULL;
        }
        ingot_vec_unary_function activate = ingot_vec_table_best()->unary[kind];
        for (size_t row = 0; row < 4; row++)
            activate(buffer + row * way->out_row, buffer + row * way->out_row, 4 * task->tiles, e->activation.a,
                     e->activation.b);
    }
    store.out = task->output + channel * plane;
    task->table->winograd_store(&task->part, &store);
}

/* Some row tiles of the weights, with all tiles of the part. */
static void run_outputs(void *argument, size_t chunk, int participant)
{
    const winograd_task *task = argument;
    const ingot_winograd *w = task->w;
    const winograd_way *way = &task->way;
    size_t first = ingot_part_begin(way->row_tiles, way->chunks, chunk);
    size_t end = ingot_part_begin(way->row_tiles, way->chunks, chunk + 1);
    size_t first_row = ingot_part_begin(w->outputs, way->row_tiles, first);
    size_t rows = ingot_part_begin(w->outputs, way->row_tiles, end) - first_row;
    float *weights = task->work + (size_t)participant * way->work;
    float *sums = weights + INGOT_WINOGRAD_POINTS * way->weights_size;
    float *buffer = sums + INGOT_WINOGRAD_POINTS * way->sums_size;
    ingot_gemm_range range = {0, end - first, 0, task->panels};
    for (size_t block = 0; block < way->k_blocks; block++) {
        size_t k0 = ingot_part_begin(w->channels, way->k_blocks, block);
        size_t steps = ingot_part_begin(w->channels, way->k_blocks, block + 1) - k0;
        for (size_t tile = first; tile < end; tile++) {
            size_t row = ingot_part_begin(w->outputs, way->row_tiles, tile);
            size_t height = ingot_part_begin(w->outputs, way->row_tiles, tile + 1) - row;
            task->table->winograd_weights(task->packed + row * 9 * w->channels + k0 * height, w->channels * height,
                                          height, steps, weights + (row - first_row) * steps, way->weights_size);
        }
        ingot_gemm_plan plan = {.kernel = way->kernel, .m = rows, .n = task->tiles, .k = steps};
        plan.accumulate = block > 0;
        plan.c_row = way->sums_pitch;
        plan.epilogue.add_row = plan.c_row;
        for (size_t point = 0; point < INGOT_WINOGRAD_POINTS; point++) {
            plan.packed_a = weights + point * way->weights_size;
            plan.packed_b = task->points + point * way->point_size + block_offset(task, k0);
            plan.c = sums + point * way->sums_size;
            ingot_gemm_f32_block(&plan, &range, NULL);
        }
    }
    for (size_t row = 0; row < rows; row++)
        finish_output(task, first_row + row, sums + row * way->sums_pitch, buffer);
}

void ingot_winograd_f32(const ingot_conv *c, const float *input, const float *packed, const ingot_epilogue *epilogue,
                        float *output, float *workspace, int threads)
{
    ingot_winograd w = ingot_winograd_tiles(c);
    winograd_task task = {.w = &w, .way = find_way(&w), .epilogue = epilogue, .output = output, .points = workspace};
    const winograd_way *way = &task.way;
    task.table = ingot_conv_table_at(ingot_level_for(way->kernel->features));
    task.work = workspace + way->input;
    for (size_t group = 0; group < c->groups; group++) {
        task.input = input + group * w.channels * c->in_height * c->in_width;
        task.packed = packed + group * w.outputs * w.channels * 9;
        task.first_output = group * w.outputs;
        for (size_t block = 0; block < way->blocks; block++) {
            task.part = (ingot_winograd_part){&w, ingot_part_begin(w.rows, way->blocks, block),
                                              ingot_part_begin(w.rows, way->blocks, block + 1)};
            task.tiles = (task.part.end - task.part.first) * w.row_tiles;
            task.panels = ingot_ceil_div(task.tiles, way->kernel->columns);
            ingot_parallel(threads, ingot_ceil_div(w.channels, way->channels_per_chunk), run_input, &task);
            ingot_parallel(threads, way->chunks, run_outputs, &task);
        }
    }
}
