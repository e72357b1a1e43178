/* How the weights of a recurrent layer lie once they are packed. */
#ifndef INGOT_CPU_RECURRENT_WEIGHTS_H
#define INGOT_CPU_RECURRENT_WEIGHTS_H

#include "base/status.h"

#define INGOT_RECURRENT_MAX_GATES 4

/* Of one direction, in bytes: W as one matrix [features, gates * hidden]; R, [hidden, gates * hidden], as some matrices that
 * follow one another, matrix i of gates first_gate[i] ... first_gate[i + 1] - 1. */
typedef struct ingot_recurrent_weights {
    size_t features, hidden, gates;
    bool by_units; /* R is large: each gate is a matrix, so that threads can share the units of a step */
    size_t matrices, first_gate[INGOT_RECURRENT_MAX_GATES + 1];
    size_t w, r[INGOT_RECURRENT_MAX_GATES], size;
} ingot_recurrent_weights;

/* apart: the last gate's part of R is always a matrix of its own. */
ingot_recurrent_weights ingot_recurrent_place_weights(size_t features, size_t hidden, size_t gates, size_t directions,
                                                      bool apart);

/* Packs a direction's W and R, [gates * hidden, k] each, to packed. */
void ingot_recurrent_pack(const ingot_recurrent_weights *weights, const float *w, const float *r, char *packed);

/* Units that are next to one another in a panel of R: those of a share begin at a multiple. */
size_t ingot_recurrent_units_at_once(void);

#endif
