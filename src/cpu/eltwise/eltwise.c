#include "cpu/eltwise/eltwise.h"

#include "base/threads.h"
#include "cpu/eltwise/vec_table.h"

/* Elements of a chunk: some microseconds of work, and the caches hold its inputs and output. */
#define CHUNK ((size_t)8 << 10)

static size_t chunk_count(size_t elements)
{
    return (elements + CHUNK - 1) / CHUNK;
}

/* Less work than some chunks is done before another thread is awake. */
static int useful_threads(size_t elements, int threads)
{
    return elements < 3 * CHUNK ? 1 : threads;
}

static size_t chunk_end(size_t chunk, size_t elements)
{
    return elements - chunk * CHUNK < CHUNK ? elements : (chunk + 1) * CHUNK;
}

typedef struct unary_task {
    ingot_vec_unary_function function;
    const ingot_unary *op;
    const float *x;
    float *y;
    size_t count;
} unary_task;

static void run_unary(void *argument, size_t chunk, int participant)
{
    const unary_task *task = argument;
    size_t start = chunk * CHUNK, end = chunk_end(chunk, task->count);
    task->function(task->x + start, task->y + start, end - start, task->op->a, task->op->b);
}

void ingot_unary_f32(const ingot_unary *op, const float *x, float *y, size_t count, int threads)
{
    unary_task task = {ingot_vec_table_best()->unary[op->kind], op, x, y, count};
    ingot_parallel(useful_threads(count, threads), chunk_count(count), run_unary, &task);
}

bool ingot_broadcast_strides(int from_rank, const size_t *from, int to_rank, const size_t *to, ptrdiff_t *strides)
{
    if (from_rank > to_rank)
        return false;
    ptrdiff_t stride = 1;
    for (int d = to_rank - 1; d >= 0; d--) {
        int source = d - (to_rank - from_rank);
        size_t size = source >= 0 ? from[source] : 1;
        if (size != to[d] && size != 1)
            return false;
        strides[d] = size == 1 ? 0 : stride;
        stride *= (ptrdiff_t)size;
    }
    return true;
}

/* A binary operation whose dimensions are merged as far as their strides allow; there is at least one. */
typedef struct binary_task {
    const ingot_binary *op;
    const ingot_vec_binary_function *functions;
    ingot_vec_unary_function then;
    int rank;
    size_t dims[INGOT_MAX_RANK], count;
    ptrdiff_t a_strides[INGOT_MAX_RANK], b_strides[INGOT_MAX_RANK];
} binary_task;

/* The merged dimensions are collected from the last one on, and then turned round. */
static void merge_dimensions(const ingot_binary *op, binary_task *task)
{
    size_t dims[INGOT_MAX_RANK];
    ptrdiff_t a[INGOT_MAX_RANK], b[INGOT_MAX_RANK];
    int rank = 0;
    task->count = 1;
    for (int d = op->rank - 1; d >= 0; d--) {
        size_t size = op->dims[d];
        task->count *= size;
        if (size == 1)
            continue;
        if (rank > 0 && op->a_strides[d] == a[rank - 1] * (ptrdiff_t)dims[rank - 1] &&
            op->b_strides[d] == b[rank - 1] * (ptrdiff_t)dims[rank - 1]) {
            dims[rank - 1] *= size;
            continue;
        }
        dims[rank] = size;
        a[rank] = op->a_strides[d];
        b[rank++] = op->b_strides[d];
    }
    if (rank == 0) {
        dims[rank] = 1;
        a[rank] = b[rank] = 1;
        rank++;
    }
    for (int d = 0; d < rank; d++) {
        task->dims[d] = dims[rank - 1 - d];
        task->a_strides[d] = a[rank - 1 - d];
        task->b_strides[d] = b[rank - 1 - d];
    }
    task->rank = rank;
}

/* Part of a row with any strides: through buffers, some elements at a time. */
static void run_gathered(const binary_task *task, const float *a, const float *b, float *y, size_t count)
{
    enum { BUFFER = 256 };
    float a_buffer[BUFFER], b_buffer[BUFFER];
    ptrdiff_t a_stride = task->a_strides[task->rank - 1], b_stride = task->b_strides[task->rank - 1];
    for (size_t start = 0; start < count; start += BUFFER) {
        size_t part = count - start < BUFFER ? count - start : BUFFER;
        for (size_t i = 0; i < part; i++) {
            a_buffer[i] = a[(ptrdiff_t)(start + i) * a_stride];
            b_buffer[i] = b[(ptrdiff_t)(start + i) * b_stride];
        }
        task->functions[INGOT_VEC_BOTH](a_buffer, b_buffer, y + start, part);
    }
}

static void run_row(const binary_task *task, const float *a, const float *b, float *y, size_t count)
{
    ptrdiff_t a_stride = task->a_strides[task->rank - 1], b_stride = task->b_strides[task->rank - 1];
    if (a_stride == 1 && b_stride == 1)
        task->functions[INGOT_VEC_BOTH](a, b, y, count);
    else if (a_stride == 0 && b_stride == 1)
        task->functions[INGOT_VEC_ONE_A](a, b, y, count);
    else if (a_stride == 1 && b_stride == 0)
        task->functions[INGOT_VEC_ONE_B](a, b, y, count);
    else
        run_gathered(task, a, b, y, count);
}

static void run_binary(void *argument, size_t chunk, int participant)
{
    const binary_task *task = argument;
    const ingot_binary *op = task->op;
    size_t start = chunk * CHUNK, end = chunk_end(chunk, task->count);
    size_t index[INGOT_MAX_RANK], rest = start;
    for (int d = task->rank - 1; d >= 0; d--) {
        index[d] = rest % task->dims[d];
        rest /= task->dims[d];
    }
    int last = task->rank - 1;
    for (size_t at = start; at < end;) {
        ptrdiff_t a = 0, b = 0;
        for (int d = 0; d <= last; d++) {
            a += (ptrdiff_t)index[d] * task->a_strides[d];
            b += (ptrdiff_t)index[d] * task->b_strides[d];
        }
        size_t count = task->dims[last] - index[last];
        count = count < end - at ? count : end - at;
        run_row(task, op->a + a, op->b + b, op->y + at, count);
        at += count;
        index[last] = 0;
        for (int d = last - 1; d >= 0 && ++index[d] == task->dims[d]; d--)
            index[d] = 0;
    }
    if (op->then.kind != INGOT_UNARY_IDENTITY)
        task->then(op->y + start, op->y + start, end - start, op->then.a, op->then.b);
}

void ingot_binary_f32(const ingot_binary *op, int threads)
{
    binary_task task = {.op = op};
    task.functions = ingot_vec_table_best()->binary[op->kind];
    task.then = ingot_vec_table_best()->unary[op->then.kind];
    merge_dimensions(op, &task);
    ingot_parallel(useful_threads(task.count, threads), chunk_count(task.count), run_binary, &task);
}

typedef struct affine_task {
    const ingot_vec_table *table;
    size_t channels, inner, count;
    const float *x, *scale, *shift;
    const ingot_unary *then;
    float *y;
} affine_task;

/* Part of a row of channels that lie side by side. */
static void affine_across(const affine_task *task, size_t channel, const float *x, float *y, size_t count)
{
    const float *from = x;
    if (task->scale) {
        task->table->binary[INGOT_BINARY_MUL][INGOT_VEC_BOTH](from, task->scale + channel, y, count);
        from = y;
    }
    if (task->shift)
        task->table->binary[INGOT_BINARY_ADD][INGOT_VEC_BOTH](from, task->shift + channel, y, count);
    else if (from == x)
        task->table->unary[INGOT_UNARY_IDENTITY](x, y, count, 0, 0);
}

static void run_affine(void *argument, size_t chunk, int participant)
{
    const affine_task *task = argument;
    size_t start = chunk * CHUNK, end = chunk_end(chunk, task->count);
    size_t row_size = task->inner == 1 ? task->channels : task->inner;
    for (size_t at = start; at < end;) {
        size_t row = at / row_size, count = (row + 1) * row_size - at;
        count = count < end - at ? count : end - at;
        if (task->inner == 1) {
            affine_across(task, at % task->channels, task->x + at, task->y + at, count);
        } else {
            size_t channel = row % task->channels;
            float scale = task->scale ? task->scale[channel] : 1.0f, shift = task->shift ? task->shift[channel] : 0.0f;
            task->table->unary[INGOT_UNARY_AFFINE](task->x + at, task->y + at, count, scale, shift);
        }
        at += count;
    }
    if (task->then && task->then->kind != INGOT_UNARY_IDENTITY)
        task->table->unary[task->then->kind](task->y + start, task->y + start, end - start, task->then->a,
                                             task->then->b);
}

void ingot_channel_affine_f32(size_t outer, size_t channels, size_t inner, const float *x, const float *scale,
                              const float *shift, const ingot_unary *then, float *y, int threads)
{
    affine_task task = {ingot_vec_table_best(), channels, inner, outer * channels * inner, x, scale, shift, then, y};
    ingot_parallel(useful_threads(task.count, threads), chunk_count(task.count), run_affine, &task);
}
