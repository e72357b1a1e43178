/* The peak of AVX-512 VNNI: products of four bytes, summed in 32 bits. */
#include <immintrin.h>

#include "cpu/peak/peak_kernel.h"

enum { CHAINS = 16 };

void ingot_peak_int8_16x64_avx512_vnni(size_t rounds)
{
    __m512i a[CHAINS], x = _mm512_set1_epi8(3);
    for (int i = 0; i < CHAINS; i++)
        a[i] = _mm512_setzero_si512();
    while (rounds--) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm512_dpbusd_epi32(a[i], x, x);
    }
    for (int i = 0; i < CHAINS; i++)
        INGOT_PEAK_KEEP("+v", a[i]);
}
