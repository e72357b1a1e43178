/* The elementwise kernels: vec_tmpl.h for AVX2. */
#define INGOT_SIMD_AVX2 1
#include "cpu/eltwise/vec_tmpl.h"
