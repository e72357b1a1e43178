/* Peaks of AVX2 and FMA. */
#include <immintrin.h>

#include "cpu/peak/peak_kernel.h"

enum { CHAINS = 12 }; /* two a cycle, each done after four or five */

void ingot_peak_f32_12x8_avx2(size_t rounds)
{
    __m256 a[CHAINS], half = _mm256_set1_ps(0.5f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = half;
    while (rounds--) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm256_fmadd_ps(a[i], half, half);
    }
    for (int i = 0; i < CHAINS; i++)
        INGOT_PEAK_KEEP("+x", a[i]);
}

void ingot_peak_read_avx2(const void *memory, size_t bytes)
{
    const __m256i *vectors = memory;
    __m256i sum[8];
    for (int k = 0; k < 8; k++)
        sum[k] = _mm256_setzero_si256();
    for (size_t i = 0; i < bytes / sizeof *vectors; i += 8) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            sum[k] = _mm256_or_si256(sum[k], _mm256_load_si256(vectors + i + k));
    }
    for (int k = 0; k < 8; k++)
        INGOT_PEAK_KEEP("+x", sum[k]);
}
