#include "ops/attention.h"

#include <stddef.h>

/* ---- Attention ---- */

#define FIELD(attribute, kind, field)                                     \
    {                                                                     \
        attribute, kind, offsetof(ingot_attention_params, field), NULL, 0 \
    }

static const ingot_param_field attention_fields[] = {
    FIELD("is_causal", INGOT_PARAM_BOOL, is_causal),
    FIELD("q_num_heads", INGOT_PARAM_INT, q_heads),
    FIELD("kv_num_heads", INGOT_PARAM_INT, kv_heads),
    {"scale", INGOT_PARAM_FLOAT, offsetof(ingot_attention_params, scale), NULL,
     offsetof(ingot_attention_params, has_scale)},
    FIELD("softcap", INGOT_PARAM_FLOAT, softcap),
    FIELD("softmax_precision", INGOT_PARAM_INT, softmax_precision),
    FIELD("qk_matmul_output_mode", INGOT_PARAM_INT, probe),
    FIELD("left_window_size", INGOT_PARAM_INT, left),
    FIELD("right_window_size", INGOT_PARAM_INT, right),
    {NULL, 0, 0, NULL, 0},
};

#define FIRST_OPSET_WITH_WINDOW 25

static ingot_status check_range(const ingot_node *node, const char *name, int64_t value, int64_t least, int64_t most,
                                ingot_error *error)
{
    if (value >= least && value <= most)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "%s is %lld, expected %lld to %lld", name,
                           (long long)value, (long long)least, (long long)most);
}

static ingot_status check_attention(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_attention_params *p = params;
    if (node->opset < FIRST_OPSET_WITH_WINDOW)
        p->left = p->right = -1;
    INGOT_TRY(check_range(node, "q_num_heads", p->q_heads, 0, INT32_MAX, error));
    INGOT_TRY(check_range(node, "kv_num_heads", p->kv_heads, 0, INT32_MAX, error));
    INGOT_TRY(check_range(node, "qk_matmul_output_mode", p->probe, 0, INGOT_ATTENTION_SOFTMAX, error));
    INGOT_TRY(check_range(node, "left_window_size", p->left, -1, INT32_MAX, error));
    INGOT_TRY(check_range(node, "right_window_size", p->right, -1, INT32_MAX, error));
    int64_t precision = p->softmax_precision;
    if (precision == 0 || precision == INGOT_FLOAT || precision == INGOT_FLOAT16 || precision == INGOT_DOUBLE ||
        precision == INGOT_BFLOAT16)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "softmax_precision is %lld, which is no float type",
                           (long long)precision);
}

/* Everything that geometry checks goes through here. */
typedef struct shape_check {
    const ingot_node *node;
    ingot_dims *dims;
    ingot_error *error;
} shape_check;

static ingot_status check_equal(const shape_check *c, const char *what, ingot_dim a, ingot_dim b)
{
    if (!ingot_dim_is_number(a) || !ingot_dim_is_number(b) || a == b)
        return INGOT_OK;
    return ingot_node_fail(c->node, c->error, c->dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                           "%s must be equal, but are %lld and %lld", what, (long long)a, (long long)b);
}

/* heads, length and head size of Q, K or V: [batch, heads, length, size], or [batch, length, heads * size]. */
static ingot_status split_heads(const shape_check *c, const char *name, const ingot_attention_input *input,
                                const char *attribute, int64_t given, ingot_dim *heads, ingot_dim *length,
                                ingot_dim *size)
{
    ingot_status status = c->dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT;
    if (input->rank == 4) {
        *heads = input->dims[1];
        *length = input->dims[2];
        *size = input->dims[3];
        return INGOT_OK;
    }
    if (input->rank != 3)
        return ingot_node_fail(c->node, c->error, status, "%s has rank %d, expected 3 or 4", name, input->rank);
    if (given < 1)
        return ingot_node_fail(c->node, c->error, status, "%s is needed for inputs of rank 3", attribute);
    if (ingot_dim_is_number(input->dims[2]) && input->dims[2] % given)
        return ingot_node_fail(c->node, c->error, status, "the last size of %s, %lld, is not divisible by %s = %lld",
                               name, (long long)input->dims[2], attribute, (long long)given);
    *heads = given;
    *length = input->dims[1];
    *size = ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, input->dims[2], given);
    return INGOT_OK;
}

static ingot_status check_past(const shape_check *c, const ingot_attention_input *inputs, ingot_attention_shape *s)
{
    const ingot_attention_input *key = &inputs[INGOT_ATTENTION_PAST_KEY];
    const ingot_attention_input *value = &inputs[INGOT_ATTENTION_PAST_VALUE];
    if (key->rank != value->rank || (key->rank >= 0 && key->rank != 4))
        return ingot_node_fail(c->node, c->error, c->dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                               "past_key and past_value must both be there with rank 4, or both be left out");
    s->past = 0;
    if (key->rank == 4) {
        s->past = key->dims[2];
        INGOT_TRY(check_equal(c, "the batch sizes of Q and past_key", s->batch, key->dims[0]));
        INGOT_TRY(check_equal(c, "the batch sizes of Q and past_value", s->batch, value->dims[0]));
        INGOT_TRY(check_equal(c, "the heads of K and past_key", s->kv_heads, key->dims[1]));
        INGOT_TRY(check_equal(c, "the heads of V and past_value", s->kv_heads, value->dims[1]));
        INGOT_TRY(check_equal(c, "the lengths of past_key and past_value", s->past, value->dims[2]));
        INGOT_TRY(check_equal(c, "the head sizes of K and past_key", s->head, key->dims[3]));
        INGOT_TRY(check_equal(c, "the head sizes of V and past_value", s->v_head, value->dims[3]));
    }
    s->total = ingot_dim_add(c->dims, s->past, s->kv_length);
    return INGOT_OK;
}

/* The mask broadcasts to [batch, q_heads, q_length, total], but that its last size may be less than total. */
static ingot_status check_mask(const shape_check *c, const ingot_attention_input *mask, const ingot_attention_shape *s)
{
    const ingot_dim whole[] = {s->batch, s->q_heads, s->q_length, s->total};
    ingot_status status = c->dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT;
    if (mask->rank < 0)
        return INGOT_OK;
    if (mask->rank < 1 || mask->rank > 4)
        return ingot_node_fail(c->node, c->error, status, "attn_mask has rank %d, expected 1 to 4", mask->rank);
    for (int i = 0; i < mask->rank; i++) {
        ingot_dim found = mask->dims[i], expected = whole[4 - mask->rank + i];
        bool last = i == mask->rank - 1;
        if (ingot_dim_is_number(found) && ingot_dim_is_number(expected) &&
            (last ? found > expected : found != expected && found != 1))
            return ingot_node_fail(c->node, c->error, status, "attn_mask has size %lld on axis %d, expected %s%lld",
                                   (long long)found, i, last ? "at most " : "1 or ", (long long)expected);
    }
    return INGOT_OK;
}

ingot_status ingot_attention_geometry(const ingot_node *node, const ingot_attention_params *params, ingot_dims *dims,
                                      const ingot_attention_input *inputs, ingot_attention_shape *shape,
                                      ingot_error *error)
{
    const shape_check c = {node, dims, error};
    ingot_dim v_heads, v_length;
    INGOT_TRY(split_heads(&c, "Q", &inputs[INGOT_ATTENTION_Q], "q_num_heads", params->q_heads, &shape->q_heads,
                          &shape->q_length, &shape->head));
    ingot_dim k_head;
    INGOT_TRY(split_heads(&c, "K", &inputs[INGOT_ATTENTION_K], "kv_num_heads", params->kv_heads, &shape->kv_heads,
                          &shape->kv_length, &k_head));
    INGOT_TRY(split_heads(&c, "V", &inputs[INGOT_ATTENTION_V], "kv_num_heads", params->kv_heads, &v_heads, &v_length,
                          &shape->v_head));
    shape->batch = inputs[INGOT_ATTENTION_Q].dims[0];
    INGOT_TRY(check_equal(&c, "the batch sizes of Q and K", shape->batch, inputs[INGOT_ATTENTION_K].dims[0]));
    INGOT_TRY(check_equal(&c, "the batch sizes of Q and V", shape->batch, inputs[INGOT_ATTENTION_V].dims[0]));
    INGOT_TRY(check_equal(&c, "the head sizes of Q and K", shape->head, k_head));
    INGOT_TRY(check_equal(&c, "the heads of K and V", shape->kv_heads, v_heads));
    INGOT_TRY(check_equal(&c, "the lengths of K and V", shape->kv_length, v_length));
    if (ingot_dim_is_number(shape->q_heads) && ingot_dim_is_number(shape->kv_heads) &&
        (shape->kv_heads == 0 || shape->q_heads % shape->kv_heads))
        return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                               "the %lld heads of Q cannot share the %lld heads of K", (long long)shape->q_heads,
                               (long long)shape->kv_heads);
    INGOT_TRY(check_past(&c, inputs, shape));
    const ingot_attention_input *lengths = &inputs[INGOT_ATTENTION_LENGTHS];
    if (lengths->rank >= 0) {
        if (lengths->rank != 1 || inputs[INGOT_ATTENTION_PAST_KEY].rank >= 0)
            return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                                   "nonpad_kv_seqlen must have rank 1 and cannot go with past_key");
        INGOT_TRY(check_equal(&c, "the batch size and the length of nonpad_kv_seqlen", shape->batch, lengths->dims[0]));
    }
    return check_mask(&c, &inputs[INGOT_ATTENTION_MASK], shape);
}

static ingot_status infer_attention(ingot_infer *c)
{
    ingot_attention_input inputs[INGOT_ATTENTION_LENGTHS + 1];
    ingot_attention_shape s;
    bool ranked = true;
    for (size_t i = 0; i <= INGOT_ATTENTION_LENGTHS; i++) {
        bool there = ingot_infer_has(c, i);
        inputs[i] = (ingot_attention_input){there ? c->inputs[i].type.rank : -1, there ? c->inputs[i].type.dims : NULL};
        ranked = ranked && (!there || c->inputs[i].type.rank >= 0);
    }
    ingot_element q = c->inputs[INGOT_ATTENTION_Q].type.element, v = c->inputs[INGOT_ATTENTION_V].type.element;
    if (!ranked) {
        const ingot_element elements[] = {q, q, v, q};
        for (size_t i = 0; i < 4; i++)
            ingot_infer_set_unranked(c, i, elements[i]);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_attention_geometry(c->node, c->params, c->dims, inputs, &s, c->error));
    if (inputs[INGOT_ATTENTION_Q].rank == 4)
        ingot_infer_set(c, 0, q, 4, (ingot_dim[]){s.batch, s.q_heads, s.q_length, s.v_head});
    else
        ingot_infer_set(c, 0, q, 3, (ingot_dim[]){s.batch, s.q_length, ingot_dim_mul(c->dims, s.q_heads, s.v_head)});
    ingot_infer_set(c, 1, q, 4, (ingot_dim[]){s.batch, s.kv_heads, s.total, s.head});
    ingot_infer_set(c, 2, v, 4, (ingot_dim[]){s.batch, s.kv_heads, s.total, s.v_head});
    ingot_infer_set(c, 3, q, 4, (ingot_dim[]){s.batch, s.q_heads, s.q_length, s.total});
    return INGOT_OK;
}

/* ---- RotaryEmbedding ---- */

static const ingot_param_field rotary_fields[] = {
    {"interleaved", INGOT_PARAM_BOOL, offsetof(ingot_rotary_params, interleaved), NULL, 0},
    {"num_heads", INGOT_PARAM_INT, offsetof(ingot_rotary_params, heads), NULL, 0},
    {"rotary_embedding_dim", INGOT_PARAM_INT, offsetof(ingot_rotary_params, rotary_dim), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_rotary(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_rotary_params *p = params;
    INGOT_TRY(check_range(node, "num_heads", p->heads, 0, INT32_MAX, error));
    INGOT_TRY(check_range(node, "rotary_embedding_dim", p->rotary_dim, 0, INT32_MAX, error));
    if (p->rotary_dim % 2)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "rotary_embedding_dim is %lld, expected an even number", (long long)p->rotary_dim);
    return INGOT_OK;
}

static ingot_status infer_rotary(ingot_infer *c)
{
    const ingot_rotary_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    int cache_rank = ingot_infer_has(c, 3) ? 2 : 3;
    INGOT_TRY(ingot_infer_rank(c, 0, 3, 4));
    INGOT_TRY(ingot_infer_rank(c, 1, cache_rank, cache_rank));
    INGOT_TRY(ingot_infer_rank(c, 2, cache_rank, cache_rank));
    if (ingot_infer_has(c, 3))
        INGOT_TRY(ingot_infer_rank(c, 3, 2, 2));
    if (x->rank == 3 && p->heads < 1)
        return ingot_infer_fail(c, "num_heads is needed for an input of rank 3");
    if (x->rank == 3 && ingot_dim_is_number(x->dims[2]) && x->dims[2] % p->heads)
        return ingot_infer_fail(c, "the last size of X, %lld, is not divisible by num_heads = %lld",
                                (long long)x->dims[2], (long long)p->heads);
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_attention = {
    .summary = "Scaled dot product attention, with masks, grouped heads and a cache of keys and values.",
    .params_size = sizeof(ingot_attention_params),
    .fields = attention_fields,
    .check = check_attention,
    .infer = infer_attention,
};

const ingot_op ingot_op_rotary_embedding = {
    .summary = "Turns pairs of elements of each head by angles that depend on the position.",
    .params_size = sizeof(ingot_rotary_params),
    .fields = rotary_fields,
    .check = check_rotary,
    .infer = infer_rotary,
};
