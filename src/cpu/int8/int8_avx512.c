/* 8-bit products by AVX-512: pairs of 16-bit numbers are multiplied and summed in 32 bits, which is exact; of a quad's four bytes
 * those of even place make one pair, those of odd place the other. */
#define INGOT_SIMD_AVX512 1
#include "cpu/int8/int8_kernel.h"
#include "cpu/int8/ints.h"

#define MAX_ROWS     8
#define VECTORS      2
#define KERNEL(part) ingot_int8_8x32_avx512_##part

typedef struct pairs {
    ints even, odd;
} ready_a, ready_b;

static inline ready_a split(ints quad)
{
    return (ready_a){_mm512_and_si512(quad, _mm512_set1_epi32(0x00FF00FF)), _mm512_srli_epi16(quad, 8)};
}
static inline ready_a make_ready_a(const uint8_t *a)
{
    return split(i_repeat(a));
}
static inline ready_a load_ready_a(const uint8_t *quads)
{
    return split(i_load(quads));
}
static inline ready_b make_ready_b(const int8_t *b)
{
    ints quads = i_load(b);
    return (ready_b){_mm512_srai_epi16(_mm512_slli_epi16(quads, 8), 8), _mm512_srai_epi16(quads, 8)};
}
static inline ints i_dot(ints sum, ready_a a, ready_b b)
{
    return i_add(i_add(sum, _mm512_madd_epi16(a.even, b.even)), _mm512_madd_epi16(a.odd, b.odd));
}

#define TILES(X) \
    X(1, 1)      \
    X(2, 1)      \
    X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2)

#include "cpu/int8/int8_tile_tmpl.h"
/* After the tile. */
#include "cpu/int8/int8_depthwise_tmpl.h"
