/* 8-bit products by SSE4.1, as int8_avx512.c does them. */
#define INGOT_SIMD_SSE4 1
#include "cpu/int8/int8_kernel.h"
#include "cpu/int8/ints.h"

#define MAX_ROWS     4
#define VECTORS      2
#define KERNEL(part) ingot_int8_4x8_sse4_##part

typedef struct pairs {
    ints even, odd;
} ready_a, ready_b;

static inline ready_a split(ints quad)
{
    /* Shifts: for a mask there is no register left. */
    return (ready_a){_mm_srli_epi16(_mm_slli_epi16(quad, 8), 8), _mm_srli_epi16(quad, 8)};
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
    return (ready_b){_mm_srai_epi16(_mm_slli_epi16(quads, 8), 8), _mm_srai_epi16(quads, 8)};
}
static inline ints i_dot(ints sum, ready_a a, ready_b b)
{
    return i_add(i_add(sum, _mm_madd_epi16(a.even, b.even)), _mm_madd_epi16(a.odd, b.odd));
}

#define TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(1, 2) X(2, 2) X(3, 2) X(4, 2)

#include "cpu/int8/int8_tile_tmpl.h"
/* After the tile. */
#include "cpu/int8/int8_depthwise_tmpl.h"
