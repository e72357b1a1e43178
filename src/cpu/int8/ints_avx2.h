/* Vectors of LANES integers of 32 bits beside those of floats: see ints.h. */
typedef __m256i ints;

static inline ints i_set(int32_t x)
{
    return _mm256_set1_epi32(x);
}
static inline ints i_load(const void *p)
{
    return _mm256_loadu_si256(p);
}
static inline void i_store(void *p, ints x)
{
    _mm256_storeu_si256(p, x);
}
static inline ints i_add(ints a, ints b)
{
    return _mm256_add_epi32(a, b);
}
static inline ints i_sub(ints a, ints b)
{
    return _mm256_sub_epi32(a, b);
}
static inline ints i_mul(ints a, ints b)
{
    return _mm256_mullo_epi32(a, b);
}
static inline vec i_to_float(ints x)
{
    return _mm256_cvtepi32_ps(x);
}
/* To the nearest integer. */
static inline ints i_from_float(vec x)
{
    return _mm256_cvtps_epi32(x);
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
    const __m256i lowest = _mm256_set1_epi32(0x0C080400);
    x = _mm256_shuffle_epi8(x, lowest);
    uint8_t lanes[LANES];
    int32_t low = _mm256_cvtsi256_si32(x), high = _mm256_extract_epi32(x, 4);
    memcpy(lanes, &low, sizeof low);
    memcpy(lanes + 4, &high, sizeof high);
    memcpy(p, lanes, count);
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
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
static inline ints i_load_signed_bytes(const int8_t *p)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
/* Of each quad's bytes those of even or of odd place, as two numbers of 16 bits. */
static inline ints i_even_bytes(ints quads)
{
    /* Shifts: for a mask there is no register left. */
    return _mm256_srli_epi16(_mm256_slli_epi16(quads, 8), 8);
}
static inline ints i_odd_bytes(ints quads)
{
    return _mm256_srli_epi16(quads, 8);
}
static inline ints i_even_signed_bytes(ints quads)
{
    return _mm256_srai_epi16(_mm256_slli_epi16(quads, 8), 8);
}
static inline ints i_odd_signed_bytes(ints quads)
{
    return _mm256_srai_epi16(quads, 8);
}
/* Sums of products of pairs of 16-bit numbers. */
static inline ints i_dot_pairs(ints a, ints b)
{
    return _mm256_madd_epi16(a, b);
}
