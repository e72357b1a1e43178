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

typedef struct depthwise_task {
    const ingot_conv *conv;
    const ingot_epilogue *epilogue;
    ingot_depthwise_row_function row;
    ingot_vec_unary_function activation; /* what the row kernel does not do; NULL: nothing */
    float low, high;
    size_t blocks;
    ingot_plane_grid grid;
    const float *input, *packed;
    float *output;
} depthwise_task;

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

static void run_row(const depthwise_task *t, size_t image, size_t block, size_t y)
{
    const ingot_conv *c = t->conv;
    const ingot_epilogue *e = t->epilogue;
    size_t plane = image * t->blocks + block, first, width = c->out_width * INGOT_BLOCK;
    size_t place = (plane * c->out_height + y) * width;
    const float *add = e->add ? e->add + place : NULL;
    ingot_depthwise_row row = {.conv = c, .low = t->low, .high = t->high, .output = t->output + place};
    row.channels = c->channels - block * INGOT_BLOCK < INGOT_BLOCK ? c->channels - block * INGOT_BLOCK : INGOT_BLOCK;
    row.bias = e->row_bias ? e->row_bias + block * INGOT_BLOCK : NULL;
    row.taps = taps_inside(c, y, &first);
    row.weights = t->packed + (block * taps_of(c) + first * c->kernel_width) * INGOT_BLOCK;
    row.input = t->input + plane * c->in_height * c->in_width * INGOT_BLOCK;
    if (row.taps > 0)
        row.input += (y * c->stride_height + first * c->dilation_height - c->pad_top) * c->in_width * INGOT_BLOCK;
    row.add_last = e->add_last;
    row.add = t->activation && e->add_last ? NULL : add;
    t->row(&row);
    if (!t->activation)
        return;
    t->activation(row.output, row.output, width, e->activation.a, e->activation.b);
    if (add && e->add_last)
        ingot_vec_table_best()->binary[INGOT_BINARY_ADD][INGOT_VEC_BOTH](row.output, add, row.output, width);
}

static void run_depthwise(void *argument, size_t chunk, int participant)
{
    const depthwise_task *t = argument;
    ingot_plane_range range = ingot_plane_range_of(&t->grid, chunk);
    for (size_t plane = range.first_plane; plane < range.end_plane; plane++)
        for (size_t y = range.first_row; y < range.end_row; y++)
            run_row(t, plane / t->blocks, plane % t->blocks, y);
}

void ingot_blocked_depthwise_f32(const ingot_conv *c, const float *input, const float *packed,
                                 const ingot_epilogue *epilogue, float *output, int threads)
{
    ingot_unary_kind kind = epilogue->activation.kind;
    bool limits = kind == INGOT_UNARY_IDENTITY || kind == INGOT_UNARY_RELU || kind == INGOT_UNARY_CLIP;
    depthwise_task t = {.conv = c,
                        .epilogue = epilogue,
                        .row = rows[ingot_level_best()],
                        .activation = limits ? NULL : ingot_vec_table_best()->unary[kind],
                        .low = kind == INGOT_UNARY_RELU   ? 0.0f
                               : kind == INGOT_UNARY_CLIP ? epilogue->activation.a
                                                          : -INFINITY,
                        .high = kind == INGOT_UNARY_CLIP ? epilogue->activation.b : INFINITY,
                        .blocks = ingot_block_count(c->channels),
                        .input = input,
                        .packed = packed,
                        .output = output};
    size_t row = (c->out_width * taps_of(c) + 1) * INGOT_BLOCK;
    t.grid = ingot_plane_grid_of(c->batch * t.blocks, c->out_height, row, CHUNK);
    ingot_plane_run(&t.grid, threads, run_depthwise, &t);
}
