#include "ops/ms_tokens.h"

#include <stddef.h>

/* ---- BifurcationDetector ---- */

static const ingot_param_field bifurcation_fields[] = {
    {"min_ngram_size", INGOT_PARAM_INT, offsetof(ingot_bifurcation_params, min_size), NULL, 0},
    {"max_ngram_size", INGOT_PARAM_INT, offsetof(ingot_bifurcation_params, max_size), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_bifurcation(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_bifurcation_params *p = params;
    if (p->min_size > 0 && p->max_size >= p->min_size)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                           "attributes 'min_ngram_size' and 'max_ngram_size' are %lld and %lld, but must be positive, "
                           "the first not the greater one",
                           (long long)p->min_size, (long long)p->max_size);
}

static ingot_status infer_bifurcation(ingot_infer *c)
{
    for (size_t i = 0; i < 4; i++)
        if (i != 2)
            INGOT_TRY(ingot_infer_rank(c, i, 1, 1));
    ingot_infer_set(c, 0, INGOT_INT64, 1, (ingot_dim[]){INGOT_DIM_UNKNOWN});
    ingot_infer_set(c, 1, INGOT_INT64, 0, NULL);
    return INGOT_OK;
}

/* ---- MurmurHash3 ---- */

static const ingot_param_field hash_fields[] = {
    {"seed", INGOT_PARAM_INT, offsetof(ingot_hash_params, seed), NULL, 0},
    {"positive", INGOT_PARAM_BOOL, offsetof(ingot_hash_params, positive), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status infer_hash(ingot_infer *c)
{
    const ingot_hash_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_infer_set(c, 0, p->positive ? INGOT_UINT32 : INGOT_INT32, x->rank, x->dims);
    return INGOT_OK;
}

/* ---- NGramRepeatBlock ---- */

static const ingot_param_field block_fields[] = {
    {"ngram_size", INGOT_PARAM_INT, offsetof(ingot_ngram_block_params, size), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_block(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_ngram_block_params *p = params;
    if (p->size > 0)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'ngram_size' is %lld, but must be positive",
                           (long long)p->size);
}

static ingot_status infer_block(ingot_infer *c)
{
    const ingot_type *ids = &c->inputs[0].type, *scores = &c->inputs[1].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 2));
    INGOT_TRY(ingot_infer_rank(c, 1, 2, 2));
    if (ids->rank == 2 && scores->rank == 2)
        INGOT_TRY(
            ingot_infer_same_dim(c, "the batch sizes of input_ids and scores", ids->dims[0], scores->dims[0], NULL));
    ingot_infer_copy(c, 0, 1, false);
    return INGOT_OK;
}

/* ---- RemovePadding, RestorePadding ---- */

static ingot_status infer_remove_padding(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    bool ranked = x->rank == 3;
    INGOT_TRY(ingot_infer_rank(c, 0, 3, 3));
    INGOT_TRY(ingot_infer_rank(c, 1, 1, 1));
    ingot_dim batch = ranked ? x->dims[0] : INGOT_DIM_UNKNOWN, length = ranked ? x->dims[1] : INGOT_DIM_UNKNOWN;
    if (ranked && c->inputs[1].type.rank == 1)
        INGOT_TRY(ingot_infer_same_dim(c, "the batch sizes of input and sequence_token_count", batch,
                                       c->inputs[1].type.dims[0], NULL));
    ingot_infer_set(c, 0, x->element, 2, (ingot_dim[]){INGOT_DIM_UNKNOWN, ranked ? x->dims[2] : INGOT_DIM_UNKNOWN});
    ingot_infer_set(c, 1, INGOT_INT32, 2, (ingot_dim[]){batch, length});
    ingot_infer_set(c, 2, INGOT_INT32, 1, (ingot_dim[]){ingot_dim_add(c->dims, batch, 1)});
    ingot_infer_set(c, 3, INGOT_INT32, 1, (ingot_dim[]){1});
    return INGOT_OK;
}

static ingot_status infer_restore_padding(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type, *offsets = &c->inputs[1].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 2));
    INGOT_TRY(ingot_infer_rank(c, 1, 2, 2));
    ingot_infer_set(c, 0, x->element, 3,
                    (ingot_dim[]){offsets->rank == 2 ? offsets->dims[0] : INGOT_DIM_UNKNOWN,
                                  offsets->rank == 2 ? offsets->dims[1] : INGOT_DIM_UNKNOWN,
                                  x->rank == 2 ? x->dims[1] : INGOT_DIM_UNKNOWN});
    return INGOT_OK;
}

/* ---- RelativePositionBias ---- */

static const ingot_param_field relative_fields[] = {
    {"max_distance", INGOT_PARAM_INT, offsetof(ingot_relative_position_params, max_distance), NULL, 0},
    {"is_bidirectional", INGOT_PARAM_BOOL, offsetof(ingot_relative_position_params, both_ways), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status infer_relative(ingot_infer *c)
{
    const ingot_type *table = &c->inputs[0].type;
    ingot_dim lengths[2] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN};
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 2));
    for (size_t i = 0; i < 2; i++) {
        size_t count;
        ingot_dim known;
        if (ingot_infer_integers(c, i + 1, &known, 1, &count) && count == 1)
            lengths[i] = known;
    }
    ingot_infer_set(c, 0, table->element, 4,
                    (ingot_dim[]){1, table->rank == 2 ? table->dims[1] : INGOT_DIM_UNKNOWN, lengths[0], lengths[1]});
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_bifurcation_detector = {
    .summary = "Tokens joined up to where a prediction leaves the source, and where the source goes on",
    .params_size = sizeof(ingot_bifurcation_params),
    .fields = bifurcation_fields,
    .check = check_bifurcation,
    .infer = infer_bifurcation,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

const ingot_op ingot_op_murmur_hash3 = {
    .summary = "MurmurHash3 (32 bits) of each element",
    .params_size = sizeof(ingot_hash_params),
    .fields = hash_fields,
    .infer = infer_hash,
};

const ingot_op ingot_op_ngram_repeat_block = {
    .summary = "Scores of tokens that would repeat an n-gram become minus infinity",
    .params_size = sizeof(ingot_ngram_block_params),
    .fields = block_fields,
    .check = check_block,
    .infer = infer_block,
};

const ingot_op ingot_op_remove_padding = {
    .summary = "Tokens of all samples behind each other, without the padding",
    .infer = infer_remove_padding,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

const ingot_op ingot_op_restore_padding = {
    .summary = "Tokens back at their places, zeros as padding",
    .infer = infer_restore_padding,
};

const ingot_op ingot_op_relative_position_bias = {
    .summary = "Bias for each head by the distance of query and key",
    .params_size = sizeof(ingot_relative_position_params),
    .fields = relative_fields,
    .infer = infer_relative,
};
