/* Pad: elements added, or with negative numbers taken away, at both ends of each dimension. */
#ifndef INGOT_OPS_PAD_H
#define INGOT_OPS_PAD_H

#include "ops/op.h"

enum { INGOT_PAD_CONSTANT, INGOT_PAD_REFLECT, INGOT_PAD_EDGE, INGOT_PAD_WRAP };

typedef struct ingot_pad_params {
    int mode;        /* INGOT_PAD_CONSTANT ... */
    ingot_ints pads; /* of the attribute form: begins of all dimensions, then ends; else inputs 1 (pads) and 3 (axes) */
    float value;     /* of the attribute form; else input 2 */
} ingot_pad_params;

#endif
