#define INGOT_SIMD_AVX512 1
#include "cpu/int8/bytes_tmpl.h"
