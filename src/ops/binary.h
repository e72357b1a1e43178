/* Elementwise operators of two operands: arithmetic, comparison, logic, bits, PRelu. */
#ifndef INGOT_OPS_BINARY_H
#define INGOT_OPS_BINARY_H

#include "ops/op.h"

typedef enum ingot_shift_direction { INGOT_SHIFT_LEFT, INGOT_SHIFT_RIGHT } ingot_shift_direction;

/* Params of all of them; zero but where an attribute says otherwise. */
typedef struct ingot_binary_params {
    bool fmod; /* Mod: the remainder of C's fmod and %, with the sign of the dividend; else with that of the divisor */
    int direction; /* BitShift: ingot_shift_direction */
    /* The forms before opset 7: the result has A's shape, and B, where it may be broadcast at all, covers axes of A from axis
     * on, or its last ones where axis is not given. */
    bool legacy;
    bool broadcast;
    bool axis_given;
    int64_t axis;
} ingot_binary_params;

/* The shape of B under which it fits A by numpy's rule: its own, with sizes of 1 added at the end where a legacy form places
 * it. Works on symbols and numbers; dims holds INGOT_MAX_RANK. Returns the rank, -1 where B cannot be placed so. */
int ingot_binary_place(const ingot_binary_params *params, int a_rank, int b_rank, const int64_t *b_dims, int64_t *dims);

#endif
