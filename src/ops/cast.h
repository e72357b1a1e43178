/* Cast, CastLike. */
#ifndef INGOT_OPS_CAST_H
#define INGOT_OPS_CAST_H

#include "ops/op.h"

typedef enum ingot_round_mode { INGOT_ROUND_UP, INGOT_ROUND_DOWN, INGOT_ROUND_NEAREST } ingot_round_mode;

/* The type to cast to is that of the output. */
typedef struct ingot_cast_params {
    int64_t to;     /* the attribute as a number: an ingot_element */
    int to_word;    /* as a word (before version 6): an ingot_element too */
    bool saturate;  /* into the float8 types: out of range becomes the largest finite value */
    int round_mode; /* into float8e8m0: ingot_round_mode */
} ingot_cast_params;

#endif
