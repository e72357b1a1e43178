/* Rows of depthwise convolutions on blocked channels: the template for AVX-512. */
#define INGOT_SIMD_AVX512 1
#include "cpu/conv/blocked_depthwise_tmpl.h"
