/* Template: convolutions with few outputs and stride 1. Vectors go along the row of pixels, and each one that is loaded serves all
 * outputs. */
#include "cpu/conv/conv_table.h"
#include "cpu/simd/simd.h"

/* Most vectors of a segment: their sums, a weight for each output and one vector of the input fill the registers. */
#if LANES == 16
#define NARROW_VECTORS 6
#elif LANES == 1
#define NARROW_VECTORS 1
#else
#define NARROW_VECTORS 2
#endif

/* The lanes of a segment's vectors that lie in the image, for each column of the window. */
typedef mask narrow_masks[INGOT_NARROW_WIDTH][NARROW_VECTORS];

static inline __attribute__((always_inline)) void find_masks(const ingot_conv *c, size_t x, size_t count,
                                                             const int vectors, narrow_masks masks)
{
    for (size_t tap = 0; tap < c->kernel_width; tap++) {
        for (int v = 0; v < vectors; v++) {
            const size_t place = x + (size_t)v * LANES, left = c->pad_left, shift = tap * c->dilation_width;
            const size_t lanes = count - (size_t)v * LANES < LANES ? count - (size_t)v * LANES : LANES;
            size_t first = place + shift < left ? left - place - shift : 0, end = 0;
            if (left + c->in_width > place + shift)
                end = left + c->in_width - place - shift;
            end = end < lanes ? end : lanes;
            masks[tap][v] = m_range(first < end ? first : end, end);
        }
    }
}

/* count pixels from x on; edge: some are no whole vector, or see what is left or right of the image. */
static inline __attribute__((always_inline)) void run_segment(const ingot_narrow_row *r, size_t x, size_t count,
                                                              const int outputs, const int vectors, const bool edge)
{
    const ingot_conv *c = r->conv;
    vec sum[INGOT_NARROW_OUTPUTS][NARROW_VECTORS];
    narrow_masks masks;
    if (edge)
        find_masks(c, x, count, vectors, masks);
#pragma GCC unroll 4
    for (int o = 0; o < outputs; o++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            sum[o][v] = v_set(r->bias ? r->bias[o] : 0.0f);
    /* From a row of the window to the next one, and from the last one to the next channel's first: what the caches do not foresee. */
    const ptrdiff_t row = (ptrdiff_t)(c->dilation_height * c->in_width);
    const ptrdiff_t next_channel = (ptrdiff_t)(c->in_height * c->in_width) - (ptrdiff_t)(c->kernel_height - 1) * row;
    for (size_t channel = 0; channel < c->channels; channel++) {
        const float *plane = r->input + channel * c->in_height * c->in_width;
        for (size_t ky = 0; ky < c->kernel_height; ky++) {
            const size_t y = r->y + ky * c->dilation_height - c->pad_top; /* wraps above the image */
            if (y >= c->in_height)
                continue;
            const float *from = plane + (ptrdiff_t)(y * c->in_width + x) - (ptrdiff_t)c->pad_left;
            const float *weights = r->weights + (ky * c->kernel_width * c->channels + channel) * (size_t)outputs;
            const float *next = from + (ky + 1 < c->kernel_height ? row : next_channel);
#pragma GCC unroll 8
            for (int v = 0; v <= vectors; v++)
                v_prefetch(next + v * LANES);
            for (size_t kx = 0; kx < c->kernel_width; kx++) {
                vec weight[INGOT_NARROW_OUTPUTS];
#pragma GCC unroll 4
                for (int o = 0; o < outputs; o++)
                    weight[o] = v_set(weights[o]);
#pragma GCC unroll 8
                for (int v = 0; v < vectors; v++) {
                    const vec value =
                        edge ? v_load_mask(v_zero(), masks[kx][v], from + v * LANES) : v_load_once(from + v * LANES);
#pragma GCC unroll 4
                    for (int o = 0; o < outputs; o++)
                        sum[o][v] = multiply_add(value, weight[o], sum[o][v]);
                }
                from += c->dilation_width;
                weights += c->channels * (size_t)outputs;
            }
        }
    }
#pragma GCC unroll 4
    for (int o = 0; o < outputs; o++) {
        float *to = r->output + (size_t)o * c->out_height * c->out_width + x;
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            const size_t rest = count - (size_t)v * LANES;
            if (edge && rest < LANES)
                v_store_part(to + v * LANES, sum[o][v], rest);
            else
                v_store(to + v * LANES, sum[o][v]);
        }
    }
}

typedef void (*narrow_function)(const ingot_narrow_row *r, size_t x, size_t count);

#define NARROW_SEGMENT(outputs, vectors)                                                             \
    static void narrow_##outputs##x##vectors(const ingot_narrow_row *r, size_t x, size_t count)      \
    {                                                                                                \
        run_segment(r, x, count, outputs, vectors, false);                                           \
    }                                                                                                \
    static void narrow_edge_##outputs##x##vectors(const ingot_narrow_row *r, size_t x, size_t count) \
    {                                                                                                \
        run_segment(r, x, count, outputs, vectors, true);                                            \
    }
/* clang-format off */
#if NARROW_VECTORS == 6
#define NARROW_SEGMENTS(X, outputs) X(outputs, 1) X(outputs, 2) X(outputs, 3) X(outputs, 4) X(outputs, 5) X(outputs, 6)
#elif NARROW_VECTORS == 2
#define NARROW_SEGMENTS(X, outputs) X(outputs, 1) X(outputs, 2)
#else
#define NARROW_SEGMENTS(X, outputs) X(outputs, 1)
#endif
#define NARROW_ALL(X) NARROW_SEGMENTS(X, 1) NARROW_SEGMENTS(X, 2) NARROW_SEGMENTS(X, 3) NARROW_SEGMENTS(X, 4)
/* clang-format on */
NARROW_ALL(NARROW_SEGMENT)

/* By outputs and vectors. */
static const narrow_function narrow_inside[INGOT_NARROW_OUTPUTS + 1][NARROW_VECTORS + 1] = {
#define NARROW_INSIDE(outputs, vectors) [outputs][vectors] = narrow_##outputs##x##vectors,
    NARROW_ALL(NARROW_INSIDE)};
static const narrow_function narrow_edge[INGOT_NARROW_OUTPUTS + 1][NARROW_VECTORS + 1] = {
#define NARROW_EDGE(outputs, vectors) [outputs][vectors] = narrow_edge_##outputs##x##vectors,
    NARROW_ALL(NARROW_EDGE)};

/* Pixels x ... end - 1 in segments of whole vectors, or with a part of one at the end. */
static size_t narrow_segments(const ingot_narrow_row *r, size_t x, size_t end, bool edge)
{
    const narrow_function *functions = (edge ? narrow_edge : narrow_inside)[r->conv->outputs];
    while (x < end && (edge || end - x >= LANES)) {
        size_t vectors = edge ? (end - x + LANES - 1) / LANES : (end - x) / LANES;
        vectors = vectors < NARROW_VECTORS ? vectors : NARROW_VECTORS;
        const size_t count = end - x < vectors * LANES ? end - x : vectors * LANES;
        functions[vectors](r, x, count);
        x += count;
    }
    return x;
}

static void narrow_row(const ingot_narrow_row *r)
{
    const ingot_conv *c = r->conv;
    const size_t reach = (c->kernel_width - 1) * c->dilation_width;
    const size_t left = c->pad_left < c->out_width ? c->pad_left : c->out_width;
    /* Those before right see nothing beyond the image. */
    size_t right = c->in_width + c->pad_left > reach ? c->in_width + c->pad_left - reach : 0;
    right = right < c->out_width ? right : c->out_width;
    size_t x = narrow_segments(r, 0, left, true);
    if (x < right)
        x = narrow_segments(r, x, right, false);
    narrow_segments(r, x, c->out_width, true);
}
