/* Vectors of 32-bit integers (ints) for templates of kernels, as wide as those of floats: cpu/simd/simd.h comes with it and says what
 * the including file defines. Sums, differences and products wrap; i_from_float rounds to the nearest integer, and the caller
 * sees to it that the number has one. i_store_bytes stores the lowest byte of each lane. */
#ifndef INGOT_CPU_INT8_INTS_H
#define INGOT_CPU_INT8_INTS_H

#include "cpu/simd/simd.h"

#if defined(INGOT_SIMD_AVX512)
#include "cpu/int8/ints_avx512.h"
#elif defined(INGOT_SIMD_AVX2)
#include "cpu/int8/ints_avx2.h"
#elif defined(INGOT_SIMD_SSE4)
#include "cpu/int8/ints_sse4.h"
#elif defined(INGOT_SIMD_SCALAR)
#include "cpu/int8/ints_scalar.h"
#endif

#endif
