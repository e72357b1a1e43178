/* Operators that put tensors side by side, take them apart or repeat them: Concat, Split, Expand, Tile. */
#ifndef INGOT_OPS_JOIN_H
#define INGOT_OPS_JOIN_H

#include "ops/shape.h"

/* Concat's params are ingot_axis_params. */

typedef struct ingot_split_params {
    int64_t axis;
    ingot_ints split;    /* sizes, of the attribute form; else input 1 */
    int64_t num_outputs; /* 0: not given */
    bool has_num_outputs;
    bool even; /* without sizes and num_outputs the parts must be equal: before opset 18 */
} ingot_split_params;

/* Greatest number of outputs of a Split. */
#define INGOT_MAX_SPLIT 4096

/* Size of part index where size is split without sizes given: the same for all, less for the last. */
int64_t ingot_split_part(int64_t size, size_t parts, size_t index);

typedef struct ingot_tile_params {
    bool one_axis; /* input 1 is one number of repeats, input 2 the axis: opset 1 */
} ingot_tile_params;

#endif
