/* Where and Clip: operators that choose between values. */
#ifndef INGOT_OPS_CLIP_H
#define INGOT_OPS_CLIP_H

#include "ops/op.h"

/* Clip's bounds: inputs 1 and 2 since version 11, attributes before. */
typedef struct ingot_clip_params {
    bool from_attributes;
    float min, max; /* the attributes; where they are not given the ends of float, before version 6 the infinities */
} ingot_clip_params;

#endif
