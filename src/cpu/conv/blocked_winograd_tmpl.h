/* Template: what Winograd's convolution on blocked channels does around its matrix products. Comes after winograd_tmpl.h. */
#include "cpu/conv/blocked_winograd.h"
#include "cpu/simd/simd.h"

/* One vector of the block, in two steps by way of scratch: all 36 are more than there are registers. */
static inline __attribute__((always_inline)) void points_of_vector(const ingot_blocked_points *p, const bool whole,
                                                                   size_t lane)
{
    const float *from = p->from + lane;
    float *scratch = p->scratch, *to = p->to + lane;
    const size_t row = p->row, column = p->column, stride = p->point_stride;
    for (size_t x = 0; x < TILE_INPUTS; x++) {
        bool inside = whole || (x >= p->first_column && x < p->end_column);
        vec in[TILE_INPUTS], points[TILE_INPUTS];
#pragma GCC unroll 6
        for (size_t y = 0; y < TILE_INPUTS; y++)
            in[y] = whole || (inside && y >= p->first_row && y < p->end_row) ? v_load(from + y * row + x * column)
                                                                             : v_zero();
        input_points(in, points);
#pragma GCC unroll 6
        for (size_t y = 0; y < TILE_INPUTS; y++)
            v_store(scratch + (y * TILE_INPUTS + x) * LANES, points[y]);
    }
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

static void blocked_points(const ingot_blocked_points *p)
{
    bool whole = p->first_row == 0 && p->first_column == 0 && p->end_row == TILE_INPUTS && p->end_column == TILE_INPUTS;
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        if (whole)
            points_of_vector(p, true, lane);
        else
            points_of_vector(p, false, lane);
    }
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
