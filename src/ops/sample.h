/* Operators that sample images at places of their own: GridSample, AffineGrid, RoiAlign, MaxRoiPool; and Col2Im. */
#ifndef INGOT_OPS_SAMPLE_H
#define INGOT_OPS_SAMPLE_H

#include "ops/op.h"

enum { INGOT_SAMPLE_LINEAR, INGOT_SAMPLE_NEAREST, INGOT_SAMPLE_CUBIC };
enum { INGOT_SAMPLE_ZEROS, INGOT_SAMPLE_BORDER, INGOT_SAMPLE_REFLECTION };

typedef struct ingot_grid_sample_params {
    int mode;           /* INGOT_SAMPLE_LINEAR ... */
    int padding;        /* INGOT_SAMPLE_ZEROS ... */
    bool align_corners; /* -1 and 1 are the centers of the outer pixels; else their outer edges */
} ingot_grid_sample_params;

typedef struct ingot_affine_grid_params {
    bool align_corners;
} ingot_affine_grid_params;

enum { INGOT_ROI_AVERAGE, INGOT_ROI_MAX };

typedef struct ingot_roi_align_params {
    int64_t output_height, output_width; /* above 0 */
    int64_t sampling_ratio;              /* points a side of a bin; 0: as many as the bin has pixels */
    float spatial_scale;
    int mode;        /* INGOT_ROI_AVERAGE or INGOT_ROI_MAX */
    bool half_pixel; /* coordinates are shifted by half a pixel */
    int coordinates; /* half_pixel as the model spells it */
} ingot_roi_align_params;

typedef struct ingot_max_roi_pool_params {
    ingot_ints pooled_shape; /* 2, above 0 */
    float spatial_scale;
} ingot_max_roi_pool_params;

typedef struct ingot_col2im_params {
    ingot_ints dilations, pads, strides; /* not given: 1, 0, 1 */
} ingot_col2im_params;

static inline int64_t ingot_col2im_value(const ingot_ints *list, size_t i, int64_t otherwise)
{
    return list->given ? list->data[i] : otherwise;
}

#endif
