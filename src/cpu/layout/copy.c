#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "cpu/layout/layout_table.h"

/* Bytes of output of a chunk. */
#define CHUNK ((size_t)64 << 10)
/* Less than this is copied before another thread is awake. */
#define LEAST_BYTES (4 * CHUNK)
/* Side of the squares that a transpose works in: both sides' cache lines stay in L1. */
#define SQUARE 16

/* Dimensions are sorted by y's stride, largest first, and merged where both sides allow it; sizes of 1 are gone. */
typedef struct copy_task {
    int rank;
    size_t dims[INGOT_MAX_RANK], element_size;
    ptrdiff_t x_strides[INGOT_MAX_RANK], y_strides[INGOT_MAX_RANK];
    const char *x;
    char *y;
    int across; /* dimension along which x lies side by side, where it is not the last; else -1 */
    size_t items, items_per_chunk;
} copy_task;

static size_t magnitude(ptrdiff_t stride)
{
    return stride < 0 ? (size_t)-stride : (size_t)stride;
}

/* Inserts a dimension before the first of smaller stride in y. */
static void insert_dimension(copy_task *task, size_t size, ptrdiff_t x_stride, ptrdiff_t y_stride)
{
    int at = task->rank++;
    for (; at > 0 && magnitude(task->y_strides[at - 1]) < magnitude(y_stride); at--) {
        task->dims[at] = task->dims[at - 1];
        task->x_strides[at] = task->x_strides[at - 1];
        task->y_strides[at] = task->y_strides[at - 1];
    }
    task->dims[at] = size;
    task->x_strides[at] = x_stride;
    task->y_strides[at] = y_stride;
}

static void merge_dimensions(copy_task *task)
{
    int rank = 0;
    for (int d = 0; d < task->rank; d++) {
        ptrdiff_t size = (ptrdiff_t)task->dims[d];
        if (rank > 0 && task->x_strides[rank - 1] == task->x_strides[d] * size &&
            task->y_strides[rank - 1] == task->y_strides[d] * size) {
            rank--;
            task->dims[rank] *= task->dims[d];
        } else {
            task->dims[rank] = task->dims[d];
        }
        task->x_strides[rank] = task->x_strides[d];
        task->y_strides[rank++] = task->y_strides[d];
    }
    if (rank == 0) {
        task->dims[0] = 1;
        task->x_strides[0] = task->y_strides[0] = 1;
        rank = 1;
    }
    task->rank = rank;
}

/* Copies count elements that lie so many elements apart. */
static void copy_row(const char *x, ptrdiff_t x_stride, char *y, ptrdiff_t y_stride, size_t count, size_t size)
{
#define COPY(bytes)                    \
    for (size_t i = 0; i < count; i++) \
    memcpy(y + (ptrdiff_t)i * y_stride * (bytes), x + (ptrdiff_t)i * x_stride * (bytes), bytes)
    if (x_stride == 1 && y_stride == 1)
        memcpy(y, x, count * size);
    else if (size == 4)
        COPY(4);
    else if (size == 1)
        COPY(1);
    else if (size == 2)
        COPY(2);
    else if (size == 8)
        COPY(8);
    else
        COPY(16);
#undef COPY
}

/* A plane of the last dimension and the one called across, in squares. */
static void transpose_plane(const copy_task *task, const char *x, char *y)
{
    int last = task->rank - 1, across = task->across;
    size_t rows = task->dims[across], columns = task->dims[last], size = task->element_size;
    ptrdiff_t x_stride = task->x_strides[last], y_stride = task->y_strides[across];
    if (size == sizeof(float)) {
        ingot_layout_table_at(ingot_level_best())
            ->transpose_4((const float *)(const void *)x, x_stride, (float *)(void *)y, y_stride, rows, columns);
        return;
    }
    for (size_t row = 0; row < rows; row += SQUARE) {
        size_t end = rows - row < SQUARE ? rows : row + SQUARE;
        for (size_t column = 0; column < columns; column += SQUARE) {
            size_t count = columns - column < SQUARE ? columns - column : SQUARE;
            for (size_t r = row; r < end; r++)
                copy_row(x + ((ptrdiff_t)r + (ptrdiff_t)column * x_stride) * (ptrdiff_t)size, x_stride,
                         y + ((ptrdiff_t)r * y_stride + (ptrdiff_t)column) * (ptrdiff_t)size, 1, count, size);
        }
    }
}

/* An item is a row, or a plane that is transposed: an index of the dimensions that those do not have. */
static void run_copy(void *argument, size_t chunk, int participant)
{
    const copy_task *task = argument;
    size_t first = chunk * task->items_per_chunk, end = first + task->items_per_chunk;
    int last = task->rank - 1;
    for (size_t item = first; item < end && item < task->items; item++) {
        size_t rest = item;
        ptrdiff_t x = 0, y = 0, size = (ptrdiff_t)task->element_size;
        for (int d = last - 1; d >= 0; d--) {
            if (d == task->across)
                continue;
            ptrdiff_t index = (ptrdiff_t)(rest % task->dims[d]);
            rest /= task->dims[d];
            x += index * task->x_strides[d];
            y += index * task->y_strides[d];
        }
        if (task->across >= 0)
            transpose_plane(task, task->x + x * size, task->y + y * size);
        else
            copy_row(task->x + x * size, task->x_strides[last], task->y + y * size, task->y_strides[last],
                     task->dims[last], task->element_size);
    }
}

/* Cuts the largest dimension of an item in parts of whole squares, which become a dimension of their own, so that threads find
 * work: a matrix is one item, and so is a vector. */
static void cut_items(copy_task *task)
{
    int last = task->rank - 1, longest = last;
    size_t bytes = task->dims[last] * task->element_size;
    if (task->across >= 0) {
        bytes *= task->dims[task->across];
        if (task->dims[task->across] > task->dims[last])
            longest = task->across;
    }
    size_t size = task->dims[longest];
    size_t parts = bytes / CHUNK < size / SQUARE ? bytes / CHUNK : size / SQUARE;
    if (task->items != 1 || task->rank == INGOT_MAX_RANK)
        return;
    while (parts > 1 && size % parts != 0)
        parts--;
    if (parts <= 1)
        return;
    memmove(task->dims + 1, task->dims, (size_t)task->rank * sizeof *task->dims);
    memmove(task->x_strides + 1, task->x_strides, (size_t)task->rank * sizeof *task->x_strides);
    memmove(task->y_strides + 1, task->y_strides, (size_t)task->rank * sizeof *task->y_strides);
    task->rank++;
    task->across += task->across >= 0;
    longest++;
    task->dims[longest] = size / parts;
    task->dims[0] = parts;
    task->x_strides[0] = task->x_strides[longest] * (ptrdiff_t)(size / parts);
    task->y_strides[0] = task->y_strides[longest] * (ptrdiff_t)(size / parts);
    task->items = parts;
}

void ingot_copy_strided(const ingot_copy *copy, int threads)
{
    copy_task task = {.element_size = copy->element_size, .x = copy->x, .y = copy->y, .across = -1, .items = 1};
    size_t count = 1;
    for (int d = 0; d < copy->rank; d++) {
        count *= copy->dims[d];
        if (copy->dims[d] != 1)
            insert_dimension(&task, copy->dims[d], copy->x_strides[d], copy->y_strides[d]);
    }
    if (count == 0)
        return;
    merge_dimensions(&task);
    int last = task.rank - 1;
    if (task.x_strides[last] != 1 && task.y_strides[last] == 1) {
        for (int d = 0; d < last; d++) {
            if (task.x_strides[d] == 1)
                task.across = d;
        }
    }
    for (int d = 0; d < last; d++) {
        if (d != task.across)
            task.items *= task.dims[d];
    }
    cut_items(&task);
    size_t bytes = count / task.items * copy->element_size;
    task.items_per_chunk = bytes < CHUNK ? CHUNK / bytes : 1;
    if (count * copy->element_size < LEAST_BYTES)
        threads = 1;
    ingot_parallel(threads, (task.items + task.items_per_chunk - 1) / task.items_per_chunk, run_copy, &task);
}

void ingot_transpose(int rank, const size_t *dims, const int *permutation, size_t element_size, const void *x, void *y,
                     int threads)
{
    size_t out[INGOT_MAX_RANK];
    ptrdiff_t dense[INGOT_MAX_RANK], x_strides[INGOT_MAX_RANK], y_strides[INGOT_MAX_RANK], stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        dense[d] = stride;
        stride *= (ptrdiff_t)dims[d];
    }
    stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        out[d] = dims[permutation[d]];
        x_strides[d] = dense[permutation[d]];
        y_strides[d] = stride;
        stride *= (ptrdiff_t)out[d];
    }
    ingot_copy copy = {rank, out, element_size, x, x_strides, y, y_strides};
    ingot_copy_strided(&copy, threads);
}
