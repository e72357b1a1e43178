/* The kernels on blocks of channels: c16_tmpl.h for SSE4.1. */
#define INGOT_SIMD_SSE4 1
#include "cpu/c16/c16_tmpl.h"
