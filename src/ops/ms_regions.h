/* com.microsoft: CropAndResize, MaxpoolWithMask, WordConvEmbedding. */
#ifndef INGOT_OPS_MS_REGIONS_H
#define INGOT_OPS_MS_REGIONS_H

#include "ops/pool.h"

typedef struct ingot_crop_params {
    int nearest;    /* word: 0 bilinear, 1 nearest */
    float fallback; /* outside of the image */
} ingot_crop_params;

#endif
