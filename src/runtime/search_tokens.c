#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "runtime/search.h"

/* ---- Scores ---- */

static float *row_scores(const ingot_search *s, size_t row)
{
    return s->scores + row * s->vocabulary;
}

static const int32_t *row_tokens(const ingot_search *s, size_t row)
{
    return s->sequences + row * s->max_length;
}

/* The logits of the last position. Those of a batch entry serve all its beams where the graph ran without beams. */
static ingot_status load_logits(ingot_search *s, const ingot_value *logits)
{
    char text[200];
    bool fits = logits->kind == INGOT_KIND_TENSOR && logits->rank == 3 && logits->dims[1] > 0 &&
                logits->dims[2] >= (int64_t)s->vocabulary &&
                (logits->dims[0] == (int64_t)s->rows || logits->dims[0] == (int64_t)s->batch);
    if (!fits)
        return ingot_node_fail(s->node, s->run->error, INGOT_INVALID_MODEL,
                               "the graph gives logits %s, but they should be [%zu, tokens, %zu]",
                               ingot_value_describe(logits, text, sizeof text), s->rows, s->vocabulary);
    size_t width = (size_t)logits->dims[2], length = (size_t)logits->dims[1];
    size_t share = s->rows / (size_t)logits->dims[0];
    for (size_t row = 0; row < s->rows; row++) {
        size_t first = ((row / share + 1) * length - 1) * width;
        for (size_t i = 0; i < s->vocabulary; i++)
            row_scores(s, row)[i] = (float)ingot_load_double(logits->element, logits->data, first + i);
    }
    return INGOT_OK;
}

static void log_softmax(float *x, size_t count)
{
    float greatest = x[0];
    double sum = 0;
    for (size_t i = 1; i < count; i++)
        greatest = x[i] > greatest ? x[i] : greatest;
    for (size_t i = 0; i < count; i++)
        sum += exp((double)(x[i] - greatest));
    float shift = (float)log(sum);
    for (size_t i = 0; i < count; i++)
        x[i] = x[i] - greatest - shift;
}

/* ---- What changes scores ---- */

static void forbid(const ingot_search *s, float *scores, int64_t token)
{
    if (token >= 0 && token < (int64_t)s->vocabulary)
        scores[token] = -FLT_MAX;
}

/* Tokens that are there already become less likely, each once. */
static void penalize_repetition(ingot_search *s, size_t row)
{
    float *scores = row_scores(s, row);
    const int32_t *tokens = row_tokens(s, row);
    for (size_t i = 0; i < s->length; i++) {
        if (tokens[i] < 0 || (size_t)tokens[i] >= s->vocabulary || s->seen[tokens[i]])
            continue;
        float *score = &scores[tokens[i]];
        *score = *score < 0 ? *score * s->repetition_penalty : *score / s->repetition_penalty;
        s->seen[tokens[i]] = 1;
    }
    for (size_t i = 0; i < s->length; i++)
        if (tokens[i] >= 0 && (size_t)tokens[i] < s->vocabulary)
            s->seen[tokens[i]] = 0;
}

static void forbid_repeated_ngrams(ingot_search *s, size_t row)
{
    size_t n = (size_t)s->params->ngram_size, prefix = n - 1;
    const int32_t *tokens = row_tokens(s, row);
    for (size_t i = 0; i + n <= s->length; i++)
        if (memcmp(tokens + i, tokens + s->length - prefix, prefix * sizeof *tokens) == 0)
            forbid(s, row_scores(s, row), tokens[i + prefix]);
}

static void forbid_masked(ingot_search *s, size_t row, const int32_t *mask)
{
    for (size_t i = 0; i < s->vocabulary; i++)
        if (mask[i] == 0)
            row_scores(s, row)[i] = -FLT_MAX;
}

static void adjust(ingot_search *s, size_t row)
{
    if (s->repetition_penalty != 1)
        penalize_repetition(s, row);
    if (s->params->ngram_size > 0 && (uint64_t)s->params->ngram_size <= s->length)
        forbid_repeated_ngrams(s, row);
    if (s->vocabulary_mask)
        forbid_masked(s, row, s->vocabulary_mask);
    if (s->prefix_mask && s->trip == 0)
        forbid_masked(s, row, s->prefix_mask + row / s->beams * s->vocabulary);
    if (s->length < s->min_length)
        forbid(s, row_scores(s, row), s->params->end);
}

/* ---- Choosing ---- */

/* The likeliest token of each row; a row that has ended is padded. */
static void choose_greedily(ingot_search *s)
{
    s->done = 0;
    for (size_t row = 0; row < s->rows; row++) {
        const float *scores = row_scores(s, row);
        bool *done = &s->hypotheses[row].done;
        size_t best = 0;
        for (size_t i = 1; i < s->vocabulary; i++)
            best = scores[i] > scores[best] ? i : best;
        *done = *done || (int64_t)best == s->params->end;
        s->done += *done;
        s->tokens[row] = *done ? (int32_t)s->params->padding : (int32_t)best;
        s->sources[row] = (int32_t)row;
    }
}

static void append(ingot_search *s)
{
    for (size_t row = 0; row < s->rows; row++) {
        int32_t *to = s->spare + row * s->max_length;
        memcpy(to, row_tokens(s, (size_t)s->sources[row]), s->length * sizeof *to);
        to[s->length] = s->tokens[row];
    }
    int32_t *swap = s->sequences;
    s->sequences = s->spare;
    s->spare = swap;
    s->length++;
    s->trip++;
}

ingot_status ingot_search_choose(ingot_search *s, const ingot_value *logits)
{
    INGOT_TRY(load_logits(s, logits));
    for (size_t row = 0; row < s->rows; row++) {
        if (s->params->by_beams)
            log_softmax(row_scores(s, row), s->vocabulary);
        adjust(s, row);
    }
    if (s->params->by_beams)
        ingot_search_choose_beams(s);
    else
        choose_greedily(s);
    append(s);
    return INGOT_OK;
}
