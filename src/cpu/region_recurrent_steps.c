/* The steps of recurrent layers. Where R is small directions run side by side. Where it is large they run one after the other, and
 * the threads share the units of each step: each meets the same part of R again in the next step, and finds it in its own
 * cache. */
#include <string.h>

#include "base/threads.h"
#include "cpu/int8/bytes.h"
#include "cpu/recurrent/recurrent.h"
#include "cpu/region_recurrent.h"
#include "ops/quantize.h"

/* A part of one step of a direction: units first ... end - 1. */
typedef struct part {
    const ingot_recurrent_job *job;
    size_t direction, index; /* index: of the step in the order of the run */
    size_t first, end;
    float *product; /* workspace */
    /* Of the step's place in time: the product of its inputs, its state and the one before. */
    float *inputs;
    const float *previous;
    float *h;
} part;

static float *output_at(const ingot_recurrent_job *j, size_t output, size_t offset)
{
    bool wanted = output < j->step->region->output_count && j->step->outputs[output];
    return wanted ? (float *)j->step->outputs[output]->data + offset : NULL;
}

static float *memory_at(const ingot_recurrent_job *j, size_t direction, size_t offset)
{
    return (float *)((char *)j->step->workspace + direction * j->memory.size + offset);
}

/* B is [directions, 2 * rows]: of W, then of R. */
static const float *bias_at(const ingot_recurrent_job *j, size_t direction, size_t first)
{
    return ingot_recurrent_input(j, B, 2 * direction * j->layer.rows + first);
}

static const char *weights_at(const ingot_recurrent_job *j, size_t direction, size_t offset)
{
    return j->packed + direction * j->layer.weights.size + offset;
}

void ingot_recurrent_multiply_inputs(const ingot_recurrent_job *j, size_t direction)
{
    const ingot_recurrent_layer *l = &j->layer;
    ingot_gemm g = ingot_recurrent_product(l, l->steps * l->batch, l->features, l->rows, ingot_recurrent_input(j, X, 0),
                                           weights_at(j, direction, l->weights.w), bias_at(j, direction, 0));
    g.c = memory_at(j, direction, j->memory.inputs);
    ingot_gemm_f32(&g, memory_at(j, direction, j->memory.product), j->step->threads);
}

/* The part's gates = h * R + bias, and inputs where not NULL, of the matrices of gates first_gate ... end_gate - 1. R is read from
 * either end by turns: of one larger than the cache a part is still there. */
static void multiply_state(const part *p, const float *h, size_t first_gate, size_t end_gate, const float *inputs)
{
    const ingot_recurrent_job *j = p->job;
    const ingot_recurrent_layer *l = &j->layer;
    const ingot_recurrent_weights *w = &l->weights;
    bool backwards = p->index % 2 != 0;
    for (size_t i = 0; i < w->matrices; i++) {
        size_t m = backwards ? w->matrices - 1 - i : i, gate = w->first_gate[m];
        if (gate < first_gate || gate >= end_gate)
            continue;
        size_t column = gate * l->hidden + p->first;
        size_t columns = (w->first_gate[m + 1] - gate - 1) * l->hidden + p->end - p->first;
        const char *r = weights_at(j, p->direction, w->r[m] + p->first * l->hidden * sizeof(float));
        ingot_gemm g =
            ingot_recurrent_product(l, l->batch, l->hidden, columns, h, r, bias_at(j, p->direction, l->rows + column));
        g.epilogue.add = inputs ? inputs + column : NULL;
        g.backwards = backwards;
        g.c = memory_at(j, p->direction, j->memory.gates) + column;
        ingot_gemm_f32(&g, p->product, ingot_recurrent_product_threads(l, j->step->threads));
    }
}

static void step_lstm(const part *p)
{
    const ingot_recurrent_job *j = p->job;
    const ingot_recurrent_layer *l = &j->layer;
    multiply_state(p, p->previous, 0, 4, p->inputs);
    ingot_lstm_cell cell = {.batch = l->batch,
                            .hidden = l->hidden,
                            .first = p->first,
                            .end = p->end,
                            .gates = memory_at(j, p->direction, j->memory.gates),
                            .gates_row = l->rows,
                            .peepholes = ingot_recurrent_input(j, PEEPHOLES, 3 * p->direction * l->hidden),
                            .clip = l->params->has_clip ? l->params->clip : 0,
                            .cell = memory_at(j, p->direction, j->memory.cell),
                            .h = p->h,
                            .h_row = l->hidden};
    ingot_lstm_cell_f32(&cell);
}

static ingot_gru_cell gru_cell_of(const part *p)
{
    const ingot_recurrent_job *j = p->job;
    const ingot_recurrent_layer *l = &j->layer;
    return (ingot_gru_cell){.batch = l->batch,
                            .hidden = l->hidden,
                            .first = p->first,
                            .end = p->end,
                            .x = p->inputs,
                            .x_row = l->rows,
                            .r = memory_at(j, p->direction, j->memory.gates),
                            .r_row = l->rows,
                            .previous = p->previous,
                            .previous_row = l->hidden,
                            .h = p->h,
                            .h_row = l->hidden,
                            .reset = memory_at(j, p->direction, j->memory.reset),
                            .clip = l->params->has_clip ? l->params->clip : 0};
}

static void step_gru(const part *p)
{
    ingot_gru_cell cell = gru_cell_of(p);
    multiply_state(p, p->previous, 0, 3, NULL);
    ingot_gru_cell_f32(&cell);
}

static void step_gru_gates(const part *p)
{
    ingot_gru_cell cell = gru_cell_of(p);
    multiply_state(p, p->previous, 0, 2, NULL);
    ingot_gru_gates_f32(&cell);
}

static void step_gru_finish(const part *p)
{
    ingot_gru_cell cell = gru_cell_of(p);
    multiply_state(p, cell.reset, 2, 3, NULL);
    ingot_gru_finish_f32(&cell);
}

/* What follows one another in a step: each needs all units of the one before. */
typedef void (*stage)(const part *part);
typedef struct stages {
    size_t count;
    stage list[2];
} stages;

static stages stages_of(const ingot_recurrent_layer *l)
{
    static const stages lstm = {1, {step_lstm}}, gru = {1, {step_gru}},
                        split_gru = {2, {step_gru_gates, step_gru_finish}};
    return l->params->gates == 4 ? lstm : l->splits ? split_gru : gru;
}

/* Multiplications with R, of all steps of a direction, that are worth another thread, which may sleep: some 16 us. */
#define LEAST_SHARED ((size_t)1 << 18)

static bool shares_steps(const ingot_recurrent_layer *l)
{
    return l->weights.by_units && l->steps * l->batch >= LEAST_SHARED / (l->rows * l->hidden);
}

/* A stage of which several threads take some units each. */
typedef struct shared_stage {
    const part *whole;
    stage run;
    size_t shares;
} shared_stage;

static void run_share(void *argument, size_t chunk, int participant)
{
    const shared_stage *s = argument;
    size_t at_once = ingot_recurrent_units_at_once(), groups = ingot_ceil_div(s->whole->end, at_once);
    part p = *s->whole;
    p.first = ingot_part_begin(groups, s->shares, chunk) * at_once;
    p.end = ingot_part_begin(groups, s->shares, chunk + 1) * at_once;
    if (p.end > s->whole->end)
        p.end = s->whole->end;
    p.product += (size_t)participant * p.job->memory.product_size / sizeof(float);
    s->run(&p);
}

static void run_step(const part *p, const stages *order)
{
    const ingot_recurrent_layer *l = &p->job->layer;
    size_t most = ingot_ceil_div(l->hidden, ingot_recurrent_units_at_once());
    size_t threads = shares_steps(l) ? (size_t)p->job->step->threads : 1, shares = threads < most ? threads : most;
    for (size_t i = 0; i < order->count; i++) {
        shared_stage shared = {p, order->list[i], shares};
        if (shares > 1)
            ingot_parallel((int)threads, shares, run_share, &shared);
        else
            order->list[i](p);
    }
}

/* The state that R is multiplied by: as it is, or as the bytes of each sequence make it. */
static const float *state_for_product(const ingot_recurrent_job *j, size_t direction, const float *state)
{
    const ingot_recurrent_layer *l = &j->layer;
    uint8_t *codes = (uint8_t *)memory_at(j, direction, j->memory.codes);
    float *values = memory_at(j, direction, j->memory.values);
    if (!l->params->byte_state)
        return state;
    for (size_t row = 0; row < l->batch; row++) {
        const float *from = state + row * l->hidden;
        float low, high, *to = values + row * l->hidden;
        ingot_int8_range(from, l->hidden, &low, &high, 1);
        ingot_dynamic_scale s = ingot_dynamic_scale_of(low, high);
        memset(to, 0, l->hidden * sizeof *to);
        if (!(s.scale > 0))
            continue;
        ingot_int8_scale scale = {.scale = s.scale, .zero = (int32_t)s.zero};
        ingot_int8_quantize(from, &scale, codes, l->hidden, 1);
        ingot_int8_dequantize(codes, &scale, to, l->hidden, 1);
    }
    return values;
}

/* Y is [steps, directions, batch, hidden], the states are [directions, batch, hidden]. */
void ingot_recurrent_run_direction(void *argument, size_t direction, int participant)
{
    const ingot_recurrent_job *j = argument;
    const ingot_recurrent_layer *l = &j->layer;
    const ingot_recurrent_memory *m = &j->memory;
    size_t size = l->batch * l->hidden;
    bool lstm = l->params->gates == 4;
    const stages order = stages_of(l);
    float *states[2] = {memory_at(j, direction, m->states[0]), memory_at(j, direction, m->states[1])};
    float *cell = memory_at(j, direction, m->cell);
    const float *initial_h = ingot_recurrent_input(j, INITIAL_H, direction * size);
    const float *initial_cell = lstm ? ingot_recurrent_input(j, INITIAL_C, direction * size) : NULL;
    memset(cell, 0, size * sizeof *cell);
    if (initial_cell)
        memcpy(cell, initial_cell, size * sizeof *cell);
    memset(states[1], 0, size * sizeof *states[1]);
    part p = {.job = j, .direction = direction, .end = l->hidden, .product = memory_at(j, direction, m->product)};
    const float *state = initial_h ? initial_h : states[1];
    for (size_t i = 0; i < l->steps; i++) {
        size_t t = l->params->reverse[direction] ? l->steps - 1 - i : i;
        float *y = output_at(j, 0, (t * l->directions + direction) * size);
        p.index = i;
        p.inputs = memory_at(j, direction, m->inputs) + t * l->batch * l->rows;
        p.previous = state_for_product(j, direction, state);
        p.h = y ? y : states[i % 2];
        run_step(&p, &order);
        state = p.h;
    }
    float *last_h = output_at(j, 1, direction * size), *last_cell = lstm ? output_at(j, 2, direction * size) : NULL;
    if (last_h)
        memcpy(last_h, state, size * sizeof *last_h);
    if (last_cell)
        memcpy(last_cell, cell, size * sizeof *last_cell);
}
