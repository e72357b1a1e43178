/* Feeding a searched model: the graphs run in frames of their own; what they give as present is the past of the next step, row by
 * row as the search goes on. */
#include <string.h>

#include "runtime/search.h"

/* ---- Values of the step ---- */

/* Two for each past: a step writes one while it reads the other. */
static ingot_value *past_value(ingot_search *s, size_t index, size_t which)
{
    return &s->state->carried[2 * index + which];
}

ingot_value *ingot_search_own(ingot_search *s, ingot_search_value which)
{
    return &s->state->slices[which];
}

static ingot_status set_own(ingot_search *s, ingot_search_value which, size_t rows, size_t columns)
{
    ingot_value *v = ingot_search_own(s, which);
    return ingot_value_set_tensor_within(s->budget, v, INGOT_INT32, 2, (int64_t[]){(int64_t)rows, (int64_t)columns},
                                         s->run->error);
}

/* Rows of length of a table of rows of stride, as a value. */
static ingot_status set_rows(ingot_search *s, ingot_search_value which, const int32_t *table, size_t stride,
                             size_t length)
{
    INGOT_TRY(set_own(s, which, s->rows, length));
    int32_t *to = ingot_search_own(s, which)->data;
    for (size_t row = 0; row < s->rows; row++)
        memcpy(to + row * length, table + row * stride, length * sizeof *to);
    return INGOT_OK;
}

/* ---- Graphs ---- */

static ingot_status frame_of(ingot_search *s, const ingot_body *body, ingot_frame **frame)
{
    size_t index = (size_t)(body - s->node->bodies);
    if (!s->state->bodies[index])
        INGOT_TRY(ingot_frame_create(s->step->bodies[index], s->budget, &s->state->bodies[index], s->run->error));
    *frame = s->state->bodies[index];
    return INGOT_OK;
}

/* Runs a graph on state->inputs; its outputs stay in the frame, or go to state->targets. */
static ingot_status run_graph(ingot_search *s, const ingot_body *body, ingot_frame **frame)
{
    INGOT_TRY(frame_of(s, body, frame));
    for (size_t i = 0; i < body->capture_count; i++)
        s->state->inputs[body->formal_count + i] = s->inputs[body->capture_first + i];
    return ingot_frame_run(*frame, s->state->inputs, s->state->targets, s->run);
}

static void keep_in_frame(ingot_search *s, const ingot_body *body)
{
    for (size_t i = 0; i < body->graph->output_count; i++)
        s->state->targets[i].value = NULL;
}

/* ---- Rows ---- */

/* Makes to the rows of from along axis that sources names; where sources is NULL, each row as often as there are beams. */
static ingot_status take_rows(ingot_search *s, ingot_value *to, const ingot_value *from, int axis,
                              const int32_t *sources)
{
    char text[200];
    size_t expected = sources ? s->rows : s->batch, outer = 1, bytes = ingot_element_size(from->element);
    int64_t dims[INGOT_MAX_RANK];
    if (from->kind != INGOT_KIND_TENSOR || from->rank <= axis || from->dims[axis] != (int64_t)expected || bytes == 0)
        return ingot_node_fail(s->node, s->run->error, INGOT_INVALID_MODEL,
                               "a graph gives %s, whose axis %d should have the size %zu",
                               ingot_value_describe(from, text, sizeof text), axis, expected);
    memcpy(dims, from->dims, sizeof dims);
    dims[axis] = (int64_t)s->rows;
    INGOT_TRY(ingot_value_set_tensor_within(s->budget, to, from->element, from->rank, dims, s->run->error));
    for (int i = 0; i < axis; i++)
        outer *= (size_t)dims[i];
    for (int i = axis + 1; i < from->rank; i++)
        bytes *= (size_t)dims[i];
    for (size_t part = 0; part < outer; part++)
        for (size_t row = 0; row < s->rows && bytes > 0; row++) {
            size_t source = sources ? (size_t)sources[row] : row / s->beams;
            memcpy((char *)to->data + (part * s->rows + row) * bytes,
                   (const char *)from->data + (part * expected + source) * bytes, bytes);
        }
    return INGOT_OK;
}

/* ---- A step of the decoder ---- */

static size_t batch_axis(const ingot_search *s)
{
    return s->params->has_encoder ? 0 : 1;
}

/* Where the present of this step goes, and what was the past of it. Without beams rows stay where they are, so the present is
 * the next past as it is. */
static size_t present_side(const ingot_search *s)
{
    return s->beams > 1 ? 0 : s->trip & 1;
}

static size_t past_side(const ingot_search *s)
{
    return s->beams > 1 ? 1 : ~s->trip & 1;
}

/* A past before any token. Memory for all that are to come is reserved. */
static ingot_status empty_past(ingot_search *s, const ingot_body *decoder, size_t input, size_t index)
{
    const ingot_type *type = &decoder->graph->inputs[input]->type;
    int64_t dims[INGOT_MAX_RANK];
    int axis = (int)batch_axis(s), tokens = type->rank - 2;
    for (int i = 0; i < type->rank; i++) {
        dims[i] = i == axis ? (int64_t)s->rows : i == tokens ? (int64_t)s->max_length : type->dims[i];
        if (i != axis && i != tokens && !ingot_dim_is_number(type->dims[i]))
            return ingot_node_fail(s->node, s->run->error, INGOT_INVALID_MODEL,
                                   "input %zu of the graph '%s' must declare its size %d", input, decoder->attribute,
                                   i);
    }
    for (size_t side = 0; side < 2; side++)
        INGOT_TRY(ingot_value_set_tensor_within(s->budget, past_value(s, index, side), type->element, type->rank, dims,
                                                s->run->error));
    dims[tokens] = 0;
    return ingot_value_set_tensor_within(s->budget, past_value(s, index, past_side(s)), type->element, type->rank, dims,
                                         s->run->error);
}

/* Runs the decoder on what state->inputs holds before its pasts, and chooses the next tokens. */
static ingot_status decode(ingot_search *s, const ingot_body *decoder, const ingot_search_form *form)
{
    ingot_frame *frame;
    size_t present = present_side(s), past = past_side(s);
    s->state->targets[0].value = NULL;
    for (size_t i = 0; i < form->pasts; i++) {
        s->state->inputs[form->first_past + i] = past_value(s, i, past);
        s->state->targets[1 + i].value = past_value(s, i, present);
    }
    for (size_t i = 0; i < form->cross; i++)
        s->state->inputs[form->first_past + form->pasts + i] = past_value(s, form->pasts + i, 0);
    INGOT_TRY(run_graph(s, decoder, &frame));
    INGOT_TRY(ingot_search_choose(s, ingot_frame_output(frame, 0)));
    for (size_t i = 0; i < form->pasts && s->beams > 1 && !ingot_search_is_done(s); i++)
        INGOT_TRY(take_rows(s, past_value(s, i, 1), past_value(s, i, 0), (int)batch_axis(s), s->sources));
    return INGOT_OK;
}

/* ---- A decoder alone ---- */

/* Masks and positions of the prompt: padding is not seen, and has no position. */
static void read_prompt(ingot_search *s)
{
    size_t given = s->params->inputs->attention_mask;
    const int32_t *mask = given < s->node->operand_count && s->inputs[given] ? s->inputs[given]->data : NULL;
    const int32_t *prompt = s->inputs[0]->data;
    for (size_t row = 0; row < s->rows; row++) {
        size_t first = row / s->beams * s->length;
        int32_t position = 0, *positions = ingot_search_own(s, INGOT_SEARCH_POSITIONS)->data;
        for (size_t i = 0; i < s->length; i++) {
            bool padding = prompt[first + i] == s->params->padding;
            s->mask[row * s->max_length + i] = mask ? mask[first + i] : !padding;
            positions[row * s->length + i] = padding ? 0 : position++;
        }
        s->positions[row] = position;
    }
}

/* The tokens chosen are what the decoder sees next. */
static ingot_status feed_chosen(ingot_search *s)
{
    INGOT_TRY(set_rows(s, INGOT_SEARCH_TOKENS, s->tokens, 1, 1));
    INGOT_TRY(set_rows(s, INGOT_SEARCH_POSITIONS, s->positions, 1, 1));
    for (size_t row = 0; row < s->rows; row++) {
        s->positions[row]++;
        s->mask[row * s->max_length + s->length - 1] = 1;
    }
    return set_rows(s, INGOT_SEARCH_MASK, s->mask, s->max_length, s->length);
}

ingot_status ingot_search_decoder(ingot_search *s)
{
    const ingot_body *decoder = ingot_node_body(s->node, "decoder"), *first = ingot_node_body(s->node, "init_decoder");
    ingot_search_form form = ingot_search_form_of(s->params, decoder);
    INGOT_TRY(set_own(s, INGOT_SEARCH_POSITIONS, s->rows, s->length));
    read_prompt(s);
    INGOT_TRY(set_rows(s, INGOT_SEARCH_TOKENS, s->sequences, s->max_length, s->length));
    INGOT_TRY(set_rows(s, INGOT_SEARCH_MASK, s->mask, s->max_length, s->length));
    for (size_t i = 0; i < form.pasts; i++)
        INGOT_TRY(empty_past(s, decoder, form.first_past + i, i));
    for (bool begun = false; !ingot_search_is_done(s); begun = true) {
        if (begun)
            INGOT_TRY(feed_chosen(s));
        for (size_t i = 0; i < 3; i++)
            s->state->inputs[i] = ingot_search_own(s, (ingot_search_value)(INGOT_SEARCH_TOKENS + i));
        INGOT_TRY(decode(s, !begun && first ? first : decoder, &form));
    }
    return INGOT_OK;
}

/* ---- Encoder and decoder ---- */

/* Padding before the text is not seen; within it, it may be the token that ends texts. */
static ingot_status feed_encoder(ingot_search *s, const ingot_body *encoder)
{
    size_t given = s->params->inputs->attention_mask, length = (size_t)s->inputs[0]->dims[1];
    const int32_t *mask = given < s->node->operand_count && s->inputs[given] ? s->inputs[given]->data : NULL;
    const int32_t *prompt = s->inputs[0]->data;
    INGOT_TRY(set_own(s, INGOT_SEARCH_POSITIONS, s->batch, length));
    int32_t *seen = ingot_search_own(s, INGOT_SEARCH_POSITIONS)->data;
    for (size_t entry = 0; entry < s->batch; entry++) {
        bool begun = false;
        for (size_t i = entry * length; i < (entry + 1) * length; i++) {
            begun |= prompt[i] != s->params->padding;
            seen[i] = mask ? mask[i] : begun;
        }
    }
    INGOT_TRY(set_own(s, INGOT_SEARCH_TOKENS, s->batch, 1));
    for (size_t entry = 0; entry < s->batch; entry++)
        ((int32_t *)ingot_search_own(s, INGOT_SEARCH_TOKENS)->data)[entry] = (int32_t)s->params->start;
    s->state->inputs[0] = s->inputs[0];
    s->state->inputs[1] = ingot_search_own(s, INGOT_SEARCH_POSITIONS);
    if (encoder->formal_count == 3)
        s->state->inputs[2] = ingot_search_own(s, INGOT_SEARCH_TOKENS);
    keep_in_frame(s, encoder);
    return take_rows(s, ingot_search_own(s, INGOT_SEARCH_MASK), s->state->inputs[1], 0, NULL);
}

/* What the encoder gives: perhaps logits, hidden states and the first pasts; and the pasts of cross attention. */
static ingot_status take_encoded(ingot_search *s, const ingot_body *decoder, const ingot_search_form *form,
                                 const ingot_frame *frame, bool starts)
{
    if (starts)
        INGOT_TRY(ingot_search_choose(s, ingot_frame_output(frame, 0)));
    if (starts && form->first_past == 3)
        INGOT_TRY(take_rows(s, ingot_search_own(s, INGOT_SEARCH_HIDDEN), ingot_frame_output(frame, 1), 0, NULL));
    size_t output = starts ? 2 : 0;
    for (size_t i = 0; i < form->pasts; i++) {
        INGOT_TRY(empty_past(s, decoder, form->first_past + i, i));
        if (starts)
            INGOT_TRY(take_rows(s, past_value(s, i, past_side(s)), ingot_frame_output(frame, output++), 0, NULL));
    }
    for (size_t i = 0; i < form->cross; i++)
        INGOT_TRY(take_rows(s, past_value(s, form->pasts + i, 0), ingot_frame_output(frame, output++), 0, NULL));
    return INGOT_OK;
}

ingot_status ingot_search_encoder_decoder(ingot_search *s)
{
    const ingot_body *encoder = ingot_node_body(s->node, "encoder"), *decoder = ingot_node_body(s->node, "decoder");
    ingot_search_form form = ingot_search_form_of(s->params, decoder);
    ingot_frame *frame;
    INGOT_TRY(feed_encoder(s, encoder));
    INGOT_TRY(run_graph(s, encoder, &frame));
    INGOT_TRY(take_encoded(s, decoder, &form, frame, encoder->formal_count == 3));
    while (!ingot_search_is_done(s)) {
        if (form.whole_sequence)
            INGOT_TRY(set_rows(s, INGOT_SEARCH_TOKENS, s->sequences, s->max_length, s->length));
        else
            INGOT_TRY(set_rows(s, INGOT_SEARCH_TOKENS, s->sequences + s->length - 1, s->max_length, 1));
        s->state->inputs[0] = ingot_search_own(s, INGOT_SEARCH_TOKENS);
        s->state->inputs[1] = ingot_search_own(s, INGOT_SEARCH_MASK);
        if (form.first_past == 3)
            s->state->inputs[2] = ingot_search_own(s, INGOT_SEARCH_HIDDEN);
        INGOT_TRY(decode(s, decoder, &form));
    }
    return INGOT_OK;
}
