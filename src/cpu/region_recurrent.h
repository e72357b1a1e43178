/* What the two halves of recurrent layers share: region_recurrent.c, the family, and region_recurrent_steps.c, its steps. */
#ifndef INGOT_CPU_REGION_RECURRENT_H
#define INGOT_CPU_REGION_RECURRENT_H

#include "cpu/gemm/gemm_kernel.h"
#include "cpu/recurrent/recurrent_weights.h"
#include "ops/recurrent.h"
#include "plan/backend.h"

/* Inputs in the standard's order. */
enum { X, W, R, B, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES };

typedef struct ingot_recurrent_layer {
    const ingot_recurrent_params *params;
    size_t steps, batch, directions;
    size_t features, hidden, rows; /* rows: gates * hidden; steps and batch are 0 where X is not known */
    bool splits;                   /* GRU whose reset comes before the product of its last gate */
    ingot_recurrent_weights weights;
} ingot_recurrent_layer;

/* Where the memory of a direction lies, in bytes. */
typedef struct ingot_recurrent_memory {
    size_t inputs, gates, cell, reset, product, size;
    size_t codes, values; /* of a state that is multiplied as bytes */
    size_t states[2];     /* by turns, where there is no Y to hold them */
    size_t product_size;
} ingot_recurrent_memory;

typedef struct ingot_recurrent_job {
    const ingot_step *step;
    ingot_recurrent_layer layer;
    ingot_recurrent_memory memory;
    const char *packed;
} ingot_recurrent_job;

static inline const float *ingot_recurrent_input(const ingot_recurrent_job *j, size_t input, size_t offset)
{
    bool given = input < j->step->region->input_count && j->step->inputs[input];
    return given ? (const float *)j->step->inputs[input]->data + offset : NULL;
}

/* The product of all inputs, or of one state, with the weights of a direction; bias of all rows or NULL. */
static inline ingot_gemm ingot_recurrent_product(const ingot_recurrent_layer *l, size_t m, size_t k, size_t n,
                                                 const float *a, const char *packed, const float *bias)
{
    return (ingot_gemm){.m = m,
                        .n = n,
                        .k = k,
                        .a = a,
                        .a_row = (ptrdiff_t)k,
                        .a_column = 1,
                        .packed_b = (const float *)packed,
                        .c_row = l->rows,
                        .epilogue.column_bias = bias};
}

/* Of the product of a state: those that share a step have one each, and a direction that is not alone has one. */
static inline int ingot_recurrent_product_threads(const ingot_recurrent_layer *l, int threads)
{
    return l->weights.by_units || l->directions > 1 ? 1 : threads;
}

/* The product of all inputs of a direction with W. */
void ingot_recurrent_multiply_inputs(const ingot_recurrent_job *job, size_t direction);
/* The steps of a direction: a task of ingot_parallel whose argument is the job. */
void ingot_recurrent_run_direction(void *job, size_t direction, int participant);

#endif
