/* The elementwise kernels: vec_tmpl.h for plain C. */
#define INGOT_SIMD_SCALAR 1
#include "cpu/eltwise/vec_tmpl.h"
