/* Rows of depthwise convolutions on blocked channels: the template for plain C. */
#define INGOT_SIMD_SCALAR 1
#include "cpu/conv/blocked_depthwise_tmpl.h"
