/* Template: what Winograd's convolution along rows does around its matrix products. Comes after winograd_tmpl.h. */
#include "cpu/conv/blocked_line.h"
#include "cpu/simd/simd.h"

/* Five weights at the points 0, +-POINT_A, +-POINT_B and infinity. */
static void line_weights(const float *from, size_t size, float *to, size_t pitch)
{
    const vec third = v_set(1.0f / 3), sixth = v_set(1.0f / 6), two_thirds = v_set(-2.0f / 3);
    for (size_t i = 0; i < size; i += LANES) {
        const float *g = from + i;
        for (size_t k = 0; k < INGOT_LINE_TAPS; k++) /* the next block's */
            v_prefetch(g + (INGOT_LINE_TAPS + k) * size);
        vec g0 = v_load(g), g2 = v_load(g + 2 * size), g4 = v_load(g + 4 * size);
        vec g1 = v_load(g + size), g3 = v_load(g + 3 * size);
        vec even_a = v_mul(two_thirds, v_fma(v_set(0.25f), g4, v_fma(v_set(0.5f), g2, g0)));
        vec odd_a = v_mul(v_set(-2.0f / 3 * POINT_A), v_fma(v_set(0.5f), g3, g1));
        vec even_b = v_fma(third, v_add(g2, v_add(g4, g4)), v_mul(sixth, g0));
        vec odd_b = v_mul(v_set(1.0f / 6 * POINT_B), v_add(g1, v_add(g3, g3)));
        v_store(to + i, g0);
        v_store(to + i + pitch, v_add(even_a, odd_a));
        v_store(to + i + 2 * pitch, v_sub(even_a, odd_a));
        v_store(to + i + 3 * pitch, v_add(even_b, odd_b));
        v_store(to + i + 4 * pitch, v_sub(even_b, odd_b));
        v_store(to + i + 5 * pitch, g4);
    }
}

static void line_points(const ingot_line_points *p)
{
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        float *to = p->to + lane;
        for (size_t tile = 0; tile < p->tiles; tile++, to += INGOT_BLOCK) {
            const ptrdiff_t first = p->first + (ptrdiff_t)(tile * INGOT_LINE_OUTPUTS);
            const bool whole = first >= 0 && first + TILE_INPUTS <= (ptrdiff_t)p->width;
            vec x[TILE_INPUTS], points[TILE_INPUTS];
#pragma GCC unroll 6
            for (int i = 0; i < TILE_INPUTS; i++)
                x[i] = whole || (size_t)(first + i) < p->width
                           ? v_load(p->row + (first + i) * INGOT_BLOCK + (ptrdiff_t)lane)
                           : v_zero();
            input_points(x, points);
#pragma GCC unroll 6
            for (size_t i = 0; i < TILE_INPUTS; i++)
                v_store(to + i * p->pitch, points[i]);
        }
    }
}

static inline void line_output(const ingot_line_sums *s, vec value, size_t at)
{
    if (s->add && !s->add_last)
        value = v_add(value, v_load(s->add + at));
    value = v_min(v_set(s->high), v_max(v_set(s->low), value));
    if (s->add && s->add_last)
        value = v_add(value, v_load(s->add + at));
    v_store(s->out + at, value);
}

static void line_sums(const ingot_line_sums *s)
{
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        const size_t lanes = s->lanes > lane ? s->lanes - lane : 0;
        const vec bias = s->bias ? v_load_part(s->bias + lane, lanes < LANES ? lanes : LANES) : v_zero();
        const float *from = s->from + lane;
        for (size_t column = 0; column < s->columns; column += INGOT_LINE_OUTPUTS, from += INGOT_BLOCK) {
            vec a = v_load(from + s->pitch), b = v_load(from + 2 * s->pitch);
            vec c = v_load(from + 3 * s->pitch), d = v_load(from + 4 * s->pitch);
            vec even = v_add(v_load(from), v_add(v_add(a, b), v_add(c, d)));
            line_output(s, v_add(even, bias), column * INGOT_BLOCK + lane);
            if (column + 1 == s->columns)
                continue;
            vec odd = v_fma(v_set(POINT_B), v_sub(c, d), v_load(from + 5 * s->pitch));
            odd = v_fma(v_set(POINT_A), v_sub(a, b), odd);
            line_output(s, v_add(odd, bias), (column + 1) * INGOT_BLOCK + lane);
        }
    }
}
