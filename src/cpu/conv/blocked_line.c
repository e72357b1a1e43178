#include "cpu/conv/blocked_line.h"

#include <math.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/conv/blocked_points.h"
#include "cpu/conv/blocked_way.h"
#include "cpu/eltwise/vec_table.h"

/* Blocks of channels whose products are summed before the next ones' weights are brought to the points. */
#define K_BLOCKS 16
/* Bytes of input at the points, about, that are worked on together: from the L3 cache, as weights are brought to the points anew for
 * each such strip. */
#define INPUT_BYTES (3u << 20)
/* Fewer tiles of a row, or channels, do not pay for the points. */
#define LEAST_TILES    28
#define LEAST_CHANNELS 64

bool ingot_blocked_line_suits(const ingot_conv *c)
{
    return c->groups == 1 && c->kernel_height == 1 && c->kernel_width == INGOT_LINE_TAPS && c->stride_height == 1 &&
           c->stride_width == 1 && c->dilation_width == 1 && c->pad_top == 0 && c->out_height == c->in_height &&
           c->channels >= LEAST_CHANNELS && c->outputs >= LEAST_CHANNELS &&
           c->out_width >= LEAST_TILES * INGOT_LINE_OUTPUTS;
}

/* How it is cut up. Sizes are in floats. */
typedef struct line_way {
    const ingot_conv_table *table;
    ingot_blocked_groups groups;
    size_t in_blocks, k_parts;
    size_t row_tiles, strips, tiles; /* of a row; pieces of it that are worked on together, and their most tiles */
    size_t point_pitch, weight_pitch, sum_pitch, work; /* work: of a participant */
} line_way;

static line_way find_way(const ingot_conv *c)
{
    const ingot_gemm_kernel *kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best();
    line_way way = {.table = ingot_conv_table_at(ingot_level_for(kernel->features))};
    way.groups = ingot_blocked_find_groups(c->outputs, way.table->blocked.most_blocks);
    way.in_blocks = ingot_block_count(c->channels);
    way.k_parts = ingot_ceil_div(way.in_blocks, K_BLOCKS);
    way.row_tiles = ingot_ceil_div(c->out_width, INGOT_LINE_OUTPUTS);
    size_t tiles = INPUT_BYTES / (INGOT_LINE_POINTS * sizeof(float) * way.in_blocks * INGOT_BLOCK);
    way.strips = ingot_ceil_div(way.row_tiles, ingot_most(tiles, LEAST_TILES));
    way.tiles = ingot_ceil_div(way.row_tiles, way.strips);
    way.point_pitch = ingot_point_pitch(way.in_blocks * way.tiles * INGOT_BLOCK);
    size_t width = way.groups.most * INGOT_BLOCK, steps = ingot_ceil_div(way.in_blocks, way.k_parts) * INGOT_BLOCK;
    way.weight_pitch = ingot_point_pitch(steps * width);
    way.sum_pitch = ingot_point_pitch(way.tiles * width);
    way.work = INGOT_LINE_POINTS * (way.weight_pitch + way.sum_pitch);
    return way;
}

size_t ingot_blocked_line_workspace(const ingot_conv *c, int threads)
{
    line_way way = find_way(c);
    return (INGOT_LINE_POINTS * way.point_pitch + way.work * (size_t)(threads > 1 ? threads : 1)) * sizeof(float);
}

typedef struct line_task {
    const ingot_conv *conv;
    const line_way *way;
    const ingot_epilogue *epilogue;
    ingot_vec_unary_function activation; /* what the kernel does not do; NULL: nothing */
    float low, high;
    const float *input, *packed;
    float *output, *points, *work;
    size_t image, row, first_tile, tiles; /* the strip */
} line_task;

/* One block of the input's channels. */
static void run_input(void *argument, size_t block, int participant)
{
    const line_task *task = argument;
    const ingot_conv *c = task->conv;
    size_t row = (task->image * task->way->in_blocks + block) * c->in_height + task->row;
    ingot_line_points p = {.row = task->input + row * c->in_width * INGOT_BLOCK,
                           .first = (ptrdiff_t)(task->first_tile * INGOT_LINE_OUTPUTS) - (ptrdiff_t)c->pad_left,
                           .width = c->in_width,
                           .tiles = task->tiles,
                           .to = task->points + block * task->tiles * INGOT_BLOCK,
                           .pitch = task->way->point_pitch};
    task->way->table->line.points(&p);
}

static void finish_block(const line_task *task, size_t block, const float *sums)
{
    const line_way *way = task->way;
    const ingot_conv *c = task->conv;
    const ingot_epilogue *e = task->epilogue;
    size_t column = task->first_tile * INGOT_LINE_OUTPUTS, output = block * INGOT_BLOCK;
    size_t row = (task->image * way->groups.blocks + block) * c->out_height + task->row;
    size_t place = (row * c->out_width + column) * INGOT_BLOCK;
    const float *add = e->add ? e->add + place : NULL;
    bool adds_later = task->activation && e->add_last;
    ingot_line_sums s = {.from = sums, .pitch = way->sum_pitch, .low = task->low, .high = task->high};
    s.columns = ingot_least(task->tiles * INGOT_LINE_OUTPUTS, c->out_width - column);
    s.lanes = ingot_least(c->outputs - output, INGOT_BLOCK);
    s.bias = e->row_bias ? e->row_bias + output : NULL;
    s.add = adds_later ? NULL : add;
    s.add_last = e->add_last;
    s.out = task->output + place;
    way->table->line.sums(&s);
    if (!task->activation)
        return;
    task->activation(s.out, s.out, s.columns * INGOT_BLOCK, e->activation.a, e->activation.b);
    if (add && adds_later)
        ingot_vec_table_best()->binary[INGOT_BINARY_ADD][INGOT_VEC_BOTH](s.out, add, s.out, s.columns * INGOT_BLOCK);
}

/* A group of outputs. */
static void run_outputs(void *argument, size_t group, int participant)
{
    const line_task *task = argument;
    const line_way *way = task->way;
    const size_t channels = task->conv->channels;
    size_t first = ingot_blocked_group(&way->groups, group), end = ingot_blocked_group(&way->groups, group + 1);
    size_t width = (end - first) * INGOT_BLOCK;
    const float *packed = task->packed + first * INGOT_BLOCK * channels * INGOT_LINE_TAPS;
    float *weights = task->work + (size_t)participant * way->work;
    float *sums = weights + INGOT_LINE_POINTS * way->weight_pitch;
    ingot_point_products products = {.kernel = &way->table->blocked,
                                     .points = INGOT_LINE_POINTS,
                                     .tiles = task->tiles,
                                     .blocks = end - first,
                                     .channels = channels,
                                     .in = task->points,
                                     .in_block = task->tiles * INGOT_BLOCK,
                                     .in_pitch = way->point_pitch,
                                     .weights = weights,
                                     .weight_pitch = way->weight_pitch,
                                     .sums = sums,
                                     .sum_pitch = way->sum_pitch};
    for (size_t k = 0; k < way->k_parts; k++) {
        products.first_block = ingot_part_begin(way->in_blocks, way->k_parts, k);
        products.end_block = ingot_part_begin(way->in_blocks, way->k_parts, k + 1);
        for (size_t block = products.first_block; block < products.end_block; block++)
            way->table->line.weights(packed + block * INGOT_BLOCK * INGOT_LINE_TAPS * width,
                                     ingot_least(channels - block * INGOT_BLOCK, INGOT_BLOCK) * width,
                                     weights + (block - products.first_block) * INGOT_BLOCK * width, way->weight_pitch);
        ingot_blocked_multiply_points(&products);
    }
    for (size_t block = first; block < end; block++)
        finish_block(task, block, sums + (block - first) * task->tiles * INGOT_BLOCK);
}

void ingot_blocked_line_f32(const ingot_conv *c, const float *input, const float *packed,
                            const ingot_epilogue *epilogue, float *output, float *workspace, int threads)
{
    line_way way = find_way(c);
    ingot_unary_kind kind = epilogue->activation.kind;
    line_task task = {.conv = c, .way = &way, .epilogue = epilogue, .input = input, .packed = packed};
    task.output = output;
    task.points = workspace;
    task.work = workspace + INGOT_LINE_POINTS * way.point_pitch;
    if (kind != INGOT_UNARY_IDENTITY && kind != INGOT_UNARY_RELU && kind != INGOT_UNARY_CLIP)
        task.activation = ingot_vec_table_best()->unary[kind];
    task.low = kind == INGOT_UNARY_RELU ? 0.0f : kind == INGOT_UNARY_CLIP ? epilogue->activation.a : -INFINITY;
    task.high = kind == INGOT_UNARY_CLIP ? epilogue->activation.b : INFINITY;
    for (size_t i = 0; i < c->batch * c->out_height * way.strips; i++) {
        size_t strip = i % way.strips, row = i / way.strips;
        task.image = row / c->out_height;
        task.row = row % c->out_height;
        task.first_tile = ingot_part_begin(way.row_tiles, way.strips, strip);
        task.tiles = ingot_part_begin(way.row_tiles, way.strips, strip + 1) - task.first_tile;
        ingot_parallel(threads, way.in_blocks, run_input, &task);
        ingot_parallel(threads, way.groups.count, run_outputs, &task);
    }
}
