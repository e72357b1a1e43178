/* See expand.h. */
#include "ops/expand.h"

#include <stdio.h>
#include <string.h>

#define MAX_ATTRIBUTES 16

ingot_expansion ingot_expand_begin(ingot_node *node, ingot_error *error)
{
    return (ingot_expansion){.node = node,
                             .builder = {.graph = node->graph, .before = node, .name = node->name, .error = error}};
}

void ingot_expand_fail(ingot_expansion *e, ingot_status status, const char *format, ...)
{
    char message[800];
    va_list arguments;
    if (e->builder.status != INGOT_OK)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    e->builder.status = ingot_node_fail(e->node, e->builder.error, status, "%s", message);
}

/* ---- The node ---- */

ingot_graph_value *ingot_expand_input(const ingot_expansion *e, size_t index)
{
    return index < e->node->operand_count ? e->node->inputs[index] : NULL;
}

bool ingot_expand_wants(const ingot_expansion *e, size_t output)
{
    return output < e->node->output_count && e->node->outputs[output];
}

int64_t ingot_expand_int(const ingot_expansion *e, const char *attribute, int64_t otherwise)
{
    const ingot_attribute *a = ingot_node_attribute(e->node, attribute);
    return a ? a->i : otherwise;
}

float ingot_expand_float(const ingot_expansion *e, const char *attribute, float otherwise)
{
    const ingot_attribute *a = ingot_node_attribute(e->node, attribute);
    return a ? a->f : otherwise;
}

static bool text_is(const ingot_attribute *a, const char *word)
{
    size_t size = a ? a->s.size : 0;
    return size == strlen(word) && (size == 0 || memcmp(a->s.data, word, size) == 0);
}

bool ingot_expand_is(const ingot_expansion *e, const char *attribute, const char *word)
{
    return text_is(ingot_node_attribute(e->node, attribute), word);
}

void ingot_expand_refuse_input(ingot_expansion *e, size_t index, const char *name)
{
    if (ingot_expand_input(e, index))
        ingot_expand_fail(e, INGOT_UNSUPPORTED, "input %zu '%s' is given, which Ingot does not support for %s", index,
                          name, e->node->op_type);
}

void ingot_expand_require_int(ingot_expansion *e, const char *attribute, int64_t expected)
{
    int64_t found = ingot_expand_int(e, attribute, expected);
    if (found != expected)
        ingot_expand_fail(e, INGOT_UNSUPPORTED, "attribute '%s' is %lld; Ingot supports %lld only", attribute,
                          (long long)found, (long long)expected);
}

/* ---- Types ---- */

int ingot_expand_rank(ingot_expansion *e, const ingot_graph_value *value, const char *name)
{
    if (e->builder.status != INGOT_OK)
        return 0;
    if (value && value->type.kind == INGOT_KIND_TENSOR && value->type.rank >= 0)
        return value->type.rank;
    ingot_expand_fail(e, INGOT_UNSUPPORTED,
                      "the rank of '%s' is not known when the model is loaded, but %s needs it: declare the shape of "
                      "the graph's inputs",
                      name, e->node->op_type);
    return 0;
}

int64_t ingot_expand_size(ingot_expansion *e, const ingot_graph_value *value, int axis, const char *name)
{
    int rank = ingot_expand_rank(e, value, name);
    int at = axis < 0 ? axis + rank : axis;
    if (e->builder.status != INGOT_OK)
        return 0;
    if (at < 0 || at >= rank) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL, "'%s' has rank %d, which is too small", name, rank);
        return 0;
    }
    if (ingot_dim_is_number(value->type.dims[at]))
        return value->type.dims[at];
    ingot_expand_fail(
        e, INGOT_UNSUPPORTED,
        "size %d of '%s' is not known when the model is loaded, but %s needs it: declare the shape of the "
        "graph's inputs",
        at, name, e->node->op_type);
    return 0;
}

/* ---- Building ---- */

/* Resolved and inferred; a node that is itself rewritten ends up in place of the one added. */
static void finish_node(ingot_expansion *e, ingot_node *node)
{
    e->builder.status = ingot_op_resolve(node, e->builder.error);
    if (e->builder.status == INGOT_OK)
        e->builder.status = ingot_op_infer(node, e->builder.error);
    e->last = node;
}

void ingot_expand_node(ingot_expansion *e, const ingot_expand_spec *spec, size_t output_count,
                       ingot_graph_value **outputs)
{
    size_t input_count = spec->input_count;
    while (input_count > 0 && !spec->inputs[input_count - 1])
        input_count--;
    ingot_node_spec full = {.domain = spec->domain,
                            .op_type = spec->op_type,
                            .name = e->node->name,
                            .opset = spec->opset,
                            .inputs = spec->inputs,
                            .input_count = input_count,
                            .operand_count = input_count,
                            .outputs = outputs,
                            .output_count = output_count,
                            .attributes = spec->attributes,
                            .attribute_count = spec->attribute_count};
    ingot_status *status = &e->builder.status;
    ingot_node *added = NULL;
    for (size_t i = 0; i < output_count; i++)
        outputs[i] = ingot_build_value(&e->builder, "");
    if (*status == INGOT_OK)
        *status = ingot_graph_add_node(e->node->graph, &full, e->node, &added, e->builder.error);
    if (*status == INGOT_OK)
        finish_node(e, added);
    for (size_t i = 0; i < output_count; i++)
        outputs[i] = *status == INGOT_OK ? added->outputs[i] : NULL;
}

ingot_graph_value *ingot_expand_add(ingot_expansion *e, const ingot_expand_spec *spec)
{
    ingot_graph_value *output = NULL;
    ingot_expand_node(e, spec, 1, &output);
    return output;
}

ingot_attribute ingot_text_of(const char *name, const char *text)
{
    return (ingot_attribute){.name = name, .type = INGOT_ATTRIBUTE_STRING, .s = {text, strlen(text)}};
}

ingot_attribute ingot_expand_ints(ingot_expansion *e, const char *name, const int64_t *values, size_t count)
{
    int64_t *copy = ingot_arena_alloc_array(e->node->graph->module->arena, count + 1, sizeof *copy);
    if (!copy && e->builder.status == INGOT_OK)
        e->builder.status = ingot_fail_memory(e->builder.error, count * sizeof *copy, "an attribute");
    if (copy && count > 0)
        memcpy(copy, values, count * sizeof *copy);
    return (ingot_attribute){.name = name, .type = INGOT_ATTRIBUTE_INTS, .count = copy ? count : 0, .ints = copy};
}

size_t ingot_expand_pass_on(const ingot_expansion *e, const char *const *names, ingot_attribute *attributes)
{
    size_t count = 0;
    for (size_t i = 0; names[i]; i++) {
        const ingot_attribute *a = ingot_node_attribute(e->node, names[i]);
        if (a)
            attributes[count++] = *a;
    }
    return count;
}

ingot_graph_value *ingot_expand_vector(ingot_expansion *e, const int64_t *values, size_t count)
{
    return ingot_build_ints(&e->builder, values, count);
}

ingot_graph_value *ingot_expand_number(ingot_expansion *e, ingot_element element, double number)
{
    return ingot_build_number(&e->builder, element, number);
}

/* ---- Putting in place ---- */

void ingot_expand_result(ingot_expansion *e, size_t index, ingot_graph_value *value)
{
    if (index < INGOT_EXPAND_RESULTS)
        e->results[index] = value;
}

/* All that read an output of the node now read its result. */
static void replace_outputs(ingot_expansion *e)
{
    for (size_t i = 0; i < e->node->output_count; i++) {
        ingot_graph_value *output = e->node->outputs[i], *result = i < INGOT_EXPAND_RESULTS ? e->results[i] : NULL;
        if (!output)
            continue;
        if (!result) {
            ingot_expand_fail(e, INGOT_UNSUPPORTED, "output %zu is wanted, which Ingot does not support for %s", i,
                              e->node->op_type);
            return;
        }
        output->producer = NULL;
        if (result->name[0] == '\0')
            result->name = output->name;
        e->builder.status = ingot_graph_replace_value(output, result, e->builder.error);
        if (e->builder.status != INGOT_OK)
            return;
    }
}

/* The node takes type, inputs, outputs and attributes of the last one, which goes. */
static ingot_status become_last(ingot_expansion *e)
{
    ingot_node *node = e->node, *last = e->last;
    ingot_node_spec spec = {.domain = last->domain,
                            .op_type = last->op_type,
                            .opset = last->opset,
                            .inputs = last->inputs,
                            .input_count = last->input_count,
                            .operand_count = last->operand_count,
                            .attributes = last->attributes,
                            .attribute_count = last->attribute_count};
    ingot_graph_remove_node(last);
    INGOT_TRY(ingot_node_become(node, &spec, e->builder.error));
    node->outputs = last->outputs;
    node->output_count = last->output_count;
    for (size_t i = 0; i < node->output_count; i++)
        if (node->outputs[i]) {
            node->outputs[i]->producer = node;
            node->outputs[i]->producer_index = i;
        }
    return INGOT_OK;
}

ingot_status ingot_expand_end(ingot_expansion *e)
{
    if (e->builder.status == INGOT_OK && !e->last && e->results[0])
        e->results[0] = INGOT_EXPAND(e, "Identity", 14, NULL, 0, e->results[0]);
    if (e->builder.status == INGOT_OK)
        replace_outputs(e);
    if (e->builder.status == INGOT_OK)
        e->builder.status = become_last(e);
    return e->builder.status;
}

/* ---- Steps that many share ---- */

ingot_graph_value *ingot_expand_transpose(ingot_expansion *e, ingot_graph_value *value, const int64_t *order,
                                          size_t count)
{
    bool moves = false;
    for (size_t i = 0; i < count; i++)
        moves = moves || order[i] != (int64_t)i;
    ingot_attribute perm = ingot_expand_ints(e, "perm", order, count);
    return moves ? INGOT_EXPAND(e, "Transpose", 13, &perm, 1, value) : value;
}

ingot_graph_value *ingot_expand_reshape(ingot_expansion *e, ingot_graph_value *value, const int64_t *dims, size_t count)
{
    return INGOT_EXPAND(e, "Reshape", 13, NULL, 0, value, ingot_expand_vector(e, dims, count));
}

ingot_graph_value *ingot_expand_cast(ingot_expansion *e, ingot_graph_value *value, ingot_element element)
{
    ingot_attribute to = ingot_int_of("to", element);
    return e->builder.status == INGOT_OK && value->type.element == element ? value
                                                                           : INGOT_EXPAND(e, "Cast", 13, &to, 1, value);
}

ingot_graph_value *ingot_expand_plus(ingot_expansion *e, ingot_graph_value *value, ingot_graph_value *other)
{
    return other ? INGOT_EXPAND(e, "Add", 14, NULL, 0, value, other) : value;
}

ingot_graph_value *ingot_expand_times(ingot_expansion *e, ingot_graph_value *value, double factor)
{
    if (factor == 1 || e->builder.status != INGOT_OK)
        return value;
    return INGOT_EXPAND(e, "Mul", 14, NULL, 0, value, ingot_expand_number(e, value->type.element, factor));
}

ingot_graph_value *ingot_expand_slice(ingot_expansion *e, ingot_graph_value *value, int64_t axis, int64_t from,
                                      int64_t to)
{
    return INGOT_EXPAND(e, "Slice", 13, NULL, 0, value, ingot_expand_vector(e, &from, 1),
                        ingot_expand_vector(e, &to, 1), ingot_expand_vector(e, &axis, 1));
}

ingot_graph_value *ingot_expand_length(ingot_expansion *e, ingot_graph_value *value, int64_t axis)
{
    ingot_attribute range[] = {ingot_int_of("start", axis), ingot_int_of("end", axis + 1)};
    return INGOT_EXPAND(e, "Shape", 15, range, 2, value);
}

ingot_graph_value *ingot_expand_positions(ingot_expansion *e, ingot_graph_value *length)
{
    ingot_graph_value *scalar = ingot_expand_reshape(e, length, NULL, 0);
    return INGOT_EXPAND(e, "Range", 11, NULL, 0, ingot_expand_number(e, INGOT_INT64, 0), scalar,
                        ingot_expand_number(e, INGOT_INT64, 1));
}

static ingot_graph_value *move_channels(ingot_expansion *e, ingot_graph_value *value, bool first)
{
    int64_t order[INGOT_MAX_RANK];
    int rank = ingot_expand_rank(e, value, "X");
    if (rank < 3) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL, "its input has rank %d, but must have at least 3", rank);
        return NULL;
    }
    order[0] = 0;
    for (int i = 1; i < rank; i++)
        order[i] = first ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
    return ingot_expand_transpose(e, value, order, (size_t)rank);
}

ingot_graph_value *ingot_expand_channels_first(ingot_expansion *e, ingot_graph_value *value)
{
    return move_channels(e, value, true);
}

ingot_graph_value *ingot_expand_channels_last(ingot_expansion *e, ingot_graph_value *value)
{
    return move_channels(e, value, false);
}

/* Activations, and whether they read alpha and beta. */
static const struct activation {
    const char *name;
    int opset;
    bool alpha, beta;
} activations[] = {
    {"Elu", 6, true, false},         {"Gelu", 20, false, false},           {"HardSigmoid", 6, true, true},
    {"HardSwish", 14, false, false}, {"LeakyRelu", 16, true, false},       {"Relu", 14, false, false},
    {"Sigmoid", 13, false, false},   {"Softplus", 1, false, false},        {"Softsign", 1, false, false},
    {"Tanh", 13, false, false},      {"ThresholdedRelu", 10, true, false},
};

ingot_graph_value *ingot_expand_activation(ingot_expansion *e, ingot_graph_value *value)
{
    const ingot_attribute *alpha = ingot_node_attribute(e->node, "activation_alpha");
    const ingot_attribute *beta = ingot_node_attribute(e->node, "activation_beta");
    const ingot_attribute *word = ingot_node_attribute(e->node, "activation");
    ingot_attribute list[2];
    size_t count = 0;
    if (text_is(word, ""))
        return value;
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        const struct activation *a = &activations[i];
        if (!text_is(word, a->name))
            continue;
        if (a->alpha && alpha)
            list[count++] = ingot_float_of("alpha", alpha->f);
        if (a->beta && beta)
            list[count++] = ingot_float_of("beta", beta->f);
        return INGOT_EXPAND(e, a->name, a->opset, list, count, value);
    }
    ingot_expand_fail(e, INGOT_UNSUPPORTED, "attribute 'activation' is '%.*s', which Ingot does not know",
                      (int)(word->s.size < 64 ? word->s.size : 64), word->s.data);
    return NULL;
}
