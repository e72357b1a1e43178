/* The elementwise kernels: vec_tmpl.h for AVX-512. */
#define INGOT_SIMD_AVX512 1
#include "cpu/eltwise/vec_tmpl.h"
