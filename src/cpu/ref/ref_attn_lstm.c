/* AttnLSTM: Bahdanau's attention over a memory around the cells of LSTM, in doubles. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_recurrent.h"
#include "cpu/ref/ref_scratch.h"

enum { QW = 8, MW, V, M, MEMORY_LENGTHS, AW };

typedef struct attention {
    const ingot_kernel_call *call;
    size_t hidden, depth, width, steps; /* of the cell, of the memory, of the scores; of the memory */
    size_t size;                        /* of what the cell sees */
    bool has_layer;                     /* AW is given */
} attention;

typedef struct parts {
    double *qw, *mw, *v, *aw;          /* [hidden, width], [depth, width], [width], [hidden + depth, size] */
    double *memory, *keys;             /* of one sequence: [steps, depth], [steps, width] */
    double *weights, *query, *context; /* [steps], [width], [depth] */
} parts;

/* The parts of the scratch, unless that is NULL; returns how much they are. */
static size_t divide(const attention *a, double *scratch, parts *p)
{
    const struct {
        double **part;
        size_t count;
    } rows[] = {{&p->qw, a->hidden * a->width},
                {&p->mw, a->depth * a->width},
                {&p->v, a->width},
                {&p->aw, a->has_layer ? (a->hidden + a->depth) * a->size : 0},
                {&p->memory, a->steps * a->depth},
                {&p->keys, a->steps * a->width},
                {&p->weights, a->steps},
                {&p->query, a->width},
                {&p->context, a->depth}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *rows[i].part = scratch ? scratch + used : NULL;
        used += rows[i].count; /* as many as inputs have elements: no overflow */
    }
    return used;
}

/* y[column] += sum of x[row] * matrix[row, column] */
static void add_product(const double *x, const double *matrix, size_t rows, size_t columns, double *y)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            y[column] += x[row] * matrix[row * columns + column];
}

static void zero(double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = 0;
}

static void load(const attention *a, size_t input, size_t part, size_t count, double *to)
{
    ingot_ref_to_doubles(a->call->inputs[input], part * count, count, to);
}

static void begin(const ingot_ref_feedback *feedback, size_t direction, size_t sequence)
{
    const attention *a = feedback->job;
    parts p;
    divide(a, feedback->memory, &p);
    load(a, QW, direction, a->hidden * a->width, p.qw);
    load(a, MW, direction, a->depth * a->width, p.mw);
    load(a, V, direction, a->width, p.v);
    if (a->has_layer)
        load(a, AW, direction, (a->hidden + a->depth) * a->size, p.aw);
    load(a, M, sequence, a->steps * a->depth, p.memory);
    zero(p.keys, a->steps * a->width);
    for (size_t i = 0; i < a->steps; i++)
        add_product(p.memory + i * a->depth, p.mw, a->depth, a->width, p.keys + i * a->width);
}

static size_t memory_length(const attention *a, size_t sequence)
{
    return ingot_kernel_has(a->call, MEMORY_LENGTHS)
               ? (size_t)((const int32_t *)a->call->inputs[MEMORY_LENGTHS]->data)[sequence]
               : a->steps;
}

/* weights of the first length steps: softmax of V . tanh(keys + query) */
static void weigh(const attention *a, const parts *p, size_t length)
{
    double greatest = -INFINITY, sum = 0;
    for (size_t i = 0; i < length; i++) {
        p->weights[i] = 0;
        for (size_t j = 0; j < a->width; j++)
            p->weights[i] += p->v[j] * tanh(p->keys[i * a->width + j] + p->query[j]);
        greatest = fmax(greatest, p->weights[i]);
    }
    for (size_t i = 0; i < length; i++)
        sum += p->weights[i] = exp(p->weights[i] - greatest);
    for (size_t i = 0; i < length; i++)
        p->weights[i] /= sum;
}

static void step(const ingot_ref_feedback *feedback, size_t sequence, const double *h, double *more)
{
    const attention *a = feedback->job;
    parts p;
    divide(a, feedback->memory, &p);
    size_t length = memory_length(a, sequence);
    zero(p.query, a->width);
    add_product(h, p.qw, a->hidden, a->width, p.query);
    weigh(a, &p, length);
    zero(p.context, a->depth);
    add_product(p.weights, p.memory, length, a->depth, p.context);
    zero(more, a->size);
    for (size_t i = 0; i < a->depth && !a->has_layer; i++)
        more[i] = p.context[i];
    if (a->has_layer) {
        add_product(h, p.aw, a->hidden, a->size, more);
        add_product(p.context, p.aw + a->hidden * a->size, a->depth, a->size, more);
    }
}

static ingot_status check_lengths(const attention *a)
{
    size_t batch = (size_t)a->call->inputs[M]->dims[0];
    for (size_t i = 0; ingot_kernel_has(a->call, MEMORY_LENGTHS) && i < batch; i++) {
        int32_t length = ((const int32_t *)a->call->inputs[MEMORY_LENGTHS]->data)[i];
        if (length < 1 || (size_t)length > a->steps)
            return ingot_kernel_fail(a->call, "memory_seq_lens[%zu] is %d, expected 1 to %zu, the steps of M", i,
                                     (int)length, a->steps);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_attn_lstm(const ingot_kernel_call *call)
{
    const ingot_value *keys = call->inputs[MW], *memory = call->inputs[M];
    attention a = {.call = call,
                   .hidden = (size_t)call->inputs[2]->dims[2],
                   .depth = (size_t)keys->dims[1],
                   .width = (size_t)keys->dims[2],
                   .steps = (size_t)memory->dims[1],
                   .has_layer = ingot_kernel_has(call, AW)};
    a.size = a.has_layer ? (size_t)call->inputs[AW]->dims[2] : a.depth;
    INGOT_TRY(check_lengths(&a));
    parts unused;
    ingot_ref_feedback feedback = {
        .size = a.size, .scratch = divide(&a, NULL, &unused), .job = &a, .begin = begin, .step = step};
    return ingot_ref_lstm_with(call, &feedback);
}
