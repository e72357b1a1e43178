/* TfIdfVectorizer: counting n-grams. */
#ifndef INGOT_OPS_NGRAM_H
#define INGOT_OPS_NGRAM_H

#include "ops/key_table.h"
#include "ops/op.h"

typedef enum ingot_weighting {
    INGOT_WEIGHTING_TF,
    INGOT_WEIGHTING_IDF,
    INGOT_WEIGHTING_TFIDF,
} ingot_weighting;

/* A step of a path through the n-grams: from a prefix by one more token. */
typedef struct ingot_ngram_step {
    int32_t prefix; /* 0: the empty one; -1: a free slot */
    int32_t token;  /* its number in the token table */
    int32_t longer; /* the prefix that it makes, from 1 on */
    int32_t ngram;  /* the n-gram that ends here; -1: none */
} ingot_ngram_step;

typedef struct ingot_tfidf_params {
    int mode; /* ingot_weighting */
    int64_t min_length, max_length, max_skip;
    ingot_ints counts, indexes;
    ingot_floats weights;
    ingot_ints pool_ints;
    ingot_texts pool_texts;
    /* Filled by check. */
    ingot_element element; /* of the pool: INGOT_STRING or INGOT_INT64 */
    int64_t width;         /* of the output */
    ingot_key_table tokens;
    ingot_ngram_step *steps; /* a hash table */
    size_t step_capacity;    /* a power of two */
} ingot_tfidf_params;

/* The step from prefix by token; NULL: there is no such n-gram. */
const ingot_ngram_step *ingot_ngram_find(const ingot_tfidf_params *params, int32_t prefix, int64_t token);

#endif
