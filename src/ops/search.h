/* GreedySearch and BeamSearch of com.microsoft: the search for tokens around a decoder that the node holds as a graph. */
#ifndef INGOT_OPS_SEARCH_H
#define INGOT_OPS_SEARCH_H

#include "ops/control.h"

/* Where the inputs stand; SIZE_MAX: the operator has none such. Input 0 is the prompt. */
typedef struct ingot_search_inputs {
    size_t max_length, min_length, beams, returned, length_penalty, repetition_penalty, vocabulary_mask, prefix_mask,
        attention_mask;
} ingot_search_inputs;

typedef struct ingot_search_params {
    ingot_control control;       /* INGOT_CONTROL_SEARCH */
    int64_t model_type;          /* see has_encoder */
    int64_t end, padding, start; /* tokens; negative: none */
    int64_t ngram_size;          /* no n-gram of this size comes twice; 0: they may */
    int64_t vocabulary_size;     /* 0 or less: what the decoder's logits have */
    bool early_stopping;
    /* Filled by check: */
    bool has_encoder; /* an encoder and a decoder (T5), else a decoder alone (GPT-2) */
    bool by_beams;
    const ingot_search_inputs *inputs;
} ingot_search_params;

/* How the decoder's graph lists its values: GPT-2 input_ids, position_ids, attention_mask, past ...; T5 input_ids,
 * encoder_attention_mask, perhaps encoder_hidden_states, past of self attention ..., past of cross attention ... */
typedef struct ingot_search_form {
    size_t first_past;   /* input */
    size_t pasts;        /* that each step replaces, as many as outputs after the logits */
    size_t cross;        /* pasts of cross attention after these */
    bool whole_sequence; /* input_ids are all tokens so far, not only the last ones */
} ingot_search_form;

/* The form of a decoder that infer has let pass. */
ingot_search_form ingot_search_form_of(const ingot_search_params *params, const ingot_body *decoder);

#endif
