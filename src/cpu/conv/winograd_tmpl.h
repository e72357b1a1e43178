/* Template: what Winograd's convolution does around its matrix products. Vectors lie along tiles, or along the rows of weights. */
#include "cpu/conv/winograd.h"
#include "cpu/simd/simd.h"

#define POINT_A      .70710678118654752f /* the points are 0, +-POINT_A, +-POINT_B, infinity */
#define POINT_B      1.41421356237309505f
#define TILE_OUTPUTS 4
/* Steps of weights that are fetched ahead. */
#define PREFETCH_STEPS 32
#define TILE_INPUTS    6

/* ---- Weights ---- */

/* Three weights at two points of an axis, POINT_A and -POINT_A or, where b, POINT_B and -POINT_B. Few constants: registers are
 * scarce. */
static inline __attribute__((always_inline)) void two_points(const bool b, vec g0, vec g1, vec g2, vec to[2])
{
    vec odd = v_mul(v_set(1.0f / 6 * POINT_B), g1), third = v_mul(v_set(1.0f / 3), g2);
    if (b) {
        vec even = v_fma(v_set(1.0f / 6), g0, third);
        to[0] = v_add(even, odd);
        to[1] = v_sub(even, odd);
    } else {
        vec even = v_sub(v_mul(v_set(-2.0f / 3), g0), third);
        odd = v_add(odd, odd); /* of the other sign */
        to[0] = v_sub(even, odd);
        to[1] = v_add(even, odd);
    }
}

/* A row of three at the six points. */
static inline __attribute__((always_inline)) void six_points(vec g0, vec g1, vec g2, float *to, size_t point_stride)
{
    vec a[2], b[2];
    two_points(false, g0, g1, g2, a);
    two_points(true, g0, g1, g2, b);
    v_store(to, g0);
    v_store(to + point_stride, a[0]);
    v_store(to + 2 * point_stride, a[1]);
    v_store(to + 3 * point_stride, b[0]);
    v_store(to + 4 * point_stride, b[1]);
    v_store(to + 5 * point_stride, g2);
}

/* Two rows of points, from all nine weights. They are loaded once more for each pair of rows: all that can be made of them at
 * once is more than there are registers. */
static inline __attribute__((always_inline)) void two_rows(const bool b, const float *from, size_t tap_stride,
                                                           mask lanes, float *to, size_t point_stride)
{
    vec column[3][2];
#pragma GCC unroll 3
    for (size_t x = 0; x < 3; x++) {
        const float *tap = from + x * tap_stride;
        two_points(b, v_load_mask(v_zero(), lanes, tap), v_load_mask(v_zero(), lanes, tap + 3 * tap_stride),
                   v_load_mask(v_zero(), lanes, tap + 6 * tap_stride), column[x]);
    }
    six_points(column[0][0], column[1][0], column[2][0], to, point_stride);
    six_points(column[0][1], column[1][1], column[2][1], to + TILE_INPUTS * point_stride, point_stride);
}

static inline __attribute__((always_inline)) void one_row(const float *from, size_t tap_stride, mask lanes, float *to,
                                                          size_t point_stride)
{
    six_points(v_load_mask(v_zero(), lanes, from), v_load_mask(v_zero(), lanes, from + tap_stride),
               v_load_mask(v_zero(), lanes, from + 2 * tap_stride), to, point_stride);
}

/* Whole vectors are stored: what is too much is overwritten by the next step. */
static void winograd_weights(const float *from, size_t tap_stride, size_t rows, size_t steps, float *to,
                             size_t point_stride)
{
    size_t line = TILE_INPUTS * point_stride;
    for (size_t row = 0; row < rows; row += LANES) {
        mask lanes = m_range(0, rows - row < LANES ? rows - row : LANES);
        const float *taps = from + row, *again = taps;
        float *points = to + row, *later = points + 3 * line;
        for (size_t step = 0; step < steps; step++, taps += rows, points += rows) {
            for (size_t tap = 0; tap < 9; tap++) /* it comes from memory, by many streams */
                v_prefetch(taps + tap * tap_stride + PREFETCH_STEPS * rows);
            one_row(taps, tap_stride, lanes, points, point_stride);
            two_rows(false, taps, tap_stride, lanes, points + line, point_stride);
            one_row(taps + 6 * tap_stride, tap_stride, lanes, points + 5 * line, point_stride);
        }
        for (size_t step = 0; step < steps; step++, again += rows, later += rows)
            two_rows(true, again, tap_stride, lanes, later, point_stride);
    }
}

/* ---- Input ---- */

/* Six inputs at the six points of an axis. */
static inline __attribute__((always_inline)) void input_points(const vec x[TILE_INPUTS], vec to[TILE_INPUTS])
{
    vec half = v_set(-0.5f), two = v_set(-2.0f), five_halves = v_set(-2.5f);
    vec even_a = v_fma(two, x[2], x[4]), odd_a = v_fma(two, x[1], x[3]);
    vec even_b = v_fma(half, x[2], x[4]), odd_b = v_fma(half, x[1], x[3]);
    to[0] = v_fma(five_halves, x[2], v_add(x[0], x[4]));
    to[1] = v_fma(v_set(POINT_A), odd_a, even_a);
    to[2] = v_fma(v_set(-POINT_A), odd_a, even_a);
    to[3] = v_fma(v_set(POINT_B), odd_b, even_b);
    to[4] = v_fma(v_set(-POINT_B), odd_b, even_b);
    to[5] = v_fma(five_halves, x[3], v_add(x[1], x[5]));
}

/* The rows of the image that a row of tiles sees, from the first column's place in it on; NULL for padding. */
typedef struct seen_rows {
    const float *row[TILE_INPUTS];
} seen_rows;

static seen_rows see_rows(const ingot_conv *c, const ingot_winograd_row *at, const float *plane)
{
    seen_rows seen;
    plane += at->image * c->channels * c->in_height * c->in_width;
    for (size_t i = 0; i < TILE_INPUTS; i++) {
        size_t y = (TILE_OUTPUTS * at->tile + i) * c->dilation_height + at->phase;
        bool inside = y >= c->pad_top && y - c->pad_top < c->in_height;
        seen.row[i] = inside ? plane + (y - c->pad_top) * c->in_width : NULL;
    }
    return seen;
}

static inline __attribute__((always_inline)) void join_vector(const seen_rows *seen, const bool whole, ptrdiff_t column,
                                                              mask lanes, float *to, size_t row_size)
{
    vec x[TILE_INPUTS], points[TILE_INPUTS];
#pragma GCC unroll 6
    for (int i = 0; i < TILE_INPUTS; i++)
        x[i] = whole          ? v_load(seen->row[i] + column)
               : seen->row[i] ? v_load_mask(v_zero(), lanes, seen->row[i] + column)
                              : v_zero();
    input_points(x, points);
#pragma GCC unroll 6
    for (size_t i = 0; i < TILE_INPUTS; i++)
        v_store(to + i * row_size, points[i]);
}

/* The rows at the six points of the vertical axis: six rows of the padded image's columns. */
static void join_rows(const ingot_conv *c, const ingot_winograd_layout *layout, const seen_rows *seen, float *to)
{
    ptrdiff_t width = (ptrdiff_t)c->in_width;
    bool inside = true;
    for (int i = 0; i < TILE_INPUTS; i++)
        inside = inside && seen->row[i];
    for (size_t x = 0; x < layout->columns; x += LANES) {
        ptrdiff_t column = (ptrdiff_t)x - (ptrdiff_t)c->pad_left;
        ptrdiff_t low = column < 0 ? -column : 0, high = width - column;
        low = low < LANES ? low : LANES;
        high = high < low ? low : high < LANES ? high : LANES;
        if (inside && low == 0 && high == LANES)
            join_vector(seen, true, column, m_range(0, LANES), to + x, layout->row_size);
        else
            join_vector(seen, false, column, m_range((size_t)low, (size_t)high), to + x, layout->row_size);
    }
}

/* A vector of tiles at the points: from[4 * tile] is a tile's first column, at one point of the vertical axis. */
static inline void tile_points(const float *from, float *to, size_t pitch)
{
    vec x[TILE_INPUTS], points[TILE_INPUTS];
    vec a = v_load(from), b = v_load(from + LANES), c = v_load(from + 2 * LANES), d = v_load(from + 3 * LANES);
    vec even_low = v_even(a, b), even_high = v_even(c, d), odd_low = v_odd(a, b), odd_high = v_odd(c, d);
    x[0] = v_even(even_low, even_high);
    x[1] = v_even(odd_low, odd_high);
    x[2] = v_odd(even_low, even_high);
    x[3] = v_odd(odd_low, odd_high);
    x[4] = v_next(x[0], v_load(from + 4 * LANES));
    x[5] = v_next(x[1], v_load(from + 4 * LANES + 1));
    input_points(x, points);
#pragma GCC unroll 6
    for (size_t i = 0; i < TILE_INPUTS; i++)
        v_store(to + i * pitch, points[i]);
}

/* A row of tiles at the points, from its joined rows on. */
static void expand_row(const ingot_winograd *w, const ingot_winograd_layout *layout, const float *joined, float *phase,
                       float *to)
{
    size_t dilation = w->conv->dilation_width, across = w->tiles_across;
    for (size_t i = 0; i < TILE_INPUTS; i++, joined += layout->row_size, to += TILE_INPUTS * layout->pitch) {
        for (size_t x = 0; x < w->phases_across; x++) {
            const float *from = joined;
            if (dilation > 1) {
                copy_phase(joined + x, dilation, TILE_OUTPUTS * across + 2, phase);
                from = phase;
            }
            for (size_t tile = 0; tile < across; tile += LANES)
                tile_points(from + TILE_OUTPUTS * tile, to + x * across + tile, layout->pitch);
        }
    }
}

static void winograd_input(const ingot_winograd_part *part, const float *plane, const ingot_winograd_target *target,
                           float *scratch)
{
    const ingot_winograd *w = part->all;
    ingot_winograd_layout layout = ingot_winograd_input_layout(w, part->end - part->first);
    float *phase = scratch + TILE_INPUTS * layout.row_size, *points = phase + layout.phase_size;
    size_t tiles = (part->end - part->first) * w->row_tiles;
    for (size_t row = part->first; row < part->end; row++) {
        ingot_winograd_row at = ingot_winograd_find_row(w, row);
        seen_rows seen = see_rows(w->conv, &at, plane);
        join_rows(w->conv, &layout, &seen, scratch);
        expand_row(w, &layout, scratch, phase, points + (row - part->first) * w->row_tiles);
    }
    for (size_t point = 0; point < INGOT_WINOGRAD_POINTS; point++, points += layout.pitch) {
        float *to = target->to + point * target->point_stride;
        for (size_t first = 0; first < tiles; first += target->width, to += target->panel_stride) {
            size_t count = tiles - first < target->width ? tiles - first : target->width;
            for (size_t tile = 0; tile < count; tile += LANES)
                v_store(to + tile, v_load(points + first + tile));
        }
    }
}

/* ---- Output ---- */

/* The sums at the six points of an axis give four outputs. */
static inline __attribute__((always_inline)) void join_points(const vec m[TILE_INPUTS], vec to[TILE_OUTPUTS])
{
    vec sum_a = v_add(m[1], m[2]), difference_a = v_sub(m[1], m[2]);
    vec sum_b = v_add(m[3], m[4]), difference_b = v_sub(m[3], m[4]);
    to[0] = v_add(m[0], v_add(sum_a, sum_b));
    to[1] = v_fma(v_set(POINT_A), difference_a, v_mul(v_set(POINT_B), difference_b));
    to[2] = v_fma(v_set(0.5f), sum_a, v_mul(v_set(2.0f), sum_b));
    to[3] = v_fma(v_set(0.5f * POINT_A), difference_a, v_fma(v_set(2.0f * POINT_B), difference_b, m[5]));
}

/* In two steps, as the weights. */
static void winograd_output(const ingot_winograd_sums *sums)
{
    vec scale = v_set(sums->scale), bias = v_set(sums->bias);
    size_t stride = sums->point_stride;
    for (size_t tile = 0; tile < sums->tiles; tile += LANES) {
        for (size_t x = 0; x < TILE_INPUTS; x++) {
            float *column = sums->from + x * stride + tile;
            vec m[TILE_INPUTS], joined[TILE_OUTPUTS];
#pragma GCC unroll 6
            for (size_t y = 0; y < TILE_INPUTS; y++)
                m[y] = v_load(column + y * TILE_INPUTS * stride);
            join_points(m, joined);
#pragma GCC unroll 4
            for (size_t y = 0; y < TILE_OUTPUTS; y++)
                v_store(column + y * TILE_INPUTS * stride, joined[y]);
        }
        for (size_t y = 0; y < TILE_OUTPUTS; y++) {
            const float *row = sums->from + y * TILE_INPUTS * stride + tile;
            float *to = sums->to + y * sums->row_size + TILE_OUTPUTS * tile;
            vec m[TILE_INPUTS], out[TILE_OUTPUTS];
#pragma GCC unroll 6
            for (size_t x = 0; x < TILE_INPUTS; x++)
                m[x] = v_load(row + x * stride);
            join_points(m, out);
#pragma GCC unroll 4
            for (size_t x = 0; x < TILE_OUTPUTS; x++)
                out[x] = v_add(v_mul(out[x], scale), bias);
            vec even_low = v_zip_low(out[0], out[2]), even_high = v_zip_high(out[0], out[2]);
            vec odd_low = v_zip_low(out[1], out[3]), odd_high = v_zip_high(out[1], out[3]);
            v_store(to, v_zip_low(even_low, odd_low));
            v_store(to + LANES, v_zip_high(even_low, odd_low));
            v_store(to + 2 * LANES, v_zip_low(even_high, odd_high));
            v_store(to + 3 * LANES, v_zip_high(even_high, odd_high));
        }
    }
}

static void store_dense(const ingot_winograd_store *s, float *from, float *to, const float *add, size_t count)
{
    vec low = v_set(s->low), high = v_set(s->high);
    for (size_t x = 0; x < count; x += LANES) {
        size_t lanes = count - x < LANES ? count - x : LANES;
        vec other = add ? v_load_part(add + x, lanes) : v_zero(), value = v_load_part(from + x, lanes);
        if (add && !s->add_last)
            value = v_add(value, other);
        value = v_min(high, v_max(low, value));
        if (add && s->add_last)
            value = v_add(value, other);
        v_store_part(to + x, value, lanes);
    }
}

static void store_apart(const ingot_winograd_store *s, float *from, float *to, size_t step, const float *add,
                        size_t apart, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        float value = add && !s->add_last ? from[x] + add[x * apart] : from[x];
        value = s->low > value ? s->low : value;
        value = s->high < value ? s->high : value;
        to[x * step] = add && s->add_last ? value + add[x * apart] : value;
    }
}

/* A row of outputs: its phases lie one after the other. */
static void store_row(const ingot_winograd *w, const ingot_winograd_store *s, float *from, float *to, const float *add)
{
    size_t dilation = w->conv->dilation_width, width = w->conv->out_width;
    if (dilation == 1) {
        store_dense(s, from, to ? to : from, add, width);
        return;
    }
    for (size_t x = 0; x < w->phases_across; x++, from += TILE_OUTPUTS * w->tiles_across)
        store_apart(s, from, to ? to + x : from, to ? dilation : 1, add ? add + x : NULL, dilation,
                    (width - x + dilation - 1) / dilation);
}

static void winograd_store(const ingot_winograd_part *part, const ingot_winograd_store *s)
{
    const ingot_winograd *w = part->all;
    const ingot_conv *c = w->conv;
    for (size_t row = part->first; row < part->end; row++) {
        ingot_winograd_row at = ingot_winograd_find_row(w, row);
        for (size_t i = 0; i < TILE_OUTPUTS; i++) {
            size_t y = (TILE_OUTPUTS * at.tile + i) * c->dilation_height + at.phase;
            if (y >= c->out_height)
                break;
            size_t place = (at.image * c->outputs * c->out_height + y) * c->out_width;
            float *from = s->from + i * s->row_size + (row - part->first) * TILE_OUTPUTS * w->row_tiles;
            store_row(w, s, from, s->out ? s->out + place : NULL, s->add ? s->add + place : NULL);
        }
    }
}
