/* The peak of AVX-512 BF16: products of pairs, summed in FP32. */
#include <immintrin.h>

#include "cpu/peak/peak_kernel.h"

enum { CHAINS = 16 };

void ingot_peak_bf16_16x32_avx512_bf16(size_t rounds)
{
    __m512 a[CHAINS];
    __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.25f));
    for (int i = 0; i < CHAINS; i++)
        a[i] = _mm512_setzero_ps();
    while (rounds--) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm512_dpbf16_ps(a[i], x, x);
    }
    for (int i = 0; i < CHAINS; i++)
        INGOT_PEAK_KEEP("+v", a[i]);
}
