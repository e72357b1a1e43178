/* Vectors of floats for templates of kernels: one set of names over AVX-512, AVX2 and plain floats. A file that
 * compiles a template defines INGOT_SIMD_AVX512, INGOT_SIMD_AVX2 or INGOT_SIMD_SCALAR first; it is then compiled with that
 * instruction set's flags. LEVEL_NAME(x) is x with the level's suffix. Numbers of lanes are at most LANES.
 *
 * v_min and v_max give their second operand where one is NaN. v_fma(a, b, c) is a * b + c, rounded once, on every level. */
#ifndef INGOT_CPU_SIMD_H
#define INGOT_CPU_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(INGOT_SIMD_AVX512)
#include "cpu/simd/simd_avx512.h"
#elif defined(INGOT_SIMD_AVX2)
#include "cpu/simd/simd_avx2.h"
#elif defined(INGOT_SIMD_SSE4)
#include "cpu/simd/simd_sse4.h"
#elif defined(INGOT_SIMD_SCALAR)
#include "cpu/simd/simd_scalar.h"
#endif

static inline vec v_neg(vec x)
{
    return v_xor(x, v_set(-0.0f));
}

static inline vec v_zero(void)
{
    return v_set(0.0f);
}

#endif
