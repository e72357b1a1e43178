/* The kernels on blocks of channels: c16_tmpl.h for AVX2. */
#define INGOT_SIMD_AVX2 1
#include "cpu/c16/c16_tmpl.h"
