/* Einsum: equation and shapes. */
#include "ops/einsum.h"

#include <string.h>

#define FIRST_ELLIPSIS 52

static const ingot_param_field einsum_fields[] = {
    {"equation", INGOT_PARAM_TEXT, offsetof(ingot_einsum_params, equation), NULL, 0},
    {0},
};

/* ---- The equation ---- */

static int label_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    return letter >= 'a' && letter <= 'z' ? letter - 'a' + 26 : -1;
}

/* The operands' part of the equation and, after "->", the result's; data NULL where there is none. */
typedef struct equation_parts {
    ingot_text operands, result;
} equation_parts;

static equation_parts split_equation(ingot_text equation)
{
    for (size_t i = 0; i + 1 < equation.size; i++)
        if (equation.data[i] == '-' && equation.data[i + 1] == '>')
            return (equation_parts){{equation.data, i}, {equation.data + i + 2, equation.size - i - 2}};
    return (equation_parts){equation, {NULL, 0}};
}

static size_t count_terms(ingot_text operands)
{
    size_t count = 1;
    for (size_t i = 0; i < operands.size; i++)
        count += operands.data[i] == ',';
    return count;
}

static ingot_text term_at(ingot_text operands, size_t index)
{
    size_t start = 0, end;
    for (size_t i = 0; index > 0 && i < operands.size; i++)
        if (operands.data[i] == ',') {
            index--;
            start = i + 1;
        }
    for (end = start; end < operands.size && operands.data[end] != ',';)
        end++;
    return (ingot_text){operands.data + start, end - start};
}

static int count_letters(ingot_text term)
{
    int count = 0;
    for (size_t i = 0; i < term.size; i++)
        count += label_of(term.data[i]) >= 0;
    return count;
}

static bool has_ellipsis(ingot_text term)
{
    return term.size > 0 && memchr(term.data, '.', term.size);
}

/* Letters, blanks, and "..." once at most. */
static bool is_term(ingot_text term)
{
    bool seen = false;
    for (size_t i = 0; i < term.size; i++) {
        if (term.data[i] == ' ' || label_of(term.data[i]) >= 0)
            continue;
        if (seen || i + 3 > term.size || memcmp(term.data + i, "...", 3) != 0)
            return false;
        seen = true;
        i += 2;
    }
    return true;
}

int ingot_einsum_ellipsis(ingot_text equation, size_t operand, int rank)
{
    ingot_text term = term_at(split_equation(equation).operands, operand);
    int rest = rank - count_letters(term);
    return rest > 0 && !has_ellipsis(term) ? -1 : rest;
}

/* own: the axes that "..." stands for here, the last ones of ellipsis. False where the axes are too many. */
static bool read_axes(ingot_text term, int own, int ellipsis, ingot_einsum_axes *axes)
{
    axes->rank = 0;
    if (count_letters(term) + (has_ellipsis(term) ? own : 0) > INGOT_MAX_RANK)
        return false;
    for (size_t i = 0; i < term.size; i++) {
        int label = label_of(term.data[i]);
        if (label >= 0)
            axes->labels[axes->rank++] = (uint8_t)label;
        if (term.data[i] != '.')
            continue;
        for (int k = ellipsis - own; k < ellipsis; k++)
            axes->labels[axes->rank++] = (uint8_t)(FIRST_ELLIPSIS + k);
        i += 2;
    }
    return true;
}

void ingot_einsum_operand(ingot_text equation, size_t operand, int rank, int ellipsis, ingot_einsum_axes *axes)
{
    ingot_text term = term_at(split_equation(equation).operands, operand);
    read_axes(term, rank - count_letters(term), ellipsis, axes);
}

static void count_occurrences(ingot_text text, int *counts)
{
    for (size_t i = 0; i < text.size; i++) {
        int label = label_of(text.data[i]);
        if (label >= 0)
            counts[label]++;
    }
}

bool ingot_einsum_result(ingot_text equation, int ellipsis, ingot_einsum_axes *axes)
{
    equation_parts parts = split_equation(equation);
    if (parts.result.data)
        return read_axes(parts.result, ellipsis, ellipsis, axes);
    int counts[FIRST_ELLIPSIS] = {0};
    count_occurrences(parts.operands, counts);
    axes->rank = 0;
    for (int i = 0; i < ellipsis; i++)
        axes->labels[axes->rank++] = (uint8_t)(FIRST_ELLIPSIS + i);
    for (int label = 0; label < FIRST_ELLIPSIS; label++) {
        if (counts[label] != 1)
            continue;
        if (axes->rank == INGOT_MAX_RANK)
            return false;
        axes->labels[axes->rank++] = (uint8_t)label;
    }
    return true;
}

/* ---- Checks ---- */

static ingot_status fail_equation(const ingot_node *node, ingot_error *error, ingot_text equation, const char *reason)
{
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'equation' is '%.*s': %s",
                           (int)(equation.size < 200 ? equation.size : 200), equation.data, reason);
}

static ingot_status check_result(const ingot_node *node, ingot_text equation, ingot_error *error)
{
    equation_parts parts = split_equation(equation);
    int inputs[FIRST_ELLIPSIS] = {0}, outputs[FIRST_ELLIPSIS] = {0};
    count_occurrences(parts.operands, inputs);
    count_occurrences(parts.result, outputs);
    for (int label = 0; label < FIRST_ELLIPSIS; label++) {
        if (outputs[label] > 1)
            return fail_equation(node, error, equation, "a letter occurs twice in the result");
        if (outputs[label] > 0 && inputs[label] == 0)
            return fail_equation(node, error, equation, "the result has a letter that no operand has");
    }
    return INGOT_OK;
}

static ingot_status check_einsum(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_text equation = ((ingot_einsum_params *)params)->equation;
    equation_parts parts = split_equation(equation);
    size_t count = count_terms(parts.operands);
    for (size_t i = 0; i < count; i++)
        if (!is_term(term_at(parts.operands, i)))
            return fail_equation(node, error, equation, "a term must hold letters, and \"...\" once at most");
    if (!is_term(parts.result))
        return fail_equation(node, error, equation, "the result must hold letters, and \"...\" once at most");
    if (count != node->operand_count)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'equation' is '%.*s', with %zu terms, but the node has %zu inputs",
                               (int)(equation.size < 200 ? equation.size : 200), equation.data, count,
                               node->operand_count);
    return check_result(node, equation, error);
}

/* ---- Shapes ---- */

static ingot_status find_ellipsis(ingot_infer *c, int *ellipsis)
{
    const ingot_einsum_params *p = c->params;
    *ellipsis = 0;
    for (size_t i = 0; i < c->input_count; i++) {
        int rank = c->inputs[i].type.rank, own = rank < 0 ? -1 : ingot_einsum_ellipsis(p->equation, i, rank);
        if (rank >= 0 && own < 0)
            return ingot_infer_fail(c,
                                    "input %zu has rank %d, which does not fit its term of attribute 'equation' '%.*s'",
                                    i, rank, (int)(p->equation.size < 200 ? p->equation.size : 200), p->equation.data);
        *ellipsis = own > *ellipsis ? own : *ellipsis;
    }
    return INGOT_OK;
}

/* Axes of one label broadcast. */
static ingot_status join_sizes(ingot_infer *c, int ellipsis, ingot_dim *sizes)
{
    const ingot_einsum_params *p = c->params;
    for (int i = 0; i < INGOT_EINSUM_LABELS; i++)
        sizes[i] = 1;
    for (size_t i = 0; i < c->input_count; i++) {
        const ingot_type *type = &c->inputs[i].type;
        ingot_einsum_axes axes;
        ingot_einsum_operand(p->equation, i, type->rank, ellipsis, &axes);
        for (int k = 0; k < axes.rank; k++) {
            ingot_dim *size = &sizes[axes.labels[k]];
            int rank;
            INGOT_TRY(ingot_infer_broadcast_dims(c, 1, size, 1, &type->dims[k], &rank, size));
        }
    }
    return INGOT_OK;
}

static ingot_status infer_einsum(ingot_infer *c)
{
    const ingot_einsum_params *p = c->params;
    ingot_element element = c->inputs[0].type.element;
    ingot_dim sizes[INGOT_EINSUM_LABELS], dims[INGOT_MAX_RANK];
    ingot_einsum_axes result;
    int ellipsis;
    INGOT_TRY(find_ellipsis(c, &ellipsis));
    for (size_t i = 0; i < c->input_count; i++)
        if (c->inputs[i].type.rank < 0) {
            ingot_infer_set_unranked(c, 0, element);
            return INGOT_OK;
        }
    INGOT_TRY(join_sizes(c, ellipsis, sizes));
    if (!ingot_einsum_result(p->equation, ellipsis, &result))
        return ingot_infer_fail(c, "the result of attribute 'equation' has more than %d axes", INGOT_MAX_RANK);
    for (int i = 0; i < result.rank; i++)
        dims[i] = sizes[result.labels[i]];
    ingot_infer_set(c, 0, element, result.rank, dims);
    return INGOT_OK;
}

const ingot_op ingot_op_einsum = {.summary = "Sums of products of elements, by an equation over axes",
                                  .params_size = sizeof(ingot_einsum_params),
                                  .fields = einsum_fields,
                                  .check = check_einsum,
                                  .infer = infer_einsum};
