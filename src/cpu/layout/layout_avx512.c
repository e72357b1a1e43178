/* The layout kernels: layout_tmpl.h for AVX-512. */
#define INGOT_SIMD_AVX512 1
#include "cpu/layout/layout_tmpl.h"
