#include <smmintrin.h>

#define LANES            4
#define LEVEL_NAME(name) name##_sse4

typedef __m128 vec;
typedef __m128 mask;

static inline vec v_set(float x)
{
    return _mm_set1_ps(x);
}
static inline vec v_load(const float *p)
{
    return _mm_loadu_ps(p);
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
    _mm_storeu_ps(p, x);
}
/* Lanes past count become 0, and memory there is not touched. */
static inline vec v_load_part(const float *p, size_t count)
{
    float lanes[LANES] = {0};
    if (count >= LANES)
        return v_load(p);
    for (size_t i = 0; i < count; i++)
        lanes[i] = p[i];
    return v_load(lanes);
}
static inline void v_store_part(float *p, vec x, size_t count)
{
    float lanes[LANES];
    v_store(lanes, x);
    for (size_t i = 0; i < count && i < LANES; i++)
        p[i] = lanes[i];
}
static inline mask first_lanes(size_t count)
{
    static const int32_t lanes[2 * LANES] = {-1, -1, -1, -1};
    return _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(const void *)(lanes + LANES - count)));
}
/* Lanes first ... end - 1. */
static inline mask m_range(size_t first, size_t end)
{
    return _mm_andnot_ps(first_lanes(first), first_lanes(end));
}
/* Memory is read in the mask's lanes only; the others keep old's value. */
static inline vec v_load_mask(vec old, mask m, const float *p)
{
    float lanes[LANES];
    const int bits = _mm_movemask_ps(m);
    v_store(lanes, old);
    for (int i = 0; i < LANES; i++)
        lanes[i] = bits >> i & 1 ? p[i] : lanes[i];
    return v_load(lanes);
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
    float lanes[LANES] = {0};
    for (size_t i = 0; i < count && i < LANES; i++)
        lanes[i] = p[index[i]];
    return v_load(lanes);
}
static inline vec v_add(vec a, vec b)
{
    return _mm_add_ps(a, b);
}
static inline vec v_sub(vec a, vec b)
{
    return _mm_sub_ps(a, b);
}
static inline vec v_mul(vec a, vec b)
{
    return _mm_mul_ps(a, b);
}
static inline vec v_div(vec a, vec b)
{
    return _mm_div_ps(a, b);
}
/* In double, where the product is exact; the sum is rounded there first, which one time in 2^29 shows in the result. */
static inline vec v_fma(vec a, vec b, vec c)
{
    __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
    a = _mm_movehl_ps(a, a);
    b = _mm_movehl_ps(b, b);
    c = _mm_movehl_ps(c, c);
    __m128d high = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
static inline vec v_max(vec a, vec b)
{
    return _mm_max_ps(a, b);
}
static inline vec v_min(vec a, vec b)
{
    return _mm_min_ps(a, b);
}
static inline vec v_sqrt(vec x)
{
    return _mm_sqrt_ps(x);
}
static inline vec v_and(vec a, vec b)
{
    return _mm_and_ps(a, b);
}
static inline vec v_or(vec a, vec b)
{
    return _mm_or_ps(a, b);
}
static inline vec v_xor(vec a, vec b)
{
    return _mm_xor_ps(a, b);
}
static inline vec v_abs(vec x)
{
    return _mm_andnot_ps(v_set(-0.0f), x);
}
static inline vec v_round(vec x)
{
    return _mm_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vec v_floor(vec x)
{
    return _mm_floor_ps(x);
}
static inline vec v_ceil(vec x)
{
    return _mm_ceil_ps(x);
}
static inline mask v_less(vec a, vec b)
{
    return _mm_cmplt_ps(a, b);
}
static inline mask v_equal(vec a, vec b)
{
    return _mm_cmpeq_ps(a, b);
}
static inline mask v_is_nan(vec x)
{
    return _mm_cmpunord_ps(x, x);
}
static inline vec v_select(mask m, vec yes, vec no)
{
    return _mm_blendv_ps(no, yes, m);
}
static inline vec power_of_two(__m128i n) /* in [-126, 127] */
{
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(n, _mm_set1_epi32(127)), 23));
}
/* x times 2 to the power n, an integer in [-300, 300]: three steps, as one cannot be represented. */
static inline vec v_scale(vec x, vec n)
{
    const __m128i most = _mm_set1_epi32(100), least = _mm_set1_epi32(-100);
    __m128i whole = _mm_cvtps_epi32(n);
    __m128i third = _mm_max_epi32(_mm_min_epi32(whole, most), least);
    __m128i rest = _mm_sub_epi32(whole, third);
    __m128i second = _mm_max_epi32(_mm_min_epi32(rest, most), least);
    rest = _mm_sub_epi32(rest, second);
    x = _mm_mul_ps(x, power_of_two(rest));
    return _mm_mul_ps(_mm_mul_ps(x, power_of_two(third)), power_of_two(second));
}
/* x > 0 is mantissa * 2^exponent, mantissa in [.75, 1.5). */
static inline vec v_split(vec x, vec *exponent)
{
    mask tiny = v_less(x, v_set(0x1p-126f));
    x = v_select(tiny, v_mul(x, v_set(0x1p24f)), x);
    /* Adding a quarter's bits carries into the exponent where the mantissa is 1.5 or more. */
    __m128i bits = _mm_castps_si128(x);
    __m128i raised = _mm_add_epi32(bits, _mm_set1_epi32(0x400000));
    __m128i whole = _mm_sub_epi32(_mm_srli_epi32(raised, 23), _mm_set1_epi32(127));
    *exponent = v_add(_mm_cvtepi32_ps(whole), v_select(tiny, v_set(-24.0f), v_set(0.0f)));
    return _mm_castsi128_ps(_mm_sub_epi32(bits, _mm_slli_epi32(whole, 23)));
}
/* The halves are joined, then their halves: a fixed order. */
static inline float v_sum(vec x)
{
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}
static inline float v_largest(vec x)
{
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}
static inline float v_smallest(vec x)
{
    x = _mm_min_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_min_ss(x, _mm_movehdup_ps(x)));
}
/* The elements 0, 2, 4, ... of the 2 * LANES in low, high. */
static inline vec v_even(vec low, vec high)
{
    return _mm_shuffle_ps(low, high, 0x88);
}
/* The elements 1, 3, 5, ... of them. */
static inline vec v_odd(vec low, vec high)
{
    return _mm_shuffle_ps(low, high, 0xDD);
}
/* The first half, and the second, of a[0], b[0], a[1], b[1], ... */
static inline vec v_zip_low(vec a, vec b)
{
    return _mm_unpacklo_ps(a, b);
}
static inline vec v_zip_high(vec a, vec b)
{
    return _mm_unpackhi_ps(a, b);
}
/* Lanes 1 and on of a, then lane 0 of b. */
static inline vec v_next(vec a, vec b)
{
    return _mm_castsi128_ps(_mm_alignr_epi8(_mm_castps_si128(b), _mm_castps_si128(a), 4));
}
/* Rows of 4 floats in, columns out. */
static inline __attribute__((always_inline)) void v_transpose(vec r[LANES])
{
    _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
}
