/* The conversions, 8 elements at a time by F16C and AVX2; a rest goes through a buffer. */
#include <immintrin.h>
#include <string.h>

#include "cpu/half/half_table.h"

#define LANES 8

static inline void widen_half(const void *x, void *y)
{
    _mm256_storeu_ps(y, _mm256_cvtph_ps(_mm_loadu_si128(x)));
}

static inline void narrow_half(const void *x, void *y)
{
    _mm_storeu_si128(y, _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
}

static inline void widen_bfloat16(const void *x, void *y)
{
    _mm256_storeu_si256(y, _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(x)), 16));
}

/* Half of the last place less one, and one more where that place is odd, is added before the rest is cut off. */
static inline void narrow_bfloat16(const void *x, void *y)
{
    __m256 value = _mm256_loadu_ps(x);
    __m256i bits = _mm256_castps_si256(value),
            odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF))), 16);
    __m256i quiet = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40));
    __m256 nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
    rounded = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(nan));
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(rounded, rounded), 0x08);
    _mm_storeu_si128(y, _mm256_castsi256_si128(packed));
}

#define CONVERT(name, from, to)                                  \
    static void all_##name(const void *x, void *y, size_t count) \
    {                                                            \
        const from *a = x;                                       \
        to *b = y;                                               \
        size_t i = 0;                                            \
        for (; i + LANES <= count; i += LANES)                   \
            name(a + i, b + i);                                  \
        if (i < count) {                                         \
            from in[LANES] = {0};                                \
            to out[LANES];                                       \
            memcpy(in, a + i, (count - i) * sizeof *in);         \
            name(in, out);                                       \
            memcpy(b + i, out, (count - i) * sizeof *out);       \
        }                                                        \
    }
CONVERT(widen_half, uint16_t, float)
CONVERT(narrow_half, float, uint16_t)
CONVERT(widen_bfloat16, uint16_t, float)
CONVERT(narrow_bfloat16, float, uint16_t)

const ingot_half_table ingot_half_table_avx2 = {
    {all_widen_half, all_narrow_half, all_widen_bfloat16, all_narrow_bfloat16}};
