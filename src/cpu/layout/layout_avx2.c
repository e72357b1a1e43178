/* The layout kernels: layout_tmpl.h for AVX2. */
#define INGOT_SIMD_AVX2 1
#include "cpu/layout/layout_tmpl.h"
