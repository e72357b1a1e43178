/* The layout kernels: layout_tmpl.h for plain C. */
#define INGOT_SIMD_SCALAR 1
#include "cpu/layout/layout_tmpl.h"
