/* The loops of a convolution over any number of spatial axes, for floats, doubles and integers. */
#ifndef INGOT_CPU_REF_REF_CONV_CORE_H
#define INGOT_CPU_REF_REF_CONV_CORE_H

#include "ops/conv.h"
#include "ops/kernel.h"

typedef enum ingot_ref_conv_type {
    INGOT_REF_CONV_F32, /* float inputs, double sums */
    INGOT_REF_CONV_F64, /* double inputs, double sums */
    INGOT_REF_CONV_I32, /* int32_t inputs, uint32_t sums: they wrap */
} ingot_ref_conv_type;

/* Sums of one row of the output: count cells along the last axis, the first at element offset of the output. */
typedef struct ingot_ref_conv_row {
    size_t channel; /* of the output */
    size_t offset, count;
    void *sums; /* may be changed */
} ingot_ref_conv_row;

/* x [N, C, spatial...] and w [M, C / group, kernel...], both without gaps and of the type's elements. */
typedef struct ingot_ref_conv_job {
    ingot_ref_conv_type type;
    ingot_window window; /* numbers only */
    const int64_t *x_dims, *w_dims;
    int64_t group;
    const void *x, *w;
    void *sums; /* window.out of the last axis elements, 8 bytes each */
    void (*finish)(void *context, const ingot_ref_conv_row *row);
    void *context;
} ingot_ref_conv_job;

/* Calls finish for every row of the output, in order. */
void ingot_ref_convolve(const ingot_ref_conv_job *job);

/* Of a position in row-major order, the index on each of count axes. */
void ingot_ref_unravel(size_t position, int count, const int64_t *sizes, int64_t *index);

#endif
