/* com.microsoft: products of 8-bit matrices, rewritten around MatMulInteger. */
#include "ops/ms_qmatmul.h"

ingot_graph_value *ingot_expand_scaled_product(ingot_expansion *e, const ingot_scaled_product *p)
{
    ingot_graph_value *scale = INGOT_EXPAND(e, "Mul", 14, NULL, 0, p->a.scale, p->b.scale);
    scale = ingot_expand_times(e, scale, p->factor);
    if (p->divisor)
        scale = INGOT_EXPAND(e, "Div", 14, NULL, 0, scale, p->divisor);
    ingot_graph_value *sums =
        INGOT_EXPAND(e, "MatMulInteger", 10, NULL, 0, p->a.matrix, p->b.matrix, p->a.zero_point, p->b.zero_point);
    sums = ingot_expand_plus(e, sums, p->added);
    sums = ingot_expand_cast(e, sums, scale ? scale->type.element : INGOT_FLOAT);
    return ingot_expand_plus(e, INGOT_EXPAND(e, "Mul", 14, NULL, 0, sums, scale), p->bias);
}

ingot_status ingot_upgrade_matmul_integer_to_float(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_scaled_product p = {.factor = 1, .bias = ingot_expand_input(&e, 6)};
    p.a = (ingot_scaled_matrix){ingot_expand_input(&e, 0), ingot_expand_input(&e, 2), ingot_expand_input(&e, 4)};
    p.b = (ingot_scaled_matrix){ingot_expand_input(&e, 1), ingot_expand_input(&e, 3), ingot_expand_input(&e, 5)};
    ingot_expand_result(&e, 0, ingot_expand_scaled_product(&e, &p));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_dynamic_quantize_matmul(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *x = ingot_expand_input(&e, 0), *parts[3];
    ingot_expand_node(&e, &(ingot_expand_spec){NULL, "DynamicQuantizeLinear", 11, NULL, 0, &x, 1}, 3, parts);
    ingot_scaled_product p = {.a = {parts[0], parts[1], parts[2]}, .factor = 1, .bias = ingot_expand_input(&e, 4)};
    p.b = (ingot_scaled_matrix){ingot_expand_input(&e, 1), ingot_expand_input(&e, 2), ingot_expand_input(&e, 3)};
    ingot_expand_result(&e, 0, ingot_expand_scaled_product(&e, &p));
    return ingot_expand_end(&e);
}

static ingot_graph_value *matrix(ingot_expansion *e, size_t input, const char *transposed)
{
    static const int64_t order[] = {1, 0};
    ingot_graph_value *x = ingot_expand_input(e, input);
    return ingot_expand_int(e, transposed, 0) ? ingot_expand_transpose(e, x, order, 2) : x;
}

/* The scale of the result is part of the factor that the sums are multiplied by, so they are rounded by a scale of 1. */
ingot_status ingot_upgrade_qgemm(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_scaled_product p = {.added = ingot_expand_input(&e, 6), .divisor = ingot_expand_input(&e, 7)};
    p.a = (ingot_scaled_matrix){matrix(&e, 0, "transA"), ingot_expand_input(&e, 1), ingot_expand_input(&e, 2)};
    p.b = (ingot_scaled_matrix){matrix(&e, 3, "transB"), ingot_expand_input(&e, 4), ingot_expand_input(&e, 5)};
    p.factor = (double)ingot_expand_float(&e, "alpha", 1);
    ingot_graph_value *y = ingot_expand_scaled_product(&e, &p);
    if (p.divisor)
        y = INGOT_EXPAND(&e, "QuantizeLinear", 13, NULL, 0, y, ingot_expand_number(&e, INGOT_FLOAT, 1),
                         ingot_expand_input(&e, 8));
    ingot_expand_result(&e, 0, y);
    return ingot_expand_end(&e);
}

/* ---- DynamicQuantizeLSTM ---- */

/* Weights [directions, from, 4 * hidden] as the LSTM has them, [directions, 4 * hidden, from], in floats. The scale has one
 * number for each direction, or one for each of its columns. */
static ingot_graph_value *lstm_weights(ingot_expansion *e, size_t input, size_t scale_input, const char *name)
{
    static const int64_t order[] = {0, 2, 1};
    static const int64_t per_direction[] = {0, 1, 1}, per_column[] = {0, 1, -1};
    ingot_graph_value *parts[2] = {ingot_expand_input(e, scale_input), ingot_expand_input(e, scale_input + 1)};
    const int64_t *dims = ingot_expand_rank(e, parts[0], name) == 1 ? per_direction : per_column;
    for (size_t i = 0; i < 2; i++)
        parts[i] = ingot_expand_reshape(e, ingot_expand_cast(e, parts[i], INGOT_FLOAT), dims, 3);
    ingot_graph_value *w = ingot_expand_cast(e, ingot_expand_input(e, input), INGOT_FLOAT);
    w = INGOT_EXPAND(e, "Sub", 14, NULL, 0, w, parts[1]);
    w = INGOT_EXPAND(e, "Mul", 14, NULL, 0, w, parts[0]);
    return ingot_expand_transpose(e, w, order, 3);
}

/* The input takes the values that 8 bits have, and so does the state at every step: in ONNX Runtime with one range for all sequences
 * of the batch, here each by itself, so that none changes another. */
ingot_status ingot_upgrade_dynamic_quantize_lstm(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"activation_alpha", "activation_beta", "activations",  "clip",
                                        "direction",        "hidden_size",     "input_forget", NULL};
    enum { W_SCALE = 8, R_SCALE = 10 };
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute attributes[7];
    size_t count = ingot_expand_pass_on(&e, names, attributes);
    ingot_graph_value *inputs[8], *outputs[3];
    for (size_t i = 0; i < 8; i++)
        inputs[i] = ingot_expand_input(&e, i);
    ingot_graph_value *parts[3];
    ingot_expand_node(&e, &(ingot_expand_spec){NULL, "DynamicQuantizeLinear", 11, NULL, 0, inputs, 1}, 3, parts);
    inputs[0] = INGOT_EXPAND(&e, "DequantizeLinear", 13, NULL, 0, parts[0], parts[1], parts[2]);
    inputs[1] = lstm_weights(&e, 1, W_SCALE, "W_scale");
    inputs[2] = lstm_weights(&e, 2, R_SCALE, "R_scale");
    ingot_expand_node(&e, &(ingot_expand_spec){"ai.ingot", "ByteStateLSTM", 1, attributes, count, inputs, 8}, 3,
                      outputs);
    for (size_t i = 0; i < 3; i++)
        ingot_expand_result(&e, i, outputs[i]);
    return ingot_expand_end(&e);
}
