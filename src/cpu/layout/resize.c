#include <string.h>

#include "base/threads.h"
#include "cpu/layout/layout_table.h"

/* Elements of output of a chunk. */
#define CHUNK ((size_t)16 << 10)

static const ingot_layout_table *const tables[] = {
#define INGOT_LEVEL(suffix, features) &ingot_layout_table_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

const ingot_layout_table *ingot_layout_table_at(int level)
{
    return tables[level];
}

typedef struct resize_task {
    const ingot_layout_table *table;
    const ingot_resize_axis *height, *width;
    size_t rows, rows_per_chunk; /* rows of all planes */
    const float *x;
    float *y;
} resize_task;

/* Row of output: row % height->out of its plane. same: the row before it in the chunk, where it reads the same input row. */
static void resize_nearest(const resize_task *task, size_t row, bool first)
{
    const ingot_resize_axis *height = task->height, *width = task->width;
    size_t plane = row / height->out, in_row = height->low[row % height->out];
    float *y = task->y + row * width->out;
    if (!first && row % height->out > 0 && height->low[row % height->out - 1] == in_row) {
        memcpy(y, y - width->out, width->out * sizeof *y);
        return;
    }
    const float *x = task->x + (plane * height->in + in_row) * width->in;
    for (size_t i = 0; i < width->out; i++)
        y[i] = x[width->low[i]];
}

static void resize_linear(const resize_task *task, size_t row)
{
    const ingot_resize_axis *height = task->height, *width = task->width;
    size_t plane = row / height->out, at = row % height->out;
    const float *x = task->x + plane * height->in * width->in;
    task->table->resize_row(x + height->low[at] * width->in, x + height->high[at] * width->in, height->weight[at],
                            width, task->y + row * width->out);
}

static void run_resize(void *argument, size_t chunk, int participant)
{
    const resize_task *task = argument;
    size_t first = chunk * task->rows_per_chunk, end = first + task->rows_per_chunk;
    for (size_t row = first; row < end && row < task->rows; row++) {
        if (task->height->high)
            resize_linear(task, row);
        else
            resize_nearest(task, row, row == first);
    }
}

void ingot_resize_f32(size_t planes, const ingot_resize_axis *height, const ingot_resize_axis *width, const float *x,
                      float *y, int threads)
{
    resize_task task = {tables[ingot_level_best()], height, width, planes * height->out, 1, x, y};
    if (task.rows == 0 || width->out == 0)
        return;
    if (width->out < CHUNK)
        task.rows_per_chunk = CHUNK / width->out;
    ingot_parallel(threads, (task.rows + task.rows_per_chunk - 1) / task.rows_per_chunk, run_resize, &task);
}
