/* Template: what Winograd's convolution on blocked channels does around its matrix products. Comes after winograd_tmpl.h. */
#include "cpu/conv/blocked_winograd.h"
#include "cpu/simd/simd.h"

#if LANES == 16

/* Three weights at the six points of an axis, as two_points has them. */
static inline __attribute__((always_inline)) void weight_points(vec g0, vec g1, vec g2, vec to[TILE_INPUTS])
{
    vec third = v_mul(v_set(1.0f / 3), g2), odd = v_mul(v_set(1.0f / 6 * POINT_B), g1), twice = v_add(odd, odd);
    vec a = v_sub(v_mul(v_set(-2.0f / 3), g0), third), b = v_fma(v_set(1.0f / 6), g0, third);
    to[0] = g0;
    to[1] = v_sub(a, twice);
    to[2] = v_add(a, twice);
    to[3] = v_add(b, odd);
    to[4] = v_sub(b, odd);
    to[5] = g2;
}

/* Three rows of points, from all nine weights: the first or the last three of the six. */
static inline __attribute__((always_inline)) void weight_rows(const bool last, const float *from, size_t tap, float *to,
                                                              size_t point_stride)
{
    vec column[3][3];
#pragma GCC unroll 3
    for (size_t x = 0; x < 3; x++) {
        vec g0 = v_load(from + x * tap), g1 = v_load(from + (3 + x) * tap), g2 = v_load(from + (6 + x) * tap), pair[2];
        two_points(last, g0, g1, g2, pair);
        column[x][0] = last ? pair[0] : g0;
        column[x][1] = last ? pair[1] : pair[0];
        column[x][2] = last ? g2 : pair[1];
    }
#pragma GCC unroll 3
    for (size_t y = 0; y < 3; y++, to += TILE_INPUTS * point_stride) {
        vec row[TILE_INPUTS];
        weight_points(column[0][y], column[1][y], column[2][y], row);
#pragma GCC unroll 6
        for (size_t x = 0; x < TILE_INPUTS; x++)
            v_store(to + x * point_stride, row[x]);
    }
}

static void blocked_weights(const float *from, size_t channels, size_t width, float *to, size_t point_stride)
{
    const size_t tap = channels * width;
    for (size_t i = 0; i < tap; i += LANES) {
        for (size_t k = 0; k < 9; k++) /* the next block's */
            v_prefetch(from + i + (9 + k) * tap);
        weight_rows(false, from + i, tap, to + i, point_stride);
        weight_rows(true, from + i, tap, to + i + 3 * TILE_INPUTS * point_stride, point_stride);
    }
}

#else

static void blocked_weights(const float *from, size_t channels, size_t width, float *to, size_t point_stride)
{
    winograd_weights(from, channels * width, width, channels, to, point_stride);
}

#endif

/* One vector of the block, in two steps by way of scratch: all 36 are more than there are registers. */
static inline __attribute__((always_inline)) void points_of_vector(const ingot_blocked_points *p, size_t lane)
{
    const float *from = p->from + lane;
    float *scratch = p->scratch, *to = p->to + lane;
    const size_t row = p->row, column = p->column, stride = p->point_stride;
#pragma GCC unroll 1 /* else registers run out */
    for (size_t x = 0; x < TILE_INPUTS; x++, from += column, scratch += LANES) {
        vec in[TILE_INPUTS], points[TILE_INPUTS];
#pragma GCC unroll 6
        for (size_t y = 0; y < TILE_INPUTS; y++)
            in[y] = v_load(from + y * row);
        input_points(in, points);
#pragma GCC unroll 6
        for (size_t y = 0; y < TILE_INPUTS; y++)
            v_store(scratch + y * TILE_INPUTS * LANES, points[y]);
    }
    scratch = p->scratch;
#pragma GCC unroll 1
    for (size_t y = 0; y < TILE_INPUTS; y++, scratch += TILE_INPUTS * LANES, to += TILE_INPUTS * stride) {
        vec in[TILE_INPUTS], points[TILE_INPUTS];
#pragma GCC unroll 6
        for (size_t x = 0; x < TILE_INPUTS; x++)
            in[x] = v_load(scratch + x * LANES);
        input_points(in, points);
#pragma GCC unroll 6
        for (size_t x = 0; x < TILE_INPUTS; x++)
            v_store(to + x * stride, points[x]);
    }
}

/* A tile that is partly outside of the image is completed with zeros first. */
static void blocked_points(const ingot_blocked_points *p)
{
    ingot_blocked_points points = *p;
    float *inside = p->scratch + TILE_INPUTS * TILE_INPUTS * INGOT_BLOCK;
    if (p->first_row > 0 || p->first_column > 0 || p->end_row < TILE_INPUTS || p->end_column < TILE_INPUTS) {
        points.from = inside;
        points.row = TILE_INPUTS * INGOT_BLOCK;
        points.column = INGOT_BLOCK;
        for (size_t i = 0; i < (size_t)TILE_INPUTS * TILE_INPUTS; i++, inside += INGOT_BLOCK) {
            size_t y = i / TILE_INPUTS, x = i % TILE_INPUTS;
            bool seen = y >= p->first_row && y < p->end_row && x >= p->first_column && x < p->end_column;
            for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES)
                v_store(inside + lane, seen ? v_load(p->from + y * p->row + x * p->column + lane) : v_zero());
        }
    }
#pragma GCC unroll 1
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES)
        points_of_vector(&points, lane);
}

static void blocked_sums(const ingot_blocked_sums *s)
{
    const size_t stride = s->point_stride;
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        float *from = s->from + lane, *to = s->to + lane;
        size_t lanes = s->lanes > lane ? s->lanes - lane : 0;
        vec bias = s->bias ? v_load_part(s->bias + lane, lanes < LANES ? lanes : LANES) : v_zero();
        for (size_t x = 0; x < TILE_INPUTS; x++, from += stride) {
            vec m[TILE_INPUTS], joined[TILE_OUTPUTS];
#pragma GCC unroll 6
            for (size_t y = 0; y < TILE_INPUTS; y++)
                m[y] = v_load(from + y * TILE_INPUTS * stride);
            join_points(m, joined);
#pragma GCC unroll 4
            for (size_t y = 0; y < TILE_OUTPUTS; y++)
                v_store(from + y * TILE_INPUTS * stride, joined[y]);
        }
        from = s->from + lane;
        for (size_t y = 0; y < TILE_OUTPUTS; y++, from += TILE_INPUTS * stride, to += TILE_OUTPUTS * INGOT_BLOCK) {
            vec m[TILE_INPUTS], out[TILE_OUTPUTS];
#pragma GCC unroll 6
            for (size_t x = 0; x < TILE_INPUTS; x++)
                m[x] = v_load(from + x * stride);
            join_points(m, out);
#pragma GCC unroll 4
            for (size_t x = 0; x < TILE_OUTPUTS; x++)
                v_store(to + x * INGOT_BLOCK, v_add(out[x], bias));
        }
    }
}

static void blocked_store(const ingot_blocked_store *s)
{
    vec low = v_set(s->low), high = v_set(s->high);
    for (size_t y = 0; y < s->rows; y++) {
        const float *from = s->from + y * TILE_OUTPUTS * INGOT_BLOCK, *add = s->add ? s->add + y * s->row : NULL;
        float *out = s->out + y * s->row;
        for (size_t x = 0; x < s->columns; x++, from += INGOT_BLOCK, out += s->column) {
            for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
                vec value = v_load(from + lane), other = add ? v_load(add + x * s->column + lane) : v_zero();
                if (add && !s->add_last)
                    value = v_add(value, other);
                value = v_min(high, v_max(low, value));
                if (add && s->add_last)
                    value = v_add(value, other);
                v_store(out + lane, value);
            }
        }
    }
}
