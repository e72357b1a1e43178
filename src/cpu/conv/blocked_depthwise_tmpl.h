/* Template: a row of a depthwise convolution on blocked channels. Neighbouring outputs are summed together, so that an input
 * vector, once loaded, serves all windows that it is in, and weights stay in registers. */
#include "cpu/conv/blocked_depthwise.h"
#include "cpu/layout/layout.h"
#include "cpu/simd/simd.h"

/* Most outputs at once: their sums are chains of steps that wait for the one before, so there must be many. */
#if LANES == 16
#define MAX_TILE 16
#else
#define MAX_TILE 8
#endif
#define MAX_SIZE 7

static inline vec multiply_add(vec a, vec b, vec c)
{
    return LANES < 8 ? v_add(v_mul(a, b), c) : v_fma(a, b, c); /* without the instruction fma() is slow */
}

/* Some outputs of a row that lie side by side, some lanes of them. The bias is here because a function that takes a vector leaves upper
 * halves of registers in use, and the change to code without AVX then costs hundreds of cycles. */
typedef struct tile_place {
    const float *input; /* under the first tap of the first output, which may lie left of the image */
    ptrdiff_t first;    /* its column in the image */
    const float *weights;
    size_t at;         /* the lanes in the output */
    ptrdiff_t outside; /* by so many columns, at most, windows reach out of the image on one side */
    vec bias;
} tile_place;

static const float zeros[LANES];

/* A vector of the image, zeros outside of it: a pointer is chosen, as a jump would cost more. */
static inline __attribute__((always_inline)) vec load_inside(const float *from, ptrdiff_t column, size_t width)
{
    return v_load((size_t)column < width ? from : zeros);
}

/* Any window and dilation, and any stride where that is 0; tile, stride and edge are constants. */
static inline __attribute__((always_inline)) void add_any_rows(const ingot_depthwise_row *r, const tile_place *p,
                                                               const int tile, const int stride, const bool edge,
                                                               vec sum[MAX_TILE])
{
    const ingot_conv *c = r->conv;
    const float *row = p->input, *weights = p->weights;
    const size_t step = c->dilation_height * c->in_width * INGOT_BLOCK, width = c->in_width;
    const ptrdiff_t by = stride > 0 ? stride : (ptrdiff_t)c->stride_width;
    for (size_t y = 0; y < r->taps; y++, row += step) {
        for (size_t x = 0; x < c->kernel_width; x++, weights += INGOT_BLOCK) {
            vec weight = v_load(weights);
            ptrdiff_t column = (ptrdiff_t)(x * c->dilation_width);
            const float *from = row + column * INGOT_BLOCK;
            column += p->first;
#pragma GCC unroll 16
            for (int t = 0; t < tile; t++) {
                vec value = edge ? load_inside(from, column, width) : v_load(from);
                sum[t] = multiply_add(value, weight, sum[t]);
                from += by * INGOT_BLOCK;
                column += by;
            }
        }
    }
}

/* Windows of known size; tile, size, stride and edge are constants. edge: the first and last columns, half a window, may lie outside of
 * the image. */
static inline __attribute__((always_inline)) void add_rows(const ingot_depthwise_row *r, const tile_place *p,
                                                           const int tile, const int size, const int stride,
                                                           const bool edge, vec sum[MAX_TILE])
{
    const ingot_conv *c = r->conv;
    const float *row = p->input, *weights = p->weights;
    const size_t step = c->dilation_height * c->in_width * INGOT_BLOCK, width = c->in_width;
    const int columns = (tile - 1) * stride + size;
    for (size_t y = 0; y < r->taps; y++, row += step, weights += size * INGOT_BLOCK) {
        vec weight[MAX_SIZE];
#pragma GCC unroll 8
        for (int x = 0; x < size; x++)
            weight[x] = v_load(weights + x * INGOT_BLOCK);
#pragma GCC unroll 40
        for (int i = 0; i < columns; i++) {
            const float *from = row + i * INGOT_BLOCK;
            const bool inside = !edge || (i >= size / 2 && i < columns - size / 2);
            const vec value = v_load_once(inside || (size_t)(p->first + i) < width ? from : zeros);
#pragma GCC unroll 16
            for (int t = 0; t < tile; t++) {
                const int x = i - t * stride;
                if (x >= 0 && x < size)
                    sum[t] = multiply_add(value, weight[x], sum[t]);
            }
        }
    }
}

static inline __attribute__((always_inline)) void run_tile(const ingot_depthwise_row *r, const tile_place *p,
                                                           const int tile, const int size, const int stride)
{
    vec sum[MAX_TILE], low = v_set(r->low), high = v_set(r->high);
    float *output = r->output + p->at;
#pragma GCC unroll 16
    for (int t = 0; t < tile; t++)
        sum[t] = p->bias;
    if (p->outside > size / 2)
        add_any_rows(r, p, tile, stride, true, sum);
    else if (size == 0)
        add_any_rows(r, p, tile, stride, false, sum);
    else if (p->outside > 0)
        add_rows(r, p, tile, size, stride, true, sum);
    else
        add_rows(r, p, tile, size, stride, false, sum);
    if (r->add && !r->add_last) {
#pragma GCC unroll 16
        for (int t = 0; t < tile; t++)
            sum[t] = v_add(sum[t], v_load(r->add + p->at + t * INGOT_BLOCK));
    }
    /* The limit is the first operand: a NaN in the second one goes through. */
#pragma GCC unroll 16
    for (int t = 0; t < tile; t++)
        sum[t] = v_min(high, v_max(low, sum[t]));
    if (r->add && r->add_last) {
#pragma GCC unroll 16
        for (int t = 0; t < tile; t++)
            sum[t] = v_add(sum[t], v_load(r->add + p->at + t * INGOT_BLOCK));
    }
#pragma GCC unroll 16
    for (int t = 0; t < tile; t++)
        v_store(output + t * INGOT_BLOCK, sum[t]);
}

typedef void (*tile_function)(const ingot_depthwise_row *r, const tile_place *p);

#define TILE(tile, size, stride)                                                                               \
    static void tile_##tile##_size_##size##_stride_##stride(const ingot_depthwise_row *r, const tile_place *p) \
    {                                                                                                          \
        run_tile(r, p, tile, size, stride);                                                                    \
    }
/* The sizes of tiles: those of usual images are made of few of them. */
#if LANES == 16
#define WIDE_TILES(size, stride) \
    TILE(14, size, stride)       \
    TILE(16, size, stride)
#define WIDE_ENTRIES(size, stride) ENTRY(14, size, stride) ENTRY(16, size, stride)
#else
#define WIDE_TILES(size, stride)
#define WIDE_ENTRIES(size, stride)
#endif
#define ENTRY(tile, size, stride) [tile - 1] = tile_##tile##_size_##size##_stride_##stride,
#define TILES(size, stride)                                                                         \
    TILE(1, size, stride)                                                                           \
    TILE(2, size, stride)                                                                           \
    TILE(4, size, stride)                                                                           \
    TILE(7, size, stride)                                                                           \
    TILE(8, size, stride)                                                                           \
    WIDE_TILES(size, stride)                                                                        \
    static const tile_function tiles_size_##size##_stride_##stride[MAX_TILE] = {                    \
        ENTRY(1, size, stride) ENTRY(2, size, stride) ENTRY(4, size, stride) ENTRY(7, size, stride) \
            ENTRY(8, size, stride) WIDE_ENTRIES(size, stride)};
TILES(0, 0)
TILES(0, 1)
TILES(3, 1)
TILES(3, 2)
#if LANES == 16
TILES(5, 1)
TILES(5, 2)
TILES(7, 1)
#else /* too few registers for the weights */
#define tiles_size_5_stride_1 tiles_size_0_stride_1
#define tiles_size_5_stride_2 tiles_size_0_stride_0
#define tiles_size_7_stride_1 tiles_size_0_stride_1
#endif

/* Outputs first ... end - 1 of a row whose windows lie in the image. */
static void find_inner(const ingot_conv *c, size_t *first, size_t *end)
{
    const size_t span = (c->kernel_width - 1) * c->dilation_width + 1, pixels = c->in_width + c->pad_left;
    *first = (c->pad_left + c->stride_width - 1) / c->stride_width;
    *first = *first < c->out_width ? *first : c->out_width;
    *end = pixels < span ? 0 : (pixels - span) / c->stride_width + 1;
    *end = *end < *first ? *first : *end < c->out_width ? *end : c->out_width;
}

static size_t next_tile(size_t rest)
{
    if (MAX_TILE >= 16 && rest >= 14)
        return rest % 14 == 0 || rest < 16 ? 14 : 16;
    return rest % 7 == 0 && rest % 8 != 0 ? 7 : rest >= 8 ? 8 : rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
}

/* By half the window's width and the stride. */
static const tile_function *const tiles[MAX_SIZE / 2 + 1][3] = {
    [1] = {NULL, tiles_size_3_stride_1, tiles_size_3_stride_2},
    [2] = {NULL, tiles_size_5_stride_1, tiles_size_5_stride_2},
    [3] = {NULL, tiles_size_7_stride_1, tiles_size_0_stride_0},
};

static const tile_function *find_tiles(const ingot_conv *c)
{
    bool known = c->kernel_width % 2 == 1 && c->kernel_width > 1 && c->kernel_width <= MAX_SIZE &&
                 c->stride_width <= 2 && c->dilation_width == 1;
    return known                  ? tiles[c->kernel_width / 2][c->stride_width]
           : c->stride_width == 1 ? tiles_size_0_stride_1
                                  : tiles_size_0_stride_0;
}

void LEVEL_NAME(ingot_blocked_depthwise_row)(const ingot_depthwise_row *r)
{
    const ingot_conv *c = r->conv;
    const tile_function *functions = find_tiles(c);
    const size_t span = (c->kernel_width - 1) * c->dilation_width + 1;
    size_t inner = 0, outer = 0; /* from where on, and up to where, tiles see the image alone */
    if (c->dilation_width > 1)
        find_inner(c, &inner, &outer);
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        size_t rest = r->channels > lane ? r->channels - lane : 0;
        vec bias = !r->bias || rest == 0 ? v_zero() : v_load_part(r->bias + lane, rest < LANES ? rest : LANES);
        for (size_t x = 0, tile; x < c->out_width; x += tile) {
            ptrdiff_t first = (ptrdiff_t)(x * c->stride_width) - (ptrdiff_t)c->pad_left;
            tile = next_tile((x < inner ? inner : x < outer ? outer : c->out_width) - x);
            ptrdiff_t end = first + (ptrdiff_t)((tile - 1) * c->stride_width + span);
            tile_place p = {.input = r->input + first * INGOT_BLOCK + (ptrdiff_t)lane, .first = first, .bias = bias};
            p.weights = r->weights + lane;
            p.at = x * INGOT_BLOCK + lane;
            const ptrdiff_t past = end - (ptrdiff_t)c->in_width;
            p.outside = past > -first ? past : -first;
            functions[tile - 1](r, &p);
        }
    }
}
