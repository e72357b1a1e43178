/* 8-bit products in plain C. */
#define INGOT_SIMD_SCALAR 1
#include "cpu/int8/int8_kernel.h"
#include "cpu/int8/ints.h"

#define MAX_ROWS     4
#define VECTORS      4
#define KERNEL(part) ingot_int8_4x4_scalar_##part

typedef const uint8_t *ready_a;
typedef const int8_t *ready_b;

static inline ready_a make_ready_a(const uint8_t *a)
{
    return a;
}
static inline ready_a load_ready_a(const uint8_t *quads)
{
    return quads;
}
static inline ready_b make_ready_b(const int8_t *b)
{
    return b;
}
static inline ints i_dot(ints sum, ready_a a, ready_b b)
{
    return i_add(sum, a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
}

#define TILES(X) \
    X(1, 1)      \
    X(2, 1)      \
    X(3, 1) X(4, 1) X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(1, 3) X(2, 3) X(3, 3) X(4, 3) X(1, 4) X(2, 4) X(3, 4) X(4, 4)

#include "cpu/int8/int8_tile_tmpl.h"
/* After the tile. */
#include "cpu/int8/int8_depthwise_tmpl.h"
