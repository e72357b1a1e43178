/* The kernels on blocks of channels: c16_tmpl.h for AVX-512. */
#define INGOT_SIMD_AVX512 1
#include "cpu/c16/c16_tmpl.h"
