#define INGOT_SIMD_AVX2 1
#include "cpu/eltwise/vec_tmpl.h"
