#include <math.h>
#include <string.h>

#include "runtime/search.h"

/* ---- Finished sequences ---- */

/* Keeps the sequence of a row where it is among the best. */
static void keep(ingot_search *s, ingot_hypotheses *h, size_t row, float sum)
{
    float score = sum / powf((float)s->length, s->length_penalty);
    size_t at = h->count, slot = h->count;
    if (at == s->beams) {
        slot = h->slots[--at];
        if (!(score > h->scores[at]))
            return;
    } else {
        h->count++;
    }
    for (; at > 0 && score > h->scores[at - 1]; at--) {
        h->scores[at] = h->scores[at - 1];
        h->slots[at] = h->slots[at - 1];
    }
    h->scores[at] = score;
    h->slots[at] = slot;
    h->lengths[slot] = s->length;
    memcpy(h->tokens + slot * s->max_length, s->sequences + row * s->max_length, s->length * sizeof *h->tokens);
}

/* Whether no sequence still open can become better than the worst that is finished. */
static bool is_finished(const ingot_search *s, const ingot_hypotheses *h, float best_sum)
{
    if (h->count < s->beams)
        return false;
    return s->params->early_stopping ||
           !(h->scores[s->beams - 1] < best_sum / powf((float)s->length, s->length_penalty));
}

/* ---- Candidates ---- */

/* The 2 * beams best of a batch entry's scores, best first; of equal ones the first. Twice as many as there are beams, as one of
 * each beam may be its end. */
static void find_candidates(ingot_search *s, size_t entry)
{
    size_t wanted = 2 * s->beams, count = 0, total = s->beams * s->vocabulary;
    const float *scores = s->scores + entry * total;
    float *best_scores = s->best_scores + entry * wanted;
    size_t *best = s->best + entry * wanted;
    for (size_t i = 0; i < total; i++) {
        if (count == wanted && !(scores[i] > best_scores[wanted - 1]))
            continue;
        size_t at = count < wanted ? count++ : wanted - 1;
        for (; at > 0 && scores[i] > best_scores[at - 1]; at--) {
            best_scores[at] = best_scores[at - 1];
            best[at] = best[at - 1];
        }
        best_scores[at] = scores[i];
        best[at] = i;
    }
}

static void go_on(ingot_search *s, size_t row, int32_t token, size_t source, float score)
{
    s->tokens[row] = token;
    s->sources[row] = (int32_t)source;
    s->beam_scores[row] = score;
}

/* What ONNX Runtime takes for the best sum of an entry: its step from entry to entry is half of what each has. */
static float best_sum(const ingot_search *s, size_t entry)
{
    const float *scores = s->best_scores + entry * s->beams;
    float best = scores[0];
    for (size_t i = 1; i < 2 * s->beams; i++)
        best = scores[i] > best ? scores[i] : best;
    return best;
}

static void choose_of_entry(ingot_search *s, size_t entry)
{
    ingot_hypotheses *h = &s->hypotheses[entry];
    size_t first = entry * s->beams, beam = 0;
    if (h->done) {
        for (; beam < s->beams; beam++)
            go_on(s, first + beam, (int32_t)s->params->padding, 0, 0);
        return;
    }
    const float *scores = s->best_scores + 2 * first;
    const size_t *best = s->best + 2 * first;
    for (size_t i = 0; i < 2 * s->beams && beam < s->beams; i++) {
        size_t source = first + best[i] / s->vocabulary, token = best[i] % s->vocabulary;
        if ((int64_t)token != s->params->end)
            go_on(s, first + beam++, (int32_t)token, source, scores[i]);
        else if (i < s->beams)
            keep(s, h, source, scores[i]);
    }
    h->done = is_finished(s, h, best_sum(s, entry));
    s->done += h->done;
}

void ingot_search_choose_beams(ingot_search *s)
{
    size_t count = s->rows * s->vocabulary;
    for (size_t row = 0; row < s->rows; row++)
        for (size_t i = 0; i < s->vocabulary; i++)
            s->scores[row * s->vocabulary + i] += s->beam_scores[row];
    if (s->score_output)
        memcpy(s->score_output + s->trip * count, s->scores, count * sizeof *s->scores);
    for (size_t entry = 0; entry < s->batch; entry++)
        find_candidates(s, entry);
    for (size_t entry = 0; entry < s->batch; entry++)
        choose_of_entry(s, entry);
}

/* ---- Results ---- */

void ingot_search_finish_beams(ingot_search *s, int32_t *sequences, float *scores)
{
    for (size_t i = 0; i < s->batch * s->returned * s->max_length; i++)
        sequences[i] = (int32_t)s->params->padding;
    for (size_t entry = 0; entry < s->batch; entry++) {
        ingot_hypotheses *h = &s->hypotheses[entry];
        for (size_t beam = 0; beam < s->beams && !h->done; beam++)
            keep(s, h, entry * s->beams + beam, s->beam_scores[entry * s->beams + beam]);
        for (size_t i = 0; i < s->returned; i++) {
            size_t to = entry * s->returned + i, slot = h->slots[i];
            memcpy(sequences + to * s->max_length, h->tokens + slot * s->max_length,
                   h->lengths[slot] * sizeof *sequences);
            if (scores)
                scores[to] = h->scores[i];
        }
    }
}
