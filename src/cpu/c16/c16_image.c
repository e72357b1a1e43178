/* Operations on the images of blocked tensors, split over threads by rows. */
#include <string.h>

#include "cpu/c16/c16_table.h"
#include "cpu/layout/layout_table.h"
#include "cpu/layout/plane_grid.h"
#include "cpu/sizes.h"

/* Floats that a chunk of work reads or writes, about. */
#define CHUNK ((size_t)8 << 10)
/* Pixels of a block that are resized at a time before they go to channels that are last. */
#define PIECE 64
/* Channels that are put side by side in the cache before they leave it, at most. */
#define FEW_CHANNELS 64

typedef struct row_task row_task;
typedef void (*row_function)(const row_task *task, size_t plane, size_t row);

struct row_task {
    row_function function;
    ingot_plane_grid grid;
    const ingot_c16_table *table;
    const ingot_pool *pool;
    const ingot_resize_axis *vertical, *horizontal;
    const ingot_c16_padding *padding;
    size_t channels; /* where they are last in y */
    const float *x;
    float *y;
};

static void run_some(void *argument, size_t chunk, int participant)
{
    const row_task *t = argument;
    ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    for (size_t plane = range.first_plane; plane < range.end_plane; plane++)
        for (size_t row = range.first_row; row < range.end_row; row++)
            t->function(t, plane, row);
}

/* floats: what a row takes. */
static void run_rows(row_task *t, size_t planes, size_t height, size_t floats, int threads)
{
    t->table = ingot_c16_table_best();
    t->grid = ingot_plane_grid_of(planes, height, floats, CHUNK);
    ingot_plane_run(&t->grid, threads, run_some, t);
}

/* ---- Pools ---- */

static void pool_row(const row_task *t, size_t plane, size_t row)
{
    const ingot_pool *p = t->pool;
    t->table->pool_row(p, t->x + plane * p->in_height * p->in_width * INGOT_BLOCK, row,
                       t->y + (plane * p->out_height + row) * p->out_width * INGOT_BLOCK);
}

void ingot_c16_pool_f32(const ingot_pool *pool, const float *x, float *y, int threads)
{
    row_task t = {.function = pool_row, .pool = pool, .x = x, .y = y};
    run_rows(&t, pool->planes, pool->out_height, pool->out_width * pool->kernel_height * pool->kernel_width * 8,
             threads);
}

/* ---- Resizing ---- */

/* Pixels of a row of a block: those of the axis. y: where the first one goes. */
static void resize_pixels(const row_task *t, size_t plane, size_t row, const ingot_resize_axis *axis, float *y)
{
    const ingot_resize_axis *vertical = t->vertical;
    size_t in = axis->in * INGOT_BLOCK;
    const float *x = t->x + plane * vertical->in * in, *top = x + vertical->low[row] * in;
    if (vertical->high) {
        t->table->resize_row(top, x + vertical->high[row] * in, vertical->weight[row], axis, y);
        return;
    }
    for (size_t i = 0; i < axis->out; i++)
        memcpy(y + i * INGOT_BLOCK, top + axis->low[i] * (size_t)INGOT_BLOCK, INGOT_BLOCK * sizeof *y);
}

static void resize_row(const row_task *t, size_t plane, size_t row)
{
    resize_pixels(t, plane, row, t->horizontal,
                  t->y + (plane * t->vertical->out + row) * t->horizontal->out * INGOT_BLOCK);
}

void ingot_c16_resize_f32(size_t planes, const ingot_resize_axis *height, const ingot_resize_axis *width,
                          const float *x, float *y, int threads)
{
    row_task t = {.function = resize_row, .vertical = height, .horizontal = width, .x = x, .y = y};
    run_rows(&t, planes, height->out, width->out * INGOT_BLOCK, threads);
}

/* Some pixels of an axis. */
static ingot_resize_axis part_of(const ingot_resize_axis *axis, size_t first, size_t count)
{
    ingot_resize_axis part = {.in = axis->in, .out = count, .low = axis->low + first};
    if (axis->high) {
        part.high = axis->high + first;
        part.weight = axis->weight + first;
    }
    return part;
}

/* A row of an image: some pixels of a block at a time, which go from the L1 cache to their places. Few channels are put side by
 * side there first: lines of memory that are written whole need not be read before. */
static void resize_row_last(const row_task *t, size_t n, size_t row)
{
    const ingot_layout_table *layout = ingot_layout_table_at(ingot_level_best());
    const size_t width = t->horizontal->out, channels = t->channels, blocks = ingot_block_count(channels);
    const bool joins = channels <= FEW_CHANNELS;
    float pixels[PIECE * INGOT_BLOCK], joined[PIECE * FEW_CHANNELS];
    for (size_t first = 0; first < width; first += PIECE) {
        const ingot_resize_axis piece = part_of(t->horizontal, first, ingot_least(PIECE, width - first));
        float *y = t->y + ((n * t->vertical->out + row) * width + first) * channels, *to = joins ? joined : y;
        for (size_t block = 0; block < blocks; block++) {
            const size_t channel = block * INGOT_BLOCK;
            resize_pixels(t, n * blocks + block, row, &piece, pixels);
            layout->unblock_last(pixels, to + channel, channels, ingot_least(channels - channel, INGOT_BLOCK),
                                 piece.out);
        }
        if (joins)
            memcpy(y, joined, piece.out * channels * sizeof *y);
    }
}

void ingot_c16_resize_last_f32(size_t batch, size_t channels, const ingot_resize_axis *height,
                               const ingot_resize_axis *width, const float *x, float *y, int threads)
{
    row_task t = {
        .function = resize_row_last, .vertical = height, .horizontal = width, .channels = channels, .x = x, .y = y};
    run_rows(&t, batch, height->out, width->out * ingot_block_count(channels) * INGOT_BLOCK, threads);
}

/* ---- Padding ---- */

static void fill(float *y, float value, size_t pixels)
{
    for (size_t i = 0; i < pixels * INGOT_BLOCK; i++)
        y[i] = value;
}

static void pad_row(const row_task *t, size_t plane, size_t row)
{
    const ingot_c16_padding *p = t->padding;
    float *y = t->y + (plane * p->out_height + row) * p->out_width * INGOT_BLOCK;
    if (row < p->top || row - p->top >= p->in_height) {
        fill(y, p->value, p->out_width);
        return;
    }
    fill(y, p->value, p->left);
    memcpy(y + p->left * INGOT_BLOCK, t->x + (plane * p->in_height + row - p->top) * p->in_width * INGOT_BLOCK,
           p->in_width * INGOT_BLOCK * sizeof *y);
    fill(y + (p->left + p->in_width) * INGOT_BLOCK, p->value, p->out_width - p->left - p->in_width);
}

void ingot_c16_pad_f32(const ingot_c16_padding *padding, const float *x, float *y, int threads)
{
    row_task t = {.function = pad_row, .padding = padding, .x = x, .y = y};
    run_rows(&t, padding->planes, padding->out_height, padding->out_width * INGOT_BLOCK, threads);
}

static void crop_row(const row_task *t, size_t plane, size_t row)
{
    const ingot_c16_padding *p = t->padding;
    memcpy(t->y + (plane * p->out_height + row) * p->out_width * INGOT_BLOCK,
           t->x + ((plane * p->in_height + row + p->top) * p->in_width + p->left) * INGOT_BLOCK,
           p->out_width * INGOT_BLOCK * sizeof *t->y);
}

void ingot_c16_crop_f32(const ingot_c16_padding *border, const float *x, float *y, int threads)
{
    row_task t = {.function = crop_row, .padding = border, .x = x, .y = y};
    run_rows(&t, border->planes, border->out_height, border->out_width * INGOT_BLOCK, threads);
}
