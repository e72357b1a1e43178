#include "cpu/conv/blocked_depthwise.h"

#include <math.h>

#include "cpu/eltwise/vec_table.h"
#include "cpu/layout/layout.h"
#include "cpu/layout/plane_grid.h"

/* Multiplications that a chunk of work does, about, in all lanes: some microseconds. */
#define CHUNK ((size_t)64 << 10)

static const ingot_depthwise_row_function rows[] = {
#define INGOT_LEVEL(suffix, features) ingot_blocked_depthwise_row_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

ingot_depthwise_row_function ingot_blocked_depthwise_row_at(int level)
{
    return rows[level];
}

bool ingot_blocked_depthwise_suits(const ingot_conv *c)
{
    return c->groups == c->channels && c->channels == c->outputs;
}

static size_t taps_of(const ingot_conv *c)
{
    return c->kernel_height * c->kernel_width;
}

size_t ingot_blocked_depthwise_packed_size(const ingot_conv *c)
{
    return ingot_block_count(c->channels) * taps_of(c) * INGOT_BLOCK * sizeof(float);
}

void ingot_blocked_depthwise_pack(const ingot_conv *c, const float *weights, float *packed)
{
    size_t taps = taps_of(c);
    for (size_t block = 0; block < ingot_block_count(c->channels); block++, packed += taps * INGOT_BLOCK) {
        for (size_t lane = 0; lane < INGOT_BLOCK; lane++) {
            size_t channel = block * INGOT_BLOCK + lane;
            for (size_t tap = 0; tap < taps; tap++)
                packed[tap * INGOT_BLOCK + lane] = channel < c->channels ? weights[channel * taps + tap] : 0.0f;
        }
    }
}

/* The taps of output row y that lie in the image: rows first ... first + count - 1 of the window. */
static size_t taps_inside(const ingot_conv *c, size_t y, size_t *first)
{
    size_t start = y * c->stride_height, step = c->dilation_height, low = 0, end = 0;
    if (start < c->pad_top)
        low = (c->pad_top - start + step - 1) / step;
    if (c->in_height + c->pad_top > start)
        end = (c->in_height + c->pad_top - start + step - 1) / step;
    end = end < c->kernel_height ? end : c->kernel_height;
    *first = low < end ? low : 0;
    return low < end ? end - low : 0;
}

void ingot_blocked_depthwise_rows_f32(const ingot_depthwise_rows *r)
{
    const ingot_conv *c = r->conv;
    const ingot_epilogue *e = r->epilogue;
    const ingot_unary_kind kind = e->activation.kind;
    const bool relu = kind == INGOT_UNARY_RELU, clip = kind == INGOT_UNARY_CLIP;
    const bool limits = kind == INGOT_UNARY_IDENTITY || relu || clip; /* the row kernel does it */
    const size_t width = c->out_width * INGOT_BLOCK, rest = c->channels - r->block * INGOT_BLOCK;
    const ingot_depthwise_row_function function = rows[ingot_level_best()];
    const float *add = r->add;
    ingot_depthwise_row row = {.conv = c, .output = r->output, .add_last = e->add_last};
    row.low = relu ? 0.0f : clip ? e->activation.a : -INFINITY;
    row.high = clip ? e->activation.b : INFINITY;
    row.channels = rest < INGOT_BLOCK ? rest : INGOT_BLOCK;
    row.bias = e->row_bias ? e->row_bias + r->block * INGOT_BLOCK : NULL;
    for (size_t y = r->first, first; y < r->end; y++, row.output += width, add = add ? add + width : NULL) {
        row.taps = taps_inside(c, y, &first);
        row.weights = r->packed + (r->block * taps_of(c) + first * c->kernel_width) * INGOT_BLOCK;
        row.input = r->input;
        if (row.taps > 0)
            row.input += (ptrdiff_t)((y * c->stride_height + first * c->dilation_height - c->pad_top) * c->in_width *
                                     INGOT_BLOCK);
        row.add = !limits && e->add_last ? NULL : add;
        function(&row);
        if (limits)
            continue;
        ingot_vec_table_best()->unary[kind](row.output, row.output, width, e->activation.a, e->activation.b);
        if (add && e->add_last)
            ingot_vec_table_best()->binary[INGOT_BINARY_ADD][INGOT_VEC_BOTH](row.output, add, row.output, width);
    }
}

typedef struct depthwise_task {
    const ingot_conv *conv;
    const ingot_epilogue *epilogue;
    size_t blocks;
    ingot_plane_grid grid;
    const float *input, *packed;
    float *output;
} depthwise_task;

static void run_depthwise(void *argument, size_t chunk, int participant)
{
    const depthwise_task *t = argument;
    const ingot_conv *c = t->conv;
    const ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    ingot_depthwise_rows strip = {.conv = c, .epilogue = t->epilogue, .packed = t->packed};
    strip.first = range.first_row;
    strip.end = range.end_row;
    for (size_t plane = range.first_plane; plane < range.end_plane; plane++) {
        const size_t place = (plane * c->out_height + strip.first) * c->out_width * INGOT_BLOCK;
        strip.block = plane % t->blocks;
        strip.input = t->input + plane * c->in_height * c->in_width * INGOT_BLOCK;
        strip.output = t->output + place;
        strip.add = t->epilogue->add ? t->epilogue->add + place : NULL;
        ingot_blocked_depthwise_rows_f32(&strip);
    }
}

void ingot_blocked_depthwise_f32(const ingot_conv *c, const float *input, const float *packed,
                                 const ingot_epilogue *epilogue, float *output, int threads)
{
    depthwise_task t = {.conv = c,
                        .epilogue = epilogue,
                        .blocks = ingot_block_count(c->channels),
                        .input = input,
                        .packed = packed,
                        .output = output};
    size_t row = (c->out_width * taps_of(c) + 1) * INGOT_BLOCK;
    t.grid = ingot_plane_grid_of(c->batch * t.blocks, c->out_height, row, CHUNK);
    ingot_plane_run(&t.grid, threads, run_depthwise, &t);
}
