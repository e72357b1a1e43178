/* Between the plain layout and the one in blocks of 16 channels. */
#include "base/memory.h"
#include "cpu/layout/layout_table.h"
#include "cpu/layout/plane_grid.h"

/* Pixels of a block that a chunk of work moves: 32 KiB of each side. */
#define CHUNK 512

size_t ingot_blocked_image(int rank, const int64_t *dims)
{
    return (size_t)dims[rank - 1] * (rank == 4 ? (size_t)dims[2] : 1);
}

size_t ingot_blocked_count(int rank, const int64_t *dims)
{
    return (size_t)dims[0] * ingot_block_count((size_t)dims[1]) * INGOT_BLOCK * ingot_blocked_image(rank, dims);
}

bool ingot_blocked_bytes(unsigned layout, ingot_element element, int rank, const int64_t *dims, size_t *bytes)
{
    int64_t padded[4];
    if (layout == INGOT_LAYOUT_NHWC)
        return rank == 4 && ingot_element_size(element) == 1 && ingot_tensor_bytes(element, rank, dims, bytes);
    if (layout != INGOT_LAYOUT_C16 || element != INGOT_FLOAT || rank < 3 || rank > 4 ||
        dims[1] > INT64_MAX - INGOT_BLOCK)
        return false;
    for (int i = 0; i < rank; i++)
        padded[i] = dims[i];
    padded[1] = (dims[1] + INGOT_BLOCK - 1) / INGOT_BLOCK * INGOT_BLOCK;
    return ingot_tensor_bytes(element, rank, padded, bytes);
}

typedef struct reorder_task {
    const ingot_layout_table *table;
    size_t channels, blocks, image;
    ingot_plane_grid grid;
    const float *x;
    float *y;
    bool to_blocks;
} reorder_task;

static void reorder_block(const reorder_task *t, size_t n, size_t block, size_t first, size_t count)
{
    size_t channel = block * INGOT_BLOCK;
    size_t channels = t->channels - channel < INGOT_BLOCK ? t->channels - channel : INGOT_BLOCK;
    size_t plain = (n * t->channels + channel) * t->image + first;
    size_t blocked = ((n * t->blocks + block) * t->image + first) * INGOT_BLOCK;
    if (t->to_blocks)
        t->table->block(t->x + plain, t->image, channels, t->y + blocked, count);
    else
        t->table->unblock(t->x + blocked, t->y + plain, t->image, channels, count);
}

static void run_reorder(void *argument, size_t chunk, int participant)
{
    const reorder_task *t = argument;
    ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    for (size_t plane = range.first_plane; plane < range.end_plane; plane++)
        reorder_block(t, plane / t->blocks, plane % t->blocks, range.first_row, range.end_row - range.first_row);
}

static reorder_task reorder_of(size_t channels, size_t image, const float *x, float *y, bool to_blocks)
{
    return (reorder_task){.table = ingot_layout_table_at(ingot_level_best()),
                          .channels = channels,
                          .blocks = ingot_block_count(channels),
                          .image = image,
                          .x = x,
                          .y = y,
                          .to_blocks = to_blocks};
}

static void reorder(size_t batch, size_t channels, size_t image, const float *x, float *y, bool to_blocks, int threads)
{
    reorder_task t = reorder_of(channels, image, x, y, to_blocks);
    t.grid = ingot_plane_grid_of(batch * t.blocks, image, 1, CHUNK);
    ingot_plane_run(&t.grid, threads, run_reorder, &t);
}

void ingot_block_f32(size_t batch, size_t channels, size_t image, const float *x, float *y, int threads)
{
    reorder(batch, channels, image, x, y, true, threads);
}

void ingot_unblock_f32(size_t batch, size_t channels, size_t image, const float *x, float *y, int threads)
{
    reorder(batch, channels, image, x, y, false, threads);
}

/* ---- Channels last ---- */

/* All channels of some pixels: they lie side by side in the plain tensor. */
static void run_last(void *argument, size_t chunk, int participant)
{
    const reorder_task *t = argument;
    const ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    const size_t count = range.end_row - range.first_row;
    for (size_t n = range.first_plane; n < range.end_plane; n++) {
        for (size_t block = 0; block < t->blocks; block++) {
            const size_t channel = block * INGOT_BLOCK, rest = t->channels - channel;
            const size_t plain = (n * t->image + range.first_row) * t->channels + channel;
            const size_t blocked = ((n * t->blocks + block) * t->image + range.first_row) * INGOT_BLOCK;
            const size_t lanes = rest < INGOT_BLOCK ? rest : INGOT_BLOCK;
            if (t->to_blocks)
                t->table->block_last(t->x + plain, t->channels, lanes, t->y + blocked, count);
            else
                t->table->unblock_last(t->x + blocked, t->y + plain, t->channels, lanes, count);
        }
    }
}

static void reorder_last(size_t batch, size_t channels, size_t image, const float *x, float *y, bool to_blocks,
                         int threads)
{
    reorder_task t = reorder_of(channels, image, x, y, to_blocks);
    t.grid = ingot_plane_grid_of(batch, image, t.blocks, CHUNK);
    ingot_plane_run(&t.grid, threads, run_last, &t);
}

void ingot_block_last_f32(size_t batch, size_t channels, size_t image, const float *x, float *y, int threads)
{
    reorder_last(batch, channels, image, x, y, true, threads);
}

void ingot_unblock_last_f32(size_t batch, size_t channels, size_t image, const float *x, float *y, int threads)
{
    reorder_last(batch, channels, image, x, y, false, threads);
}
