/* SwiGLU, CausalConvWithState and LinearAttention: parts of language models. */
#include "ops/linear_attention.h"

/* ---- SwiGLU ---- */

static const ingot_param_field swiglu_fields[] = {
    {"alpha", INGOT_PARAM_FLOAT, offsetof(ingot_swiglu_params, alpha), NULL, 0},
    {0},
};

static ingot_status infer_swiglu(ingot_infer *c)
{
    ingot_type type = c->inputs[0].type;
    const ingot_type *b = &c->inputs[1].type;
    if (type.rank >= 0 && b->rank >= 0 && type.rank != b->rank)
        return ingot_infer_fail(c, "the inputs have ranks %d and %d, but must have one shape", type.rank, b->rank);
    for (int i = 0; i < type.rank && b->rank >= 0; i++)
        INGOT_TRY(ingot_infer_same_dim(c, "the sizes of both inputs", type.dims[i], b->dims[i], &type.dims[i]));
    if (type.rank < 0)
        type = *b;
    ingot_infer_set(c, 0, c->inputs[0].type.element, type.rank, type.dims);
    return INGOT_OK;
}

/* ---- CausalConvWithState ---- */

static const char *const activation_words[] = {"none", "silu", "swish", NULL};

static const ingot_param_field causal_conv_fields[] = {
    {"activation", INGOT_PARAM_WORD, offsetof(ingot_causal_conv_params, activation), activation_words, 0},
    {0},
};

/* Size number dim of an input of known rank, else unknown. */
static ingot_dim size_of(const ingot_infer *c, size_t input, int dim)
{
    return ingot_infer_has(c, input) && c->inputs[input].type.rank > dim ? c->inputs[input].type.dims[dim]
                                                                         : INGOT_DIM_UNKNOWN;
}

static ingot_status infer_causal_conv(ingot_infer *c)
{
    ingot_element element = c->inputs[0].type.element;
    INGOT_TRY(ingot_infer_rank(c, 0, 3, 3));
    INGOT_TRY(ingot_infer_rank(c, 1, 3, 3));
    INGOT_TRY(ingot_infer_rank(c, 2, 1, 1));
    INGOT_TRY(ingot_infer_rank(c, 3, 3, 3));
    ingot_dim batch = size_of(c, 0, 0), channels = size_of(c, 0, 1), kernel = size_of(c, 1, 2);
    INGOT_TRY(ingot_infer_same_dim(c, "the channels of input and weight", channels, size_of(c, 1, 0), &channels));
    INGOT_TRY(ingot_infer_same_dim(c, "axis 1 of weight and 1", size_of(c, 1, 1), 1, NULL));
    INGOT_TRY(ingot_infer_same_dim(c, "the channels of input and bias", channels, size_of(c, 2, 0), &channels));
    if (ingot_dim_is_number(kernel) && kernel < 1)
        return ingot_infer_fail(c, "weight has a kernel of size 0");
    ingot_dim state = ingot_dim_sub(c->dims, kernel, 1);
    INGOT_TRY(ingot_infer_same_dim(c, "the batch sizes of input and past_state", batch, size_of(c, 3, 0), &batch));
    INGOT_TRY(ingot_infer_same_dim(c, "the channels of input and past_state", channels, size_of(c, 3, 1), &channels));
    INGOT_TRY(ingot_infer_same_dim(c, "the length of past_state and the kernel's size less 1", state, size_of(c, 3, 2),
                                   &state));
    ingot_infer_set(c, 0, element, 3, (ingot_dim[]){batch, channels, size_of(c, 0, 2)});
    ingot_infer_set(c, 1, element, 3, (ingot_dim[]){batch, channels, state});
    return INGOT_OK;
}

/* ---- LinearAttention ---- */

static const char *const rule_words[] = {"linear", "gated", "delta", "gated_delta", NULL};

static const ingot_param_field linear_attention_fields[] = {
    {"kv_num_heads", INGOT_PARAM_INT, offsetof(ingot_linear_attention_params, kv_heads), NULL, 0},
    {"q_num_heads", INGOT_PARAM_INT, offsetof(ingot_linear_attention_params, q_heads), NULL, 0},
    {"scale", INGOT_PARAM_FLOAT, offsetof(ingot_linear_attention_params, scale), NULL, 0},
    {"update_rule", INGOT_PARAM_WORD, offsetof(ingot_linear_attention_params, rule), rule_words, 0},
    {0},
};

static ingot_status check_given(const ingot_node *node, size_t input, const char *name, bool wanted, const char *rule,
                                ingot_error *error)
{
    bool given = input < node->operand_count && node->inputs[input];
    if (given == wanted)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "input '%s' is %s, but update_rule '%s' %s it", name,
                           given ? "given" : "left out", rule, wanted ? "needs" : "does not take");
}

static ingot_status check_linear_attention(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_linear_attention_params *p = params;
    if (p->kv_heads < 1 || p->q_heads < 1 || p->q_heads % p->kv_heads != 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'q_num_heads' is %lld, but must be a positive multiple of 'kv_num_heads', "
                               "%lld",
                               (long long)p->q_heads, (long long)p->kv_heads);
    INGOT_TRY(check_given(node, INGOT_LINEAR_DECAY, "decay", p->rule & INGOT_UPDATE_GATED, rule_words[p->rule], error));
    return check_given(node, INGOT_LINEAR_BETA, "beta", p->rule & INGOT_UPDATE_DELTA, rule_words[p->rule], error);
}

/* The size of one of the heads that lie side by side on the last axis of an input. */
static ingot_status head_size(ingot_infer *c, size_t input, const char *name, int64_t heads, ingot_dim *size)
{
    ingot_dim all = size_of(c, input, 2);
    if (ingot_dim_is_number(all) && all % heads != 0)
        return ingot_infer_fail(c, "input '%s' has %lld columns, which %lld heads do not divide", name, (long long)all,
                                (long long)heads);
    *size = ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, all, heads);
    return INGOT_OK;
}

static ingot_status check_columns(ingot_infer *c, size_t input, const char *name, ingot_dim one, ingot_dim other)
{
    ingot_dim columns = size_of(c, input, 2);
    if (!ingot_dim_is_number(columns) || !ingot_dim_is_number(one) || !ingot_dim_is_number(other) || columns == one ||
        columns == other)
        return INGOT_OK;
    return ingot_infer_fail(c, "input '%s' has %lld columns, but must have %lld or %lld", name, (long long)columns,
                            (long long)one, (long long)other);
}

static ingot_status infer_linear_attention(ingot_infer *c)
{
    const ingot_linear_attention_params *p = c->params;
    ingot_dim key, key_again, value, batch = INGOT_DIM_UNKNOWN, length = INGOT_DIM_UNKNOWN;
    for (size_t i = 0; i <= INGOT_LINEAR_BETA; i++) {
        INGOT_TRY(ingot_infer_rank(c, i, i == INGOT_LINEAR_STATE ? 4 : 3, i == INGOT_LINEAR_STATE ? 4 : 3));
        INGOT_TRY(ingot_infer_same_dim(c, "the batch sizes of the inputs", batch, size_of(c, i, 0), &batch));
        if (i != INGOT_LINEAR_STATE)
            INGOT_TRY(ingot_infer_same_dim(c, "the lengths of the inputs", length, size_of(c, i, 1), &length));
    }
    INGOT_TRY(head_size(c, INGOT_LINEAR_QUERY, "query", p->q_heads, &key));
    INGOT_TRY(head_size(c, INGOT_LINEAR_KEY, "key", p->kv_heads, &key_again));
    INGOT_TRY(head_size(c, INGOT_LINEAR_VALUE, "value", p->kv_heads, &value));
    INGOT_TRY(ingot_infer_same_dim(c, "the sizes of a head of query and key", key, key_again, &key));
    INGOT_TRY(check_columns(c, INGOT_LINEAR_DECAY, "decay", p->kv_heads, ingot_dim_mul(c->dims, p->kv_heads, key)));
    INGOT_TRY(check_columns(c, INGOT_LINEAR_BETA, "beta", p->kv_heads, 1));
    INGOT_TRY(ingot_infer_same_dim(c, "the heads of past_state and kv_num_heads", p->kv_heads,
                                   size_of(c, INGOT_LINEAR_STATE, 1), NULL));
    INGOT_TRY(ingot_infer_same_dim(c, "axis 2 of past_state and the size of a key", key,
                                   size_of(c, INGOT_LINEAR_STATE, 2), &key));
    INGOT_TRY(ingot_infer_same_dim(c, "axis 3 of past_state and the size of a value", value,
                                   size_of(c, INGOT_LINEAR_STATE, 3), &value));
    ingot_element element = c->inputs[0].type.element;
    ingot_element state = ingot_infer_has(c, INGOT_LINEAR_STATE) ? c->inputs[INGOT_LINEAR_STATE].type.element : element;
    ingot_infer_set(c, 0, element, 3, (ingot_dim[]){batch, length, ingot_dim_mul(c->dims, p->q_heads, value)});
    ingot_infer_set(c, 1, state, 4, (ingot_dim[]){batch, p->kv_heads, key, value});
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_swiglu = {
    .summary = "A / (1 + e^(-alpha A)) times B",
    .params_size = sizeof(ingot_swiglu_params),
    .fields = swiglu_fields,
    .infer = infer_swiglu,
    .flags = INGOT_OP_IN_PLACE,
};
const ingot_op ingot_op_causal_conv_with_state = {
    .summary = "a depthwise convolution over the past, whose end is carried on",
    .params_size = sizeof(ingot_causal_conv_params),
    .fields = causal_conv_fields,
    .infer = infer_causal_conv,
};
const ingot_op ingot_op_linear_attention = {
    .summary = "attention as a recurrence over a state of keys times values",
    .params_size = sizeof(ingot_linear_attention_params),
    .fields = linear_attention_fields,
    .check = check_linear_attention,
    .infer = infer_linear_attention,
};
