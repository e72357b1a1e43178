/* Operators that cut a box out of a tensor: Slice, Crop, CenterCropPad. */
#ifndef INGOT_OPS_SLICE_H
#define INGOT_OPS_SLICE_H

#include "ops/op.h"

typedef struct ingot_slice_params {
    ingot_ints starts, ends, axes; /* of the attribute form, where starts is given; else inputs 1 to 4 */
} ingot_slice_params;

/* The elements first, first + step, ... that a slice takes of a dimension of this size; step is not 0. */
void ingot_slice_range(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *first, int64_t *count);

typedef struct ingot_crop_params {
    ingot_ints border; /* left, top, right, bottom: 4, not negative */
    ingot_ints scale;  /* height and width of the result, where given: then right and bottom do not count */
} ingot_crop_params;

typedef struct ingot_center_crop_pad_params {
    ingot_ints axes; /* not given: all */
} ingot_center_crop_pad_params;

#endif
