/* com.microsoft: products with what follows them, and the Gelu family, rewritten into the standard's operators. */
#include "ops/expand.h"

/* ---- Products ---- */

ingot_status ingot_upgrade_fused_gemm(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"alpha", "beta", "transA", "transB", NULL};
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute attributes[4];
    size_t count = ingot_expand_pass_on(&e, names, attributes);
    ingot_graph_value *y = INGOT_EXPAND(&e, "Gemm", 13, attributes, count, ingot_expand_input(&e, 0),
                                        ingot_expand_input(&e, 1), ingot_expand_input(&e, 2));
    ingot_expand_result(&e, 0, ingot_expand_activation(&e, y));
    return ingot_expand_end(&e);
}

/* A factor with its last two axes exchanged (matrix), and its first axis put behind the batch (batch). Vectors stay. */
static ingot_graph_value *transposed(ingot_expansion *e, size_t input, const char *name, bool matrix, bool batch)
{
    ingot_graph_value *x = ingot_expand_input(e, input);
    int rank = matrix || batch ? ingot_expand_rank(e, x, name) : 0;
    int64_t order[INGOT_MAX_RANK];
    if (rank < 2)
        return x;
    for (int i = 0; i < rank; i++)
        order[i] = i;
    for (int i = 0; batch && i < rank - 1; i++)
        order[i] = i == rank - 2 ? 0 : i + 1;
    if (matrix) {
        int64_t row = order[rank - 2];
        order[rank - 2] = order[rank - 1];
        order[rank - 1] = row;
    }
    return ingot_expand_transpose(e, x, order, (size_t)rank);
}

static ingot_graph_value *multiply(ingot_expansion *e)
{
    ingot_graph_value *a =
        transposed(e, 0, "A", ingot_expand_int(e, "transA", 0), ingot_expand_int(e, "transBatchA", 0));
    ingot_graph_value *b =
        transposed(e, 1, "B", ingot_expand_int(e, "transB", 0), ingot_expand_int(e, "transBatchB", 0));
    ingot_graph_value *y = INGOT_EXPAND(e, "MatMul", 13, NULL, 0, a, b);
    return ingot_expand_times(e, y, (double)ingot_expand_float(e, "alpha", 1));
}

ingot_status ingot_upgrade_fused_matmul(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_expand_result(&e, 0, multiply(&e));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_fused_matmul_activation(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_expand_result(&e, 0, ingot_expand_activation(&e, multiply(&e)));
    return ingot_expand_end(&e);
}

/* ---- Gelu and its kin ---- */

static ingot_graph_value *biased_input(ingot_expansion *e)
{
    return ingot_expand_plus(e, ingot_expand_input(e, 0), ingot_expand_input(e, 1));
}

/* Gelu and BiasGelu, which differ in the second input. */
ingot_status ingot_upgrade_gelu(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Gelu", 20, NULL, 0, biased_input(&e)));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_fast_gelu(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute by_tanh = ingot_text_of("approximate", "tanh");
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Gelu", 20, &by_tanh, 1, biased_input(&e)));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_quick_gelu(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute alpha = ingot_float_of("alpha", ingot_expand_float(&e, "alpha", 1.702f));
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Swish", 24, &alpha, 1, ingot_expand_input(&e, 0)));
    return ingot_expand_end(&e);
}

/* The first half of the last axis times Gelu of the second. */
ingot_status ingot_upgrade_bias_split_gelu(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute last = ingot_int_of("axis", -1), halves[] = {last, ingot_int_of("num_outputs", 2)};
    ingot_graph_value *parts[2], *sum = biased_input(&e);
    ingot_expand_node(&e, &(ingot_expand_spec){NULL, "Split", 18, halves, 2, &sum, 1}, 2, parts);
    ingot_graph_value *gate = INGOT_EXPAND(&e, "Gelu", 20, NULL, 0, parts[1]);
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Mul", 14, NULL, 0, parts[0], gate));
    return ingot_expand_end(&e);
}

/* ---- Sums ---- */

ingot_status ingot_upgrade_bias_add(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_expand_result(&e, 0, ingot_expand_plus(&e, biased_input(&e), ingot_expand_input(&e, 2)));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_bias_dropout(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    static const char *const names[] = {"seed", NULL};
    ingot_attribute seed;
    size_t count = ingot_expand_pass_on(&e, names, &seed);
    ingot_graph_value *inputs[] = {biased_input(&e), ingot_expand_input(&e, 3), ingot_expand_input(&e, 4)};
    ingot_graph_value *outputs[2];
    ingot_expand_node(&e, &(ingot_expand_spec){NULL, "Dropout", 13, &seed, count, inputs, 3}, 2, outputs);
    ingot_expand_result(&e, 0, ingot_expand_plus(&e, outputs[0], ingot_expand_input(&e, 2)));
    ingot_expand_result(&e, 1, outputs[1]);
    return ingot_expand_end(&e);
}

/* All axes from the given one on are one row of the softmax, as before opset 13. */
ingot_status ingot_upgrade_bias_softmax(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute axis = ingot_int_of("axis", ingot_expand_int(&e, "axis", 1));
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Softmax", 11, &axis, 1, biased_input(&e)));
    return ingot_expand_end(&e);
}
