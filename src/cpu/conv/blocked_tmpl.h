/* Template: tiles of a convolution on blocked channels. The weights of a tile's output channels are vectors, the input's elements are
 * broadcast. Each tile shape is its own function, so that the sums stay in registers. */
#include "cpu/conv/blocked.h"
#include "cpu/simd/simd.h"

/* Most pixels of a tile of one block, of two and of three: with them sums, weights and one broadcast fill the registers. */
#if LANES == 16
#define MAX_BLOCKS   3
#define ONE_BLOCK    14
#define TWO_BLOCKS   14
#define THREE_BLOCKS 9
#else
#define MAX_BLOCKS   1
#define ONE_BLOCK    (LANES == 8 ? 6 : LANES == 4 ? 2 : 1)
#define TWO_BLOCKS   0
#define THREE_BLOCKS 0
#endif
#define BLOCK_VECTORS (INGOT_BLOCK / LANES)
#define MAX_COLUMNS   14
#define MAX_VECTORS   (MAX_BLOCKS * BLOCK_VECTORS)
#define PLAIN         1 /* floats from a pixel to the next */

static inline vec multiply_add(vec a, vec b, vec c)
{
    return LANES < 8 ? v_add(v_mul(a, b), c) : v_fma(a, b, c); /* without the instruction fma() is slow */
}

typedef vec tile_sums[MAX_COLUMNS][MAX_VECTORS];

static inline __attribute__((always_inline)) void add_tensor(const ingot_blocked_tile *t, const int columns,
                                                             const int vectors, tile_sums sum)
{
    const int half = (columns + 1) / 2;
    const size_t step = t->out_pixel;
#pragma GCC unroll 14
    for (int i = 0; i < columns; i++) {
        const float *from = i < half ? t->add[0] + (size_t)i * step : t->add[1] + (size_t)(i - half) * step;
#pragma GCC unroll 16
        for (int v = 0; v < vectors; v++)
            sum[i][v] =
                v_add(sum[i][v], v_load(from + (size_t)(v / BLOCK_VECTORS) * t->out_block + v % BLOCK_VECTORS * LANES));
    }
}

/* What the sums of a vector of outputs begin with. */
static inline __attribute__((always_inline)) vec load_bias(const ingot_blocked_tile *t, const int v)
{
    const size_t first = (size_t)v * LANES, lanes = t->outputs > first ? t->outputs - first : 0;
    return lanes >= LANES ? v_load(t->bias + first) : v_load_part(t->bias + first, lanes);
}

static inline __attribute__((always_inline)) void finish_tile(const ingot_blocked_tile *t, const int columns,
                                                              const int vectors, tile_sums sum)
{
    if (t->add[0] && !t->add_last)
        add_tensor(t, columns, vectors, sum);
    /* The limit is the first operand: a NaN in the second one goes through. */
    vec low = v_set(t->low), high = v_set(t->high);
    if (t->low > -INFINITY || t->high < INFINITY) {
#pragma GCC unroll 14
        for (int i = 0; i < columns; i++) {
#pragma GCC unroll 16
            for (int v = 0; v < vectors; v++)
                sum[i][v] = v_min(high, v_max(low, sum[i][v]));
        }
    }
    if (t->add[0] && t->add_last)
        add_tensor(t, columns, vectors, sum);
}

/* The channels of a block under one tap; columns, vectors and spacing are constants. */
static inline __attribute__((always_inline)) void add_channels(const float *in, const float *second,
                                                               const float *weights, size_t channels, const int columns,
                                                               const int vectors, const int spacing,
                                                               const char *ahead[2], size_t step, tile_sums sum)
{
    const int half = (columns + 1) / 2;
    do {
        vec weight[MAX_VECTORS];
#pragma GCC unroll 16
        for (int v = 0; v < vectors; v++)
            weight[v] = v_load(weights + v * LANES);
        if (spacing != PLAIN) {
            v_prefetch_far(ahead[0]);
            v_prefetch_far(ahead[1]);
        }
#pragma GCC unroll 14
        for (int i = 0; i < columns; i++) {
            vec x = v_set(i < half ? in[i * spacing] : second[(i - half) * spacing]);
#pragma GCC unroll 16
            for (int v = 0; v < vectors; v++)
                sum[i][v] = multiply_add(x, weight[v], sum[i][v]);
        }
        in++;
        second++;
        weights += vectors * LANES;
        ahead[0] += step;
        ahead[1] += 64;
    } while (spacing != PLAIN && --channels > 0);
}

static inline __attribute__((always_inline)) void tile(const ingot_blocked_tile *t, const int columns, const int blocks,
                                                       const int spacing)
{
    const int half = (columns + 1) / 2, vectors = blocks * BLOCK_VECTORS;
    const size_t step = t->out_pixel;
    tile_sums sum;
#pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) {
        const vec start = t->bias && !t->accumulate ? load_bias(t, v) : v_zero();
        const size_t at = (size_t)(v / BLOCK_VECTORS) * t->out_block + v % BLOCK_VECTORS * LANES;
#pragma GCC unroll 14
        for (int i = 0; i < columns; i++)
            sum[i][v] =
                t->accumulate
                    ? v_load((i < half ? t->out[0] + (size_t)i * step : t->out[1] + (size_t)(i - half) * step) + at)
                    : start;
    }
    if (spacing == PLAIN) { /* stores wait for their place */
#pragma GCC unroll 14
        for (int i = 0; i < columns; i++) {
            const float *to = i < half ? t->out[0] + (size_t)i * step : t->out[1] + (size_t)(i - half) * step;
#pragma GCC unroll 3
            for (int block = 0; block < blocks; block++)
                v_prefetch(to + (size_t)block * t->out_block);
        }
    }
    const float *in = t->in[0], *second = t->in[1], *weights = t->weights;
    const char *weights_ahead = t->weights_ahead, *in_ahead = t->in_ahead;
    for (size_t block = t->in_blocks; block > 0; block--) {
        const char *ahead[2] = {weights_ahead, in_ahead};
        size_t channels = spacing == PLAIN ? 1 : block > 1 ? INGOT_BLOCK : t->last_channels;
        for (size_t i = 0; i < t->tap_count; i++) {
            const ingot_blocked_tap *tap = &t->taps[i];
            add_channels(in + tap->in, second + tap->in, weights + tap->weights * channels, channels, columns, vectors,
                         spacing, ahead, t->ahead_step, sum);
        }
        weights_ahead += t->weights_ahead_block;
        in_ahead += t->in_ahead_block;
        in += t->in_block;
        second += t->in_block;
        weights += t->weight_block;
    }
    if (t->last)
        finish_tile(t, columns, vectors, sum);
    float *out = t->out[0], *second_out = t->out[1];
    const size_t out_block = t->out_block;
#pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) {
        const size_t at = (size_t)(v / BLOCK_VECTORS) * out_block + v % BLOCK_VECTORS * LANES;
#pragma GCC unroll 14
        for (int i = 0; i < columns; i++)
            v_store(i < half ? out + at + (size_t)i * step : second_out + at + (size_t)(i - half) * step, sum[i][v]);
    }
}

/* X(columns, blocks) */
/* clang-format off */
#if LANES == 16
#define TILES(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) \
    X(8, 1) X(9, 1) X(10, 1) X(11, 1) X(12, 1) X(13, 1) X(14, 1) \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) \
    X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2) X(13, 2) X(14, 2) \
    X(1, 3) X(2, 3) X(3, 3) X(4, 3) X(5, 3) X(6, 3) X(7, 3) X(8, 3) X(9, 3)
#elif LANES == 8
#define TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1)
#elif LANES == 4
#define TILES(X) X(1, 1) X(2, 1)
#else
#define TILES(X) X(1, 1)
#endif
/* clang-format on */

#define TILE_FUNCTIONS(columns, blocks)                                   \
    static void blocked_##columns##x##blocks(const ingot_blocked_tile *t) \
    {                                                                     \
        tile(t, columns, blocks, INGOT_BLOCK);                            \
    }                                                                     \
    static void plain_##columns##x##blocks(const ingot_blocked_tile *t)   \
    {                                                                     \
        tile(t, columns, blocks, PLAIN);                                  \
    }
TILES(TILE_FUNCTIONS)

static const ingot_blocked_tile_function blocked_tiles[MAX_BLOCKS + 1][MAX_COLUMNS + 1] = {
#define BLOCKED_ENTRY(columns, blocks) [blocks][columns] = blocked_##columns##x##blocks,
    TILES(BLOCKED_ENTRY)};
static const ingot_blocked_tile_function plain_tiles[MAX_BLOCKS + 1][MAX_COLUMNS + 1] = {
#define PLAIN_ENTRY(columns, blocks) [blocks][columns] = plain_##columns##x##blocks,
    TILES(PLAIN_ENTRY)};

static void blocked_tile(const ingot_blocked_tile *t)
{
    blocked_tiles[t->blocks][t->columns](t);
}

static void plain_tile(const ingot_blocked_tile *t)
{
    plain_tiles[t->blocks][t->columns](t);
}
