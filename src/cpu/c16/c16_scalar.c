/* The kernels on blocks of channels: c16_tmpl.h for plain C. */
#define INGOT_SIMD_SCALAR 1
#include "cpu/c16/c16_tmpl.h"
