/* What the two ways to attend share: attention_rows.c, where a query's scores are a row, for few queries, and attention_columns.c,
 * where they are a column: that is how a packed operand of the second product lies, and its softmax joins no lanes. */
#ifndef INGOT_CPU_ATTENTION_WORK_H
#define INGOT_CPU_ATTENTION_WORK_H

#include "cpu/attention/attention.h"
#include "cpu/eltwise/vec_table.h"
#include "cpu/gemm/gemm_block.h"

/* How a call is carried out; floats of each part of a participant's workspace. */
typedef struct ingot_attention_way {
    const ingot_gemm_kernel *kernel;
    bool by_columns;
    size_t rows_at_once, parts, per_chunk; /* parts of a matrix's rows; matrices of a chunk */
    /* Operands, packed; scores; by rows these once more, packed, by columns a mask, and the result of the same columns. */
    size_t k, v, q, scores, packed_scores, mask, result;
} ingot_attention_way;

typedef struct ingot_attention_task {
    const ingot_attention *a;
    ingot_attention_way way;
    const ingot_vec_table *table;
    float *scratch;
} ingot_attention_task;

/* What one participant works with. */
typedef struct ingot_attention_work {
    const ingot_attention_task *task;
    size_t index; /* of the matrix */
    float *k, *v, *q, *scores, *packed_scores, *mask, *result;
    const float *direct_v; /* in place of v, where it is read where it lies */
} ingot_attention_work;

/* Packs K and V of matrix index, then attends with some rows of Q, at most rows_at_once. */
void ingot_attention_pack_rows(ingot_attention_work *work);
void ingot_attend_rows(const ingot_attention_work *work, size_t row, size_t rows);
void ingot_attention_pack_columns(ingot_attention_work *work);
void ingot_attend_columns(const ingot_attention_work *work, size_t row, size_t rows);

/* Floats from the beginning of m's data to the work's matrix. */
ptrdiff_t ingot_attention_offset(const ingot_matrices *m, size_t index);
/* Multiplies what was packed of m by its scale, if it has one. */
void ingot_attention_scale(const ingot_attention_work *work, const ingot_matrices *m, float *packed, size_t count);
/* Whether the first change of the scores is a factor, which is then *scale. */
bool ingot_attention_first_is_factor(const ingot_attention *a, float *scale);

#endif
