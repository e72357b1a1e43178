/* Operations on the images of blocked tensors, split over threads by rows. */
#include <string.h>

#include "cpu/c16/c16_table.h"
#include "cpu/layout/plane_grid.h"

/* Floats that a chunk of work reads or writes, about. */
#define CHUNK ((size_t)8 << 10)

typedef struct row_task row_task;
typedef void (*row_function)(const row_task *task, size_t plane, size_t row);

struct row_task {
    row_function function;
    ingot_plane_grid grid;
    const ingot_c16_table *table;
    const ingot_pool *pool;
    const ingot_resize_axis *vertical, *horizontal;
    const ingot_c16_padding *padding;
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

static void resize_row(const row_task *t, size_t plane, size_t row)
{
    const ingot_resize_axis *vertical = t->vertical, *horizontal = t->horizontal;
    size_t in = horizontal->in * INGOT_BLOCK;
    const float *x = t->x + plane * vertical->in * in, *top = x + vertical->low[row] * in;
    float *y = t->y + (plane * vertical->out + row) * horizontal->out * INGOT_BLOCK;
    if (vertical->high) {
        t->table->resize_row(top, x + vertical->high[row] * in, vertical->weight[row], horizontal, y);
        return;
    }
    for (size_t i = 0; i < horizontal->out; i++)
        memcpy(y + i * INGOT_BLOCK, top + horizontal->low[i] * (size_t)INGOT_BLOCK, INGOT_BLOCK * sizeof *y);
}

void ingot_c16_resize_f32(size_t planes, const ingot_resize_axis *height, const ingot_resize_axis *width,
                          const float *x, float *y, int threads)
{
    row_task t = {.function = resize_row, .vertical = height, .horizontal = width, .x = x, .y = y};
    run_rows(&t, planes, height->out, width->out * INGOT_BLOCK, threads);
}

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
