/* Peaks of SSE4.1, which has no fused multiply-add. */
#include <smmintrin.h>

#include "cpu/peak/peak_kernel.h"

enum { CHAINS = 12 };

void ingot_peak_f32_12x4_sse4(size_t rounds)
{
    __m128 a[CHAINS], half = _mm_set1_ps(0.5f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = half;
    while (rounds--) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm_add_ps(_mm_mul_ps(a[i], half), half);
    }
    for (int i = 0; i < CHAINS; i++)
        INGOT_PEAK_KEEP("+x", a[i]);
}

void ingot_peak_read_sse4(const void *memory, size_t bytes)
{
    const __m128i *vectors = memory;
    __m128i sum[8];
    for (int k = 0; k < 8; k++)
        sum[k] = _mm_setzero_si128();
    for (size_t i = 0; i < bytes / sizeof *vectors; i += 8) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            sum[k] = _mm_or_si128(sum[k], _mm_load_si128(vectors + i + k));
    }
    for (int k = 0; k < 8; k++)
        INGOT_PEAK_KEEP("+x", sum[k]);
}
