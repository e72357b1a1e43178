/* What the cells of recurrent layers share with layers around them. */
#ifndef INGOT_CPU_REF_REF_RECURRENT_H
#define INGOT_CPU_REF_REF_RECURRENT_H

#include "ops/kernel.h"

/* More that each step sees beside its X, made of what the step before gave. */
typedef struct ingot_ref_feedback {
    size_t size;     /* elements behind those of X; W has columns for them */
    size_t scratch;  /* doubles of memory that is handed in */
    double *memory;  /* set before begin */
    const void *job; /* the functions' own */
    /* Before the first step of a sequence in a direction, where more is zero. */
    void (*begin)(const struct ingot_ref_feedback *feedback, size_t direction, size_t sequence);
    /* After a step: h is what it gave, more gets size elements for the next one. */
    void (*step)(const struct ingot_ref_feedback *feedback, size_t sequence, const double *h, double *more);
} ingot_ref_feedback;

/* LSTM over call's inputs 0 to 7. */
ingot_status ingot_ref_lstm_with(const ingot_kernel_call *call, ingot_ref_feedback *feedback);

/* y[row] = matrix[row] . x + bias[row]; bias NULL: zeros */
void ingot_ref_multiply(const double *matrix, const double *x, const double *bias, size_t rows, size_t columns,
                        double *y);

#endif
