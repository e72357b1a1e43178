#include "runtime/search.h"

#include <stdalign.h>
#include <string.h>

#include "base/number.h"

/* ---- What the inputs ask for ---- */

static const ingot_value *operand(const ingot_search *s, size_t input)
{
    return input < s->node->operand_count ? s->inputs[input] : NULL;
}

/* An input of one element; otherwise where it is left out. */
static ingot_status read_number(ingot_search *s, size_t input, const char *name, double otherwise, double least,
                                double *result)
{
    const ingot_value *v = operand(s, input);
    *result = otherwise;
    if (v && (v->kind != INGOT_KIND_TENSOR || ingot_value_count(v) != 1))
        return ingot_node_fail(s->node, s->run->error, INGOT_INVALID_INPUT, "input %zu '%s' must hold one element",
                               input, name);
    if (v)
        *result = ingot_load_double(v->element, v->data, 0);
    if (*result >= least)
        return INGOT_OK;
    return ingot_node_fail(s->node, s->run->error, INGOT_INVALID_INPUT, "input %zu '%s' is %g, expected %g or more",
                           input, name, *result, least);
}

static ingot_status read_size(ingot_search *s, size_t input, const char *name, double otherwise, double least,
                              size_t *result)
{
    double value;
    INGOT_TRY(read_number(s, input, name, otherwise, least, &value));
    *result = (size_t)value;
    return INGOT_OK;
}

static ingot_status read_mask(ingot_search *s, size_t input, const char *name, int rank, const int64_t *dims,
                              const int32_t **mask)
{
    const ingot_value *v = operand(s, input);
    char have[200], want[200];
    *mask = NULL;
    if (!v)
        return INGOT_OK;
    if (v->kind != INGOT_KIND_TENSOR || v->rank != rank || memcmp(v->dims, dims, (size_t)rank * sizeof *dims) != 0)
        return ingot_node_fail(s->node, s->run->error, INGOT_INVALID_INPUT, "input %zu '%s' is %s, expected int32%s",
                               input, name, ingot_value_describe(v, have, sizeof have),
                               ingot_dims_describe(rank, dims, want, sizeof want));
    *mask = v->data;
    return INGOT_OK;
}

static ingot_status read_vocabulary(ingot_search *s)
{
    const ingot_type *logits = &ingot_node_body(s->node, "decoder")->graph->outputs[0]->type;
    int64_t size = s->params->vocabulary_size;
    if (size <= 0)
        size = logits->rank == 3 && ingot_dim_is_number(logits->dims[2]) ? logits->dims[2] : 0;
    if (size < 2 || size > INT32_MAX)
        return ingot_node_fail(
            s->node, s->run->error, INGOT_INVALID_MODEL,
            "the size of the vocabulary is %lld: neither 'vocab_size' nor the decoder's logits tell it",
            (long long)size);
    s->vocabulary = (size_t)size;
    return INGOT_OK;
}

static ingot_status read_inputs(ingot_search *s)
{
    const ingot_search_inputs *at = s->params->inputs;
    const ingot_value *prompt = s->inputs[0];
    double penalty;
    if (prompt->rank != 2 || prompt->dims[0] < 1 || prompt->dims[1] < 1)
        return ingot_node_fail(s->node, s->run->error, INGOT_INVALID_INPUT, "input 0 'input_ids' has no token");
    s->batch = (size_t)prompt->dims[0];
    s->length = s->params->has_encoder ? 1 : (size_t)prompt->dims[1];
    INGOT_TRY(read_vocabulary(s));
    INGOT_TRY(read_size(s, at->max_length, "max_length", 0, (double)s->length + 1, &s->max_length));
    INGOT_TRY(read_size(s, at->min_length, "min_length", 0, 0, &s->min_length));
    INGOT_TRY(read_size(s, at->beams, "num_beams", 1, 1, &s->beams));
    INGOT_TRY(read_size(s, at->returned, "num_return_sequences", 1, 1, &s->returned));
    INGOT_TRY(read_number(s, at->length_penalty, "length_penalty", 1, -1e9, &penalty));
    s->length_penalty = (float)penalty;
    INGOT_TRY(read_number(s, at->repetition_penalty, "repetition_penalty", 1, 1e-9, &penalty));
    s->repetition_penalty = (float)penalty;
    if (s->returned > s->beams)
        return ingot_node_fail(s->node, s->run->error, INGOT_INVALID_INPUT,
                               "%zu sequences are to be returned, but there are %zu beams", s->returned, s->beams);
    int64_t vocabulary[] = {(int64_t)s->batch, (int64_t)s->vocabulary};
    const int32_t *mask;
    INGOT_TRY(read_mask(s, at->vocabulary_mask, "vocab_mask", 1, vocabulary + 1, &s->vocabulary_mask));
    INGOT_TRY(read_mask(s, at->prefix_mask, "prefix_vocab_mask", 2, vocabulary, &s->prefix_mask));
    return read_mask(s, at->attention_mask, "attention_mask", 2, prompt->dims, &mask);
}

/* ---- Memory ---- */

/* Parts of one block: where is NULL, only their sum is found. */
typedef struct block {
    char *start;
    size_t used;
    bool fits;
} block;

static void *take(block *b, size_t count, size_t width, size_t size)
{
    size_t bytes;
    void *part = b->start ? b->start + b->used : NULL;
    b->fits = b->fits && ingot_mul_size(count, width, &bytes) && ingot_mul_size(bytes, size, &bytes) &&
              ingot_add_size(b->used, bytes, &b->used) && ingot_add_size(b->used, alignof(max_align_t) - 1, &b->used);
    b->used &= ~(alignof(max_align_t) - 1);
    return part;
}

static void divide(ingot_search *s, block *b)
{
    s->hypotheses = take(b, s->batch, 1, sizeof *s->hypotheses);
    s->sequences = take(b, s->rows, s->max_length, sizeof *s->sequences);
    s->spare = take(b, s->rows, s->max_length, sizeof *s->spare);
    s->mask = take(b, s->rows, s->max_length, sizeof *s->mask);
    s->scores = take(b, s->rows, s->vocabulary, sizeof *s->scores);
    s->seen = take(b, s->vocabulary, 1, sizeof *s->seen);
    s->beam_scores = take(b, s->rows, 1, sizeof *s->beam_scores);
    s->tokens = take(b, s->rows, 1, sizeof *s->tokens);
    s->sources = take(b, s->rows, 1, sizeof *s->sources);
    s->positions = take(b, s->rows, 1, sizeof *s->positions);
    s->best_scores = take(b, s->rows, 2, sizeof *s->best_scores);
    s->best = take(b, s->rows, 2, sizeof *s->best);
    for (size_t i = 0; s->params->by_beams && i < s->batch && b->fits; i++) {
        ingot_hypotheses h = {.tokens = take(b, s->beams, s->max_length, sizeof *h.tokens),
                              .lengths = take(b, s->beams, 1, sizeof *h.lengths),
                              .scores = take(b, s->beams, 1, sizeof *h.scores),
                              .slots = take(b, s->beams, 1, sizeof *h.slots)};
        if (b->start)
            s->hypotheses[i] = h;
    }
}

static ingot_status lay_out(ingot_search *s)
{
    block sum = {.fits = true};
    bool fits = ingot_mul_size(s->batch, s->beams, &s->rows) && s->rows <= INT32_MAX && s->max_length <= INT32_MAX;
    if (fits)
        divide(s, &sum);
    if (!fits || !sum.fits || sum.used > INT64_MAX)
        return ingot_node_fail(s->node, s->run->error, INGOT_OUT_OF_MEMORY,
                               "%zu beams of %zu sequences of %zu tokens are beyond any memory", s->beams, s->batch,
                               s->max_length);
    ingot_value *work = ingot_search_own(s, INGOT_SEARCH_WORK);
    INGOT_TRY(
        ingot_value_set_tensor_within(s->budget, work, INGOT_UINT8, 1, (int64_t[]){(int64_t)sum.used}, s->run->error));
    memset(work->data, 0, sum.used);
    block parts = {.start = work->data, .fits = true};
    divide(s, &parts);
    return INGOT_OK;
}

/* Rows begin as the prompt, or as the decoder's first token. Of the beams of a batch entry, only the first counts until they
 * differ. */
static void begin(ingot_search *s)
{
    const int32_t *prompt = s->inputs[0]->data;
    for (size_t row = 0; row < s->rows; row++) {
        int32_t *to = s->sequences + row * s->max_length;
        if (s->params->has_encoder)
            to[0] = (int32_t)s->params->start;
        else
            memcpy(to, prompt + row / s->beams * s->length, s->length * sizeof *to);
        s->beam_scores[row] = row % s->beams ? -1e9f : 0;
    }
}

/* Memory for the state on the first run of the step. */
static ingot_status prepare_state(ingot_search *s)
{
    ingot_control_state *state = s->state;
    size_t inputs = 0, outputs = 0;
    if (state->bodies)
        return INGOT_OK;
    for (size_t i = 0; i < s->node->body_count; i++) {
        const ingot_graph *g = s->node->bodies[i].graph;
        inputs = g->input_count > inputs ? g->input_count : inputs;
        outputs = g->output_count > outputs ? g->output_count : outputs;
    }
    state->carried = ingot_calloc(2 * inputs + 1, sizeof *state->carried);
    state->slices = ingot_calloc(INGOT_SEARCH_VALUES, sizeof *state->slices);
    state->inputs = ingot_calloc(inputs + 1, sizeof *state->inputs);
    state->targets = ingot_calloc(outputs + 1, sizeof *state->targets);
    state->bodies = ingot_calloc(s->node->body_count + 1, sizeof *state->bodies);
    if (state->carried && state->slices && state->inputs && state->targets && state->bodies) {
        state->carried_count = inputs;
        state->slice_count = INGOT_SEARCH_VALUES;
        ingot_control_count(state, s->budget);
        return INGOT_OK;
    }
    ingot_control_release(s->step, state);
    return ingot_fail_memory(s->run->error, inputs * sizeof *state->inputs, "a search");
}

/* ---- Outputs ---- */

static ingot_status set_output(ingot_search *s, size_t output, ingot_element element, int rank, const int64_t *dims)
{
    if (output >= s->step->output_count || !s->outputs[output])
        return INGOT_OK;
    return ingot_value_set_tensor_within(s->budget, s->outputs[output], element, rank, dims, s->run->error);
}

static void *output_data(const ingot_search *s, size_t output)
{
    return output < s->step->output_count && s->outputs[output] ? s->outputs[output]->data : NULL;
}

static ingot_status set_outputs(ingot_search *s)
{
    int64_t batch = (int64_t)s->batch, returned = (int64_t)s->returned, length = (int64_t)s->max_length;
    if (!s->params->by_beams)
        return set_output(s, 0, INGOT_INT32, 2, (int64_t[]){batch, length});
    int64_t scores[] = {length - (int64_t)s->length, batch, (int64_t)s->beams, (int64_t)s->vocabulary};
    INGOT_TRY(set_output(s, 0, INGOT_INT32, 3, (int64_t[]){batch, returned, length}));
    INGOT_TRY(set_output(s, 1, INGOT_FLOAT, 2, (int64_t[]){batch, returned}));
    INGOT_TRY(set_output(s, 2, INGOT_FLOAT, 4, scores));
    s->score_output = output_data(s, 2);
    if (s->score_output) /* steps that an early end leaves out */
        memset(s->score_output, 0, ingot_value_bytes(s->outputs[2]));
    return INGOT_OK;
}

static void finish(ingot_search *s)
{
    int32_t *sequences = output_data(s, 0);
    if (s->params->by_beams) {
        ingot_search_finish_beams(s, sequences, output_data(s, 1));
        return;
    }
    for (size_t row = 0; row < s->rows; row++)
        for (size_t i = 0; i < s->max_length; i++)
            sequences[row * s->max_length + i] =
                i < s->length ? s->sequences[row * s->max_length + i] : (int32_t)s->params->padding;
}

ingot_status ingot_search_run(ingot_frame *frame, size_t number, const ingot_run *run)
{
    const ingot_plan_step *step = &frame->plan->steps[number];
    ingot_search s = {.step = step,
                      .node = step->node,
                      .params = step->node->params,
                      .state = &frame->control[number],
                      .inputs = frame->inputs + frame->first_input[number],
                      .outputs = frame->outputs + frame->first_output[number],
                      .budget = &frame->budget,
                      .run = run};
    INGOT_TRY(read_inputs(&s));
    INGOT_TRY(prepare_state(&s));
    INGOT_TRY(lay_out(&s));
    begin(&s);
    INGOT_TRY(set_outputs(&s));
    INGOT_TRY(s.params->has_encoder ? ingot_search_encoder_decoder(&s) : ingot_search_decoder(&s));
    finish(&s);
    return INGOT_OK;
}
