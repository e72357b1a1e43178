/* The conversions, 16 elements at a time by AVX-512. */
#include <immintrin.h>

#include "cpu/half/half_table.h"

#define LANES 16

static inline void widen_half(const uint16_t *x, float *y, __mmask16 lanes)
{
    _mm512_mask_storeu_ps(y, lanes, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, x)));
}

static inline void narrow_half(const float *x, uint16_t *y, __mmask16 lanes)
{
    _mm256_mask_storeu_epi16(y, lanes, _mm512_cvtps_ph(_mm512_maskz_loadu_ps(lanes, x), _MM_FROUND_TO_NEAREST_INT));
}

static inline void widen_bfloat16(const uint16_t *x, float *y, __mmask16 lanes)
{
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, x));
    _mm512_mask_storeu_epi32(y, lanes, _mm512_slli_epi32(wide, 16));
}

/* Half of the last place less one, and one more where that place is odd, is added before the rest is cut off. */
static inline void narrow_bfloat16(const float *x, uint16_t *y, __mmask16 lanes)
{
    __m512 value = _mm512_maskz_loadu_ps(lanes, x);
    __m512i bits = _mm512_castps_si512(value), high = _mm512_srli_epi32(bits, 16);
    __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF))), 16);
    __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, high, _mm512_set1_epi32(0x40));
    _mm256_mask_storeu_epi16(y, lanes, _mm512_cvtepi32_epi16(rounded));
}

#define CONVERT(name, from, to)                                                \
    static void all_##name(const void *x, void *y, size_t count)               \
    {                                                                          \
        const from *a = x;                                                     \
        to *b = y;                                                             \
        size_t i = 0;                                                          \
        for (; i + LANES <= count; i += LANES)                                 \
            name(a + i, b + i, 0xFFFF);                                        \
        if (i < count)                                                         \
            name(a + i, b + i, (__mmask16)(0xFFFFu >> (LANES - (count - i)))); \
    }
CONVERT(widen_half, uint16_t, float)
CONVERT(narrow_half, float, uint16_t)
CONVERT(widen_bfloat16, uint16_t, float)
CONVERT(narrow_bfloat16, float, uint16_t)

const ingot_half_table ingot_half_table_avx512 = {
    {all_widen_half, all_narrow_half, all_widen_bfloat16, all_narrow_bfloat16}};
