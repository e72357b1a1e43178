/* LSTM and GRU on floats with the standard's activations: one product of all inputs with W, then for each step one of the state
 * with R and the cell. Directions run side by side. */
#include <string.h>

#include "base/threads.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "cpu/gemm/gemm.h"
#include "cpu/recurrent/recurrent.h"
#include "ops/recurrent.h"

/* Inputs in the standard's order. */
enum { X, W, R, B, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES };

typedef struct detail {
    bool packs; /* W and R are constants and laid out once */
} detail;

typedef struct layer {
    const ingot_recurrent_params *params;
    size_t steps, batch, features, hidden, rows; /* rows: gates * hidden; steps and batch are 0 where X is not known */
    bool splits;                                 /* GRU whose reset comes before the product: R's last part is apart */
} layer;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* ---- Claiming ---- */

/* Sequences may be shorter than the steps: that is the reference's. */
static bool has_lengths(const ingot_node *node)
{
    return node->operand_count > LENGTHS && node->inputs[LENGTHS];
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    const ingot_recurrent_params *p = node->params;
    ingot_cpu_draft draft;
    if ((!ingot_cpu_is(node, "LSTM") && !ingot_cpu_is(node, "GRU")) || !p->default_functions || p->input_forget ||
        p->batch_first || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    for (size_t i = 0; i < node->operand_count; i++)
        if (i != LENGTHS && node->inputs[i] && !ingot_cpu_is_float(node->inputs[i]))
            return INGOT_OK;
    detail d = {ingot_graph_value_is_constant(node->inputs[W]) && ingot_graph_value_is_constant(node->inputs[R])};
    if (d.packs && !has_lengths(node))
        draft.packed_inputs = 1u << W | 1u << R;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_recurrent, &draft, claimed);
}

/* x may be NULL. */
static layer layer_of(const ingot_region *region, const ingot_value *x, const ingot_value *w, const ingot_value *r)
{
    const ingot_recurrent_params *p = region->nodes[0]->params;
    return (layer){.params = p,
                   .steps = x ? (size_t)x->dims[0] : 0,
                   .batch = x ? (size_t)x->dims[1] : 0,
                   .features = (size_t)w->dims[2],
                   .hidden = (size_t)r->dims[2],
                   .rows = (size_t)w->dims[1],
                   .splits = p->gates == 3 && !p->linear_before_reset};
}

/* ---- Weights ---- */

/* Where the packed matrices of a direction lie, in bytes. */
typedef struct weights {
    size_t w, r, rest, size; /* rest: of R's last gate, where the layer splits */
} weights;

static weights place_weights(const layer *l)
{
    weights at = {0};
    size_t columns = l->rows - (l->splits ? l->hidden : 0);
    at.w = ingot_take_part(&at.size, ingot_gemm_f32_packed_b_size(NULL, l->features, l->rows));
    at.r = ingot_take_part(&at.size, ingot_gemm_f32_packed_b_size(NULL, l->hidden, columns));
    if (l->splits)
        at.rest = ingot_take_part(&at.size, ingot_gemm_f32_packed_b_size(NULL, l->hidden, l->hidden));
    return at;
}

/* Both matrices are [directions, rows, k] and come transposed into the product. */
static void pack_all(const layer *l, const float *w, const float *r, char *packed)
{
    weights at = place_weights(l);
    size_t n = l->hidden, columns = l->rows - (l->splits ? n : 0);
    for (int d = 0; d < l->params->directions; d++, packed += at.size) {
        ingot_gemm_f32_pack_b(NULL, l->features, l->rows, w, 1, (ptrdiff_t)l->features, (float *)(packed + at.w));
        ingot_gemm_f32_pack_b(NULL, n, columns, r, 1, (ptrdiff_t)n, (float *)(packed + at.r));
        if (l->splits)
            ingot_gemm_f32_pack_b(NULL, n, n, r + columns * n, 1, (ptrdiff_t)n, (float *)(packed + at.rest));
        w += l->rows * l->features;
        r += l->rows * n;
    }
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = ingot_cpu_is(region->nodes[0], "LSTM") ? "lstm_f32" : "gru_f32";
    if (!detail_of(region)->packs)
        return;
    layer l = layer_of(region, NULL, region->inputs[W]->constant, region->inputs[R]->constant);
    tactic->packed_bytes = place_weights(&l).size * (size_t)l.params->directions;
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const ingot_value *w = region->inputs[W]->constant, *r = region->inputs[R]->constant;
    layer l = layer_of(region, NULL, w, r);
    pack_all(&l, w->data, r->data, packed);
    return INGOT_OK;
}

/* ---- Workspace ---- */

/* The product of all inputs, or of one state, with the weights of a direction; bias of all rows or NULL. */
static ingot_gemm product_of(const layer *l, size_t m, size_t k, size_t n, const float *a, const char *packed,
                             const float *bias)
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

/* Where the memory of a direction lies, in bytes. */
typedef struct memory {
    size_t inputs, gates, state, cell, reset, product, size;
} memory;

/* Directions share the threads; one alone has them all. */
static int step_threads(const layer *l, int threads)
{
    return l->params->directions > 1 ? 1 : threads;
}

static memory place_memory(const layer *l, int threads)
{
    static const char any[1]; /* only that B is packed matters */
    memory at = {0};
    size_t state = l->batch * l->hidden * sizeof(float), gates = l->batch * l->rows * sizeof(float);
    ingot_gemm first = product_of(l, l->steps * l->batch, l->features, l->rows, NULL, any, NULL);
    ingot_gemm next = product_of(l, l->batch, l->hidden, l->rows, NULL, any, NULL);
    ingot_gemm last = product_of(l, l->batch, l->hidden, l->hidden, NULL, any, NULL);
    size_t product = ingot_gemm_f32_workspace(&first, threads), other;
    other = ingot_gemm_f32_workspace(&next, step_threads(l, threads));
    product = product > other ? product : other;
    other = ingot_gemm_f32_workspace(&last, step_threads(l, threads));
    product = product > other ? product : other;
    at.inputs = ingot_take_part(&at.size, l->steps * gates);
    at.gates = ingot_take_part(&at.size, gates);
    at.state = ingot_take_part(&at.size, state);
    at.cell = ingot_take_part(&at.size, state);
    at.reset = ingot_take_part(&at.size, state);
    at.product = ingot_take_part(&at.size, product);
    return at;
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    layer l = layer_of(region, inputs[X], inputs[W], inputs[R]);
    size_t directions = (size_t)l.params->directions, most;
    /* The gates of all steps are the one part that is larger than any tensor. */
    if (!ingot_mul_size(l.steps, l.batch, &most) || !ingot_mul_size(most, l.rows, &most) ||
        !ingot_mul_size(most, directions * sizeof(float), &most) || most > PTRDIFF_MAX / 2)
        return ingot_node_fail(region->nodes[0], error, INGOT_OUT_OF_MEMORY,
                               "the gates of %zu steps take more bytes than there can be", l.steps);
    *bytes = place_memory(&l, threads).size;
    if (!detail_of(region)->packs)
        *bytes += place_weights(&l).size;
    *bytes *= (size_t)l.params->directions;
    return INGOT_OK;
}

/* ---- Running ---- */

typedef struct job {
    const ingot_step *step;
    layer layer;
    weights weights;
    memory memory;
    const char *packed;
    int threads; /* of the steps */
} job;

static const float *input_at(const job *j, size_t input, size_t offset)
{
    bool given = input < j->step->region->input_count && j->step->inputs[input];
    return given ? (const float *)j->step->inputs[input]->data + offset : NULL;
}

static float *output_at(const job *j, size_t output, size_t offset)
{
    bool wanted = output < j->step->region->output_count && j->step->outputs[output];
    return wanted ? (float *)j->step->outputs[output]->data + offset : NULL;
}

static float *memory_at(const job *j, size_t direction, size_t part)
{
    return (float *)((char *)j->step->workspace + direction * j->memory.size + part);
}

/* B is [directions, 2 * rows]: of W, then of R. */
static const float *bias_at(const job *j, size_t direction, size_t first)
{
    return input_at(j, B, 2 * direction * j->layer.rows + first);
}

static void multiply_inputs(const job *j, size_t direction, int threads)
{
    const layer *l = &j->layer;
    ingot_gemm g = product_of(l, l->steps * l->batch, l->features, l->rows, input_at(j, X, 0),
                              j->packed + direction * j->weights.size + j->weights.w, bias_at(j, direction, 0));
    g.c = memory_at(j, direction, j->memory.inputs);
    ingot_gemm_f32(&g, memory_at(j, direction, j->memory.product), threads);
}

/* gates = h * R + bias, and inputs where not NULL, on columns first ... first + columns - 1 of all rows. step: of the run; R is
 * read from either end by turns. */
static void multiply_state(const job *j, size_t direction, size_t step, const float *h, size_t first, size_t columns,
                           const float *inputs)
{
    const layer *l = &j->layer;
    size_t part = first > 0 ? j->weights.rest : j->weights.r;
    ingot_gemm g = product_of(l, l->batch, l->hidden, columns, h, j->packed + direction * j->weights.size + part,
                              bias_at(j, direction, l->rows + first));
    g.epilogue.add = inputs;
    g.backwards = step % 2 != 0;
    g.c = memory_at(j, direction, j->memory.gates) + first;
    ingot_gemm_f32(&g, memory_at(j, direction, j->memory.product), j->threads);
}

static void step_lstm(const job *j, size_t direction, size_t step, float *inputs, const float *previous, float *h)
{
    const layer *l = &j->layer;
    multiply_state(j, direction, step, previous, 0, l->rows, inputs);
    ingot_lstm_cell cell = {.batch = l->batch,
                            .hidden = l->hidden,
                            .gates = memory_at(j, direction, j->memory.gates),
                            .gates_row = l->rows,
                            .peepholes = input_at(j, PEEPHOLES, 3 * direction * l->hidden),
                            .clip = l->params->has_clip ? l->params->clip : 0,
                            .cell = memory_at(j, direction, j->memory.cell),
                            .h = h,
                            .h_row = l->hidden};
    ingot_lstm_cell_f32(&cell);
}

static void step_gru(const job *j, size_t direction, size_t step, float *inputs, const float *previous, float *h)
{
    const layer *l = &j->layer;
    size_t n = l->hidden;
    multiply_state(j, direction, step, previous, 0, l->splits ? 2 * n : 3 * n, NULL);
    ingot_gru_cell cell = {.batch = l->batch,
                           .hidden = n,
                           .x = inputs,
                           .x_row = l->rows,
                           .r = memory_at(j, direction, j->memory.gates),
                           .r_row = l->rows,
                           .previous = previous,
                           .previous_row = n,
                           .h = h,
                           .h_row = n,
                           .reset = memory_at(j, direction, j->memory.reset),
                           .clip = l->params->has_clip ? l->params->clip : 0};
    if (!l->splits) {
        ingot_gru_cell_f32(&cell);
        return;
    }
    ingot_gru_gates_f32(&cell);
    multiply_state(j, direction, step, cell.reset, 2 * n, n, NULL);
    ingot_gru_finish_f32(&cell);
}

/* Y is [steps, directions, batch, hidden], the states are [directions, batch, hidden]. */
static void run_steps(void *argument, size_t direction, int participant)
{
    const job *j = argument;
    const layer *l = &j->layer;
    size_t size = l->batch * l->hidden, directions = (size_t)l->params->directions;
    bool lstm = l->params->gates == 4;
    float *state = memory_at(j, direction, j->memory.state), *cell = memory_at(j, direction, j->memory.cell);
    const float *previous = input_at(j, INITIAL_H, direction * size);
    const float *initial_cell = lstm ? input_at(j, INITIAL_C, direction * size) : NULL;
    memset(cell, 0, size * sizeof *cell);
    if (initial_cell)
        memcpy(cell, initial_cell, size * sizeof *cell);
    memset(state, 0, size * sizeof *state);
    previous = previous ? previous : state;
    for (size_t i = 0; i < l->steps; i++) {
        size_t t = l->params->reverse[direction] ? l->steps - 1 - i : i;
        float *inputs = memory_at(j, direction, j->memory.inputs) + t * l->batch * l->rows;
        float *y = output_at(j, 0, (t * directions + direction) * size), *h = y ? y : state;
        (lstm ? step_lstm : step_gru)(j, direction, i, inputs, previous, h);
        previous = h;
    }
    float *last_h = output_at(j, 1, direction * size), *last_cell = lstm ? output_at(j, 2, direction * size) : NULL;
    if (last_h)
        memcpy(last_h, previous, size * sizeof *last_h);
    if (last_cell)
        memcpy(last_cell, cell, size * sizeof *last_cell);
}

/* All sequences have the full length. */
static bool are_full(const job *j)
{
    const int32_t *lengths = (const int32_t *)input_at(j, LENGTHS, 0);
    for (size_t i = 0; lengths && i < j->layer.batch; i++)
        if (lengths[i] < 0 || (size_t)lengths[i] != j->layer.steps)
            return false;
    return true;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    job j = {.step = step, .packed = step->packed};
    j.layer = layer_of(step->region, step->inputs[X], step->inputs[W], step->inputs[R]);
    const layer *l = &j.layer;
    size_t directions = (size_t)l->params->directions;
    *declined = !are_full(&j);
    if (*declined)
        return INGOT_OK;
    j.weights = place_weights(l);
    j.memory = place_memory(l, step->threads);
    j.threads = step_threads(l, step->threads);
    if (!detail_of(step->region)->packs) {
        char *packed = (char *)step->workspace + directions * j.memory.size;
        pack_all(l, input_at(&j, W, 0), input_at(&j, R, 0), packed);
        j.packed = packed;
    }
    for (size_t d = 0; d < directions; d++)
        multiply_inputs(&j, d, step->threads);
    ingot_parallel(step->threads, directions, run_steps, &j);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_recurrent = {.name = "recurrent",
                                              .flushes = true,
                                              .claim = claim,
                                              .tactic = tactic,
                                              .pack = pack,
                                              .measure = measure,
                                              .run = run};
