/* 8-bit products by AVX-512 VNNI, which sums four products of an unsigned and a signed byte in 32 bits: tiles of up to 14 rows of
 * two registers, 28 sums; B's two registers and A's four bytes complete the 31. */
#define INGOT_SIMD_AVX512 1
#include "cpu/int8/int8_kernel.h"
#include "cpu/int8/ints.h"

#define MAX_ROWS     14
#define VECTORS      2
#define KERNEL(part) ingot_int8_14x32_avx512_vnni_##part

typedef ints ready_a, ready_b;

static inline ready_a make_ready_a(const uint8_t *a)
{
    return i_repeat(a);
}
static inline ready_a load_ready_a(const uint8_t *quads)
{
    return i_load(quads);
}
static inline ready_b make_ready_b(const int8_t *b)
{
    return i_load(b);
}
static inline ints i_dot(ints sum, ready_a a, ready_b b)
{
    return _mm512_dpbusd_epi32(sum, a, b);
}

/* X(rows, vectors) */
/* clang-format off */
#define TILES(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) \
    X(8, 1) X(9, 1) X(10, 1) X(11, 1) X(12, 1) X(13, 1) X(14, 1) \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) \
    X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2) X(13, 2) X(14, 2)
/* clang-format on */

#include "cpu/int8/int8_tile_tmpl.h"
/* After the tile. */
#include "cpu/int8/int8_depthwise_tmpl.h"
