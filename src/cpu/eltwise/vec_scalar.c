#define INGOT_SIMD_SCALAR 1
#include "cpu/eltwise/vec_tmpl.h"
