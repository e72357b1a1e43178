/* Einsum: its equation, read into labels of axes. */
#ifndef INGOT_OPS_EINSUM_H
#define INGOT_OPS_EINSUM_H

#include "ops/op.h"

/* Labels: 0 ... 51 are the letters A-Z a-z, the rest the axes that "..." stands for, aligned at the last one. */
#define INGOT_EINSUM_LABELS (52 + INGOT_MAX_RANK)

typedef struct ingot_einsum_params {
    ingot_text equation; /* its form has been checked */
} ingot_einsum_params;

/* The labels of the axes of an operand or of the result. */
typedef struct ingot_einsum_axes {
    int rank;
    uint8_t labels[INGOT_MAX_RANK];
} ingot_einsum_axes;

/* Number of axes that "..." stands for in an operand of that rank; negative where it has more letters than axes, or axes
 * without a letter. */
int ingot_einsum_ellipsis(ingot_text equation, size_t operand, int rank);
/* The axes of an operand of that rank, whose ellipsis is no negative number; ellipsis is the greatest one of all operands. */
void ingot_einsum_operand(ingot_text equation, size_t operand, int rank, int ellipsis, ingot_einsum_axes *axes);
/* The axes of the result; where the equation has no "->": "..." and then the letters that occur once, in order. False where
 * they are more than INGOT_MAX_RANK. */
bool ingot_einsum_result(ingot_text equation, int ellipsis, ingot_einsum_axes *axes);

#endif
