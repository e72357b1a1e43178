/* Rows of depthwise convolutions on blocked channels: the template for AVX2. */
#define INGOT_SIMD_AVX2 1
#include "cpu/conv/blocked_depthwise_tmpl.h"
