#include "ops/recurrent.h"

#include <stddef.h>
#include <string.h>

/* GRU-1 spells its default "foward". */
static const char *const direction_words[] = {"forward", "reverse", "bidirectional", "foward", NULL};
enum { FORWARD, REVERSE, BIDIRECTIONAL, FOWARD };

#define FIELD(attribute, kind, field)                                     \
    {                                                                     \
        attribute, kind, offsetof(ingot_recurrent_params, field), NULL, 0 \
    }
#define FIELD_GIVEN(attribute, kind, field, given)                                                              \
    {                                                                                                           \
        attribute, kind, offsetof(ingot_recurrent_params, field), NULL, offsetof(ingot_recurrent_params, given) \
    }

static const ingot_param_field recurrent_fields[] = {
    {"direction", INGOT_PARAM_WORD, offsetof(ingot_recurrent_params, direction), direction_words, 0},
    FIELD_GIVEN("hidden_size", INGOT_PARAM_INT, hidden_size, has_hidden_size),
    FIELD("layout", INGOT_PARAM_BOOL, batch_first),
    FIELD("linear_before_reset", INGOT_PARAM_BOOL, linear_before_reset),
    FIELD("input_forget", INGOT_PARAM_BOOL, input_forget),
    FIELD_GIVEN("clip", INGOT_PARAM_FLOAT, clip, has_clip),
    FIELD("activations", INGOT_PARAM_TEXTS, activation_names),
    FIELD("activation_alpha", INGOT_PARAM_FLOATS, activation_alpha),
    FIELD("activation_beta", INGOT_PARAM_FLOATS, activation_beta),
    {NULL, 0, 0, NULL, 0},
};

/* ---- Activations ---- */

static const struct {
    const char *word;
    bool takes_alpha, takes_beta;
    float alpha, beta;
} activations[] = {
#define ROW(name, word, takes_alpha, takes_beta, alpha, beta) {word, takes_alpha, takes_beta, alpha, beta},
    INGOT_CELL_ACTIVATION_LIST(ROW)
#undef ROW
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Exporters differ in the case of letters. */
static bool same_word(const char *word, ingot_text text)
{
    if (strlen(word) != text.size)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (lower(word[i]) != lower(text.data[i]))
            return false;
    return true;
}

static ingot_status find_activation(const ingot_node *node, ingot_text text, ingot_cell_activation *function,
                                    ingot_error *error)
{
    for (int i = 0; i < INGOT_CELL_ACTIVATION_COUNT; i++) {
        if (same_word(activations[i].word, text)) {
            *function =
                (ingot_cell_activation){(ingot_cell_activation_kind)i, activations[i].alpha, activations[i].beta};
            return INGOT_OK;
        }
    }
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "activations holds '%.*s', which is no activation of %s",
                           (int)(text.size < 64 ? text.size : 64), text.data, node->op_type);
}

/* Alphas and betas are consumed in order by the functions that take one. */
static void take_parameters(const ingot_recurrent_params *p, ingot_cell_activation *function, size_t *alphas,
                            size_t *betas)
{
    if (activations[function->kind].takes_alpha && *alphas < p->activation_alpha.count)
        function->alpha = p->activation_alpha.data[(*alphas)++];
    if (activations[function->kind].takes_beta && *betas < p->activation_beta.count)
        function->beta = p->activation_beta.data[(*betas)++];
}

/* count functions a direction; defaults are theirs where the model names none. */
static ingot_status resolve_functions(const ingot_node *node, ingot_recurrent_params *p, int count,
                                      const ingot_cell_activation_kind *defaults, ingot_error *error)
{
    size_t expected = (size_t)count * (size_t)p->directions;
    size_t found = p->activation_names.count, alphas = 0, betas = 0;
    if (p->activation_names.given && found && found != expected)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "activations has %zu values, expected %zu (%d for each of %d directions)", found,
                               expected, count, p->directions);
    p->default_functions = true;
    for (size_t i = 0; i < expected; i++) {
        ingot_cell_activation *function = &p->functions[i / (size_t)count][i % (size_t)count];
        ingot_cell_activation_kind by_default = defaults[i % (size_t)count];
        *function = (ingot_cell_activation){by_default, activations[by_default].alpha, activations[by_default].beta};
        if (i < found)
            INGOT_TRY(find_activation(node, p->activation_names.data[i], function, error));
        take_parameters(p, function, &alphas, &betas);
        p->default_functions = p->default_functions && function->kind == by_default;
    }
    return INGOT_OK;
}

static ingot_status check_recurrent(const ingot_node *node, ingot_recurrent_params *p, int gates, int functions,
                                    const ingot_cell_activation_kind *defaults, ingot_error *error)
{
    if (p->direction == FOWARD)
        p->direction = FORWARD;
    p->gates = gates;
    p->directions = p->direction == BIDIRECTIONAL ? 2 : 1;
    p->reverse[0] = p->direction == REVERSE;
    p->reverse[1] = true;
    if (p->has_hidden_size && p->hidden_size < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "hidden_size is %lld, expected 1 or more",
                               (long long)p->hidden_size);
    if (p->has_clip && !(p->clip > 0))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "clip is %g, expected more than 0", (double)p->clip);
    return resolve_functions(node, p, functions, defaults, error);
}

static ingot_status check_lstm(const ingot_node *node, void *params, ingot_error *error)
{
    static const ingot_cell_activation_kind defaults[] = {INGOT_CELL_SIGMOID, INGOT_CELL_TANH, INGOT_CELL_TANH};
    return check_recurrent(node, params, 4, 3, defaults, error);
}

static ingot_status check_byte_state_lstm(const ingot_node *node, void *params, ingot_error *error)
{
    ((ingot_recurrent_params *)params)->byte_state = true;
    return check_lstm(node, params, error);
}

static ingot_status check_gru(const ingot_node *node, void *params, ingot_error *error)
{
    static const ingot_cell_activation_kind defaults[] = {INGOT_CELL_SIGMOID, INGOT_CELL_TANH};
    return check_recurrent(node, params, 3, 2, defaults, error);
}

static ingot_status check_rnn(const ingot_node *node, void *params, ingot_error *error)
{
    static const ingot_cell_activation_kind defaults[] = {INGOT_CELL_TANH};
    return check_recurrent(node, params, 1, 1, defaults, error);
}

/* ---- Shapes ---- */

static ingot_status check_shape(ingot_infer *c, size_t input, const char *what, int rank, const ingot_dim *expected)
{
    if (!ingot_infer_has(c, input))
        return INGOT_OK;
    INGOT_TRY(ingot_infer_rank(c, input, rank, rank));
    for (int i = 0; c->inputs[input].type.rank == rank && i < rank; i++)
        INGOT_TRY(ingot_infer_same_dim(c, what, c->inputs[input].type.dims[i], expected[i], NULL));
    return INGOT_OK;
}

static ingot_dim dim_of(const ingot_infer *c, size_t input, int rank, int axis)
{
    const ingot_type *type = &c->inputs[input].type;
    return type->rank == rank ? type->dims[axis] : INGOT_DIM_UNKNOWN;
}

/* Inputs in the standard's order: X, W, R, B, sequence_lens, initial_h, and for LSTM initial_c, P. columns: of W. */
static ingot_status infer_cells(ingot_infer *c, ingot_dim columns)
{
    const ingot_recurrent_params *p = c->params;
    INGOT_TRY(ingot_infer_rank(c, 1, 3, 3));
    INGOT_TRY(ingot_infer_rank(c, 2, 3, 3));
    ingot_dim steps = dim_of(c, 0, 3, p->batch_first ? 1 : 0);
    ingot_dim batch = dim_of(c, 0, 3, p->batch_first ? 0 : 1);
    ingot_dim hidden = p->has_hidden_size ? p->hidden_size : dim_of(c, 2, 3, 2);
    ingot_dim rows = ingot_dim_mul(c->dims, hidden, p->gates);
    ingot_dim directions = p->directions;

    INGOT_TRY(check_shape(c, 1, "the sizes of W and of [directions, gates * hidden_size, input size]", 3,
                          (ingot_dim[]){directions, rows, columns}));
    INGOT_TRY(check_shape(c, 2, "the sizes of R and of [directions, gates * hidden_size, hidden_size]", 3,
                          (ingot_dim[]){directions, rows, hidden}));
    INGOT_TRY(check_shape(c, 3, "the sizes of B and of [directions, 2 * gates * hidden_size]", 2,
                          (ingot_dim[]){directions, ingot_dim_mul(c->dims, rows, 2)}));
    INGOT_TRY(check_shape(c, 4, "the sizes of sequence_lens and of [batch size]", 1, &batch));
    ingot_dim state[] = {p->batch_first ? batch : directions, p->batch_first ? directions : batch, hidden};
    INGOT_TRY(check_shape(c, 5, "the sizes of initial_h and of the state (see layout)", 3, state));
    INGOT_TRY(check_shape(c, 6, "the sizes of initial_c and of the state (see layout)", 3, state));
    INGOT_TRY(check_shape(c, 7, "the sizes of P and of [directions, 3 * hidden_size]", 2,
                          (ingot_dim[]){directions, ingot_dim_mul(c->dims, hidden, 3)}));

    ingot_element element = c->inputs[0].type.element;
    if (p->batch_first)
        ingot_infer_set(c, 0, element, 4, (ingot_dim[]){batch, steps, directions, hidden});
    else
        ingot_infer_set(c, 0, element, 4, (ingot_dim[]){steps, directions, batch, hidden});
    ingot_infer_set(c, 1, element, 3, state);
    ingot_infer_set(c, 2, element, 3, state);
    return INGOT_OK;
}

static ingot_status infer_recurrent(ingot_infer *c)
{
    INGOT_TRY(ingot_infer_rank(c, 0, 3, 3));
    return infer_cells(c, dim_of(c, 0, 3, 2));
}

/* After those of LSTM: QW, MW, V, M, memory_seq_lens, AW. Each step sees the attention of the step before beside its X. */
static ingot_status infer_attn_lstm(ingot_infer *c)
{
    ingot_dim directions = ((const ingot_recurrent_params *)c->params)->directions;
    for (size_t input = 8; input < 12; input++)
        if (!ingot_infer_has(c, input))
            return ingot_infer_fail(c, "input %zu is missing: the attention needs QW, MW, V and M", input);
    INGOT_TRY(ingot_infer_rank(c, 0, 3, 3));
    INGOT_TRY(ingot_infer_rank(c, 9, 3, 3));
    INGOT_TRY(ingot_infer_rank(c, 11, 3, 3));
    INGOT_TRY(ingot_infer_rank(c, 13, 3, 3));
    ingot_dim hidden = dim_of(c, 2, 3, 2), depth = dim_of(c, 9, 3, 1), width = dim_of(c, 9, 3, 2);
    ingot_dim batch = dim_of(c, 0, 3, 1), given = ingot_infer_has(c, 13) ? dim_of(c, 13, 3, 2) : depth;
    INGOT_TRY(check_shape(c, 8, "the sizes of QW and of [directions, hidden_size, attention size]", 3,
                          (ingot_dim[]){directions, hidden, width}));
    INGOT_TRY(check_shape(c, 9, "the sizes of MW and of [directions, memory depth, attention size]", 3,
                          (ingot_dim[]){directions, depth, width}));
    INGOT_TRY(
        check_shape(c, 10, "the sizes of V and of [directions, attention size]", 2, (ingot_dim[]){directions, width}));
    INGOT_TRY(check_shape(c, 11, "the sizes of M and of [batch size, memory steps, memory depth]", 3,
                          (ingot_dim[]){batch, dim_of(c, 11, 3, 1), depth}));
    INGOT_TRY(check_shape(c, 12, "the sizes of memory_seq_lens and of [batch size]", 1, &batch));
    INGOT_TRY(check_shape(c, 13, "the sizes of AW and of [directions, hidden_size + memory depth, size]", 3,
                          (ingot_dim[]){directions, ingot_dim_add(c->dims, hidden, depth), given}));
    return infer_cells(c, ingot_dim_add(c->dims, dim_of(c, 0, 3, 2), given));
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_lstm = {
    .summary = "One layer of long short-term memory, in one or both directions.",
    .params_size = sizeof(ingot_recurrent_params),
    .fields = recurrent_fields,
    .check = check_lstm,
    .infer = infer_recurrent,
};

const ingot_op ingot_op_byte_state_lstm = {
    .summary = "LSTM whose recurrent products see what DynamicQuantizeLinear makes of each state",
    .params_size = sizeof(ingot_recurrent_params),
    .fields = recurrent_fields,
    .check = check_byte_state_lstm,
    .infer = infer_recurrent,
};

const ingot_op ingot_op_gru = {
    .summary = "One layer of gated recurrent units, in one or both directions.",
    .params_size = sizeof(ingot_recurrent_params),
    .fields = recurrent_fields,
    .check = check_gru,
    .infer = infer_recurrent,
};

const ingot_op ingot_op_rnn = {
    .summary = "One plain recurrent layer, in one or both directions.",
    .params_size = sizeof(ingot_recurrent_params),
    .fields = recurrent_fields,
    .check = check_rnn,
    .infer = infer_recurrent,
};

const ingot_op ingot_op_attn_lstm = {
    .summary = "LSTM whose steps see an attention over a memory, in one or both directions",
    .params_size = sizeof(ingot_recurrent_params),
    .fields = recurrent_fields,
    .check = check_lstm,
    .infer = infer_attn_lstm,
};
