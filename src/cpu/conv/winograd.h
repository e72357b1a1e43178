/* Winograd's F(4x4, 3x3): 4x4 outputs of a 3x3 window with stride 1 from 36 products instead of 144. The input's 6x6 tiles, the
 * weights and the products are at 36 points, at each of which a matrix product over the channels is done.
 *
 * The points of each axis are 0, +-sqrt(1/2), +-sqrt(2) and infinity: sums of the products lose less than a binary digit
 * against the direct sum, and several digits less than with the customary 0, +-1, +-2.
 *
 * A dilated window sees images of every dilation-th row and column, phases, which are convolved one by one. */
#ifndef INGOT_CPU_WINOGRAD_H
#define INGOT_CPU_WINOGRAD_H

#include "cpu/conv/conv.h"

#define INGOT_WINOGRAD_POINTS 36

/* The tiles of a group of channels, of all images. A row of them has tiles_across tiles of each phase across, phase by phase. The
 * rows of a phase downwards follow each other, then come the phases of an image, then the images. */
typedef struct ingot_winograd {
    const ingot_conv *conv;
    size_t channels, outputs; /* of a group */
    size_t phases_down, phases_across;
    size_t tiles_down, tiles_across; /* of a phase */
    size_t rows, row_tiles;          /* rows of tiles, in all, and tiles of a row */
} ingot_winograd;

/* The tiles of this convolution. */
ingot_winograd ingot_winograd_tiles(const ingot_conv *conv);
/* Taps of both axes, over all outputs of an image, that see the image and not padding: what a direct convolution takes. */
double ingot_winograd_direct_taps(const ingot_conv *conv);

/* Where a row of tiles lies: the first outputs of tile t of a phase across are at y = 4 * tile * dilation + phase and
 * x = 4 * t * dilation + phase across. */
typedef struct ingot_winograd_row {
    size_t image, phase, tile;
} ingot_winograd_row;

static inline ingot_winograd_row ingot_winograd_find_row(const ingot_winograd *w, size_t row)
{
    size_t phase = row / w->tiles_down;
    return (ingot_winograd_row){phase / w->phases_down, phase % w->phases_down, row % w->tiles_down};
}

/* Rows first ... end - 1, with which a kernel works. */
typedef struct ingot_winograd_part {
    const ingot_winograd *all;
    size_t first, end;
} ingot_winograd_part;

/* ---- The kernels of a level; each runs in the caller ---- */

/* Weights of rows outputs and steps channels, at the points: from[tap * tap_stride + step * rows + row], as a convolution
 * packs them, gives to[point * point_stride + step * rows + row]. */
typedef void (*ingot_winograd_weights_function)(const float *from, size_t tap_stride, size_t rows, size_t steps,
                                                float *to, size_t point_stride);

/* One channel of the input at the points: tile i of the part goes to
 * to[point * point_stride + i / width * panel_stride + i % width]. plane is the channel's of the first image. scratch has the
 * layout's size. Whole vectors are written. */
typedef struct ingot_winograd_target {
    float *to;
    size_t point_stride, panel_stride, width;
} ingot_winograd_target;
typedef void (*ingot_winograd_input_function)(const ingot_winograd_part *part, const float *plane,
                                              const ingot_winograd_target *target, float *scratch);

/* Floats that the input's kernel works in: six rows of row_size and one of phase_size, then the points, pitch apart. */
typedef struct ingot_winograd_layout {
    size_t columns; /* of the padded image, that are seen */
    size_t row_size, phase_size, pitch, size;
} ingot_winograd_layout;
ingot_winograd_layout ingot_winograd_input_layout(const ingot_winograd *all, size_t rows);

/* The outputs of tiles of one output channel, times scale plus bias: point p of tile i is from[p * point_stride + i]; row y of the
 * tiles goes to to + y * row_size, four outputs a tile. Whole vectors are read and written; what was at from is lost. */
typedef struct ingot_winograd_sums {
    float *from;
    size_t point_stride, tiles, row_size;
    float scale, bias;
    float *to;
} ingot_winograd_sums;
typedef void (*ingot_winograd_output_function)(const ingot_winograd_sums *sums);

/* Takes rows of such outputs to an output channel (out: the first image's plane; add likewise, or NULL):
 *   v = v + add        where not add_last
 *   v = min(max(v, low), high)
 *   v = v + add        where add_last
 * Where out is NULL the sum goes back to where it came from. */
typedef struct ingot_winograd_store {
    float *from;
    size_t row_size;
    float *out;
    const float *add;
    bool add_last;
    float low, high;
} ingot_winograd_store;
typedef void (*ingot_winograd_store_function)(const ingot_winograd_part *part, const ingot_winograd_store *store);

/* ---- For conv.c ---- */

/* Whether the convolution is run so: from its shape, without the batch. */
bool ingot_winograd_suits(const ingot_conv *conv);
/* Floats of workspace. */
size_t ingot_winograd_workspace(const ingot_conv *conv, int threads);
/* As ingot_conv_f32; packed is what a matrix product takes. */
void ingot_winograd_f32(const ingot_conv *conv, const float *input, const float *packed, const ingot_epilogue *epilogue,
                        float *output, float *workspace, int threads);

#endif
