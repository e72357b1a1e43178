/* Peaks of AVX-512. */
#include <immintrin.h>

#include "cpu/peak/peak_kernel.h"

enum { CHAINS = 16 };

void ingot_peak_f32_16x16_avx512(size_t rounds)
{
    __m512 a[CHAINS], half = _mm512_set1_ps(0.5f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = half;
    while (rounds--) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm512_fmadd_ps(a[i], half, half);
    }
    for (int i = 0; i < CHAINS; i++)
        INGOT_PEAK_KEEP("+v", a[i]);
}

void ingot_peak_read_avx512(const void *memory, size_t bytes)
{
    const __m512i *vectors = memory;
    __m512i sum[8];
    for (int k = 0; k < 8; k++)
        sum[k] = _mm512_setzero_si512();
    for (size_t i = 0; i < bytes / sizeof *vectors; i += 8) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            sum[k] = _mm512_or_si512(sum[k], _mm512_load_si512(vectors + i + k));
    }
    for (int k = 0; k < 8; k++)
        INGOT_PEAK_KEEP("+v", sum[k]);
}
