/* TfIdfVectorizer: counting n-grams. */
#include "ops/ngram.h"

#include "base/map.h"

static const char *const weighting_words[] = {"TF", "IDF", "TFIDF", NULL};

static const ingot_param_field tfidf_fields[] = {
    {"mode", INGOT_PARAM_WORD, offsetof(ingot_tfidf_params, mode), weighting_words, 0},
    {"min_gram_length", INGOT_PARAM_INT, offsetof(ingot_tfidf_params, min_length), NULL, 0},
    {"max_gram_length", INGOT_PARAM_INT, offsetof(ingot_tfidf_params, max_length), NULL, 0},
    {"max_skip_count", INGOT_PARAM_INT, offsetof(ingot_tfidf_params, max_skip), NULL, 0},
    {"ngram_counts", INGOT_PARAM_INTS, offsetof(ingot_tfidf_params, counts), NULL, 0},
    {"ngram_indexes", INGOT_PARAM_INTS, offsetof(ingot_tfidf_params, indexes), NULL, 0},
    {"weights", INGOT_PARAM_FLOATS, offsetof(ingot_tfidf_params, weights), NULL, 0},
    {"pool_int64s", INGOT_PARAM_INTS, offsetof(ingot_tfidf_params, pool_ints), NULL, 0},
    {"pool_strings", INGOT_PARAM_TEXTS, offsetof(ingot_tfidf_params, pool_texts), NULL, 0},
    {0},
};

/* ---- The table of steps ---- */

static size_t step_slot(const ingot_tfidf_params *p, int32_t prefix, int32_t token)
{
    int32_t key[2] = {prefix, token};
    size_t slot = (size_t)ingot_hash_bytes(key, sizeof key, 0) & (p->step_capacity - 1);
    while (p->steps[slot].prefix >= 0 && (p->steps[slot].prefix != prefix || p->steps[slot].token != token))
        slot = (slot + 1) & (p->step_capacity - 1);
    return slot;
}

const ingot_ngram_step *ingot_ngram_find(const ingot_tfidf_params *params, int32_t prefix, int64_t token)
{
    if (token < 0)
        return NULL;
    const ingot_ngram_step *step = &params->steps[step_slot(params, prefix, (int32_t)token)];
    return step->prefix >= 0 ? step : NULL;
}

static int32_t pool_token(const ingot_tfidf_params *p, size_t index)
{
    if (p->element == INGOT_INT64)
        return (int32_t)ingot_key_table_find_i64(&p->tokens, p->pool_ints.data[index]);
    const ingot_text *text = &p->pool_texts.data[index];
    return (int32_t)ingot_key_table_find_text(&p->tokens, text->data, text->size);
}

static void add_ngram(ingot_tfidf_params *p, size_t first, size_t length, int32_t ngram, int32_t *prefixes)
{
    int32_t prefix = 0;
    for (size_t i = 0; i < length; i++) {
        int32_t token = pool_token(p, first + i);
        ingot_ngram_step *step = &p->steps[step_slot(p, prefix, token)];
        if (step->prefix < 0)
            *step = (ingot_ngram_step){prefix, token, ++*prefixes, -1};
        if (i + 1 == length)
            step->ngram = ngram;
        prefix = step->longer;
    }
}

/* ---- Check ---- */

static ingot_status check_pool(const ingot_node *node, ingot_tfidf_params *p, size_t *pool, ingot_error *error)
{
    if ((p->pool_ints.count > 0) == (p->pool_texts.count > 0))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "one of the attributes 'pool_int64s' and 'pool_strings' must hold n-grams, not both");
    p->element = p->pool_ints.count > 0 ? INGOT_INT64 : INGOT_STRING;
    *pool = p->pool_ints.count > 0 ? p->pool_ints.count : p->pool_texts.count;
    ingot_key_list keys = {p->element, *pool, p->pool_ints.data, p->pool_texts.data};
    return ingot_key_table_build(node->graph->module->arena, &keys, &p->tokens, error);
}

static ingot_status check_lengths(const ingot_node *node, ingot_tfidf_params *p, ingot_error *error)
{
    if (p->min_length < 1 || p->max_length < p->min_length)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "'min_gram_length' is %lld and 'max_gram_length' is %lld, but must be positive and in "
                               "this order",
                               (long long)p->min_length, (long long)p->max_length);
    if (p->max_skip < 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'max_skip_count' is %lld, but must not be negative", (long long)p->max_skip);
    p->width = 0;
    for (size_t i = 0; i < p->indexes.count; i++) {
        if (p->indexes.data[i] < 0 || p->indexes.data[i] == INT64_MAX)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                                   "attribute 'ngram_indexes' holds %lld, which is no column",
                                   (long long)p->indexes.data[i]);
        p->width = p->indexes.data[i] >= p->width ? p->indexes.data[i] + 1 : p->width;
    }
    if (p->weights.given && p->weights.count != p->indexes.count)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'weights' has %zu elements, but 'ngram_indexes' has %zu", p->weights.count,
                               p->indexes.count);
    return INGOT_OK;
}

/* n-grams of length i + 1 lie from counts[i] on in the pool. */
static ingot_status add_ngrams(const ingot_node *node, ingot_tfidf_params *p, size_t pool, ingot_error *error)
{
    size_t ngram = 0;
    int32_t prefixes = 0;
    for (size_t i = 0; i < p->counts.count; i++) {
        int64_t first = p->counts.data[i], end = i + 1 < p->counts.count ? p->counts.data[i + 1] : (int64_t)pool;
        if (first < 0 || first > end || (uint64_t)end > pool || (uint64_t)(end - first) % (i + 1) != 0)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                                   "attribute 'ngram_counts' gives the %zu-grams elements %lld to %lld of a pool of "
                                   "%zu",
                                   i + 1, (long long)first, (long long)end, pool);
        for (size_t at = (size_t)first; at < (size_t)end; at += i + 1, ngram++) {
            if (ngram >= p->indexes.count)
                return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                                       "attribute 'ngram_indexes' has %zu elements, but the pool holds more n-grams",
                                       p->indexes.count);
            if ((int64_t)i + 1 >= p->min_length && (int64_t)i + 1 <= p->max_length)
                add_ngram(p, at, i + 1, (int32_t)ngram, &prefixes);
        }
    }
    return INGOT_OK;
}

static ingot_status check_tfidf(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_tfidf_params *p = params;
    size_t pool;
    INGOT_TRY(check_pool(node, p, &pool, error));
    INGOT_TRY(check_lengths(node, p, error));
    p->step_capacity = 4;
    while (p->step_capacity < 2 * pool)
        p->step_capacity *= 2;
    p->steps = ingot_arena_alloc_array(node->graph->module->arena, p->step_capacity, sizeof *p->steps);
    if (!p->steps)
        return ingot_fail_memory(error, p->step_capacity * sizeof *p->steps, "a table of n-grams");
    for (size_t i = 0; i < p->step_capacity; i++)
        p->steps[i].prefix = -1;
    return add_ngrams(node, p, pool, error);
}

static ingot_status infer_tfidf(ingot_infer *c)
{
    const ingot_tfidf_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 0, 2));
    if (x->element != INGOT_UNDEFINED && (x->element == INGOT_STRING) != (p->element == INGOT_STRING))
        return ingot_infer_fail(c, "the input is of type %s, but the pool holds %s", ingot_element_name(x->element),
                                p->element == INGOT_STRING ? "strings" : "integers");
    ingot_dim dims[2] = {x->rank == 2 ? x->dims[0] : p->width, p->width};
    ingot_infer_set(c, 0, INGOT_FLOAT, x->rank < 0 ? -1 : x->rank == 2 ? 2 : 1, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_tfidf_vectorizer = {
    .summary = "how often n-grams occur in rows of tokens, weighted",
    .params_size = sizeof(ingot_tfidf_params),
    .fields = tfidf_fields,
    .check = check_tfidf,
    .infer = infer_tfidf,
};
