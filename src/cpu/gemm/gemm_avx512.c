/* GEMM kernel for AVX-512: tiles of up to 14 rows of two registers, 28 sums; B's two registers and A's broadcast complete
 * the 32. Each tile shape is its own function, made by inlining tile() with constant sizes, so that the sums stay in
 * registers: the kernel checker's build looks for stores to the stack in the loops. */
#define INGOT_SIMD_AVX512 1
#include "cpu/gemm/gemm_kernel.h"
#include "cpu/simd/simd.h"

#define LANES       16
#define PANEL       32
#define MAX_ROWS    14
#define MAX_VECTORS 8
/* Floats of A that a strip fetches ahead: with few columns it waits for memory. */
#define STRIP_AHEAD 512

static inline __attribute__((always_inline)) void finish(const ingot_gemm_tile *t, const int rows, const int vectors,
                                                         const __mmask16 tail, __m512 sum[][MAX_VECTORS])
{
    if (t->scale != 1.0f) {
        __m512 scale = _mm512_set1_ps(t->scale);
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++)
                sum[i][v] = _mm512_mul_ps(sum[i][v], scale);
        }
    }
    if (t->row_bias) {
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            __m512 bias = _mm512_set1_ps(t->row_bias[i]);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++)
                sum[i][v] = _mm512_add_ps(sum[i][v], bias);
        }
    }
    if (t->column_bias) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            __mmask16 lanes = v == vectors - 1 ? tail : (__mmask16)0xFFFF;
            __m512 bias = _mm512_maskz_loadu_ps(lanes, t->column_bias + v * LANES);
#pragma GCC unroll 14
            for (int i = 0; i < rows; i++)
                sum[i][v] = _mm512_add_ps(sum[i][v], bias);
        }
    }
    if (t->add) {
        const float *add = t->add;
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++, add += t->add_row) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++) {
                __mmask16 lanes = v == vectors - 1 ? tail : (__mmask16)0xFFFF;
                sum[i][v] = _mm512_add_ps(sum[i][v], _mm512_maskz_loadu_ps(lanes, add + v * LANES));
            }
        }
    }
    if (t->low > -INFINITY || t->high < INFINITY) {
        /* The limit is the first operand: a NaN in the second one goes through. */
        __m512 low = _mm512_set1_ps(t->low), high = _mm512_set1_ps(t->high);
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++)
                sum[i][v] = _mm512_min_ps(high, _mm512_max_ps(low, sum[i][v]));
        }
    }
}

/* One step of k. masked: B's last vector has lanes that may not be read; a load with a mask takes a unit that multiplies. */
static inline __attribute__((always_inline)) void step(const float *a, const float *b, const ingot_gemm_tile *t,
                                                       const int rows, const int vectors, const bool masked,
                                                       const __mmask16 tail, __m512 sum[][MAX_VECTORS])
{
    __m512 column[MAX_VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) {
        const float *from = b + (size_t)(v / 2) * t->b_panel + (v % 2) * LANES;
        column[v] = masked && v == vectors - 1 ? _mm512_maskz_loadu_ps(tail, from) : _mm512_loadu_ps(from);
    }
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
        __m512 row = _mm512_set1_ps(a[i]);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            sum[i][v] = _mm512_fmadd_ps(row, column[v], sum[i][v]);
    }
}

static inline __attribute__((always_inline)) void multiply(const ingot_gemm_tile *t, const int rows, const int vectors,
                                                           const bool masked, const __mmask16 tail,
                                                           __m512 sum[][MAX_VECTORS])
{
    const float *a = t->a, *b = t->b;
    const char *prefetch = t->prefetch;
    const size_t b_step = t->b_step, prefetch_step = t->prefetch_step;
    for (size_t k = t->k / 2; k > 0; k--, a += 2 * rows, b += 2 * b_step, prefetch += 2 * prefetch_step) {
        _mm_prefetch(prefetch, _MM_HINT_T1);
        step(a, b, t, rows, vectors, masked, tail, sum);
        _mm_prefetch(prefetch + prefetch_step, _MM_HINT_T1);
        step(a + rows, b + b_step, t, rows, vectors, masked, tail, sum);
    }
    if (t->k % 2 != 0)
        step(a, b, t, rows, vectors, masked, tail, sum);
}

static inline __attribute__((always_inline)) void tile(const ingot_gemm_tile *t, const int rows, const int vectors)
{
    __m512 sum[MAX_ROWS][MAX_VECTORS];
    const __mmask16 tail = (__mmask16)(0xFFFFu >> (vectors * LANES - (int)t->columns));
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            sum[i][v] = _mm512_setzero_ps();
    }
    if (tail == 0xFFFF)
        multiply(t, rows, vectors, false, tail, sum);
    else
        multiply(t, rows, vectors, true, tail, sum);
    float *c = t->c;
    if (t->accumulate) {
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++, c += t->c_row) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++) {
                __mmask16 lanes = v == vectors - 1 ? tail : (__mmask16)0xFFFF;
                sum[i][v] = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, c + v * LANES), sum[i][v]);
            }
        }
        c = t->c;
    }
    if (t->last)
        finish(t, rows, vectors, tail, sum);
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++, c += t->c_row) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors - 1; v++)
            _mm512_storeu_ps(c + v * LANES, sum[i][v]);
        _mm512_mask_storeu_ps(c + (vectors - 1) * LANES, tail, sum[i][vectors - 1]);
    }
}

/* X(rows, vectors) */
/* clang-format off */
#define TILES(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) \
    X(8, 1) X(9, 1) X(10, 1) X(11, 1) X(12, 1) X(13, 1) X(14, 1) \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) \
    X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2) X(13, 2) X(14, 2) \
    X(1, 3) X(2, 3) X(1, 4) X(2, 4) X(1, 5) X(1, 6) X(1, 7) X(1, 8)
/* clang-format on */

#define RUN_TILE(t, rows, vectors) tile(t, rows, vectors)
#include "cpu/gemm/tile_table_tmpl.h"

void ingot_gemm_f32_14x32_avx512_tile(const ingot_gemm_tile *t)
{
    run_tile(t);
}

static inline __attribute__((always_inline)) void strip(ingot_gemm_strip *s, const int columns)
{
    vec sum[INGOT_GEMM_STRIP_TILES][INGOT_GEMM_STRIP_COLUMNS];
    const float *a[INGOT_GEMM_STRIP_TILES], *b = s->b;
    mask lanes[INGOT_GEMM_STRIP_TILES];
#pragma GCC unroll 4
    for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++) {
        a[i] = s->a[i];
        lanes[i] = m_first(s->rows[i]);
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++)
            sum[i][j] = v_zero();
    }
    for (size_t k = s->k; k > 0; k--, b += s->b_step) {
        vec rows[INGOT_GEMM_STRIP_TILES];
#pragma GCC unroll 4
        for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++) {
            rows[i] = _mm512_maskz_loadu_ps(lanes[i], a[i]);
            _mm_prefetch((const char *)(a[i] + STRIP_AHEAD), _MM_HINT_T0);
            a[i] += s->rows[i];
        }
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++) {
            vec column = v_set(b[j]);
#pragma GCC unroll 4
            for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++)
                sum[i][j] = v_fma(rows[i], column, sum[i][j]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++) {
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++)
            v_store(s->sums[i][j], sum[i][j]);
    }
}

void ingot_gemm_f32_14x32_avx512_strip(ingot_gemm_strip *s)
{
    switch (s->columns) {
    case 1:
        strip(s, 1);
        break;
    case 2:
        strip(s, 2);
        break;
    case 3:
        strip(s, 3);
        break;
    case 4:
        strip(s, 4);
        break;
    case 5:
        strip(s, 5);
        break;
    default:
        strip(s, 6);
        break;
    }
}

/* Lanes lie lane_stride apart, steps side by side: a transpose in squares of 16. */
static void pack_transposed(const ingot_gemm_pack *p, size_t first_lane)
{
    size_t lanes = p->lanes > first_lane ? p->lanes - first_lane : 0;
    size_t width = p->width - first_lane;
    __mmask16 store = (__mmask16)(0xFFFFu >> (width < LANES ? LANES - width : 0));
    const float *from = p->from + (ptrdiff_t)first_lane * p->lane_stride;
    float *to = p->to + first_lane;
    for (size_t step = 0; step < p->steps; step += LANES) {
        size_t steps = p->steps - step < LANES ? p->steps - step : LANES;
        __mmask16 load = (__mmask16)(0xFFFFu >> (LANES - steps));
        __m512 r[LANES];
#pragma GCC unroll 16
        for (size_t i = 0; i < LANES; i++)
            r[i] = i < lanes ? _mm512_maskz_loadu_ps(load, from + (ptrdiff_t)i * p->lane_stride + step)
                             : _mm512_setzero_ps();
        v_transpose(r);
#pragma GCC unroll 16
        for (size_t i = 0; i < LANES; i++) {
            if (i < steps)
                _mm512_mask_storeu_ps(to + (step + i) * p->width, store, r[i]);
        }
    }
}

/* Lanes lie side by side: rows are copied. */
static void pack_rows(const ingot_gemm_pack *p)
{
    for (size_t lane = 0; lane < p->width; lane += LANES) {
        size_t lanes = p->lanes > lane ? p->lanes - lane : 0, width = p->width - lane;
        __mmask16 load = (__mmask16)(lanes < LANES ? (1u << lanes) - 1 : 0xFFFFu);
        __mmask16 store = (__mmask16)(0xFFFFu >> (width < LANES ? LANES - width : 0));
        const float *from = p->from + lane;
        float *to = p->to + lane;
        for (size_t step = 0; step < p->steps; step++, from += p->step_stride, to += p->width)
            _mm512_mask_storeu_ps(to, store, _mm512_maskz_loadu_ps(load, from));
    }
}

void ingot_gemm_f32_14x32_avx512_pack(const ingot_gemm_pack *p)
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
