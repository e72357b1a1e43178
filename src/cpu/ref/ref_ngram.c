/* TfIdfVectorizer: counting n-grams. */
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/ngram.h"

static int64_t token_at(const ingot_tfidf_params *p, const ingot_value *x, size_t index)
{
    if (x->element == INGOT_INT32)
        return ingot_key_table_find_i64(&p->tokens, ((const int32_t *)x->data)[index]);
    return ingot_key_table_find(&p->tokens, x, index);
}

/* Adds the n-grams of at least shortest tokens that begin at token first, distance apart. */
static void count_from(const ingot_tfidf_params *p, const int64_t *tokens, size_t count, size_t first, size_t distance,
                       int64_t shortest, int64_t *counts)
{
    int32_t prefix = 0;
    size_t at = first;
    for (int64_t length = 1; length <= p->max_length; length++) {
        const ingot_ngram_step *step = ingot_ngram_find(p, prefix, tokens[at]);
        if (!step)
            return;
        if (step->ngram >= 0 && length >= shortest)
            counts[step->ngram]++;
        prefix = step->longer;
        if (distance >= count - at)
            return;
        at += distance;
    }
}

/* Single tokens count once, not again for every number of tokens skipped. */
static void count_row(const ingot_tfidf_params *p, const int64_t *tokens, size_t count, int64_t *counts)
{
    int64_t shortest = p->min_length;
    for (size_t distance = 1; distance <= (uint64_t)p->max_skip + 1 && (distance == 1 || distance < count);
         distance++) {
        for (size_t first = 0; first < count; first++)
            count_from(p, tokens, count, first, distance, shortest, counts);
        if (shortest == 1 && ++shortest > p->max_length)
            return;
    }
}

static void weigh_row(const ingot_tfidf_params *p, const int64_t *counts, float *y)
{
    memset(y, 0, (size_t)p->width * sizeof *y);
    for (size_t i = 0; i < p->indexes.count; i++) {
        if (counts[i] == 0)
            continue;
        float weight = p->mode != INGOT_WEIGHTING_TF && p->weights.count > 0 ? p->weights.data[i] : 1;
        if (p->mode == INGOT_WEIGHTING_IDF)
            y[p->indexes.data[i]] = weight;
        else
            y[p->indexes.data[i]] += weight * (float)counts[i];
    }
}

ingot_status ingot_ref_tfidf_vectorizer(const ingot_kernel_call *call)
{
    const ingot_tfidf_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    float *y = call->outputs[0]->data;
    size_t rows = x->rank == 2 ? (size_t)x->dims[0] : 1;
    size_t columns = x->rank > 0 ? (size_t)x->dims[x->rank - 1] : 1;
    void *parts[2];
    INGOT_TRY(ingot_ref_scratch(call, 2, (size_t[]){columns, p->indexes.count},
                                (size_t[]){sizeof(int64_t), sizeof(int64_t)}, parts));
    int64_t *tokens = parts[0], *counts = parts[1];
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < columns; i++)
            tokens[i] = token_at(p, x, row * columns + i);
        memset(counts, 0, p->indexes.count * sizeof *counts);
        count_row(p, tokens, columns, counts);
        weigh_row(p, counts, y + row * (size_t)p->width);
    }
    return INGOT_OK;
}
