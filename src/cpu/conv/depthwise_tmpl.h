/* Template: depthwise convolution of one plane, from a padded copy of it. Some output rows are computed at once, so that a row of
 * input, once loaded, serves several of them. An output's sum runs over the window row by row in every variant. */
#include "cpu/conv/conv_table.h"
#include "cpu/simd/simd.h"

#define ROWS_AT_ONCE 4

/* Copies count elements that lie stride apart. */
static void copy_phase(const float *from, size_t stride, size_t count, float *to)
{
    size_t i = 0;
    if (stride == 1) {
        for (; i + LANES <= count; i += LANES)
            v_store(to + i, v_load(from + i));
        v_store_part(to + i, v_load_part(from + i, count - i), count - i);
        return;
    }
    if (stride == 2) { /* the last vector would read past the row's end */
        for (; i + LANES < count; i += LANES)
            v_store(to + i, v_even(v_load(from + 2 * i), v_load(from + 2 * i + LANES)));
    }
    if (stride == 4) {
        for (; i + LANES < count; i += LANES) {
            const float *x = from + 4 * i;
            vec low = v_even(v_load(x), v_load(x + LANES)), high = v_even(v_load(x + 2 * LANES), v_load(x + 3 * LANES));
            v_store(to + i, v_even(low, high));
        }
    }
    for (; i < count; i++)
        to[i] = from[i * stride];
}

/* Copies the plane into scratch, whose padding is zero already. */
static void copy_plane(const ingot_conv *c, const ingot_depthwise_layout *layout, const float *plane, float *scratch)
{
    size_t stride = c->stride_width, rows = c->in_height;
    if (c->pad_top + rows > layout->rows)
        rows = layout->rows > c->pad_top ? layout->rows - c->pad_top : 0;
    for (size_t phase = 0; phase < stride; phase++) {
        /* The first column of this phase that lies in the image. */
        size_t padded = c->pad_left <= phase ? phase : phase + (c->pad_left - phase + stride - 1) / stride * stride;
        size_t column = padded - c->pad_left;
        size_t count = column < c->in_width ? (c->in_width - column + stride - 1) / stride : 0;
        size_t room = layout->row_size > padded / stride ? layout->row_size - padded / stride : 0;
        float *to = scratch + (phase * layout->rows + c->pad_top) * layout->row_size + padded / stride;
        for (size_t y = 0; y < rows; y++, to += layout->row_size)
            copy_phase(plane + y * c->in_width + column, stride, count < room ? count : room, to);
    }
}

#define MAX_KNOWN_WIDTH 7

/* What the inner loops need of a plane. */
typedef struct window {
    const ingot_conv *conv;
    const float *weights;
    size_t row_size, phase_size;
    size_t offsets[MAX_KNOWN_WIDTH]; /* of a tap's column from the output's column */
    vec bias, low, high;
} window;

static inline size_t tap_offset(const window *w, size_t x)
{
    size_t column = x * w->conv->dilation_width, stride = w->conv->stride_width;
    return column % stride * w->phase_size + column / stride;
}

static inline vec finish(const window *w, vec sum)
{
    return v_min(w->high, v_max(w->low, v_add(sum, w->bias)));
}

/* rows output rows of one vector, height and width constant, dilation 1 downwards; row_stride is the stride. in: the first
 * row's first tap. */
static inline __attribute__((always_inline)) void known_window(const window *w, const float *in, const int rows,
                                                               const int height, const int width, const int row_stride,
                                                               float *out, size_t out_width, size_t count)
{
    vec sum[ROWS_AT_ONCE];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
        sum[r] = v_zero();
#pragma GCC unroll 16
    for (int y = 0; y < (rows - 1) * row_stride + height; y++) {
#pragma GCC unroll 8
        for (int x = 0; x < width; x++) {
            vec value = v_load(in + (size_t)y * w->row_size + w->offsets[x]);
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) {
                int tap = y - r * row_stride;
                if (tap >= 0 && tap < height)
                    sum[r] = v_fma(v_set(w->weights[tap * width + x]), value, sum[r]);
            }
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++, out += out_width) {
        if (count >= LANES)
            v_store(out, finish(w, sum[r]));
        else
            v_store_part(out, finish(w, sum[r]), count);
    }
}

/* The same for any window. */
static inline __attribute__((always_inline)) void any_size(const window *w, const float *in, const int rows, float *out,
                                                           size_t out_width, size_t count)
{
    const ingot_conv *c = w->conv;
    vec sum[ROWS_AT_ONCE];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
        sum[r] = v_zero();
    for (size_t y = 0; y < c->kernel_height; y++, in += c->dilation_height * w->row_size) {
        for (size_t x = 0; x < c->kernel_width; x++) {
            vec weight = v_set(w->weights[y * c->kernel_width + x]);
            const float *from = in + tap_offset(w, x);
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                sum[r] = v_fma(weight, v_load(from + (size_t)r * c->stride_height * w->row_size), sum[r]);
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++, out += out_width)
        v_store_part(out, finish(w, sum[r]), count);
}

static void any_window(const window *w, const float *in, size_t rows, float *out, size_t out_width, size_t count)
{
    if (rows == ROWS_AT_ONCE)
        any_size(w, in, ROWS_AT_ONCE, out, out_width, count);
    else
        any_size(w, in, 1, out, out_width, count);
}

typedef void (*window_function)(const window *w, const float *in, size_t rows, float *out, size_t out_width,
                                size_t count);

#define KNOWN_WINDOW(size, stride)                                                                         \
    static void window_##size##_stride_##stride(const window *w, const float *in, size_t rows, float *out, \
                                                size_t out_width, size_t count)                            \
    {                                                                                                      \
        if (rows == ROWS_AT_ONCE)                                                                          \
            known_window(w, in, ROWS_AT_ONCE, size, size, stride, out, out_width, count);                  \
        else                                                                                               \
            known_window(w, in, 1, size, size, stride, out, out_width, count);                             \
    }
KNOWN_WINDOW(3, 1)
KNOWN_WINDOW(3, 2)
KNOWN_WINDOW(5, 1)
KNOWN_WINDOW(5, 2)
KNOWN_WINDOW(7, 1)

static window_function choose_window(const ingot_conv *c)
{
    size_t size = c->kernel_height, stride = c->stride_height;
    if (c->kernel_width != size || c->dilation_height != 1)
        return any_window;
    if (size == 3)
        return stride == 1 ? window_3_stride_1 : stride == 2 ? window_3_stride_2 : any_window;
    if (size == 5)
        return stride == 1 ? window_5_stride_1 : stride == 2 ? window_5_stride_2 : any_window;
    return size == 7 && stride == 1 ? window_7_stride_1 : any_window;
}

static void depthwise(const ingot_depthwise *task, const float *plane, const float *weights, float bias, float *out,
                      float *scratch)
{
    const ingot_conv *c = task->conv;
    ingot_depthwise_layout layout = ingot_depthwise_plane(c);
    copy_plane(c, &layout, plane, scratch);
    window w = {.conv = c, .weights = weights, .row_size = layout.row_size};
    w.phase_size = layout.rows * layout.row_size;
    for (size_t x = 0; x < c->kernel_width && x < MAX_KNOWN_WIDTH; x++)
        w.offsets[x] = tap_offset(&w, x);
    w.bias = v_set(bias);
    w.low = v_set(task->low);
    w.high = v_set(task->high);
    window_function run = choose_window(c);
    size_t height = c->out_height, width = c->out_width, step = height >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
    for (size_t y = 0; y < height; y += step) {
        /* The last rows are computed together with some of those before, again. */
        size_t row = y + step <= height ? y : height - step;
        const float *in = scratch + row * c->stride_height * layout.row_size;
        for (size_t x = 0; x < width; x += LANES)
            run(&w, in + x, step, out + row * width + x, width, width - x < LANES ? width - x : LANES);
    }
}
