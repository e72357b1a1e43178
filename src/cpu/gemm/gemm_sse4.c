/* GEMM kernel for SSE4.1: tiles of up to 4 rows of two registers, 8 sums. There is no fused multiply-add: both are rounded. Each
 * tile shape is its own function, as in gemm_avx512.c. */
#define INGOT_SIMD_SSE4 1
#include "cpu/gemm/gemm_kernel.h"
#include "cpu/simd/simd.h"

#define MAX_ROWS    4
#define MAX_VECTORS 8

static inline __attribute__((always_inline)) void finish(const ingot_gemm_tile *t, const int rows, const int vectors,
                                                         const size_t tail, vec sum[][MAX_VECTORS])
{
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        const float *add = t->add ? t->add + (size_t)i * t->add_row : NULL;
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            size_t count = v == vectors - 1 ? tail : LANES;
            vec value = sum[i][v];
            if (t->scale != 1.0f)
                value = v_mul(value, v_set(t->scale));
            if (t->row_bias)
                value = v_add(value, v_set(t->row_bias[i]));
            if (t->column_bias)
                value = v_add(value, v_load_part(t->column_bias + v * LANES, count));
            if (add)
                value = v_add(value, v_load_part(add + v * LANES, count));
            sum[i][v] = v_min(v_set(t->high), v_max(v_set(t->low), value));
        }
    }
}

static inline __attribute__((always_inline)) void tile(const ingot_gemm_tile *t, const int rows, const int vectors,
                                                       const bool whole)
{
    vec sum[MAX_ROWS][MAX_VECTORS];
    const size_t tail = whole ? LANES : t->columns - (size_t)(vectors - 1) * LANES;
    const float *a = t->a, *b = t->b;
    const char *prefetch = t->prefetch;
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            sum[i][v] = v_zero();
    }
    for (size_t k = t->k; k > 0; k--, a += rows, b += t->b_step, prefetch += t->prefetch_step) {
        vec column[MAX_VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            const float *from = b + (size_t)(v / 2) * t->b_panel + (v % 2) * LANES;
            column[v] = whole || v < vectors - 1 ? v_load(from) : v_load_part(from, tail);
        }
        v_prefetch_far(prefetch);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            vec row = v_set(a[i]);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++)
                sum[i][v] = v_add(v_mul(row, column[v]), sum[i][v]);
        }
    }
    float *c = t->c;
    if (t->accumulate) {
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++, c += t->c_row) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++)
                sum[i][v] = v_add(v_load_part(c + v * LANES, v == vectors - 1 ? tail : LANES), sum[i][v]);
        }
        c = t->c;
    }
    if (t->last)
        finish(t, rows, vectors, tail, sum);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++, c += t->c_row) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            v_store_part(c + v * LANES, sum[i][v], v == vectors - 1 ? tail : LANES);
    }
}

/* X(rows, vectors) */
/* clang-format off */
#define TILES(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(1, 2) X(2, 2) X(3, 2) X(4, 2) \
    X(1, 3) X(2, 3) X(1, 4) X(2, 4) X(1, 5) X(1, 6) X(1, 7) X(1, 8)
/* clang-format on */

#include "cpu/gemm/tile_table_tmpl.h"

void ingot_gemm_f32_4x8_sse4_tile(const ingot_gemm_tile *t)
{
    run_tile(t);
}

/* One column at a time, as the vectors of its four tiles are half of all sums there can be. */
void ingot_gemm_f32_4x8_sse4_strip(ingot_gemm_strip *s)
{
    for (size_t j = 0; j < s->columns; j++) {
        vec sum[INGOT_GEMM_STRIP_TILES];
#pragma GCC unroll 4
        for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++)
            sum[i] = v_zero();
        const float *b = s->b + j;
        for (size_t k = 0; k < s->k; k++, b += s->b_step) {
            vec column = v_set(*b);
#pragma GCC unroll 4
            for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++)
                sum[i] = v_add(v_mul(v_load_part(s->a[i] + k * s->rows[i], s->rows[i]), column), sum[i]);
        }
#pragma GCC unroll 4
        for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++)
            v_store(s->sums[i][j], sum[i]);
    }
}

/* Lanes lie lane_stride apart, steps side by side: a transpose in squares of 4. */
static void pack_transposed(const ingot_gemm_pack *p, size_t first_lane)
{
    size_t lanes = p->lanes > first_lane ? p->lanes - first_lane : 0, width = p->width - first_lane;
    const float *from = p->from + (ptrdiff_t)first_lane * p->lane_stride;
    float *to = p->to + first_lane;
    for (size_t step = 0; step < p->steps; step += LANES) {
        size_t steps = p->steps - step < LANES ? p->steps - step : LANES;
        vec r[LANES];
        for (size_t i = 0; i < LANES; i++)
            r[i] = i < lanes ? v_load_part(from + (ptrdiff_t)i * p->lane_stride + step, steps) : v_zero();
        v_transpose(r);
        for (size_t i = 0; i < steps; i++)
            v_store_part(to + (step + i) * p->width, r[i], width);
    }
}

/* Lanes lie side by side: rows are copied. */
static void pack_rows(const ingot_gemm_pack *p)
{
    for (size_t lane = 0; lane < p->width; lane += LANES) {
        size_t lanes = p->lanes > lane ? p->lanes - lane : 0;
        const float *from = p->from + lane;
        float *to = p->to + lane;
        for (size_t step = 0; step < p->steps; step++, from += p->step_stride, to += p->width)
            v_store_part(to, lanes > 0 ? v_load_part(from, lanes) : v_zero(), p->width - lane);
    }
}

void ingot_gemm_f32_4x8_sse4_pack(const ingot_gemm_pack *p)
{
    if (p->lane_stride == 1) {
        pack_rows(p);
    } else if (p->step_stride == 1) {
        for (size_t lane = 0; lane < p->width; lane += LANES)
            pack_transposed(p, lane);
    } else {
        float *to = p->to;
        for (size_t step = 0; step < p->steps; step++) {
            const float *from = p->from + (ptrdiff_t)step * p->step_stride;
            for (size_t lane = 0; lane < p->width; lane++)
                *to++ = lane < p->lanes ? from[(ptrdiff_t)lane * p->lane_stride] : 0.0f;
        }
    }
}
