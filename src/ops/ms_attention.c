/* com.microsoft: MultiHeadAttention, Attention, QAttention, rewritten into products and a softmax. */
#include "ops/ms_attention.h"
#include "ops/ms_qmatmul.h"

/* ---- MultiHeadAttention ---- */

/* Part number index of [batch, length, heads, parts, size], as [batch, length, heads * size]. */
static ingot_graph_value *unpacked(ingot_expansion *e, ingot_graph_value *packed, int64_t index)
{
    static const int64_t dims[] = {0, 0, -1};
    return ingot_expand_reshape(e, ingot_expand_slice(e, packed, 3, index, index + 1), dims, 3);
}

/* Q, K and V of separate or packed inputs. */
static void split_inputs(ingot_expansion *e, ingot_ms_attention *a)
{
    ingot_graph_value *query = ingot_expand_input(e, 0), *key = ingot_expand_input(e, 1),
                      *value = ingot_expand_input(e, 2);
    *a = (ingot_ms_attention){.q = query, .k = key, .v = value};
    if (ingot_expand_rank(e, query, "query") == 5) {
        a->q = unpacked(e, query, 0);
        a->k = unpacked(e, query, 1);
        a->v = unpacked(e, query, 2);
    } else if (key && ingot_expand_rank(e, key, "key") == 5) {
        a->k = unpacked(e, key, 0);
        a->v = unpacked(e, key, 1);
    } else if (!key || !value) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL, "key or value is left out, but the query is not packed with them");
    }
}

void ingot_expand_projection_bias(ingot_expansion *e, ingot_ms_attention *a, ingot_graph_value *bias)
{
    ingot_graph_value **parts[] = {&a->q, &a->k, &a->v};
    static const char *const names[] = {"query", "key", "value"};
    int64_t from = 0;
    for (size_t i = 0; bias && i < 3; i++) {
        if (ingot_expand_rank(e, *parts[i], names[i]) != 3)
            continue;
        int64_t size = ingot_expand_size(e, *parts[i], 2, names[i]);
        *parts[i] = ingot_expand_plus(e, *parts[i], ingot_expand_slice(e, bias, 0, from, from + size));
        from += size;
    }
}

ingot_status ingot_upgrade_multi_head_attention(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    int64_t heads = ingot_ms_attention_heads(&e);
    ingot_ms_attention a;
    ingot_graph_value *outputs[4] = {NULL, NULL, NULL, NULL};
    split_inputs(&e, &a);
    ingot_expand_projection_bias(&e, &a, ingot_expand_input(&e, 3));
    ingot_expand_refuse_input(&e, 8, "past_sequence_length");
    ingot_expand_refuse_input(&e, 9, "cache_indirection");
    a.heads = heads;
    a.mask = ingot_expand_input(&e, 4);
    a.bias = ingot_expand_input(&e, 5);
    a.past_key = ingot_expand_input(&e, 6);
    a.past_value = ingot_expand_input(&e, 7);
    ingot_expand_attention(&e, &a, outputs);
    for (size_t i = 0; i < 4; i++)
        ingot_expand_result(&e, i, outputs[i]);
    return ingot_expand_end(&e);
}

/* ---- Attention and QAttention ---- */

/* Splits the projected input [batch, length, q + k + v] by qkv_hidden_sizes, or in three. */
static void split_projection(ingot_expansion *e, ingot_graph_value *projected, ingot_ms_attention *a)
{
    const ingot_attribute *sizes = ingot_node_attribute(e->node, "qkv_hidden_sizes");
    ingot_attribute attributes[] = {ingot_int_of("axis", 2), ingot_int_of("num_outputs", 3)};
    ingot_graph_value *inputs[] = {projected, NULL}, *parts[3];
    if (sizes && sizes->count != 3) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL, "attribute 'qkv_hidden_sizes' holds %zu numbers, but must hold 3",
                          sizes->count);
        return;
    }
    if (sizes)
        inputs[1] = ingot_expand_vector(e, sizes->ints, 3);
    ingot_expand_node(e, &(ingot_expand_spec){NULL, "Split", 18, attributes, sizes ? 1 : 2, inputs, 2}, 3, parts);
    a->q = parts[0];
    a->k = parts[1];
    a->v = parts[2];
}

/* past [2, ...] as keys and values. */
static void split_past(ingot_expansion *e, ingot_graph_value *past, ingot_ms_attention *a)
{
    static const int64_t first[] = {0};
    ingot_graph_value *axis = past ? ingot_expand_vector(e, first, 1) : NULL;
    for (int64_t i = 0; past && i < 2; i++) {
        ingot_graph_value *part = ingot_expand_slice(e, past, 0, i, i + 1);
        *(i == 0 ? &a->past_key : &a->past_value) = INGOT_EXPAND(e, "Squeeze", 13, NULL, 0, part, axis);
    }
}

/* past and its used rows may be NULL. */
static ingot_status attend(ingot_expansion *e, ingot_graph_value *projected, ingot_ms_attention *a,
                           ingot_graph_value *past, ingot_graph_value *used)
{
    static const int64_t first[] = {0};
    ingot_graph_value *outputs[4] = {NULL, NULL, NULL, NULL};
    ingot_expand_require_int(e, "do_rotary", 0);
    a->heads = ingot_ms_attention_heads(e);
    a->by_end_and_start = true;
    split_projection(e, projected, a);
    split_past(e, past, a);
    ingot_graph_value *keys = a->past_key, *values = a->past_value;
    a->past_key = ingot_expand_held(e, keys, used);
    a->past_value = ingot_expand_held(e, values, used);
    ingot_expand_attention(e, a, outputs);
    ingot_expand_result(e, 0, outputs[0]);
    if (ingot_expand_wants(e, 1)) {
        ingot_attribute axis = ingot_int_of("axis", 0);
        ingot_graph_value *front = ingot_expand_vector(e, first, 1);
        ingot_graph_value *key =
            INGOT_EXPAND(e, "Unsqueeze", 13, NULL, 0, ingot_expand_refilled(e, outputs[1], keys, used), front);
        ingot_graph_value *value =
            INGOT_EXPAND(e, "Unsqueeze", 13, NULL, 0, ingot_expand_refilled(e, outputs[2], values, used), front);
        ingot_expand_result(e, 1, INGOT_EXPAND(e, "Concat", 13, &axis, 1, key, value));
    }
    return ingot_expand_end(e);
}

/* Attention and DecoderMaskedSelfAttention. */
ingot_status ingot_upgrade_ms_attention(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_ms_attention a = {.mask = ingot_expand_input(&e, 3), .bias = ingot_expand_input(&e, 5)};
    ingot_graph_value *x =
        INGOT_EXPAND(&e, "MatMul", 13, NULL, 0, ingot_expand_input(&e, 0), ingot_expand_input(&e, 1));
    ingot_expand_refuse_input(&e, 8, "cache_indirection");
    ingot_graph_value *used = ingot_expand_used_rows(&e, ingot_expand_input(&e, 6));
    return attend(&e, ingot_expand_plus(&e, x, ingot_expand_input(&e, 2)), &a, ingot_expand_input(&e, 4), used);
}

ingot_status ingot_upgrade_qattention(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_ms_attention a = {.mask = ingot_expand_input(&e, 5)};
    ingot_scaled_product p = {.factor = 1, .bias = ingot_expand_input(&e, 2)};
    p.a = (ingot_scaled_matrix){ingot_expand_input(&e, 0), ingot_expand_input(&e, 3), ingot_expand_input(&e, 6)};
    p.b = (ingot_scaled_matrix){ingot_expand_input(&e, 1), ingot_expand_input(&e, 4), ingot_expand_input(&e, 7)};
    return attend(&e, ingot_expand_scaled_product(&e, &p), &a, ingot_expand_input(&e, 8), NULL);
}
