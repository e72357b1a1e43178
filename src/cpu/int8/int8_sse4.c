/* 8-bit products by SSE4.1, by pairs. */
#define INGOT_SIMD_SSE4 1
#include "cpu/int8/int8_kernel.h"
#include "cpu/int8/ints.h"

#define MAX_ROWS     4
#define VECTORS      2
#define KERNEL(part) ingot_int8_4x8_sse4_##part

#include "cpu/int8/int8_pairs_tmpl.h"

#define TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(1, 2) X(2, 2) X(3, 2) X(4, 2)

#include "cpu/int8/int8_tile_tmpl.h"
/* After the tile. */
#include "cpu/int8/int8_depthwise_tmpl.h"
