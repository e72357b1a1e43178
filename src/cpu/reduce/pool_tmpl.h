/* Template: an output row of a pooled plane. The rows of the windows are joined first, into a padded buffer, then its columns. */
#include "cpu/reduce/reduce_table.h"
#include "cpu/simd/simd.h"

/* Floats of the buffer: what fewer outputs than MAX_OUTPUTS at a time read. */
#define POOL_BUFFER 2048
#define MAX_OUTPUTS 256

static inline vec pool_join(bool average, vec a, vec b)
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
static void join_rows(const ingot_pool *p, const float *first_row, size_t rows, ptrdiff_t start, size_t count,
                      float *buffer)
{
    vec outside = v_set(p->average ? 0.0f : -INFINITY);
    ptrdiff_t width = (ptrdiff_t)p->in_width;
    for (size_t i = 0; i < count; i += LANES) {
        ptrdiff_t column = start + (ptrdiff_t)i;
        ptrdiff_t low = column < 0 ? -column : 0, high = width - column;
        high = high < 0 ? 0 : high < LANES ? high : LANES;
        vec value = outside;
        if (low < high) {
            mask lanes = m_range((size_t)low, (size_t)high);
            const float *from = first_row + column;
            for (size_t y = 0; y < rows; y++, from += p->dilation_height * p->in_width)
                value = pool_join(p->average, value, v_load_mask(outside, lanes, from));
        }
        v_store(buffer + i, value);
    }
}

/* LANES outputs whose windows begin stride apart at from. */
static inline vec join_columns(const ingot_pool *p, const float *from)
{
    vec value = v_set(p->average ? 0.0f : -INFINITY);
    for (size_t tap = 0; tap < p->kernel_width; tap++, from += p->dilation_width) {
        vec x;
        if (p->stride_width == 1) {
            x = v_load(from);
        } else if (p->stride_width == 2) {
            x = v_even(v_load(from), v_load(from + LANES));
        } else {
            float lanes[LANES];
            for (size_t i = 0; i < LANES; i++)
                lanes[i] = from[i * p->stride_width];
            x = v_load(lanes);
        }
        value = pool_join(p->average, value, x);
    }
    return value;
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
        } else {
            size_t vectors = (count + LANES - 1) / LANES;
            join_rows(p, first_row, rows, start, (vectors * LANES - 1) * stride + span + 1, buffer);
            for (size_t i = 0; i < count; i += LANES)
                v_store_part(out + x + i, join_columns(p, buffer + i * stride), count - i < LANES ? count - i : LANES);
        }
        if (p->average)
            divide(p, y, x, count, out + x);
    }
}
