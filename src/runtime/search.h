/* Searches for tokens around a decoder (ops/search.h): what the parts of it share. A row is one sequence of the batch, or one beam
 * of it. */
#ifndef INGOT_RUNTIME_SEARCH_H
#define INGOT_RUNTIME_SEARCH_H

#include "ops/search.h"
#include "runtime/frame.h"

/* The best finished sequences of one batch entry, best first. */
typedef struct ingot_hypotheses {
    int32_t *tokens; /* [beams, max_length], in order of slots */
    size_t *lengths; /* by slot */
    float *scores;   /* by rank, as all below */
    size_t *slots;
    size_t count;
    bool done;
} ingot_hypotheses;

typedef struct ingot_search {
    const ingot_plan_step *step;
    const ingot_node *node;
    const ingot_search_params *params;
    ingot_control_state *state;
    const ingot_value *const *inputs; /* operands, then captures */
    ingot_value *const *outputs;
    ingot_budget *budget;
    const ingot_run *run;
    /* What the inputs ask for: */
    size_t batch, beams, rows, max_length, min_length, returned, vocabulary;
    float length_penalty, repetition_penalty;
    const int32_t *vocabulary_mask, *prefix_mask; /* NULL: none */
    /* Where the search is: */
    size_t length, trip;          /* tokens of every row; tokens found so far */
    int32_t *sequences, *spare;   /* [rows, max_length] */
    float *scores;                /* [rows, vocabulary]: of the next tokens */
    float *beam_scores;           /* [rows] */
    int32_t *tokens, *sources;    /* [rows]: the token that each row goes on with, and the row that it follows */
    int32_t *positions;           /* [rows]: of the next token */
    int32_t *mask;                /* [rows, max_length] */
    float *best_scores;           /* [batch, 2 * beams]: candidates, best first */
    size_t *best;                 /* their index among beams and vocabulary */
    unsigned char *seen;          /* [vocabulary], zero between uses */
    ingot_hypotheses *hypotheses; /* [batch] */
    size_t done;                  /* batch entries that are */
    float *score_output;          /* [max_length - first length, rows, vocabulary]; NULL: not wanted */
} ingot_search;

/* ---- Choosing tokens (search_tokens.c) ---- */

/* Reads logits [rows or batch, any, vocabulary or more], of the last position; sets tokens and sources, and appends the tokens. */
ingot_status ingot_search_choose(ingot_search *s, const ingot_value *logits);
/* Whether nothing is left to search for. */
static inline bool ingot_search_is_done(const ingot_search *s)
{
    return s->done == s->batch || s->length == s->max_length;
}

/* ---- Beams (search_beams.c) ---- */

/* From scores: tokens, sources and beam_scores, and what is finished. */
void ingot_search_choose_beams(ingot_search *s);
/* Writes the best sequences, and their scores where scores is not NULL. */
void ingot_search_finish_beams(ingot_search *s, int32_t *sequences, float *scores);

/* ---- Feeding graphs (search_feed.c) ---- */

typedef enum ingot_search_value {
    INGOT_SEARCH_TOKENS,
    INGOT_SEARCH_POSITIONS,
    INGOT_SEARCH_MASK,
    INGOT_SEARCH_HIDDEN,
    INGOT_SEARCH_WORK,
    INGOT_SEARCH_VALUES
} ingot_search_value;

/* Runs the searched model until it is done. */
ingot_status ingot_search_decoder(ingot_search *s);
ingot_status ingot_search_encoder_decoder(ingot_search *s);
/* A value of the step's own, kept from run to run. */
ingot_value *ingot_search_own(ingot_search *s, ingot_search_value which);

/* ---- The step (search.c) ---- */

ingot_status ingot_search_run(ingot_frame *frame, size_t step, const ingot_run *run);

#endif
