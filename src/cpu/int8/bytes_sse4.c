#define INGOT_SIMD_SSE4 1
#include "cpu/int8/bytes_tmpl.h"
