/* Attention: Y = softmax(f(Q * K)) * V for many matrices, where f scales the scores and adds masks to them. Scores are made for
 * some rows at a time and do not leave the cache.
 *
 * Bits are those of a product, elementwise operations, a softmax and a product one after the other, whatever the threads. */
#ifndef INGOT_CPU_ATTENTION_H
#define INGOT_CPU_ATTENTION_H

#include "cpu/gemm/gemm.h"

#define INGOT_ATTENTION_RANK    8 /* of the batch */
#define INGOT_ATTENTION_CHANGES 4

/* One matrix for each index of a batch, which counts through dims, the last one fastest. Strides are in floats and may be 0;
 * scaled: each element is multiplied by scale first. */
typedef struct ingot_matrices {
    const float *data;
    ptrdiff_t row, column;
    int rank;
    size_t dims[INGOT_ATTENTION_RANK];
    ptrdiff_t strides[INGOT_ATTENTION_RANK];
    bool scaled;
    float scale;
} ingot_matrices;

/* What is done to the scores: one number for all, or a matrix [rows, keys] for each. */
typedef struct ingot_score_change {
    ingot_binary_kind kind;
    bool is_number;
    float number;
    ingot_matrices matrices; /* columns side by side, or column 0 */
} ingot_score_change;

typedef struct ingot_attention {
    size_t count;                    /* matrices of the batch */
    size_t rows, keys, depth, width; /* Q[rows, depth], K[depth, keys], V[keys, width] */
    ingot_matrices q, k, v;
    ingot_score_change changes[INGOT_ATTENTION_CHANGES]; /* in this order */
    size_t change_count;
    ingot_matrices y; /* of y_data, its own data is unused; columns side by side */
    float *y_data;
} ingot_attention;

/* Bytes of workspace, from the sizes and the kind of changes alone. */
size_t ingot_attention_f32_workspace(const ingot_attention *attention, int threads);
void ingot_attention_f32(const ingot_attention *attention, void *workspace, int threads);

#endif
