/* Operators that put the elements of one tensor in another order: Transpose, DepthToSpace, SpaceToDepth, ReverseSequence; and
 * Trilu, which keeps a triangle. */
#ifndef INGOT_OPS_ARRANGE_H
#define INGOT_OPS_ARRANGE_H

#include "ops/op.h"

typedef struct ingot_transpose_params {
    ingot_ints perm; /* a permutation of 0 ... count - 1; not given: the dimensions reversed */
} ingot_transpose_params;

enum { INGOT_DEPTH_DCR, INGOT_DEPTH_CRD };

typedef struct ingot_depth_params { /* DepthToSpace, SpaceToDepth */
    int64_t blocksize;              /* 1 ... 2^20 */
    int mode;                       /* INGOT_DEPTH_DCR or INGOT_DEPTH_CRD */
} ingot_depth_params;

typedef struct ingot_reverse_sequence_params {
    int64_t batch_axis, time_axis; /* 0 and 1 or 1 and 0 */
} ingot_reverse_sequence_params;

typedef struct ingot_trilu_params {
    bool upper;
} ingot_trilu_params;

/* Where dimension i of the output comes from. */
static inline int ingot_transpose_source(const ingot_transpose_params *params, int rank, int i)
{
    return params->perm.given ? (int)params->perm.data[i] : rank - 1 - i;
}

/* Whether dimension from becomes dimension to, and all others, of two or more, keep their order. */
static inline bool ingot_transpose_moves(const ingot_transpose_params *params, int rank, int from, int to)
{
    for (int i = 0, other = 0; i < rank; i++) {
        other += other == from;
        if (ingot_transpose_source(params, rank, i) != (i == to ? from : other))
            return false;
        other += i != to;
    }
    return rank > 2;
}
/* The same of the channels, dimension 1 or the last one. */
static inline bool ingot_transpose_is_channels_last(const ingot_transpose_params *params, int rank)
{
    return ingot_transpose_moves(params, rank, 1, rank - 1);
}
static inline bool ingot_transpose_is_channels_first(const ingot_transpose_params *params, int rank)
{
    return ingot_transpose_moves(params, rank, rank - 1, 1);
}

#endif
