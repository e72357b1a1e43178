#define INGOT_SIMD_SCALAR 1
#include "cpu/int8/bytes_tmpl.h"
