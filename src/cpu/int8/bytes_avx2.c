#define INGOT_SIMD_AVX2 1
#include "cpu/int8/bytes_tmpl.h"
