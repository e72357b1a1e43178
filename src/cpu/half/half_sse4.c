/* The conversions for SSE4.1, which knows no half precision: those of half_scalar.c. Only bfloat16 becomes float in vectors of 4. */
#include <smmintrin.h>

#include "base/number.h"
#include "cpu/half/half_table.h"

#define LANES 4

static void widen_bfloat16(const void *x, void *y, size_t count)
{
    const uint16_t *a = x;
    float *b = y;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        __m128i bits = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(a + i)));
        _mm_storeu_si128((__m128i *)(void *)(b + i), _mm_slli_epi32(bits, 16));
    }
    for (; i < count; i++)
        b[i] = ingot_bfloat16_to_float(a[i]);
}

#define CONVERT(name, from, to, function)                  \
    static void name(const void *x, void *y, size_t count) \
    {                                                      \
        for (size_t i = 0; i < count; i++)                 \
            ((to *)y)[i] = function(((const from *)x)[i]); \
    }
CONVERT(widen_half, uint16_t, float, ingot_half_to_float)
CONVERT(narrow_half, float, uint16_t, ingot_half_from_float)
CONVERT(narrow_bfloat16, float, uint16_t, ingot_bfloat16_from_float)

const ingot_half_table ingot_half_table_sse4 = {{widen_half, narrow_half, widen_bfloat16, narrow_bfloat16}};
