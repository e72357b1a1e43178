/* FP32 convolution on channels in blocks of 16: [batch][channels / 16, rounded up][height][width][16]. Lanes of the last block
 * beyond the channels may hold anything; those of the output get anything.
 *
 * As in conv.h but for the order of elements: no alignment, nothing outside the tensors is touched, the same bits for any batch
 * and number of threads. A sum begins with the bias and runs over the input's blocks, in each of them over the window, in that
 * over the channels. */
#ifndef INGOT_CPU_BLOCKED_H
#define INGOT_CPU_BLOCKED_H

#include "cpu/conv/conv.h"
#include "cpu/gemm/gemm_kernel.h"
#include "cpu/layout/layout.h"

/* Outputs that are spread over a larger image: number (y, x) is its pixel first + y * row + x * column. The other pixels stay as they
 * are. */
typedef struct ingot_blocked_target {
    size_t first, row, column;
    size_t image; /* its pixels */
} ingot_blocked_target;

/* A convolution whose input is blocked, or, where plain, as ONNX has it: that suits a few channels. */
typedef struct ingot_blocked_conv {
    const ingot_conv *conv;
    bool plain_input;
    const ingot_blocked_target
        *target; /* of the output and of what is added to it; NULL: an image of the outputs alone */
} ingot_blocked_conv;

/* Whether it can be run so: groups, if more than one, are of whole blocks, and the input of one group if plain. */
bool ingot_blocked_suits(const ingot_blocked_conv *b);
/* Whether the input is copied before it is read. */
bool ingot_blocked_copies(const ingot_blocked_conv *b);
/* Packed weights depend on what they do in conv.h, and on plain_input. */
size_t ingot_blocked_packed_size(const ingot_blocked_conv *b);
void ingot_blocked_pack(const ingot_blocked_conv *b, const float *weights, float *packed);
/* The same of weights that lie otherwise: floats from one group, output, channel, and row and column of the window to the next; for
 * convolutions with a target. */
typedef struct ingot_blocked_weight_view {
    const float *first;
    ptrdiff_t group, output, channel, row, column;
} ingot_blocked_weight_view;
void ingot_blocked_pack_view(const ingot_blocked_conv *b, const ingot_blocked_weight_view *view, float *packed);
/* Enough for at most so many threads. */
size_t ingot_blocked_workspace(const ingot_blocked_conv *b, int threads);
/* epilogue: row_bias as it is in conv.h, add blocked, scaled and column_bias unset. */
void ingot_blocked_f32(const ingot_blocked_conv *b, const float *input, const float *packed,
                       const ingot_epilogue *epilogue, float *output, void *workspace, int threads);
/* Short name of the way it is run, for people. */
const char *ingot_blocked_tactic(const ingot_blocked_conv *b);

/* ---- For the parts of this folder ---- */

/* Blocks of output channels go together in groups of some, for which weights are packed: all of the input's blocks, taps, and
 * channels of a block, then the output channels of the group. The last group has the odd one. */
typedef struct ingot_blocked_groups {
    size_t blocks, count, most; /* blocks of output channels, groups, and the most blocks of a group */
} ingot_blocked_groups;

static inline ingot_blocked_groups ingot_blocked_find_groups(size_t outputs, size_t most)
{
    size_t blocks = ingot_ceil_div(outputs, INGOT_BLOCK);
    if (most == 1 || blocks < 2)
        return (ingot_blocked_groups){blocks, blocks, 1};
    return (ingot_blocked_groups){blocks, blocks / 2, 2 + blocks % 2};
}
/* The first block of a group. */
static inline size_t ingot_blocked_group(const ingot_blocked_groups *g, size_t index)
{
    return index == g->count ? g->blocks : g->most == 1 ? index : 2 * index;
}

/* Where a place in the window lies, from the block's begin on: in the input; and in the weights, times the block's channels. */
typedef struct ingot_blocked_tap {
    ptrdiff_t in;
    size_t weights;
} ingot_blocked_tap;

/* Some pixels of some blocks of output channels: out = sum over blocks of the input, taps and channels. The pixels come in two
 * halves, the first one is larger where they are odd: pixel i of a half is at in + 16 * i (plain: in + i) and out + out_pixel * i. */
typedef struct ingot_blocked_tile {
    size_t columns, blocks;
    const float *in[2];
    size_t in_blocks, in_block; /* and floats from one to the next */
    size_t last_channels;       /* of the last block */
    const ingot_blocked_tap *taps;
    size_t tap_count;
    const float *weights; /* 16 * blocks for each channel */
    size_t weight_block;  /* floats from a block of the input to the next */
    /* Cache lines that are fetched on the way (not where plain), one each for every channel under every tap: of the weights ahead_step bytes apart,
     * of the input side by side; and bytes from what goes with a block of the input to what goes with the next. */
    const char *weights_ahead, *in_ahead;
    size_t ahead_step, weights_ahead_block, in_ahead_block;
    float *out[2];
    size_t out_pixel;      /* floats from a pixel of a half to the next, */
    size_t out_block;      /* and from a block of the output to the next */
    bool accumulate, last; /* adds to what is there; what follows is done */
    size_t outputs;        /* real ones from the first block on */
    const float *bias;     /* of the first output, or NULL */
    const float *add[2];   /* or NULL; laid out as out */
    bool add_last;         /* adds after the limit */
    float low, high;       /* the result is limited to these */
} ingot_blocked_tile;
typedef void (*ingot_blocked_tile_function)(const ingot_blocked_tile *tile);

/* Copies every stride-th element. */
typedef void (*ingot_blocked_phase_function)(const float *from, size_t stride, size_t count, float *to);

typedef struct ingot_blocked_kernel {
    size_t most_blocks;     /* of a tile */
    size_t most_columns[4]; /* by a tile's blocks */
    ingot_blocked_tile_function tile, plain_tile;
    ingot_blocked_phase_function phase;
} ingot_blocked_kernel;

#endif
