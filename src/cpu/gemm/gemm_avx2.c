/* GEMM kernel for AVX2: tiles of up to 6 rows of two registers, 12 sums. Each tile shape is its own function, as in
 * gemm_avx512.c. */
#define INGOT_SIMD_AVX2 1
#include "cpu/gemm/gemm_kernel.h"
#include "cpu/simd/simd.h"

#define LANES       8
#define MAX_ROWS    6
#define MAX_VECTORS 8

static inline __m256 load_part(const float *from, size_t count)
{
    return count >= LANES ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, first_lanes(count));
}

static inline void store_part(float *to, size_t count, __m256 value)
{
    if (count >= LANES)
        _mm256_storeu_ps(to, value);
    else
        _mm256_maskstore_ps(to, first_lanes(count), value);
}

static inline __attribute__((always_inline)) void finish(const ingot_gemm_tile *t, const int rows, const int vectors,
                                                         const size_t tail, __m256 sum[][MAX_VECTORS])
{
    __m256 scale = _mm256_set1_ps(t->scale), low = _mm256_set1_ps(t->low), high = _mm256_set1_ps(t->high);
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        const float *add = t->add ? t->add + (size_t)i * t->add_row : NULL;
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            size_t count = v == vectors - 1 ? tail : LANES;
            __m256 value = sum[i][v];
            if (t->scale != 1.0f)
                value = _mm256_mul_ps(value, scale);
            if (t->row_bias)
                value = _mm256_add_ps(value, _mm256_set1_ps(t->row_bias[i]));
            if (t->column_bias)
                value = _mm256_add_ps(value, load_part(t->column_bias + v * LANES, count));
            if (add)
                value = _mm256_add_ps(value, load_part(add + v * LANES, count));
            sum[i][v] = _mm256_min_ps(high, _mm256_max_ps(low, value));
        }
    }
}

static inline __attribute__((always_inline)) void tile(const ingot_gemm_tile *t, const int rows, const int vectors,
                                                       const bool whole)
{
    __m256 sum[MAX_ROWS][MAX_VECTORS];
    const size_t tail = whole ? LANES : t->columns - (size_t)(vectors - 1) * LANES;
    const __m256i tail_mask = first_lanes(tail);
    const float *a = t->a;
    const float *b = t->b;
    const char *prefetch = t->prefetch;
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            sum[i][v] = _mm256_setzero_ps();
    }
    for (size_t k = t->k; k > 0; k--) {
        __m256 column[MAX_VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            const float *from = b + (size_t)(v / 2) * t->b_panel + (v % 2) * LANES;
            column[v] = whole || v < vectors - 1 ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, tail_mask);
        }
        _mm_prefetch(prefetch, _MM_HINT_T1);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            __m256 row = _mm256_set1_ps(a[i]);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++)
                sum[i][v] = _mm256_fmadd_ps(row, column[v], sum[i][v]);
        }
        a += rows;
        b += t->b_step;
        prefetch += t->prefetch_step;
    }
    float *c = t->c;
    if (t->accumulate) {
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++, c += t->c_row) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++)
                sum[i][v] = _mm256_add_ps(load_part(c + v * LANES, v == vectors - 1 ? tail : LANES), sum[i][v]);
        }
        c = t->c;
    }
    if (t->last)
        finish(t, rows, vectors, tail, sum);
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++, c += t->c_row) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            store_part(c + v * LANES, v == vectors - 1 ? tail : LANES, sum[i][v]);
    }
}

/* X(rows, vectors) */
/* clang-format off */
#define TILES(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) \
    X(1, 3) X(2, 3) X(1, 4) X(2, 4) X(1, 5) X(1, 6) X(1, 7) X(1, 8)
/* clang-format on */

#include "cpu/gemm/tile_table_tmpl.h"

void ingot_gemm_f32_6x16_avx2_tile(const ingot_gemm_tile *t)
{
    run_tile(t);
}

static inline __attribute__((always_inline)) void strip(ingot_gemm_strip *s, const int first, const int columns)
{
    vec sum[INGOT_GEMM_STRIP_TILES][INGOT_GEMM_STRIP_COLUMNS];
    const float *a[INGOT_GEMM_STRIP_TILES], *b = s->b + first;
    __m256i lanes[INGOT_GEMM_STRIP_TILES];
#pragma GCC unroll 4
    for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++) {
        a[i] = s->a[i];
        lanes[i] = first_lanes(s->rows[i]);
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++)
            sum[i][j] = v_zero();
    }
    for (size_t k = s->k; k > 0; k--, b += s->b_step) {
        vec rows[INGOT_GEMM_STRIP_TILES];
#pragma GCC unroll 4
        for (int i = 0; i < INGOT_GEMM_STRIP_TILES; i++) {
            rows[i] = _mm256_maskload_ps(a[i], lanes[i]);
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
            v_store(s->sums[i][first + j], sum[i][j]);
    }
}

/* Two columns at a time: four rows of two sums, the rows, a column and the masks are all the registers there are. */
void ingot_gemm_f32_6x16_avx2_strip(ingot_gemm_strip *s)
{
    size_t column = 0;
    for (; column + 2 <= s->columns; column += 2)
        strip(s, (int)column, 2);
    if (column < s->columns)
        strip(s, (int)column, 1);
}

/* Lanes lie lane_stride apart, steps side by side: a transpose in squares of 8. */
static void pack_transposed(const ingot_gemm_pack *p, size_t first_lane)
{
    size_t lanes = p->lanes > first_lane ? p->lanes - first_lane : 0;
    size_t width = p->width - first_lane < LANES ? p->width - first_lane : LANES;
    const float *from = p->from + (ptrdiff_t)first_lane * p->lane_stride;
    float *to = p->to + first_lane;
    for (size_t step = 0; step < p->steps; step += LANES) {
        size_t steps = p->steps - step < LANES ? p->steps - step : LANES;
        __m256 r[LANES];
        for (size_t i = 0; i < LANES; i++)
            r[i] = i < lanes ? load_part(from + (ptrdiff_t)i * p->lane_stride + step, steps) : _mm256_setzero_ps();
        v_transpose(r);
        for (size_t i = 0; i < steps; i++)
            store_part(to + (step + i) * p->width, width, r[i]);
    }
}

/* Lanes lie side by side: rows are copied. */
static void pack_rows(const ingot_gemm_pack *p)
{
    for (size_t lane = 0; lane < p->width; lane += LANES) {
        size_t lanes = p->lanes > lane ? p->lanes - lane : 0;
        size_t width = p->width - lane;
        const float *from = p->from + lane;
        float *to = p->to + lane;
        for (size_t step = 0; step < p->steps; step++, from += p->step_stride, to += p->width)
            store_part(to, width, lanes > 0 ? load_part(from, lanes) : _mm256_setzero_ps());
    }
}

void ingot_gemm_f32_6x16_avx2_pack(const ingot_gemm_pack *p)
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
