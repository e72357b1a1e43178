#include "ops/search.h"

#include <stddef.h>
#include <stdint.h>

static const ingot_search_inputs beam_inputs = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const ingot_search_inputs greedy_inputs = {1, 2, SIZE_MAX, SIZE_MAX, SIZE_MAX, 3, 4, 5, 6};

/* ---- The decoder ---- */

ingot_search_form ingot_search_form_of(const ingot_search_params *params, const ingot_body *decoder)
{
    ingot_search_form form = {.pasts = decoder->graph->output_count - 1};
    if (!params->has_encoder) {
        form.first_past = 3;
        return form;
    }
    const ingot_type *ids = &decoder->graph->inputs[0]->type;
    form.cross = form.pasts;
    form.first_past = decoder->formal_count - 2 * form.pasts;
    form.whole_sequence = ids->rank != 2 || ids->dims[1] != 1;
    return form;
}

static ingot_status check_decoder(ingot_infer *c, const char *attribute, const ingot_body *body)
{
    const ingot_search_params *p = c->params;
    size_t inputs = body->formal_count, outputs = body->graph->output_count;
    size_t pasts = outputs - 1, least = p->has_encoder ? 2 + 2 * pasts : 3 + pasts;
    if (outputs < 2 || inputs < least || (p->has_encoder && pasts % 2 != 0))
        return ingot_infer_fail(
            c,
            "the graph '%s' has %zu inputs and %zu outputs, but should have logits and a present of "
            "each layer, and a past for each of them",
            attribute, inputs, outputs);
    if (inputs > least + p->has_encoder)
        return ingot_infer_fail(c,
                                "the graph '%s' has %zu inputs, expected %zu at most: buffers that past and present "
                                "share are not supported; export the model without them",
                                attribute, inputs, least + p->has_encoder);
    return INGOT_OK;
}

/* A tensor that the graph declares; the sizes in free are made fresh, first is put at the axis batch. */
static ingot_status feed(ingot_infer *c, const ingot_body *body, size_t input, int rank, int batch, ingot_dim rows,
                         int growing)
{
    ingot_type type = body->graph->inputs[input]->type;
    if (type.kind != INGOT_KIND_TENSOR || type.rank != rank)
        return ingot_infer_fail(c, "input %zu of the graph '%s' must be declared as a tensor of rank %d", input,
                                body->attribute, rank);
    for (int i = 0; i < rank; i++)
        if (i == batch)
            type.dims[i] = rows;
        else if (i == growing || !ingot_dim_is_number(type.dims[i]))
            type.dims[i] = ingot_dim_fresh(c->dims);
    ingot_control_set_input(body, input, &type);
    return INGOT_OK;
}

static void feed_tokens(ingot_infer *c, const ingot_body *body, size_t input, ingot_dim rows, ingot_dim length)
{
    ingot_type type = ingot_type_shaped(INGOT_INT32, 2, (ingot_dim[]){rows, length});
    ingot_control_set_input(body, input, &type);
}

static ingot_status infer_decoder(ingot_infer *c, const char *attribute)
{
    const ingot_search_params *p = c->params;
    const ingot_body *body = ingot_node_body(c->node, attribute);
    if (!body)
        return ingot_infer_fail(c, "attribute '%s' holds no graph", attribute);
    INGOT_TRY(check_decoder(c, attribute, body));
    ingot_search_form form = ingot_search_form_of(p, body);
    ingot_dim rows = ingot_dim_fresh(c->dims);
    ingot_dim length = p->has_encoder && !form.whole_sequence ? 1 : ingot_dim_fresh(c->dims);
    feed_tokens(c, body, 0, rows, length);
    feed_tokens(c, body, 1, rows, p->has_encoder ? ingot_dim_fresh(c->dims) : length);
    if (!p->has_encoder)
        feed_tokens(c, body, 2, rows, ingot_dim_fresh(c->dims));
    else if (form.first_past == 3)
        INGOT_TRY(feed(c, body, 2, 3, 0, rows, 1));
    int rank = p->has_encoder ? 4 : 5, batch = p->has_encoder ? 0 : 1;
    for (size_t i = 0; i < form.pasts + form.cross; i++)
        INGOT_TRY(feed(c, body, form.first_past + i, rank, batch, rows, rank - 2));
    ingot_control_set_captures(c->node, body);
    return ingot_graph_infer(body->graph, c->error);
}

static ingot_status infer_encoder(ingot_infer *c)
{
    const ingot_search_params *p = c->params;
    const ingot_body *encoder = ingot_node_body(c->node, "encoder"), *decoder = ingot_node_body(c->node, "decoder");
    if (!encoder)
        return ingot_infer_fail(c, "attribute 'encoder' holds no graph");
    ingot_search_form form = ingot_search_form_of(p, decoder);
    bool starts = encoder->formal_count == 3; /* it makes the first step of the decoder as well */
    size_t outputs = starts ? 2 + form.pasts + form.cross : form.cross;
    if ((encoder->formal_count != 2 && !starts) || encoder->graph->output_count != outputs)
        return ingot_infer_fail(c,
                                "the graph 'encoder' has %zu inputs and %zu outputs, but the decoder needs %zu outputs "
                                "of 2 inputs, or %zu of 3",
                                encoder->formal_count, encoder->graph->output_count, form.cross,
                                2 + form.pasts + form.cross);
    if (form.first_past == 3 && !starts)
        return ingot_infer_fail(c, "the graph 'decoder' reads encoder_hidden_states, which the encoder does not give");
    if (p->start < 0)
        return ingot_infer_fail(c, "attribute 'decoder_start_token_id' is missing: the decoder needs a first token");
    const ingot_type *ids = &c->inputs[0].type;
    ingot_dim batch = ids->rank == 2 ? ids->dims[0] : ingot_dim_fresh(c->dims);
    ingot_dim length = ids->rank == 2 ? ids->dims[1] : ingot_dim_fresh(c->dims);
    feed_tokens(c, encoder, 0, batch, length);
    feed_tokens(c, encoder, 1, batch, length);
    if (starts)
        feed_tokens(c, encoder, 2, batch, 1);
    ingot_control_set_captures(c->node, encoder);
    return ingot_graph_infer(encoder->graph, c->error);
}

/* ---- The node ---- */

/* The value of an input of one element where it is known before the run. */
static ingot_dim known_number(const ingot_infer *c, size_t input)
{
    int64_t value;
    size_t count;
    if (input == SIZE_MAX || !ingot_infer_has(c, input) || !ingot_infer_numbers(c, input, &value, 1, &count))
        return INGOT_DIM_UNKNOWN;
    return count == 1 && value >= 0 ? value : INGOT_DIM_UNKNOWN;
}

static ingot_status infer_search(ingot_infer *c)
{
    const ingot_search_params *p = c->params;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 2));
    if (c->inputs[0].type.element != INGOT_INT32 && c->inputs[0].type.element != INGOT_UNDEFINED)
        return ingot_infer_fail(c, "input 0 'input_ids' must be int32");
    INGOT_TRY(infer_decoder(c, "decoder"));
    if (p->has_encoder)
        INGOT_TRY(infer_encoder(c));
    else if (ingot_node_body(c->node, "init_decoder"))
        INGOT_TRY(infer_decoder(c, "init_decoder"));
    ingot_dim batch = c->inputs[0].type.rank == 2 ? c->inputs[0].type.dims[0] : INGOT_DIM_UNKNOWN;
    ingot_dim length = known_number(c, p->inputs->max_length), returned = known_number(c, p->inputs->returned);
    if (!p->by_beams) {
        ingot_infer_set(c, 0, INGOT_INT32, 2, (ingot_dim[]){batch, length});
        return INGOT_OK;
    }
    ingot_infer_set(c, 0, INGOT_INT32, 3, (ingot_dim[]){batch, returned, length});
    ingot_infer_set(c, 1, INGOT_FLOAT, 2, (ingot_dim[]){batch, returned});
    ingot_infer_set(c, 2, INGOT_FLOAT, 4,
                    (ingot_dim[]){INGOT_DIM_UNKNOWN, batch, known_number(c, p->inputs->beams), INGOT_DIM_UNKNOWN});
    return INGOT_OK;
}

static ingot_status check_search(const ingot_node *node, ingot_search_params *p, int64_t types, ingot_error *error)
{
    p->control = INGOT_CONTROL_SEARCH;
    p->has_encoder = p->model_type == 1;
    if (p->model_type < 0 || p->model_type >= types)
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED,
                               "attribute 'model_type' is %lld, expected 0 (a decoder alone)%s",
                               (long long)p->model_type, types > 1 ? " or 1 (encoder and decoder)" : "");
    if (p->ngram_size < 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'no_repeat_ngram_size' is %lld",
                               (long long)p->ngram_size);
    return INGOT_OK;
}

static ingot_status check_beam_search(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_search_params *p = params;
    p->by_beams = true;
    p->inputs = &beam_inputs;
    return check_search(node, p, 2, error);
}

static ingot_status check_greedy_search(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_search_params *p = params;
    p->inputs = &greedy_inputs;
    return check_search(node, p, 1, error);
}

#define FIELD(attribute, kind, field)                                  \
    {                                                                  \
        attribute, kind, offsetof(ingot_search_params, field), NULL, 0 \
    }

static const ingot_param_field search_fields[] = {
    FIELD("model_type", INGOT_PARAM_INT, model_type),
    FIELD("eos_token_id", INGOT_PARAM_INT, end),
    FIELD("pad_token_id", INGOT_PARAM_INT, padding),
    FIELD("decoder_start_token_id", INGOT_PARAM_INT, start),
    FIELD("no_repeat_ngram_size", INGOT_PARAM_INT, ngram_size),
    FIELD("vocab_size", INGOT_PARAM_INT, vocabulary_size),
    FIELD("early_stopping", INGOT_PARAM_BOOL, early_stopping),
    {NULL, INGOT_PARAM_INT, 0, NULL, 0},
};

const ingot_op ingot_op_beam_search = {.summary = "The likeliest sequences that a decoder gives, by beam search",
                                       .params_size = sizeof(ingot_search_params),
                                       .fields = search_fields,
                                       .check = check_beam_search,
                                       .infer = infer_search,
                                       .flags = INGOT_OP_CONTROL | INGOT_OP_SIZES_OUTPUT};
const ingot_op ingot_op_greedy_search = {.summary = "The sequence of a decoder's likeliest tokens",
                                         .params_size = sizeof(ingot_search_params),
                                         .fields = search_fields,
                                         .check = check_greedy_search,
                                         .infer = infer_search,
                                         .flags = INGOT_OP_CONTROL | INGOT_OP_SIZES_OUTPUT};
