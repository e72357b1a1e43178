#include <immintrin.h>

#define LANES            16
#define LEVEL_NAME(name) name##_avx512

typedef __m512 vec;
typedef __mmask16 mask;

/* Of each lane, the entry of 16 whose number the last four bits of at say. */
#define SIMD_LOOKUP 1
static inline vec v_lookup(const float *table, vec at)
{
    return _mm512_permutexvar_ps(_mm512_castps_si512(at), _mm512_loadu_ps(table));
}

/* Of 32, by the last five bits. */
static inline vec v_lookup_32(const float *table, vec at)
{
    return _mm512_permutex2var_ps(_mm512_loadu_ps(table), _mm512_castps_si512(at), _mm512_loadu_ps(table + LANES));
}

static inline mask m_first(size_t count)
{
    return (mask)(0xFFFFu >> (LANES - count));
}
static inline vec v_set(float x)
{
    return _mm512_set1_ps(x);
}
static inline vec v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
/* A load that is done once, however often its result is used: compilers make it an operand of each use. */
static inline vec v_load_once(const float *p)
{
    vec x = v_load(p);
    __asm__("" : "+v"(x));
    return x;
}
static inline void v_store(float *p, vec x)
{
    _mm512_storeu_ps(p, x);
}
/* Lanes past count become 0, and memory there is not touched. */
static inline vec v_load_part(const float *p, size_t count)
{
    return _mm512_maskz_loadu_ps(m_first(count), p);
}
static inline void v_store_part(float *p, vec x, size_t count)
{
    _mm512_mask_storeu_ps(p, m_first(count), x);
}
/* Lanes first ... end - 1. */
static inline mask m_range(size_t first, size_t end)
{
    return (mask)((1u << end) - (1u << first));
}
/* Memory is read in the mask's lanes only; the others keep old's value. */
static inline vec v_load_mask(vec old, mask m, const float *p)
{
    return _mm512_mask_loadu_ps(old, m, p);
}
/* p's cache line will be read, but not at once: it is brought to the L2 cache. p need not be valid. Where the compiler does not
 * inline this at once, it drops it. */
static inline __attribute__((always_inline)) void v_prefetch_far(const char *p)
{
    _mm_prefetch(p, _MM_HINT_T1);
}
/* p's cache line will be read soon; p need not be valid. */
static inline __attribute__((always_inline)) void v_prefetch(const float *p)
{
    _mm_prefetch((const char *)p, _MM_HINT_T0);
}
/* Element i is p[index[i]]; lanes past count become 0. */
static inline vec v_gather(const float *p, const uint32_t *index, size_t count)
{
    mask lanes = m_first(count);
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), lanes, _mm512_maskz_loadu_epi32(lanes, index), p, 4);
}
static inline vec v_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}
static inline vec v_sub(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}
static inline vec v_mul(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}
static inline vec v_div(vec a, vec b)
{
    return _mm512_div_ps(a, b);
}
/* 1 / x, but for a part in 2^14. */
static inline vec v_reciprocal_about(vec x)
{
    return _mm512_rcp14_ps(x);
}
static inline vec v_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}
/* c - a * b, rounded once. */
static inline vec v_fma_negative(vec a, vec b, vec c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
static inline vec v_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}
static inline vec v_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}
static inline vec v_sqrt(vec x)
{
    return _mm512_sqrt_ps(x);
}
static inline vec v_and(vec a, vec b)
{
    return _mm512_and_ps(a, b);
}
static inline vec v_or(vec a, vec b)
{
    return _mm512_or_ps(a, b);
}
static inline vec v_xor(vec a, vec b)
{
    return _mm512_xor_ps(a, b);
}
static inline vec v_abs(vec x)
{
    return _mm512_abs_ps(x);
}
static inline vec v_round(vec x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vec v_floor(vec x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
static inline vec v_ceil(vec x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}
static inline mask v_less(vec a, vec b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
/* So NaN is not less. */
static inline mask v_not_less(vec a, vec b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ);
}
static inline mask v_equal(vec a, vec b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
static inline mask v_is_nan(vec x)
{
    return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
}
static inline vec v_select(mask m, vec yes, vec no)
{
    return _mm512_mask_blend_ps(m, no, yes);
}
/* x times 2 to the power n, an integer in [-300, 300]. */
static inline vec v_scale(vec x, vec n)
{
    return _mm512_scalef_ps(x, n);
}
/* x > 0 is mantissa * 2^exponent, mantissa in [.75, 1.5). */
static inline vec v_split(vec x, vec *exponent)
{
    vec mantissa = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
    *exponent = _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(mantissa));
    return mantissa;
}
/* The halves are joined, then their halves, and so on: a fixed order. */
static inline float v_sum(vec x)
{
    return _mm512_reduce_add_ps(x);
}
static inline float v_largest(vec x)
{
    return _mm512_reduce_max_ps(x);
}
static inline float v_smallest(vec x)
{
    return _mm512_reduce_min_ps(x);
}
/* The elements 0, 2, 4, ... of the 2 * LANES in low, high. */
static inline vec v_even(vec low, vec high)
{
    const __m512i lanes = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(low, lanes, high);
}
/* The elements 1, 3, 5, ... of them. */
static inline vec v_odd(vec low, vec high)
{
    const __m512i lanes = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_ps(low, lanes, high);
}
/* The first half, and the second, of a[0], b[0], a[1], b[1], ... */
static inline vec v_zip_low(vec a, vec b)
{
    const __m512i lanes = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(a, lanes, b);
}
static inline vec v_zip_high(vec a, vec b)
{
    const __m512i lanes = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return _mm512_permutex2var_ps(a, lanes, b);
}
/* Lanes 1 and on of a, then lane 0 of b. */
static inline vec v_next(vec a, vec b)
{
    return _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), 1));
}
/* Rows of 16 floats in, columns out. */
static inline __attribute__((always_inline)) void v_transpose(vec r[LANES])
{
    vec s[LANES];
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i += 2) {
        s[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i += 4) {
        __m512d s0 = _mm512_castps_pd(s[i]), s1 = _mm512_castps_pd(s[i + 1]);
        __m512d s2 = _mm512_castps_pd(s[i + 2]), s3 = _mm512_castps_pd(s[i + 3]);
        r[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(s0, s2));
        r[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(s0, s2));
        r[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(s1, s3));
        r[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(s1, s3));
    }
    /* Now r[4 * j + i] holds columns i, 4 + i, 8 + i, 12 + i of rows 4 * j ... 4 * j + 3. */
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m512 low01 = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88), high01 = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xDD);
        __m512 low23 = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        __m512 high23 = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xDD);
        s[i] = _mm512_shuffle_f32x4(low01, low23, 0x88);
        s[i + 8] = _mm512_shuffle_f32x4(low01, low23, 0xDD);
        s[i + 4] = _mm512_shuffle_f32x4(high01, high23, 0x88);
        s[i + 12] = _mm512_shuffle_f32x4(high01, high23, 0xDD);
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        r[i] = s[i];
}
