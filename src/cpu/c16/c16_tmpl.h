/* Template: kernels on blocks of 16 channels. A pixel of a block is 16 / LANES vectors. */
#include <stdbool.h>

#include "cpu/c16/c16_table.h"
#include "cpu/simd/simd.h"

/* ---- A number a channel ---- */

static inline vec load_channels(const float *b, size_t lane, size_t channels)
{
    size_t rest = b && channels > lane ? channels - lane : 0;
    return rest == 0 ? v_zero() : v_load_part(b + lane, rest < LANES ? rest : LANES);
}

static inline vec op_add(vec x, vec b, vec c)
{
    return v_add(x, b);
}
static inline vec op_sub(vec x, vec b, vec c)
{
    return v_sub(x, b);
}
static inline vec op_sub_from(vec x, vec b, vec c)
{
    return v_sub(b, x);
}
static inline vec op_mul(vec x, vec b, vec c)
{
    return v_mul(x, b);
}
static inline vec op_div(vec x, vec b, vec c)
{
    return v_div(x, b);
}
static inline vec op_div_of(vec x, vec b, vec c)
{
    return v_div(b, x);
}
/* v_min gives its second operand where one is NaN. */
static inline vec op_min(vec x, vec b, vec c)
{
    return v_select(v_is_nan(x), x, v_min(x, b));
}
static inline vec op_max(vec x, vec b, vec c)
{
    return v_select(v_is_nan(x), x, v_max(x, b));
}
static inline vec op_affine(vec x, vec b, vec c)
{
    return v_fma(x, b, c);
}
static inline vec op_leaky_relu(vec x, vec b, vec c)
{
    return v_select(v_less(x, v_zero()), v_mul(b, x), x);
}

#define CHANNEL_KERNELS(X) \
    X(ADD, add)            \
    X(SUB, sub)            \
    X(SUB_FROM, sub_from)  \
    X(MUL, mul)            \
    X(DIV, div)            \
    X(DIV_OF, div_of)      \
    X(MIN, min)            \
    X(MAX, max)            \
    X(AFFINE, affine)      \
    X(LEAKY_RELU, leaky_relu)

#define CHANNEL_FUNCTION(kind, name)                                                                               \
    static void channel_##name(const float *x, const float *b, const float *c, size_t channels, float *y,          \
                               size_t count)                                                                       \
    {                                                                                                              \
        for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {                                                 \
            vec first = load_channels(b, lane, channels), second = load_channels(c, lane, channels);               \
            for (size_t i = 0; i < count; i++)                                                                     \
                v_store(y + i * INGOT_BLOCK + lane, op_##name(v_load(x + i * INGOT_BLOCK + lane), first, second)); \
        }                                                                                                          \
    }
CHANNEL_KERNELS(CHANNEL_FUNCTION)

/* ---- Joining ---- */

#define UNROLL 4

static inline __attribute__((always_inline)) vec join(const ingot_reduce_kind kind, vec a, vec b)
{
    if (kind == INGOT_REDUCE_MAX)
        return v_select(v_is_nan(a), a, v_max(a, b));
    if (kind == INGOT_REDUCE_MIN)
        return v_select(v_is_nan(a), a, v_min(a, b));
    return v_add(a, b);
}

static inline float neutral(ingot_reduce_kind kind)
{
    return kind == INGOT_REDUCE_MAX ? -INFINITY : kind == INGOT_REDUCE_MIN ? INFINITY : 0.0f;
}

static inline __attribute__((always_inline)) void join_pixels(const ingot_reduce_kind kind, const float *x,
                                                              size_t count, size_t channels, float *y)
{
    for (size_t lane = 0; lane < channels; lane += LANES) {
        vec sum[UNROLL];
        for (int u = 0; u < UNROLL; u++)
            sum[u] = v_set(neutral(kind));
        size_t i = 0;
        for (; i + UNROLL <= count; i += UNROLL) {
            for (size_t u = 0; u < UNROLL; u++)
                sum[u] = join(kind, sum[u], v_load(x + (i + u) * INGOT_BLOCK + lane));
        }
        for (; i < count; i++)
            sum[0] = join(kind, sum[0], v_load(x + i * INGOT_BLOCK + lane));
        vec all = join(kind, join(kind, sum[0], sum[1]), join(kind, sum[2], sum[3]));
        if (kind == INGOT_REDUCE_MEAN)
            all = v_div(all, v_set((float)count));
        v_store_part(y + lane, all, channels - lane < LANES ? channels - lane : LANES);
    }
}

static void reduce(ingot_reduce_kind kind, const float *x, size_t count, size_t channels, float *y)
{
    switch (kind) {
    case INGOT_REDUCE_MAX:
        join_pixels(INGOT_REDUCE_MAX, x, count, channels, y);
        break;
    case INGOT_REDUCE_MIN:
        join_pixels(INGOT_REDUCE_MIN, x, count, channels, y);
        break;
    case INGOT_REDUCE_MEAN:
        join_pixels(INGOT_REDUCE_MEAN, x, count, channels, y);
        break;
    default:
        join_pixels(INGOT_REDUCE_SUM, x, count, channels, y);
    }
}

/* ---- Normalization ---- */

static inline vec add_up(const vec sum[UNROLL])
{
    return v_add(v_add(sum[0], sum[1]), v_add(sum[2], sum[3]));
}

static void moments(const float *x, size_t count, float *mean, float *squares)
{
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        vec sum[UNROLL] = {v_zero(), v_zero(), v_zero(), v_zero()};
        vec square[UNROLL] = {v_zero(), v_zero(), v_zero(), v_zero()};
        size_t i = 0;
        for (; i + UNROLL <= count; i += UNROLL)
            for (size_t u = 0; u < UNROLL; u++)
                sum[u] = v_add(sum[u], v_load(x + (i + u) * INGOT_BLOCK + lane));
        for (; i < count; i++)
            sum[0] = v_add(sum[0], v_load(x + i * INGOT_BLOCK + lane));
        const vec middle = v_div(add_up(sum), v_set((float)count));
        for (i = 0; i + UNROLL <= count; i += UNROLL) {
            for (size_t u = 0; u < UNROLL; u++) {
                const vec off = v_sub(v_load(x + (i + u) * INGOT_BLOCK + lane), middle);
                square[u] = v_fma(off, off, square[u]);
            }
        }
        for (; i < count; i++) {
            const vec off = v_sub(v_load(x + i * INGOT_BLOCK + lane), middle);
            square[0] = v_fma(off, off, square[0]);
        }
        v_store(mean + lane, middle);
        v_store(squares + lane, add_up(square));
    }
}

static void normalize(const float *x, const float *mean, const float *factor, const float *summand, float *y,
                      size_t count)
{
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        const vec middle = v_load(mean + lane), by = v_load(factor + lane), plus = v_load(summand + lane);
        for (size_t i = 0; i < count; i++)
            v_store(y + i * INGOT_BLOCK + lane, v_fma(v_sub(v_load(x + i * INGOT_BLOCK + lane), middle), by, plus));
    }
}

/* ---- Pools ---- */

/* Windows that see each column so often, of images up to so wide, share what the columns are joined to. */
#define SHARED_TAPS    4
#define SHARED_COLUMNS 256

/* Taps of a window at start that lie in [low, high): the first one and their number. */
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
static float taps_counted(const ingot_pool *p, ptrdiff_t start, size_t taps, size_t size, size_t before, size_t after,
                          size_t dilation)
{
    size_t first;
    ptrdiff_t low = p->count_padding ? -(ptrdiff_t)before : 0,
              high = (ptrdiff_t)(p->count_padding ? size + after : size);
    return (float)taps_inside(start, taps, dilation, low, high, &first);
}

/* One output: the rows of a column are joined first, then the columns. from: the first tap in the image. */
static inline __attribute__((always_inline)) vec join_window(const ingot_pool *p, const ingot_reduce_kind kind,
                                                             const float *from, size_t rows, size_t columns)
{
    const size_t row = p->dilation_height * p->in_width * INGOT_BLOCK, column = p->dilation_width * INGOT_BLOCK;
    vec value = v_set(neutral(kind));
    for (size_t x = 0; x < columns && rows > 0; x++) {
        vec joined = v_load(from + x * column);
        for (size_t y = 1; y < rows; y++)
            joined = join(kind, joined, v_load(from + x * column + y * row));
        value = x == 0 ? joined : join(kind, value, joined);
    }
    return value;
}

/* Outputs whose windows have all their columns in the image; rows and columns are constants, or what the window has. */
static inline __attribute__((always_inline)) void pool_inside(const ingot_pool *p, const ingot_reduce_kind kind,
                                                              const float *from, const size_t rows,
                                                              const size_t columns, float divisor, float *out,
                                                              size_t count)
{
    const size_t step = p->stride_width * INGOT_BLOCK;
    const vec divide = v_set(divisor);
    for (size_t i = 0; i < count; i++, from += step, out += INGOT_BLOCK) {
        for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
            vec value = join_window(p, kind, from + lane, rows, columns);
            v_store(out + lane, kind == INGOT_REDUCE_SUM ? v_div(value, divide) : value);
        }
    }
}

static inline __attribute__((always_inline)) void pool_any(const ingot_pool *p, const ingot_reduce_kind kind,
                                                           const float *from, size_t rows, size_t columns,
                                                           float divisor, float *out, size_t count)
{
    if (rows == 3 && columns == 3)
        pool_inside(p, kind, from, 3, 3, divisor, out, count);
    else if (rows == 2 && columns == 2)
        pool_inside(p, kind, from, 2, 2, divisor, out, count);
    else
        pool_inside(p, kind, from, rows, columns, divisor, out, count);
}

static void pool_some(const ingot_pool *p, const float *from, size_t rows, size_t columns, float divisor, float *out,
                      size_t count)
{
    if (p->average)
        pool_any(p, INGOT_REDUCE_SUM, from, rows, columns, divisor, out, count);
    else
        pool_any(p, INGOT_REDUCE_MAX, from, rows, columns, divisor, out, count);
}

/* Outputs from x on that have all columns of their windows in the image. */
static size_t count_inside(const ingot_pool *p, size_t x)
{
    size_t reach = (p->kernel_width - 1) * p->dilation_width + 1, start = x * p->stride_width;
    if (start < p->pad_left || p->in_width + p->pad_left < start + reach)
        return 0;
    size_t count = (p->in_width + p->pad_left - start - reach) / p->stride_width + 1;
    return count < p->out_width - x ? count : p->out_width - x;
}

/* A row whose windows overlap: each column is joined once for all that see it. from: column 0 of the first row in the image. */
static inline __attribute__((always_inline)) void pool_columns(const ingot_pool *p, const ingot_reduce_kind kind,
                                                               const float *from, size_t rows, float height, float *out)
{
    const size_t row = p->dilation_height * p->in_width * INGOT_BLOCK;
    vec columns[SHARED_COLUMNS];
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        for (size_t x = 0; x < p->in_width; x++) {
            columns[x] = v_load(from + x * INGOT_BLOCK + lane);
            for (size_t y = 1; y < rows; y++)
                columns[x] = join(kind, columns[x], v_load(from + x * INGOT_BLOCK + lane + y * row));
        }
        for (size_t x = 0, first; x < p->out_width; x++) {
            const ptrdiff_t left = (ptrdiff_t)(x * p->stride_width) - (ptrdiff_t)p->pad_left;
            const size_t count =
                taps_inside(left, p->kernel_width, p->dilation_width, 0, (ptrdiff_t)p->in_width, &first);
            const vec *column = columns + (count > 0 ? left + (ptrdiff_t)(first * p->dilation_width) : 0);
            vec value = count > 0 ? *column : v_set(neutral(kind));
            for (size_t i = 1; i < count; i++)
                value = join(kind, value, column[i * p->dilation_width]);
            if (kind == INGOT_REDUCE_SUM)
                value = v_div(value, v_set(height * taps_counted(p, left, p->kernel_width, p->in_width, p->pad_left,
                                                                 p->pad_right, p->dilation_width)));
            v_store(out + x * INGOT_BLOCK + lane, value);
        }
    }
}

static void pool_row(const ingot_pool *p, const float *plane, size_t y, float *out)
{
    ptrdiff_t top = (ptrdiff_t)(y * p->stride_height) - (ptrdiff_t)p->pad_top;
    size_t first_row, first;
    size_t rows = taps_inside(top, p->kernel_height, p->dilation_height, 0, (ptrdiff_t)p->in_height, &first_row);
    float height = taps_counted(p, top, p->kernel_height, p->in_height, p->pad_top, p->pad_bottom, p->dilation_height);
    top += (ptrdiff_t)(first_row * p->dilation_height);
    if (rows > 0 && p->kernel_width >= SHARED_TAPS * p->stride_width && p->in_width <= SHARED_COLUMNS) {
        const float *from = plane + top * (ptrdiff_t)p->in_width * INGOT_BLOCK;
        if (p->average)
            pool_columns(p, INGOT_REDUCE_SUM, from, rows, height, out);
        else
            pool_columns(p, INGOT_REDUCE_MAX, from, rows, height, out);
        return;
    }
    for (size_t x = 0, count; x < p->out_width; x += count, out += count * INGOT_BLOCK) {
        ptrdiff_t left = (ptrdiff_t)(x * p->stride_width) - (ptrdiff_t)p->pad_left;
        size_t columns = taps_inside(left, p->kernel_width, p->dilation_width, 0, (ptrdiff_t)p->in_width, &first);
        const float *from = plane;
        if (rows > 0 && columns > 0)
            from += (top * (ptrdiff_t)p->in_width + left + (ptrdiff_t)(first * p->dilation_width)) * INGOT_BLOCK;
        float divisor = height;
        if (p->average)
            divisor *=
                taps_counted(p, left, p->kernel_width, p->in_width, p->pad_left, p->pad_right, p->dilation_width);
        count = count_inside(p, x);
        count = count > 0 ? count : 1;
        pool_some(p, from, rows, columns, divisor, out, count);
    }
}

/* ---- Resizing ---- */

/* One vector of a pixel's lanes from lane on. Pixels that lie between the same ones of the input share what is made of the two rows. */
static inline __attribute__((always_inline)) void resize_lanes(const float *top, const float *bottom, vec vertical,
                                                               const ingot_resize_axis *width, float *y)
{
    const uint32_t *low = width->low, *high = width->high;
    const float *weights = width->weight;
    const size_t count = width->out;
    const vec one = v_set(1.0f), up = v_sub(one, vertical);
    vec a = v_zero(), b = a;
    for (size_t i = 0; i < count; i++, y += INGOT_BLOCK) {
        if (i == 0 || low[i] != low[i - 1] || high[i] != high[i - 1]) {
            const size_t left = low[i] * (size_t)INGOT_BLOCK, right = high[i] * (size_t)INGOT_BLOCK;
            a = v_fma(vertical, v_load(bottom + left), v_mul(up, v_load(top + left)));
            b = v_fma(vertical, v_load(bottom + right), v_mul(up, v_load(top + right)));
        }
        /* No subtraction: a compiler would do that with one number, and spread two. */
        const vec weight = v_set(weights[i]), rest = v_fma(weight, v_set(-1.0f), one);
        v_store(y, v_fma(weight, b, v_mul(rest, a)));
    }
}

static void resize_row(const float *top, const float *bottom, float down, const ingot_resize_axis *width, float *y)
{
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES)
        resize_lanes(top + lane, bottom + lane, v_set(down), width, y + lane);
}

const ingot_c16_table LEVEL_NAME(ingot_c16_table) = {
    .channel =
        {
#define CHANNEL_ENTRY(kind, name) [INGOT_CHANNEL_##kind] = channel_##name,
            CHANNEL_KERNELS(CHANNEL_ENTRY)},
    .pool_row = pool_row,
    .reduce = reduce,
    .moments = moments,
    .normalize = normalize,
    .resize_row = resize_row,
};
