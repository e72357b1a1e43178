#include "ops/ms_group_query.h"

#include <stddef.h>

#define FIELD(attribute, kind, field)                                       \
    {                                                                       \
        attribute, kind, offsetof(ingot_group_query_params, field), NULL, 0 \
    }
#define FIELD_GIVEN(attribute, kind, field, given)                                                                  \
    {                                                                                                               \
        attribute, kind, offsetof(ingot_group_query_params, field), NULL, offsetof(ingot_group_query_params, given) \
    }

static const ingot_param_field fields[] = {
    FIELD("num_heads", INGOT_PARAM_INT, heads),
    FIELD("kv_num_heads", INGOT_PARAM_INT, kv_heads),
    FIELD("scale", INGOT_PARAM_FLOAT, scale),
    FIELD("softcap", INGOT_PARAM_FLOAT, softcap),
    FIELD("qk_norm_epsilon", INGOT_PARAM_FLOAT, norm_epsilon),
    FIELD_GIVEN("q_norm_epsilon", INGOT_PARAM_FLOAT, q_norm_epsilon, has_q_epsilon),
    FIELD_GIVEN("k_norm_epsilon", INGOT_PARAM_FLOAT, k_norm_epsilon, has_k_epsilon),
    FIELD("causal", INGOT_PARAM_BOOL, causal),
    FIELD("do_rotary", INGOT_PARAM_BOOL, rotary),
    FIELD("rotary_interleaved", INGOT_PARAM_BOOL, interleaved),
    FIELD("local_window_size", INGOT_PARAM_INT, window),
    FIELD("smooth_softmax", INGOT_PARAM_INT, smooth),
    FIELD("qk_output", INGOT_PARAM_INT, probe),
    FIELD("sliding_window_cache", INGOT_PARAM_INT, window_cache),
    {NULL, 0, 0, NULL, 0},
};

static bool has_operand(const ingot_node *node, size_t input)
{
    return input < node->operand_count && node->inputs[input];
}

static ingot_status check_supported(const ingot_node *node, const ingot_group_query_params *p, ingot_error *error)
{
    if (has_operand(node, INGOT_GQA_K_SCALE) || has_operand(node, INGOT_GQA_V_SCALE))
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED,
                               "input 'k_scale' or 'v_scale' is given; Ingot does not support a quantized cache");
    if (has_operand(node, INGOT_GQA_QUERY_LENGTHS))
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED,
                               "input 'query_seqlens' is given, which Ingot does not support");
    if (p->window_cache == 1)
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED,
                               "attribute 'sliding_window_cache' is 1, which Ingot does not support");
    if (p->probe < 0 || p->probe > INGOT_GQA_AFTER_SOFTMAX ||
        (p->probe != 0) != (node->output_count > 3 && node->outputs[3]))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'qk_output' is %lld, which does not fit whether output 'output_qk' is wanted",
                               (long long)p->probe);
    return INGOT_OK;
}

static ingot_status check(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_group_query_params *p = params;
    if (p->heads < 1 || p->kv_heads < 1 || p->heads > INT32_MAX || p->heads % p->kv_heads)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attributes 'num_heads' and 'kv_num_heads' are %lld and %lld, but must be positive, the "
                               "first a multiple of the second",
                               (long long)p->heads, (long long)p->kv_heads);
    if (p->rotary && !(has_operand(node, INGOT_GQA_COSINES) && has_operand(node, INGOT_GQA_SINES)))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'do_rotary' is 1, but 'cos_cache' or 'sin_cache' is left out");
    if (has_operand(node, INGOT_GQA_KEY) != has_operand(node, INGOT_GQA_VALUE) ||
        has_operand(node, INGOT_GQA_PAST_KEY) != has_operand(node, INGOT_GQA_PAST_VALUE) ||
        has_operand(node, INGOT_GQA_Q_NORM) != has_operand(node, INGOT_GQA_K_NORM))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "of 'key' and 'value', 'past_key' and 'past_value', 'q_norm_weight' and 'k_norm_weight' "
                               "both must be given or left out");
    return check_supported(node, p, error);
}

/* Size of a head from the last axis of the query. */
static ingot_status head_size(ingot_infer *c, const ingot_group_query_params *p, ingot_dim *size)
{
    ingot_dim width = c->inputs[INGOT_GQA_QUERY].type.dims[2];
    int64_t parts = ingot_infer_has(c, INGOT_GQA_KEY) ? p->heads : p->heads + 2 * p->kv_heads;
    if (ingot_dim_is_number(width) && width % parts)
        return ingot_infer_fail(c, "the last size of the query, %lld, does not fall into %lld heads", (long long)width,
                                (long long)parts);
    *size = ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, width, parts);
    return INGOT_OK;
}

/* Keys and values, the cached and the new ones, fit the query. */
static ingot_status check_sizes(ingot_infer *c, const ingot_group_query_params *p, ingot_dim size)
{
    const ingot_type *q = &c->inputs[INGOT_GQA_QUERY].type;
    ingot_dim width = ingot_dim_mul(c->dims, size, p->kv_heads);
    for (size_t i = INGOT_GQA_KEY; i <= INGOT_GQA_PAST_VALUE; i++) {
        const ingot_type *t = &c->inputs[i].type;
        bool cached = i >= INGOT_GQA_PAST_KEY;
        if (!ingot_infer_has(c, i) || t->rank < 0)
            continue;
        INGOT_TRY(ingot_infer_rank(c, i, cached ? 4 : 3, cached ? 4 : 3));
        if (t->element != q->element)
            return ingot_infer_fail(c, "the cache is of type %s and the query of %s; Ingot supports no quantized cache",
                                    ingot_element_name(t->element), ingot_element_name(q->element));
        INGOT_TRY(ingot_infer_same_dim(c, "the batch sizes of query, keys and values", q->dims[0], t->dims[0], NULL));
        if (cached)
            INGOT_TRY(ingot_infer_same_dim(c, "attribute 'kv_num_heads' and the heads of the cache", p->kv_heads,
                                           t->dims[1], NULL));
        else
            INGOT_TRY(ingot_infer_same_dim(c, "the lengths of query, keys and values", q->dims[1], t->dims[1], NULL));
        INGOT_TRY(ingot_infer_same_dim(c, "the sizes of heads of query, keys and values", cached ? size : width,
                                       t->dims[cached ? 3 : 2], NULL));
    }
    return INGOT_OK;
}

static ingot_status infer(ingot_infer *c)
{
    const ingot_group_query_params *p = c->params;
    const ingot_type *q = &c->inputs[INGOT_GQA_QUERY].type, *past = &c->inputs[INGOT_GQA_PAST_KEY].type;
    ingot_dim size, capacity = INGOT_DIM_UNKNOWN;
    int64_t total;
    size_t count;
    INGOT_TRY(ingot_infer_rank(c, INGOT_GQA_QUERY, 3, 3));
    if (q->rank < 0) {
        for (size_t i = 0; i < 4; i++)
            ingot_infer_set_unranked(c, i, q->element);
        return INGOT_OK;
    }
    INGOT_TRY(head_size(c, p, &size));
    INGOT_TRY(check_sizes(c, p, size));
    if (ingot_infer_numbers(c, INGOT_GQA_TOTAL, &total, 1, &count) && count == 1) {
        bool cached = ingot_infer_has(c, INGOT_GQA_PAST_KEY);
        capacity = cached && past->rank < 0 ? INGOT_DIM_UNKNOWN
                                            : ingot_dim_make(c->dims, INGOT_DIM_MAX, total, cached ? past->dims[2] : 0);
    }
    ingot_infer_set(c, 0, q->element, 3, (ingot_dim[]){q->dims[0], q->dims[1], ingot_dim_mul(c->dims, size, p->heads)});
    bool known = ingot_infer_numbers(c, INGOT_GQA_TOTAL, &total, 1, &count) && count == 1;
    ingot_infer_set(c, 3, q->element, 4,
                    (ingot_dim[]){q->dims[0], p->heads, q->dims[1], known ? total : INGOT_DIM_UNKNOWN});
    for (size_t i = 1; i < 3; i++)
        ingot_infer_set(c, i, q->element, 4, (ingot_dim[]){q->dims[0], p->kv_heads, capacity, size});
    return INGOT_OK;
}

const ingot_op ingot_op_group_query_attention = {
    .summary = "Causal attention of grouped heads with a cache, rotary positions, a window and sinks",
    .params_size = sizeof(ingot_group_query_params),
    .fields = fields,
    .check = check,
    .infer = infer,
};
