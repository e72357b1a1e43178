/* Template: an output row of a pooled plane. The rows of the windows are joined first, into a padded buffer, then its columns. */
#include "cpu/reduce/reduce_table.h"
#include "cpu/simd/simd.h"

/* Floats of the buffer: what fewer outputs than MAX_OUTPUTS at a time read. */
#define POOL_BUFFER 2048
#define MAX_OUTPUTS 256

static inline __attribute__((always_inline)) vec pool_join(const bool average, vec a, vec b)
{
    return average ? v_add(a, b) : v_select(v_is_nan(a), a, v_max(a, b));
}

/* Taps of a window at start (in the image or the padding) that lie in [low, high). */
static size_t taps_inside(ptrdiff_t start, size_t taps, size_t dilation, ptrdiff_t low, ptrdiff_t high, size_t *first)
{
    ptrdiff_t step = (ptrdiff_t)dilation;
    ptrdiff_t begin = start < low ? (low - start + step - 1) / step : 0;
    ptrdiff_t end = start >= high ? 0 : (high - 1 - start) / step + 1;
    end = end < (ptrdiff_t)taps ? end : (ptrdiff_t)taps;
    *first = (size_t)begin;
    return end > begin ? (size_t)(end - begin) : 0;
}

/* The number that a window's sum is divided by, along one axis. */
static float taps_counted(bool padding, ptrdiff_t start, size_t taps, size_t dilation, size_t size, size_t before,
                          size_t after)
{
    size_t first;
    ptrdiff_t low = padding ? -(ptrdiff_t)before : 0, high = (ptrdiff_t)(padding ? size + after : size);
    return (float)taps_inside(start, taps, dilation, low, high, &first);
}

/* buffer[i] = join of column start + i over the window's rows, i < count; the neutral element outside the image. */
static inline __attribute__((always_inline)) void join_rows(const ingot_pool *p, const bool average,
                                                            const float *first_row, size_t rows, ptrdiff_t start,
                                                            size_t count, float *buffer)
{
    vec outside = v_set(average ? 0.0f : -INFINITY);
    ptrdiff_t width = (ptrdiff_t)p->in_width;
    size_t step = p->dilation_height * p->in_width;
    for (size_t i = 0; i < count; i += LANES) {
        ptrdiff_t column = start + (ptrdiff_t)i;
        ptrdiff_t low = column < 0 ? -column : 0, high = width - column;
        high = high < 0 ? 0 : high < LANES ? high : LANES;
        vec value = outside;
        if (low < high && rows > 0) {
            mask lanes = m_range((size_t)low, (size_t)high);
            const float *from = first_row + column;
            value = v_load_mask(outside, lanes, from);
            for (size_t y = 1; y < rows; y++)
                value = pool_join(average, value, v_load_mask(outside, lanes, from + y * step));
        }
        v_store(buffer + i, value);
    }
}

/* LANES elements that lie stride apart; stride 0 is any. */
static inline __attribute__((always_inline)) vec load_apart(const float *from, const size_t stride, size_t any_stride)
{
    if (stride == 1)
        return v_load(from);
    if (stride == 2)
        return v_even(v_load(from), v_load(from + LANES));
    float lanes[LANES];
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = from[i * any_stride];
    return v_load(lanes);
}

/* out[i] = join of the windows' columns, which begin at buffer[i * stride], i < count. */
static inline __attribute__((always_inline)) void join_columns(const ingot_pool *p, const bool average,
                                                               const size_t stride, const float *buffer, size_t count,
                                                               float *out)
{
    for (size_t i = 0; i < count; i += LANES, buffer += LANES * p->stride_width) {
        vec value = load_apart(buffer, stride, p->stride_width);
        for (size_t tap = 1; tap < p->kernel_width; tap++)
            value = pool_join(average, value, load_apart(buffer + tap * p->dilation_width, stride, p->stride_width));
        v_store_part(out + i, value, count - i < LANES ? count - i : LANES);
    }
}

/* Some outputs through the buffer; average is a constant where this is inlined. */
static inline __attribute__((always_inline)) void pool_part(const ingot_pool *p, const bool average,
                                                            const float *first_row, size_t rows, ptrdiff_t start,
                                                            size_t span, size_t count, float *buffer, float *out)
{
    size_t vectors = (count + LANES - 1) / LANES;
    join_rows(p, average, first_row, rows, start, (vectors * LANES - 1) * p->stride_width + span + 1, buffer);
    if (p->stride_width == 1)
        join_columns(p, average, 1, buffer, count, out);
    else if (p->stride_width == 2)
        join_columns(p, average, 2, buffer, count, out);
    else
        join_columns(p, average, 0, buffer, count, out);
}

/* One output at a time, for windows or strides that the buffer is too small for. */
static float pool_one(const ingot_pool *p, const float *first_row, size_t rows, ptrdiff_t start)
{
    size_t first, columns = taps_inside(start, p->kernel_width, p->dilation_width, 0, (ptrdiff_t)p->in_width, &first);
    float value = p->average ? 0.0f : -INFINITY;
    for (size_t x = 0; x < columns; x++) {
        float column = p->average ? 0.0f : -INFINITY;
        const float *from = first_row + start + (ptrdiff_t)((first + x) * p->dilation_width);
        for (size_t y = 0; y < rows; y++, from += p->dilation_height * p->in_width)
            column = p->average ? column + *from : isnan(column) || column > *from ? column : *from;
        value = p->average ? value + column : isnan(value) || value > column ? value : column;
    }
    return value;
}

static void divide(const ingot_pool *p, size_t y, size_t first, size_t count, float *out)
{
    ptrdiff_t start_y = (ptrdiff_t)(y * p->stride_height) - (ptrdiff_t)p->pad_top;
    float rows = taps_counted(p->count_padding, start_y, p->kernel_height, p->dilation_height, p->in_height, p->pad_top,
                              p->pad_bottom);
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t start_x = (ptrdiff_t)((first + i) * p->stride_width) - (ptrdiff_t)p->pad_left;
        out[i] /= rows * taps_counted(p->count_padding, start_x, p->kernel_width, p->dilation_width, p->in_width,
                                      p->pad_left, p->pad_right);
    }
}

static void pool_row(const ingot_pool *p, const float *plane, size_t y, float *out)
{
    float buffer[POOL_BUFFER];
    size_t first, span = (p->kernel_width - 1) * p->dilation_width + 1, stride = p->stride_width;
    ptrdiff_t start_y = (ptrdiff_t)(y * p->stride_height) - (ptrdiff_t)p->pad_top;
    size_t rows = taps_inside(start_y, p->kernel_height, p->dilation_height, 0, (ptrdiff_t)p->in_height, &first);
    const float *first_row = plane;
    if (rows > 0)
        first_row += (start_y + (ptrdiff_t)(first * p->dilation_height)) * (ptrdiff_t)p->in_width;
    /* Whole vectors of outputs are computed from the buffer; two more vectors lie past what they read. */
    bool fits = span < POOL_BUFFER / 2 && stride < POOL_BUFFER / 8 / LANES;
    size_t at_once = fits ? (POOL_BUFFER - span - 2 * LANES) / stride / LANES * LANES : 1;
    at_once = at_once < MAX_OUTPUTS ? at_once : MAX_OUTPUTS;
    for (size_t x = 0; x < p->out_width; x += at_once) {
        size_t count = p->out_width - x < at_once ? p->out_width - x : at_once;
        ptrdiff_t start = (ptrdiff_t)(x * stride) - (ptrdiff_t)p->pad_left;
        if (!fits) {
            out[x] = pool_one(p, first_row, rows, start);
        } else if (p->average) {
            pool_part(p, true, first_row, rows, start, span, count, buffer, out + x);
        } else {
            pool_part(p, false, first_row, rows, start, span, count, buffer, out + x);
        }
        if (p->average)
            divide(p, y, x, count, out + x);
    }
}
