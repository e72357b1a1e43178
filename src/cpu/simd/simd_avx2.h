#include <immintrin.h>

#define LANES            8
#define LEVEL_NAME(name) name##_avx2

typedef __m256 vec;
typedef __m256 mask;

static inline __m256i first_lanes(size_t count)
{
    static const int32_t lanes[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(lanes + LANES - count));
}
static inline vec v_set(float x)
{
    return _mm256_set1_ps(x);
}
static inline vec v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
/* A load that is done once, however often its result is used: compilers make it an operand of each use. */
static inline vec v_load_once(const float *p)
{
    vec x = v_load(p);
    __asm__("" : "+x"(x));
    return x;
}
static inline void v_store(float *p, vec x)
{
    _mm256_storeu_ps(p, x);
}
/* Lanes past count become 0, and memory there is not touched. */
static inline vec v_load_part(const float *p, size_t count)
{
    return _mm256_maskload_ps(p, first_lanes(count));
}
static inline void v_store_part(float *p, vec x, size_t count)
{
    _mm256_maskstore_ps(p, first_lanes(count), x);
}
/* Lanes first ... end - 1. */
static inline mask m_range(size_t first, size_t end)
{
    return _mm256_castsi256_ps(_mm256_andnot_si256(first_lanes(first), first_lanes(end)));
}
/* Memory is read in the mask's lanes only; the others keep old's value. */
static inline vec v_load_mask(vec old, mask m, const float *p)
{
    return _mm256_blendv_ps(old, _mm256_maskload_ps(p, _mm256_castps_si256(m)), m);
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
    __m256i lanes = first_lanes(count), at = _mm256_maskload_epi32((const int *)(const void *)index, lanes);
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), p, at, _mm256_castsi256_ps(lanes), 4);
}
static inline vec v_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}
static inline vec v_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}
static inline vec v_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}
static inline vec v_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}
static inline vec v_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}
static inline vec v_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}
static inline vec v_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}
static inline vec v_sqrt(vec x)
{
    return _mm256_sqrt_ps(x);
}
static inline vec v_and(vec a, vec b)
{
    return _mm256_and_ps(a, b);
}
static inline vec v_or(vec a, vec b)
{
    return _mm256_or_ps(a, b);
}
static inline vec v_xor(vec a, vec b)
{
    return _mm256_xor_ps(a, b);
}
static inline vec v_abs(vec x)
{
    return _mm256_andnot_ps(v_set(-0.0f), x);
}
static inline vec v_round(vec x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vec v_floor(vec x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
static inline vec v_ceil(vec x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}
static inline mask v_less(vec a, vec b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
static inline mask v_equal(vec a, vec b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}
static inline mask v_is_nan(vec x)
{
    return _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
}
static inline vec v_select(mask m, vec yes, vec no)
{
    return _mm256_blendv_ps(no, yes, m);
}
static inline vec power_of_two(__m256i n) /* in [-126, 127] */
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
/* x times 2 to the power n, an integer in [-300, 300]: three steps, as one cannot be represented. */
static inline vec v_scale(vec x, vec n)
{
    __m256i whole = _mm256_cvtps_epi32(n);
    __m256i third = _mm256_max_epi32(_mm256_min_epi32(whole, _mm256_set1_epi32(100)), _mm256_set1_epi32(-100));
    __m256i rest = _mm256_sub_epi32(whole, third);
    __m256i second = _mm256_max_epi32(_mm256_min_epi32(rest, _mm256_set1_epi32(100)), _mm256_set1_epi32(-100));
    rest = _mm256_sub_epi32(rest, second);
    x = _mm256_mul_ps(x, power_of_two(rest));
    return _mm256_mul_ps(_mm256_mul_ps(x, power_of_two(third)), power_of_two(second));
}
/* x > 0 is mantissa * 2^exponent, mantissa in [.75, 1.5). */
static inline vec v_split(vec x, vec *exponent)
{
    mask tiny = v_less(x, v_set(0x1p-126f));
    x = v_select(tiny, v_mul(x, v_set(0x1p24f)), x);
    /* Adding a quarter's bits carries into the exponent where the mantissa is 1.5 or more. */
    __m256i bits = _mm256_castps_si256(x);
    __m256i raised = _mm256_add_epi32(bits, _mm256_set1_epi32(0x400000));
    __m256i whole = _mm256_sub_epi32(_mm256_srli_epi32(raised, 23), _mm256_set1_epi32(127));
    *exponent = v_add(_mm256_cvtepi32_ps(whole), v_select(tiny, v_set(-24.0f), v_set(0.0f)));
    return _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(whole, 23)));
}
/* The halves are joined, then their halves, and so on: a fixed order. */
static inline float v_sum(vec x)
{
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
static inline float v_largest(vec x)
{
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}
static inline float v_smallest(vec x)
{
    __m128 half = _mm_min_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_min_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_min_ss(half, _mm_movehdup_ps(half)));
}
/* The elements 0, 2, 4, ... of the 2 * LANES in low, high. */
static inline vec v_even(vec low, vec high)
{
    __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0x88));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xD8));
}
/* The elements 1, 3, 5, ... of them. */
static inline vec v_odd(vec low, vec high)
{
    __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0xDD));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xD8));
}
/* The first half, and the second, of a[0], b[0], a[1], b[1], ... */
static inline vec v_zip_low(vec a, vec b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20);
}
static inline vec v_zip_high(vec a, vec b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31);
}
/* Lanes 1 and on of a, then lane 0 of b. */
static inline vec v_next(vec a, vec b)
{
    __m256i middle = _mm256_castps_si256(_mm256_permute2f128_ps(a, b, 0x21));
    return _mm256_castsi256_ps(_mm256_alignr_epi8(middle, _mm256_castps_si256(a), 4));
}
/* Rows of 8 floats in, columns out. */
static inline __attribute__((always_inline)) void v_transpose(vec r[LANES])
{
    vec s[LANES];
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i += 2) {
        s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < LANES; i += 4) {
        r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xEE);
        r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xEE);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        s[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        s[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i++)
        r[i] = s[i];
}
