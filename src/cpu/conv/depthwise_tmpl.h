/* Template: depthwise convolution of one plane. Some output rows are computed at once, so that a row of input, once loaded,
 * serves several of them. An output's sum runs over the window row by row in every variant. */
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

/* ---- Any window, from a padded copy of the plane ---- */

/* What the inner loops need of a plane. */
typedef struct window {
    const ingot_conv *conv;
    const float *weights;
    size_t row_size, phase_size;
    vec bias, low, high;
} window;

static inline size_t tap_offset(const window *w, size_t x)
{
    size_t column = x * w->conv->dilation_width, stride = w->conv->stride_width;
    return column % stride * w->phase_size + column / stride;
}

/* rows output rows of one vector; rows is a constant. in: the first row's first tap. */
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
        v_store_part(out, v_min(w->high, v_max(w->low, v_add(sum[r], w->bias))), count);
}

static void any_window(const window *w, const float *in, size_t rows, float *out, size_t out_width, size_t count)
{
    if (rows == ROWS_AT_ONCE)
        any_size(w, in, ROWS_AT_ONCE, out, out_width, count);
    else
        any_size(w, in, 1, out, out_width, count);
}

static void run_copied(const ingot_depthwise *task, const float *plane, const float *weights, float bias, float *out,
                       float *scratch)
{
    const ingot_conv *c = task->conv;
    ingot_depthwise_layout layout = ingot_depthwise_plane(c);
    copy_plane(c, &layout, plane, scratch);
    window w = {.conv = c, .weights = weights, .row_size = layout.row_size};
    w.phase_size = layout.rows * layout.row_size;
    w.bias = v_set(bias);
    w.low = v_set(task->low);
    w.high = v_set(task->high);
    size_t height = c->out_height, width = c->out_width, step = height >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
    for (size_t y = 0; y < height; y += step) {
        size_t row = y + step <= height ? y : height - step; /* as below */
        const float *in = scratch + row * c->stride_height * layout.row_size;
        for (size_t x = 0; x < width; x += LANES)
            any_window(&w, in + x, step, out + row * width + x, width, width - x < LANES ? width - x : LANES);
    }
}

/* ---- The usual windows, from where the plane lies ---- */

#define MAX_SIZE 7

/* A vector of outputs of each row: which columns its taps see. With stride 2, tap 2 * i and the next one are the even and the odd
 * elements of two vectors from offset[i] on. */
typedef struct tap_columns {
    ptrdiff_t offset[MAX_SIZE]; /* of lane 0 in a row of the image */
    mask low[MAX_SIZE], high[MAX_SIZE / 2 + 1];
} tap_columns;

/* Lanes of a vector from column first on that are in a row. */
static mask lanes_inside(ptrdiff_t first, size_t width)
{
    ptrdiff_t low = first < 0 ? -first : 0, high = (ptrdiff_t)width - first;
    low = low < LANES ? low : LANES;
    high = high < low ? low : high < LANES ? high : LANES;
    return m_range((size_t)low, (size_t)high);
}

static tap_columns find_columns(const ingot_conv *c, size_t x)
{
    tap_columns found;
    size_t stride = c->stride_width, count = stride == 1 ? c->kernel_width : c->kernel_width / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t first = (ptrdiff_t)((x + i) * stride) - (ptrdiff_t)c->pad_left;
        found.offset[i] = first;
        found.low[i] = lanes_inside(first, c->in_width);
        if (stride == 2)
            found.high[i] = lanes_inside(first + LANES, c->in_width);
    }
    return found;
}

/* A plane, and a row of zeros. */
typedef struct source_plane {
    const ingot_conv *conv;
    const float *plane, *zeros, *weights;
    float bias, low, high;
} source_plane;

/* The taps of one row of the window; size and stride are constants. */
static inline __attribute__((always_inline)) void load_taps(const tap_columns *at, const float *row, const int size,
                                                            const int stride, vec taps[MAX_SIZE + 1])
{
#pragma GCC unroll 8
    for (int x = 0; x < size; x += stride) {
        vec low = v_load_mask(v_zero(), at->low[x / stride], row + at->offset[x / stride]);
        if (stride == 1) {
            taps[x] = low;
        } else {
            vec high = v_load_mask(v_zero(), at->high[x / 2], row + at->offset[x / 2] + LANES);
            taps[x] = v_even(low, high);
            taps[x + 1] = v_odd(low, high);
        }
    }
}

/* Rows of the image, or of zeros, that some rows of windows see. */
typedef struct seen_window {
    const float *row[(ROWS_AT_ONCE - 1) * 2 + MAX_SIZE];
} seen_window;

/* top: the image's row of the first tap. */
static inline void see_window(const source_plane *p, ptrdiff_t top, size_t count, seen_window *seen)
{
    ptrdiff_t height = (ptrdiff_t)p->conv->in_height, width = (ptrdiff_t)p->conv->in_width;
    for (size_t i = 0; i < count; i++, top++)
        seen->row[i] = top >= 0 && top < height ? p->plane + top * width : p->zeros;
}

/* rows output rows of one vector; rows, size and stride are constants. */
static inline __attribute__((always_inline)) void known_window(const source_plane *p, const tap_columns *at,
                                                               const int rows, const int size, const int stride,
                                                               const seen_window *seen, float *out, size_t out_width,
                                                               size_t count)
{
    vec sum[ROWS_AT_ONCE];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
        sum[r] = v_zero();
#pragma GCC unroll 16
    for (int y = 0; y < (rows - 1) * stride + size; y++) {
        vec taps[MAX_SIZE + 1];
        load_taps(at, seen->row[y], size, stride, taps);
#pragma GCC unroll 8
        for (int x = 0; x < size; x++) {
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) {
                int tap = y - r * stride;
                if (tap >= 0 && tap < size)
                    sum[r] = v_fma(v_set(p->weights[tap * size + x]), taps[x], sum[r]);
            }
        }
    }
    vec bias = v_set(p->bias), low = v_set(p->low), high = v_set(p->high);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++, out += out_width) {
        vec value = v_min(high, v_max(low, v_add(sum[r], bias)));
        if (count >= LANES)
            v_store(out, value);
        else
            v_store_part(out, value, count);
    }
}

typedef void (*window_function)(const source_plane *p, const tap_columns *at, const seen_window *seen, float *out,
                                size_t out_width, size_t count);

#define KNOWN_WINDOW(rows, size, stride)                                                                             \
    static void window_##size##_stride_##stride##_rows_##rows(const source_plane *p, const tap_columns *at,          \
                                                              const seen_window *seen, float *out, size_t out_width, \
                                                              size_t count)                                          \
    {                                                                                                                \
        known_window(p, at, rows, size, stride, seen, out, out_width, count);                                        \
    }
KNOWN_WINDOW(1, 3, 1)
KNOWN_WINDOW(4, 3, 1)
KNOWN_WINDOW(1, 3, 2)
KNOWN_WINDOW(4, 3, 2)
KNOWN_WINDOW(1, 5, 1)
KNOWN_WINDOW(4, 5, 1)
KNOWN_WINDOW(1, 5, 2)
KNOWN_WINDOW(4, 5, 2)
KNOWN_WINDOW(1, 7, 1)
KNOWN_WINDOW(4, 7, 1)

/* By half the size, the stride, and whether many rows are computed at once. */
static const window_function windows[MAX_SIZE / 2 + 1][3][2] = {
    [1] = {[1] = {window_3_stride_1_rows_1, window_3_stride_1_rows_4},
           [2] = {window_3_stride_2_rows_1, window_3_stride_2_rows_4}},
    [2] = {[1] = {window_5_stride_1_rows_1, window_5_stride_1_rows_4},
           [2] = {window_5_stride_2_rows_1, window_5_stride_2_rows_4}},
    [3] = {[1] = {window_7_stride_1_rows_1, window_7_stride_1_rows_4}}};

/* Vectors of columns that are worked on row by row, so that memory is read in its order. */
#define VECTORS_AT_ONCE 8

/* The outputs of vectors of columns, from column x on. */
static void run_columns(const source_plane *p, const tap_columns *at, size_t x, size_t vectors, float *out)
{
    const ingot_conv *c = p->conv;
    size_t height = c->out_height, width = c->out_width, step = height >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
    window_function run = windows[c->kernel_width / 2][c->stride_width][step > 1];
    for (size_t y = 0; y < height; y += step) {
        /* The last rows are computed together with some of those before, again. */
        size_t row = y + step <= height ? y : height - step;
        seen_window seen;
        see_window(p, (ptrdiff_t)(row * c->stride_height) - (ptrdiff_t)c->pad_top,
                   (step - 1) * c->stride_height + c->kernel_height, &seen);
        for (size_t v = 0; v < vectors; v++) {
            size_t column = x + v * LANES;
            run(p, &at[v], &seen, out + row * width + column, width, width - column < LANES ? width - column : LANES);
        }
    }
}

static void depthwise(const ingot_depthwise *task, const float *input, const float *weights, const float *bias,
                      float *out, float *scratch)
{
    const ingot_conv *c = task->conv;
    size_t in_plane = c->in_height * c->in_width, out_plane = c->out_height * c->out_width;
    size_t taps = c->kernel_height * c->kernel_width;
    if (!ingot_depthwise_is_direct(c)) {
        for (size_t i = 0; i < task->planes; i++)
            run_copied(task, input + i * in_plane, weights + i * taps, bias ? bias[i] : 0.0f, out + i * out_plane,
                       scratch);
        return;
    }
    for (size_t x = 0; x < c->out_width; x += VECTORS_AT_ONCE * LANES) {
        tap_columns at[VECTORS_AT_ONCE];
        size_t vectors = 0;
        for (; vectors < VECTORS_AT_ONCE && x + vectors * LANES < c->out_width; vectors++)
            at[vectors] = find_columns(c, x + vectors * LANES);
        for (size_t i = 0; i < task->planes; i++) {
            source_plane p = {
                c, input + i * in_plane, scratch, weights + i * taps, bias ? bias[i] : 0.0f, task->low, task->high};
            run_columns(&p, at, x, vectors, out + i * out_plane);
        }
    }
}
