/* How a blocked convolution is cut up: what blocked.c, blocked_pack.c and blocked_way.c share. */
#ifndef INGOT_CPU_BLOCKED_WAY_H
#define INGOT_CPU_BLOCKED_WAY_H

#include "cpu/conv/blocked.h"
#include "cpu/sizes.h"

/* What follows from the weights' shape. A group of channels that is convolved for itself is a part here. */
typedef struct ingot_blocked_weights {
    size_t channels, outputs, taps;    /* of a part */
    size_t in_blocks, last_channels;   /* plain: blocks of one channel */
    size_t block_channels, block_size; /* channels of a block, and floats for it and one output */
    ingot_blocked_groups groups;
} ingot_blocked_weights;

ingot_blocked_weights ingot_blocked_find_weights(const ingot_blocked_conv *b);

/* Floats of a part's weights. */
static inline size_t ingot_blocked_part_size(const ingot_blocked_weights *w)
{
    return w->channels * w->taps * w->groups.blocks * INGOT_BLOCK;
}

/* A convolution without padding and window is done on an image of one row, or, where the outputs' rows lie otherwise than the
 * input's, row by row. Else rows of outputs are done one by one or, narrow ones, two by two; what they see is copied, with its
 * padding, into rows whose pixels are sorted by their place modulo the stride, so that neighbouring outputs see neighbouring
 * pixels. */
typedef struct ingot_blocked_way {
    const ingot_blocked_kernel *kernel;
    ingot_blocked_weights weights;
    bool by_rows, copies,
        bands; /* bands: rows are copied for each row of the window, as between them lie many that none sees */
    size_t rows, columns;    /* of the output as it is worked on */
    size_t row_step, stride; /* image rows from one that is copied to the next; and copied rows from an output's to the
                                                * next one's */
    size_t phases, phase_size, row_size; /* in pixels */
    size_t rows_at_once;                 /* 1 or 2 */
    size_t units, strips; /* pieces of the output: rows_at_once rows, or of one row a tile's columns; chunks of them */
    size_t tiles;         /* across, of a group of two blocks */
    size_t group_chunks;
    bool weights_first;       /* chunks go through the strips of some groups before the next groups, not the reverse */
    size_t k_parts;           /* parts of the input's blocks, one after the other */
    size_t pixel_size;        /* floats */
    size_t in_block;          /* floats from one block of the input, or of its copy, to the next */
    size_t tap_size, scratch; /* floats, the latter for a participant */
    size_t shared;            /* floats of a copy of all blocks that all chunks share; 0: each makes its own */
    size_t out_first, out_row, out_pixel,
        out_block; /* floats to the first output, and from row, pixel and block to the next */
} ingot_blocked_way;

/* threads: only whether there are several. No bit depends on it: it says how much a chunk does, not in what order a sum runs. */
ingot_blocked_way ingot_blocked_find_way(const ingot_blocked_conv *b, int threads);
/* Whether it is Winograd's way instead. */
bool ingot_blocked_is_winograd(const ingot_blocked_conv *b);
/* Or along rows. */
bool ingot_blocked_is_line(const ingot_blocked_conv *b);

/* Rows of a band: those that one row of the window sees from some rows of outputs. */
static inline size_t ingot_blocked_band_rows(const ingot_blocked_way *way, size_t rows)
{
    return (rows - 1) * way->stride + 1;
}

/* Rows of the copy that some rows of outputs see. */
static inline size_t ingot_blocked_rows_seen(const ingot_blocked_way *way, const ingot_conv *c, size_t rows)
{
    if (way->bands)
        return c->kernel_height * ingot_blocked_band_rows(way, rows);
    return ingot_blocked_band_rows(way, rows) + (way->row_step == 1 ? (c->kernel_height - 1) * c->dilation_height : 0);
}

/* Copies what outputs in rows first ... end - 1 see of some blocks, the first of which is at image. */
void ingot_blocked_copy(const ingot_blocked_way *way, const ingot_conv *c, const float *image, size_t blocks,
                        size_t first, size_t end, float *copy);

#endif
