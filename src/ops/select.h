/* Operators that pick elements by what they are: TopK, NonMaxSuppression, NonZero, Compress, Unique. */
#ifndef INGOT_OPS_SELECT_H
#define INGOT_OPS_SELECT_H

#include "ops/shape.h"

typedef struct ingot_topk_params {
    int64_t axis;
    int64_t k; /* of the attribute form, opset 1; else input 1 */
    bool has_k;
    bool smallest; /* else the largest */
    bool largest;  /* as the model gives it */
} ingot_topk_params;

typedef struct ingot_nms_params {
    bool center_point_box; /* boxes are [x center, y center, width, height]; else two corners [y, x, y, x] */
} ingot_nms_params;

/* Compress: ingot_axis_params; without axis the input counts as flattened. */

typedef struct ingot_unique_params {
    int64_t axis;
    bool has_axis; /* else of the flattened input */
    bool sorted;   /* ascending; else by first occurrence */
} ingot_unique_params;

#endif
