/* The reduction kernels of one level; each runs in the caller. */
#ifndef INGOT_CPU_REDUCE_TABLE_H
#define INGOT_CPU_REDUCE_TABLE_H

#include "cpu/reduce/reduce.h"
#include "cpu/simd/level.h"

typedef struct ingot_reduce_table {
    /* The join of x[count]. MEAN is not divided yet. */
    float (*row)(ingot_reduce_kind kind, const float *x, size_t count);
    /* y[i] = join of x[j * inner + i] over j < count, for i < columns. */
    void (*columns)(ingot_reduce_kind kind, const float *x, size_t count, size_t inner, size_t columns, float *y);
    /* Rows of count numbers that lie side by side. */
    void (*softmax_rows)(bool logarithm, const float *x, size_t rows, size_t count, float *y);
    /* Of columns, inner apart from row to row. Without the logarithm each has the bits that it has as a row. */
    void (*softmax_columns)(bool logarithm, const float *x, size_t count, size_t inner, size_t columns, float *y);
    /* For each of some rows that lie side by side: mean and square, the mean of x[count] and of the squares of x - mean, or 0 and
     * the mean of squares. */
    void (*moments)(const float *x, size_t rows, size_t count, bool root_mean_square, float *mean, float *square);
    /* y = (x - mean) * inverse * scale + bias; scale and bias may be NULL. */
    void (*normalize)(const float *x, size_t count, float mean, float inverse, const float *scale, const float *bias,
                      float *y);
    /* Output row y of a plane. */
    void (*pool_row)(const ingot_pool *pool, const float *plane, size_t y, float *out);
} ingot_reduce_table;

#define INGOT_LEVEL(suffix, features) extern const ingot_reduce_table ingot_reduce_table_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

const ingot_reduce_table *ingot_reduce_table_at(int level);

#endif
