/* The elementwise kernels: vec_tmpl.h for SSE4.1. */
#define INGOT_SIMD_SSE4 1
#include "cpu/eltwise/vec_tmpl.h"
