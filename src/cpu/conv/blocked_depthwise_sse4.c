/* Rows of depthwise convolutions on blocked channels: the template for SSE4.1. */
#define INGOT_SIMD_SSE4 1
#include "cpu/conv/blocked_depthwise_tmpl.h"
