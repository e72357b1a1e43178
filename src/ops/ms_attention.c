/* com.microsoft: MultiHeadAttention, Attention, QAttention, rewritten into the standard's Attention. */
#include "ops/ms_attention.h"

#include <string.h>

#include "ops/ms_qmatmul.h"

#define DEFAULT_FILTER     (-10000.0f) /* added where a mask says 0 */
#define PRODUCTS_WITH_MASK 2           /* qk_matmul_output_mode of what ONNX Runtime gives, whatever its page says */

int64_t ingot_ms_attention_heads(ingot_expansion *e)
{
    int64_t heads = ingot_expand_int(e, "num_heads", 0);
    if (heads < 1 || heads > INT32_MAX)
        ingot_expand_fail(e, INGOT_INVALID_MODEL, "attribute 'num_heads' is %lld, but must be positive",
                          (long long)heads);
    return heads;
}

/* ---- Masks ---- */

/* Past and new keys, int64 [1]. */
static ingot_graph_value *total_length(ingot_expansion *e, const ingot_ms_attention *a)
{
    int64_t axis = ingot_expand_rank(e, a->k, "key") == 4 ? 2 : 1;
    ingot_graph_value *own = ingot_expand_length(e, a->k, axis);
    return a->past_key ? INGOT_EXPAND(e, "Add", 14, NULL, 0, own, ingot_expand_length(e, a->past_key, 2)) : own;
}

/* Elements of a mask of one axis for each sample: 1 (ends), 2 (ends, starts) or 3 (and 2 in all: lengths and sums of them). */
static int numbers_a_sample(const ingot_expansion *e, const ingot_ms_attention *a)
{
    ingot_dims *dims = e->node->graph->module->dims;
    ingot_dim found = a->mask->type.dims[0], batch = a->q->type.dims[0];
    if (found == batch)
        return 1;
    if (found == ingot_dim_mul(dims, batch, 2))
        return 2;
    return found == ingot_dim_add(dims, ingot_dim_mul(dims, batch, 3), 2) ? 3 : 1;
}

/* Numbers of the mask for each sample, [batch, 1, 1, 1]: those after the first `skipped` times batch. */
static ingot_graph_value *numbers(ingot_expansion *e, const ingot_ms_attention *a, bool second)
{
    static const int64_t zero[] = {0}, dims[] = {-1, 1, 1, 1};
    ingot_graph_value *batch = ingot_expand_length(e, a->q, 0), *axis = ingot_expand_vector(e, zero, 1);
    ingot_graph_value *start = second ? batch : axis;
    ingot_graph_value *end = second ? INGOT_EXPAND(e, "Add", 14, NULL, 0, batch, batch) : batch;
    ingot_graph_value *part = INGOT_EXPAND(e, "Slice", 13, NULL, 0, a->mask, start, end, axis);
    return ingot_expand_reshape(e, ingot_expand_cast(e, part, INGOT_INT64), dims, 4);
}

/* Which keys a mask of one axis lets through, bool [batch, 1, 1, total]. */
static ingot_graph_value *keys_inside(ingot_expansion *e, const ingot_ms_attention *a)
{
    ingot_graph_value *keys = ingot_expand_positions(e, total_length(e, a));
    int parts = e->builder.status == INGOT_OK ? numbers_a_sample(e, a) : 1;
    ingot_graph_value *inside = INGOT_EXPAND(e, "Less", 13, NULL, 0, keys, numbers(e, a, false));
    if (parts != 2 || !a->by_end_and_start)
        return inside;
    ingot_graph_value *begun = INGOT_EXPAND(e, "GreaterOrEqual", 16, NULL, 0, keys, numbers(e, a, true));
    return INGOT_EXPAND(e, "And", 7, NULL, 0, inside, begun);
}

/* Which keys any mask lets through, bool, of rank 4. */
static ingot_graph_value *keys_seen(ingot_expansion *e, const ingot_ms_attention *a)
{
    static const int64_t for_keys[] = {1, 2}, for_queries[] = {1};
    int rank = ingot_expand_rank(e, a->mask, "mask");
    switch (rank) {
    case 1:
        return keys_inside(e, a);
    case 2:
    case 3: {
        ingot_graph_value *seen = ingot_expand_cast(e, a->mask, INGOT_BOOL);
        ingot_graph_value *axes = ingot_expand_vector(e, rank == 2 ? for_keys : for_queries, rank == 2 ? 2 : 1);
        return INGOT_EXPAND(e, "Unsqueeze", 13, NULL, 0, seen, axes);
    }
    default:
        ingot_expand_fail(e, INGOT_UNSUPPORTED, "its mask has rank %d; Ingot supports 1 to 3", rank);
        return NULL;
    }
}

/* What is added to the products: filter where the mask hides a key, and the bias. NULL: nothing. */
static ingot_graph_value *summand(ingot_expansion *e, const ingot_ms_attention *a)
{
    if (!a->mask)
        return a->bias;
    double filter = (double)ingot_expand_float(e, "mask_filter_value", DEFAULT_FILTER);
    ingot_graph_value *hidden =
        INGOT_EXPAND(e, "Where", 16, NULL, 0, keys_seen(e, a), ingot_expand_number(e, INGOT_FLOAT, 0),
                     ingot_expand_number(e, INGOT_FLOAT, filter));
    if (!a->bias)
        return hidden;
    return ingot_expand_plus(e, hidden, ingot_expand_cast(e, a->bias, INGOT_FLOAT));
}

void ingot_expand_attention(ingot_expansion *e, const ingot_ms_attention *a, bool wants_products,
                            ingot_graph_value *outputs[4])
{
    ingot_attribute attributes[5] = {ingot_int_of("q_num_heads", a->heads), ingot_int_of("kv_num_heads", a->heads),
                                     ingot_int_of("is_causal", ingot_expand_int(e, "unidirectional", 0) != 0)};
    size_t count = 3;
    float scale = ingot_expand_float(e, "scale", 0);
    if (scale != 0)
        attributes[count++] = ingot_float_of("scale", scale);
    if (wants_products)
        attributes[count++] = ingot_int_of("qk_matmul_output_mode", PRODUCTS_WITH_MASK);
    ingot_graph_value *inputs[] = {a->q, a->k, a->v, summand(e, a), a->past_key, a->past_value};
    ingot_expand_node(e, &(ingot_expand_spec){NULL, "Attention", 23, attributes, count, inputs, 6},
                      wants_products ? 4 : 3, outputs);
}

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
    ingot_expand_attention(&e, &a, ingot_expand_wants(&e, 3), outputs);
    for (size_t i = 0; i < 4; i++)
        ingot_expand_result(&e, i, outputs[i]);
    return ingot_expand_end(&e);
}

/* ---- A cache that is longer than what it holds ---- */

ingot_graph_value *ingot_expand_held(ingot_expansion *e, ingot_graph_value *cache, ingot_graph_value *used)
{
    static const int64_t zero[] = {0}, axis[] = {2};
    if (!cache || !used)
        return cache;
    return INGOT_EXPAND(e, "Slice", 13, NULL, 0, cache, ingot_expand_vector(e, zero, 1), used,
                        ingot_expand_vector(e, axis, 1));
}

ingot_graph_value *ingot_expand_refilled(ingot_expansion *e, ingot_graph_value *present, ingot_graph_value *cache,
                                         ingot_graph_value *used)
{
    static const int64_t one[] = {1}, end[] = {INT64_MAX}, axis[] = {2};
    ingot_attribute along = ingot_int_of("axis", 2);
    if (!cache || !used)
        return present;
    ingot_graph_value *from = INGOT_EXPAND(e, "Add", 14, NULL, 0, used, ingot_expand_vector(e, one, 1));
    ingot_graph_value *rest = INGOT_EXPAND(e, "Slice", 13, NULL, 0, cache, from, ingot_expand_vector(e, end, 1),
                                           ingot_expand_vector(e, axis, 1));
    return INGOT_EXPAND(e, "Concat", 13, &along, 1, present, rest);
}

ingot_graph_value *ingot_expand_used_rows(ingot_expansion *e, ingot_graph_value *length)
{
    static const int64_t vector[] = {1};
    if (ingot_expand_int(e, "past_present_share_buffer", 0) == 0)
        return NULL;
    if (!length) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL,
                          "attribute 'past_present_share_buffer' is 1, but 'past_sequence_length' is left out");
        return NULL;
    }
    return ingot_expand_reshape(e, ingot_expand_cast(e, length, INGOT_INT64), vector, 1);
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
    ingot_expand_attention(e, a, false, outputs);
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
    ingot_scaled_matrix x = {ingot_expand_input(&e, 0), ingot_expand_input(&e, 3), ingot_expand_input(&e, 6)};
    ingot_scaled_matrix w = {ingot_expand_input(&e, 1), ingot_expand_input(&e, 4), ingot_expand_input(&e, 7)};
    ingot_graph_value *projected = ingot_expand_scaled_product(&e, &x, &w, NULL, 1, ingot_expand_input(&e, 2));
    return attend(&e, projected, &a, ingot_expand_input(&e, 8), NULL);
}
