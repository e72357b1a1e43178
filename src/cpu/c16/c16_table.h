/* The kernels on blocks of channels of one level; each runs in the caller. */
#ifndef INGOT_CPU_C16_TABLE_H
#define INGOT_CPU_C16_TABLE_H

#include "cpu/c16/c16.h"
#include "cpu/simd/level.h"

/* count pixels of a block; b and c hold numbers for channels <= 16 of its lanes. */
typedef void (*ingot_channel_function)(const float *x, const float *b, const float *c, size_t channels, float *y,
                                       size_t count);

typedef struct ingot_c16_table {
    ingot_channel_function channel[INGOT_CHANNEL_COUNT];
    /* Output row y of a plane. */
    void (*pool_row)(const ingot_pool *pool, const float *plane, size_t y, float *out);
    /* y[lane] = join of x over count pixels, for the first channels lanes. */
    void (*reduce)(ingot_reduce_kind kind, const float *x, size_t count, size_t channels, float *y);
    /* mean[lane] of x over count pixels, and the sum of the squares of what deviates from it; all lanes. */
    void (*moments)(const float *x, size_t count, float *mean, float *squares);
    /* y = (x - mean) * factor + summand, a number a lane. */
    void (*normalize)(const float *x, const float *mean, const float *factor, const float *summand, float *y,
                      size_t count);
    /* An output row from two rows of the input, as resize_row of layout_table.h. */
    void (*resize_row)(const float *top, const float *bottom, float down, const ingot_resize_axis *width, float *y);
} ingot_c16_table;

#define INGOT_LEVEL(suffix, features) extern const ingot_c16_table ingot_c16_table_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

/* Of ingot_level_best(). */
const ingot_c16_table *ingot_c16_table_best(void);

#endif
