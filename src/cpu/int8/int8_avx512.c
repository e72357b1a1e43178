/* 8-bit products by AVX-512 without VNNI: int8_pairs_tmpl.h says how. */
#define INGOT_SIMD_AVX512 1
#include "cpu/int8/int8_kernel.h"
#include "cpu/int8/ints.h"

#define MAX_ROWS     8
#define VECTORS      2
#define KERNEL(part) ingot_int8_8x32_avx512_##part

#include "cpu/int8/int8_pairs_tmpl.h"

#define TILES(X) \
    X(1, 1)      \
    X(2, 1)      \
    X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2)

#include "cpu/int8/int8_tile_tmpl.h"
/* After the tile. */
#include "cpu/int8/int8_depthwise_tmpl.h"
