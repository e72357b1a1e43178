/* LSTM and GRU on floats with the standard's activations: one product of all inputs with W, then for each step one of the state
 * with R and the cell. */
#include "cpu/region_recurrent.h"

#include <string.h>

#include "base/threads.h"
#include "cpu/extent.h"
#include "cpu/family.h"

typedef struct detail {
    bool packs; /* W and R are constants and laid out once */
} detail;

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

static bool is_lstm(const ingot_node *node)
{
    return ingot_cpu_is(node, "LSTM") ||
           (strcmp(node->domain, "ai.ingot") == 0 && strcmp(node->op_type, "ByteStateLSTM") == 0);
}

static bool is_layer(const ingot_node *node)
{
    return is_lstm(node) || ingot_cpu_is(node, "GRU");
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    const ingot_recurrent_params *p = node->params;
    ingot_cpu_draft draft;
    if (!is_layer(node) || !p->default_functions || p->input_forget || p->batch_first ||
        !ingot_cpu_draft_node(node, &draft))
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
static ingot_recurrent_layer layer_of(const ingot_region *region, const ingot_value *x, const ingot_value *w,
                                      const ingot_value *r)
{
    const ingot_recurrent_params *p = region->nodes[0]->params;
    ingot_recurrent_layer l = {.params = p,
                               .steps = x ? (size_t)x->dims[0] : 0,
                               .batch = x ? (size_t)x->dims[1] : 0,
                               .directions = (size_t)p->directions,
                               .features = (size_t)w->dims[2],
                               .hidden = (size_t)r->dims[2],
                               .rows = (size_t)w->dims[1],
                               .splits = p->gates == 3 && !p->linear_before_reset};
    l.weights = ingot_recurrent_place_weights(l.features, l.hidden, (size_t)p->gates, l.directions, l.splits);
    return l;
}

/* ---- Weights ---- */

static void pack_all(const ingot_recurrent_layer *l, const float *w, const float *r, char *packed)
{
    for (size_t d = 0; d < l->directions; d++)
        ingot_recurrent_pack(&l->weights, w + d * l->rows * l->features, r + d * l->rows * l->hidden,
                             packed + d * l->weights.size);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = is_lstm(region->nodes[0]) ? "lstm_f32" : "gru_f32";
    if (!detail_of(region)->packs)
        return;
    ingot_recurrent_layer l = layer_of(region, NULL, region->inputs[W]->constant, region->inputs[R]->constant);
    tactic->packed_bytes = l.weights.size * l.directions;
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const ingot_value *w = region->inputs[W]->constant, *r = region->inputs[R]->constant;
    ingot_recurrent_layer l = layer_of(region, NULL, w, r);
    pack_all(&l, w->data, r->data, packed);
    return INGOT_OK;
}

/* ---- Workspace ---- */

static ingot_recurrent_memory place_memory(const ingot_recurrent_layer *l, int threads)
{
    static const char any[1]; /* only that B is packed matters */
    ingot_recurrent_memory at = {0};
    size_t state = l->batch * l->hidden * sizeof(float), gates = l->batch * l->rows * sizeof(float);
    ingot_gemm all = ingot_recurrent_product(l, l->steps * l->batch, l->features, l->rows, NULL, any, NULL);
    size_t product = ingot_gemm_f32_workspace(&all, threads);
    for (size_t i = 0; i < l->weights.matrices; i++) {
        size_t columns = (l->weights.first_gate[i + 1] - l->weights.first_gate[i]) * l->hidden;
        ingot_gemm part = ingot_recurrent_product(l, l->batch, l->hidden, columns, NULL, any, NULL);
        at.product_size =
            ingot_most(at.product_size, ingot_gemm_f32_workspace(&part, ingot_recurrent_product_threads(l, threads)));
    }
    at.inputs = ingot_take_part(&at.size, l->steps * gates);
    at.gates = ingot_take_part(&at.size, gates);
    at.states[0] = ingot_take_part(&at.size, state);
    at.states[1] = ingot_take_part(&at.size, state);
    at.cell = ingot_take_part(&at.size, state);
    at.reset = ingot_take_part(&at.size, state);
    at.codes = ingot_take_part(&at.size, l->params->byte_state ? l->hidden : 0);
    at.values = ingot_take_part(&at.size, l->params->byte_state ? state : 0);
    size_t sharers = l->weights.by_units && threads > 1 ? (size_t)threads : 1;
    at.product = ingot_take_part(&at.size, ingot_most(product, sharers * at.product_size));
    return at;
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    ingot_recurrent_layer l = layer_of(region, inputs[X], inputs[W], inputs[R]);
    size_t most;
    /* The gates of all steps are the one part that is larger than any tensor. */
    if (!ingot_mul_size(l.steps, l.batch, &most) || !ingot_mul_size(most, l.rows, &most) ||
        !ingot_mul_size(most, l.directions * sizeof(float), &most) || most > PTRDIFF_MAX / 2)
        return ingot_node_fail(region->nodes[0], error, INGOT_OUT_OF_MEMORY,
                               "the gates of %zu steps take more bytes than there can be", l.steps);
    *bytes = place_memory(&l, threads).size;
    if (!detail_of(region)->packs)
        *bytes += l.weights.size;
    *bytes *= l.directions;
    return INGOT_OK;
}

/* ---- Running ---- */

/* All sequences have the full length. */
static bool are_full(const ingot_recurrent_job *j)
{
    const int32_t *lengths = (const int32_t *)ingot_recurrent_input(j, LENGTHS, 0);
    for (size_t i = 0; lengths && i < j->layer.batch; i++)
        if (lengths[i] < 0 || (size_t)lengths[i] != j->layer.steps)
            return false;
    return true;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    ingot_recurrent_job j = {.step = step, .packed = step->packed};
    j.layer = layer_of(step->region, step->inputs[X], step->inputs[W], step->inputs[R]);
    const ingot_recurrent_layer *l = &j.layer;
    *declined = !are_full(&j);
    if (*declined)
        return INGOT_OK;
    j.memory = place_memory(l, step->threads);
    if (!detail_of(step->region)->packs) {
        char *packed = (char *)step->workspace + l->directions * j.memory.size;
        pack_all(l, ingot_recurrent_input(&j, W, 0), ingot_recurrent_input(&j, R, 0), packed);
        j.packed = packed;
    }
    for (size_t d = 0; d < l->directions; d++)
        ingot_recurrent_multiply_inputs(&j, d);
    ingot_parallel(l->weights.by_units ? 1 : step->threads, l->directions, ingot_recurrent_run_direction, &j);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_recurrent = {.name = "recurrent",
                                              .flushes = true,
                                              .claim = claim,
                                              .tactic = tactic,
                                              .pack = pack,
                                              .measure = measure,
                                              .run = run};
