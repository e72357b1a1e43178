/* Vectors of LANES integers of 32 bits beside those of floats: see ints.h. */
typedef __m512i ints;

static inline ints i_set(int32_t x)
{
    return _mm512_set1_epi32(x);
}
static inline ints i_load(const void *p)
{
    return _mm512_loadu_si512(p);
}
static inline void i_store(void *p, ints x)
{
    _mm512_storeu_si512(p, x);
}
static inline ints i_add(ints a, ints b)
{
    return _mm512_add_epi32(a, b);
}
static inline ints i_sub(ints a, ints b)
{
    return _mm512_sub_epi32(a, b);
}
static inline ints i_mul(ints a, ints b)
{
    return _mm512_mullo_epi32(a, b);
}
static inline vec i_to_float(ints x)
{
    return _mm512_cvtepi32_ps(x);
}
/* To the nearest integer. */
static inline ints i_from_float(vec x)
{
    return _mm512_cvtps_epi32(x);
}
static inline void i_store_part(int32_t *p, ints x, size_t count)
{
    if (count == LANES)
        _mm512_storeu_si512(p, x);
    else
        _mm512_mask_storeu_epi32(p, m_first(count), x);
}
/* The lowest byte of each; masked stores cost more than others, above all those that narrow. */
static inline void i_store_bytes(uint8_t *p, ints x, size_t count)
{
    __m128i bytes = _mm512_cvtepi32_epi8(x);
    if (count == LANES)
        _mm_storeu_si128((__m128i *)(void *)p, bytes);
    else
        _mm_mask_storeu_epi8(p, m_first(count), bytes);
}
static inline ints i_repeat(const uint8_t *p)
{
    int32_t quad;
    memcpy(&quad, p, sizeof quad);
    return _mm512_set1_epi32(quad);
}
/* LANES bytes, with and without a sign. */
static inline ints i_load_bytes(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline ints i_load_signed_bytes(const int8_t *p)
{
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
/* Of each quad's bytes those of even or of odd place, as two numbers of 16 bits. */
static inline ints i_even_bytes(ints quads)
{
    return _mm512_and_si512(quads, _mm512_set1_epi32(0x00FF00FF));
}
static inline ints i_odd_bytes(ints quads)
{
    return _mm512_srli_epi16(quads, 8);
}
static inline ints i_even_signed_bytes(ints quads)
{
    return _mm512_srai_epi16(_mm512_slli_epi16(quads, 8), 8);
}
static inline ints i_odd_signed_bytes(ints quads)
{
    return _mm512_srai_epi16(quads, 8);
}
/* Sums of products of pairs of 16-bit numbers. */
static inline ints i_dot_pairs(ints a, ints b)
{
    return _mm512_madd_epi16(a, b);
}
