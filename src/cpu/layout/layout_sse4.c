/* The layout kernels: layout_tmpl.h for SSE4.1. */
#define INGOT_SIMD_SSE4 1
#include "cpu/layout/layout_tmpl.h"
