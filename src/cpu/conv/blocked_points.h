/* The products of Winograd's convolutions on blocked channels: one matrix product over the channels at each point. */
#ifndef INGOT_CPU_BLOCKED_POINTS_H
#define INGOT_CPU_BLOCKED_POINTS_H

#include "cpu/conv/conv_table.h"

/* Sums of some tiles for a group of outputs, over a part of the input's blocks. Pitches: floats from a point to the next. */
typedef struct ingot_point_products {
    const ingot_blocked_kernel *kernel;
    size_t points, tiles, blocks;            /* blocks: of the group */
    size_t channels, first_block, end_block; /* channels: of all of the input's blocks */
    const float *in;                         /* the first tile in block 0 at point 0 */
    size_t in_block, in_pitch;               /* in_block: floats from a block to the next */
    const float *weights;                    /* of first_block on, at the points */
    size_t weight_pitch;
    float *sums; /* [block of the group][tile][16] at each point; added to where first_block is not the first of all */
    size_t sum_pitch;
} ingot_point_products;
void ingot_blocked_multiply_points(const ingot_point_products *products);

/* An odd number of cache lines: else points that are a page apart would drive each other out of the cache. */
static inline size_t ingot_point_pitch(size_t floats)
{
    return (floats / INGOT_BLOCK | 1) * INGOT_BLOCK + (floats / INGOT_BLOCK % 2 == 1 ? 2 * INGOT_BLOCK : 0);
}

#endif
