/* Vectors of LANES integers of 32 bits beside those of floats: see ints.h. */
typedef __m128i ints;

static inline ints i_set(int32_t x)
{
    return _mm_set1_epi32(x);
}
static inline ints i_load(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}
static inline void i_store(void *p, ints x)
{
    _mm_storeu_si128((__m128i *)p, x);
}
static inline ints i_add(ints a, ints b)
{
    return _mm_add_epi32(a, b);
}
static inline ints i_sub(ints a, ints b)
{
    return _mm_sub_epi32(a, b);
}
static inline ints i_mul(ints a, ints b)
{
    return _mm_mullo_epi32(a, b);
}
static inline vec i_to_float(ints x)
{
    return _mm_cvtepi32_ps(x);
}
/* To the nearest integer. */
static inline ints i_from_float(vec x)
{
    return _mm_cvtps_epi32(x);
}
static inline void i_store_part(int32_t *p, ints x, size_t count)
{
    int32_t lanes[LANES];
    i_store(lanes, x);
    memcpy(p, lanes, count * sizeof *p);
}
/* The lowest byte of each. */
static inline void i_store_bytes(uint8_t *p, ints x, size_t count)
{
    int32_t lanes = _mm_cvtsi128_si32(_mm_shuffle_epi8(x, i_set(0x0C080400)));
    memcpy(p, &lanes, count);
}
static inline ints i_repeat(const uint8_t *p)
{
    int32_t quad;
    memcpy(&quad, p, sizeof quad);
    return i_set(quad);
}
/* LANES bytes, with and without a sign. */
static inline ints i_load_bytes(const uint8_t *p)
{
    return _mm_cvtepu8_epi32(i_repeat(p));
}
static inline ints i_load_signed_bytes(const int8_t *p)
{
    return _mm_cvtepi8_epi32(i_repeat((const uint8_t *)p));
}
/* Of each quad's bytes those of even or of odd place, as two numbers of 16 bits. */
static inline ints i_even_bytes(ints quads)
{
    /* Shifts: for a mask there is no register left. */
    return _mm_srli_epi16(_mm_slli_epi16(quads, 8), 8);
}
static inline ints i_odd_bytes(ints quads)
{
    return _mm_srli_epi16(quads, 8);
}
static inline ints i_even_signed_bytes(ints quads)
{
    return _mm_srai_epi16(_mm_slli_epi16(quads, 8), 8);
}
static inline ints i_odd_signed_bytes(ints quads)
{
    return _mm_srai_epi16(quads, 8);
}
/* Sums of products of pairs of 16-bit numbers. */
static inline ints i_dot_pairs(ints a, ints b)
{
    return _mm_madd_epi16(a, b);
}
