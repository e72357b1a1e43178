/* com.microsoft: BifurcationDetector, MurmurHash3, NGramRepeatBlock, RemovePadding, RestorePadding, RelativePositionBias. */
#ifndef INGOT_OPS_MS_TOKENS_H
#define INGOT_OPS_MS_TOKENS_H

#include "ops/op.h"

typedef struct ingot_bifurcation_params {
    int64_t min_size, max_size; /* of the n-grams that are looked for */
} ingot_bifurcation_params;

typedef struct ingot_hash_params {
    int64_t seed;
    bool positive; /* uint32 out, else int32 */
} ingot_hash_params;

typedef struct ingot_ngram_block_params {
    int64_t size; /* of the n-grams that must not come again */
} ingot_ngram_block_params;

typedef struct ingot_relative_position_params {
    int64_t max_distance;
    bool both_ways;
} ingot_relative_position_params;

#endif
