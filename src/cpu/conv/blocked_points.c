#include "cpu/conv/blocked_points.h"

#include "base/memory.h"

void ingot_blocked_multiply_points(const ingot_point_products *p)
{
    static const ingot_blocked_tap tap = {0, 0};
    ingot_blocked_tile t = {.blocks = p->blocks,
                            .in_blocks = p->end_block - p->first_block,
                            .in_block = p->in_block,
                            .last_channels = INGOT_BLOCK,
                            .taps = &tap,
                            .tap_count = 1,
                            .weight_block = p->blocks * INGOT_BLOCK * INGOT_BLOCK,
                            .out_pixel = INGOT_BLOCK,
                            .out_block = p->tiles * INGOT_BLOCK,
                            .accumulate = p->first_block > 0};
    if (p->end_block * INGOT_BLOCK > p->channels)
        t.last_channels = p->channels - (p->end_block - 1) * INGOT_BLOCK;
    const size_t pieces = ingot_ceil_div(p->tiles, p->kernel->most_columns[p->blocks]);
    for (size_t point = 0; point < p->points; point++) {
        t.weights = p->weights + point * p->weight_pitch;
        t.weights_ahead = t.in_ahead = (const char *)t.weights;
        for (size_t i = 0; i < pieces; i++) {
            const size_t first = ingot_part_begin(p->tiles, pieces, i);
            t.columns = ingot_part_begin(p->tiles, pieces, i + 1) - first;
            const size_t half = (t.columns + 1) / 2 * INGOT_BLOCK;
            t.in[0] = p->in + point * p->in_pitch + p->first_block * p->in_block + first * INGOT_BLOCK;
            t.in[1] = t.in[0] + half;
            t.out[0] = p->sums + point * p->sum_pitch + first * INGOT_BLOCK;
            t.out[1] = t.out[0] + half;
            p->kernel->tile(&t);
        }
    }
}
