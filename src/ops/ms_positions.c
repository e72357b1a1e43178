/* com.microsoft: what positions do to queries and keys, rewritten into the standard's operators. */
#include "ops/ms_attention.h"

/* ---- RotaryEmbedding ---- */

/* One start for all samples as ids of every position, [batch, length]. */
static ingot_graph_value *ids_from_start(ingot_expansion *e, ingot_graph_value *x, ingot_graph_value *start)
{
    ingot_attribute axis = ingot_int_of("axis", 0);
    ingot_graph_value *length = ingot_expand_length(e, x, ingot_expand_rank(e, x, "input") == 4 ? 2 : 1);
    ingot_graph_value *ids = INGOT_EXPAND(e, "Add", 14, NULL, 0, ingot_expand_positions(e, length), start);
    return INGOT_EXPAND(e, "Expand", 13, NULL, 0, ids,
                        INGOT_EXPAND(e, "Concat", 13, &axis, 1, ingot_expand_length(e, x, 0), length));
}

ingot_status ingot_upgrade_ms_rotary_embedding(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *x = ingot_expand_input(&e, 0), *ids = ingot_expand_input(&e, 1);
    int64_t heads = ingot_expand_int(&e, "num_heads", 0), turned = ingot_expand_int(&e, "rotary_embedding_dim", 0);
    int rank = ingot_expand_rank(&e, x, "input");
    if (rank == 3 && heads == 0) {
        int64_t size = 2 * ingot_expand_size(&e, ingot_expand_input(&e, 2), 1, "cos_cache");
        heads = size > 0 ? ingot_expand_size(&e, x, 2, "input") / size : 0;
    }
    if (ingot_expand_rank(&e, ids, "position_ids") == 1)
        ids = ids_from_start(&e, x, ids);
    ingot_attribute attributes[] = {ingot_int_of("interleaved", ingot_expand_int(&e, "interleaved", 0)),
                                    ingot_int_of("num_heads", heads), ingot_int_of("rotary_embedding_dim", turned)};
    ingot_expand_result(&e, 0,
                        INGOT_EXPAND(&e, "RotaryEmbedding", 23, attributes, 3, x, ingot_expand_input(&e, 2),
                                     ingot_expand_input(&e, 3), ids));
    return ingot_expand_end(&e);
}

/* x * cos(angles) + turned * sin(angles), for queries and for keys; angles [batch, length, size] serve all heads. */
ingot_status ingot_upgrade_gemma_rotary_embedding(ingot_node *node, ingot_error *error)
{
    static const int64_t heads[] = {1};
    static const char *const functions[] = {"Cos", "Sin"};
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *factors[2];
    for (size_t i = 0; i < 2; i++) {
        ingot_graph_value *y = INGOT_EXPAND(&e, functions[i], 7, NULL, 0, ingot_expand_input(&e, 0));
        y = ingot_expand_cast(&e, y, ingot_expand_input(&e, 1)->type.element);
        factors[i] = INGOT_EXPAND(&e, "Unsqueeze", 13, NULL, 0, y, ingot_expand_vector(&e, heads, 1));
    }
    for (size_t i = 0; i < 2; i++) {
        ingot_graph_value *own = INGOT_EXPAND(&e, "Mul", 14, NULL, 0, ingot_expand_input(&e, 1 + 2 * i), factors[0]);
        ingot_graph_value *turned = INGOT_EXPAND(&e, "Mul", 14, NULL, 0, ingot_expand_input(&e, 2 + 2 * i), factors[1]);
        ingot_expand_result(&e, i, ingot_expand_plus(&e, own, turned));
    }
    return ingot_expand_end(&e);
}

/* ---- Gated position bias ---- */

/* Two gates for each query and head, [batch, heads, length, 1]: sigmoids of sums over halves of a product with the query. */
static void make_gates(ingot_expansion *e, ingot_graph_value *gates[2])
{
    static const int64_t order[] = {0, 2, 1, 3}, halves[] = {0, 0, 0, 2, -1}, last[] = {-1};
    const int64_t split[] = {0, 0, ingot_ms_attention_heads(e), -1};
    ingot_attribute drop = ingot_int_of("keepdims", 0);
    ingot_attribute in_two[] = {ingot_int_of("axis", -1), ingot_int_of("num_outputs", 2)};
    ingot_graph_value *q = ingot_expand_plus(e, ingot_expand_input(e, 0), ingot_expand_input(e, 1));
    q = ingot_expand_transpose(e, ingot_expand_reshape(e, q, split, 4), order, 4);
    q = INGOT_EXPAND(e, "MatMul", 13, NULL, 0, q, ingot_expand_input(e, 3));
    q = ingot_expand_reshape(e, ingot_expand_plus(e, q, ingot_expand_input(e, 4)), halves, 5);
    q = INGOT_EXPAND(e, "ReduceSum", 13, &drop, 1, q, ingot_expand_vector(e, last, 1));
    q = INGOT_EXPAND(e, "Sigmoid", 13, NULL, 0, q);
    ingot_expand_node(e, &(ingot_expand_spec){NULL, "Split", 18, in_two, 2, &q, 1}, 2, gates);
}

ingot_status ingot_upgrade_gated_relative_position_bias(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *gates[2];
    ingot_expand_refuse_input(&e, 6, "token_offset");
    make_gates(&e, gates);
    ingot_element element = e.builder.status == INGOT_OK ? gates[0]->type.element : INGOT_FLOAT;
    ingot_graph_value *y = INGOT_EXPAND(&e, "Mul", 14, NULL, 0, gates[1], ingot_expand_input(&e, 5));
    y = ingot_expand_plus(&e, y, ingot_expand_number(&e, element, -1));
    y = INGOT_EXPAND(&e, "Mul", 14, NULL, 0, gates[0], y);
    y = ingot_expand_plus(&e, y, ingot_expand_number(&e, element, 2));
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Mul", 14, NULL, 0, y, ingot_expand_input(&e, 2)));
    return ingot_expand_end(&e);
}
