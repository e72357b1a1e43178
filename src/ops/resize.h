/* Resize, and Upsample, its older name: a tensor on a finer or coarser grid. */
#ifndef INGOT_OPS_RESIZE_H
#define INGOT_OPS_RESIZE_H

#include "ops/op.h"

enum { INGOT_RESIZE_NEAREST, INGOT_RESIZE_LINEAR, INGOT_RESIZE_CUBIC };

/* From an index of the output to a coordinate of the input. */
enum {
    INGOT_RESIZE_HALF_PIXEL,
    INGOT_RESIZE_HALF_PIXEL_SYMMETRIC,
    INGOT_RESIZE_PYTORCH_HALF_PIXEL,
    INGOT_RESIZE_ALIGN_CORNERS,
    INGOT_RESIZE_ASYMMETRIC,
    INGOT_RESIZE_TF_HALF_PIXEL_FOR_NN,
    INGOT_RESIZE_TF_CROP_AND_RESIZE,
};

enum {
    INGOT_RESIZE_ROUND_PREFER_FLOOR,
    INGOT_RESIZE_ROUND_PREFER_CEIL,
    INGOT_RESIZE_FLOOR,
    INGOT_RESIZE_CEIL,
};

enum { INGOT_RESIZE_STRETCH, INGOT_RESIZE_NOT_LARGER, INGOT_RESIZE_NOT_SMALLER };

typedef struct ingot_resize_params {
    int mode;        /* INGOT_RESIZE_NEAREST ... */
    int coordinates; /* INGOT_RESIZE_HALF_PIXEL ... */
    int rounding;    /* of nearest: INGOT_RESIZE_ROUND_PREFER_FLOOR ... */
    int policy;      /* what sizes mean: INGOT_RESIZE_STRETCH ... */
    float cubic_coeff_a, extrapolation_value;
    bool exclude_outside, antialias;
    bool legacy;         /* before opset 11: input 1 is scales; else inputs roi, scales, sizes */
    bool by_attributes;  /* height and width scale are attributes, of dimensions 2 and 3: opset 1 */
    ingot_ints axes;     /* not given: all */
    ingot_floats scales; /* of the attribute form, opset 7 */
    float height_scale, width_scale;
} ingot_resize_params;

/* The axes that scales, sizes and roi speak of, non-negative, for a checked node; returns their number. */
int ingot_resize_axes(const ingot_resize_params *params, int rank, int *axes);
/* The one scale of all axes that a policy other than stretch makes of sizes. */
double ingot_resize_common_scale(int policy, int count, const int64_t *in, const int64_t *sizes);

#endif
