/* Nodes of one operand as operations of eltwise.h. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cpu/family.h"
#include "ops/binary.h"
#include "ops/clip.h"
#include "ops/unary.h"

typedef struct unary_entry {
    const char *op_type;
    ingot_unary_kind kind;
    bool (*fill)(const ingot_node *node, ingot_unary *unary); /* parameters; NULL: none */
} unary_entry;

static bool alpha_beta(const ingot_node *node, ingot_unary *unary)
{
    const ingot_activation_params *p = node->params;
    unary->a = p->alpha;
    unary->b = p->beta;
    return true;
}

static bool alpha_gamma(const ingot_node *node, ingot_unary *unary)
{
    const ingot_activation_params *p = node->params;
    unary->a = p->alpha;
    unary->b = p->gamma;
    return true;
}

static bool gelu_form(const ingot_node *node, ingot_unary *unary)
{
    const ingot_activation_params *p = node->params;
    unary->kind = p->approximate == INGOT_GELU_TANH ? INGOT_UNARY_GELU_TANH : INGOT_UNARY_GELU;
    return true;
}

/* Bounds as attributes or inputs; an input left out does not bound. */
static bool clip_bounds(const ingot_node *node, ingot_unary *unary)
{
    unary->a = -INFINITY;
    unary->b = INFINITY;
    const ingot_clip_params *p = node->params;
    if (p->from_attributes) {
        unary->a = p->min;
        unary->b = p->max;
        return !isnan(unary->a) && !isnan(unary->b);
    }
    return (node->operand_count < 2 || !node->inputs[1] || ingot_cpu_scalar(node->inputs[1], &unary->a)) &&
           (node->operand_count < 3 || !node->inputs[2] || ingot_cpu_scalar(node->inputs[2], &unary->b)) &&
           !isnan(unary->a) && !isnan(unary->b);
}

/* Pow with an exponent that is one constant number, and does not add dimensions. */
static bool constant_power(const ingot_node *node, ingot_unary *unary)
{
    const ingot_graph_value *exponent = node->operand_count > 1 ? node->inputs[1] : NULL;
    if (!ingot_graph_value_is_constant(exponent) || ingot_value_count(exponent->constant) != 1 ||
        exponent->constant->rank > (node->inputs[0]->type.rank > 0 ? node->inputs[0]->type.rank : 0) ||
        ((const ingot_binary_params *)node->params)->legacy)
        return false;
    double power = ingot_load_double(exponent->constant->element, exponent->constant->data, 0);
    unary->a = (float)power;
    unary->kind = power == 2 ? INGOT_UNARY_SQUARE : power == 3 ? INGOT_UNARY_CUBE : INGOT_UNARY_POW;
    return unary->a == power;
}

static const unary_entry entries[] = {
    {"Abs", INGOT_UNARY_ABS, NULL},
    {"Ceil", INGOT_UNARY_CEIL, NULL},
    {"Clip", INGOT_UNARY_CLIP, clip_bounds},
    {"Elu", INGOT_UNARY_ELU, alpha_beta},
    {"Erf", INGOT_UNARY_ERF, NULL},
    {"Exp", INGOT_UNARY_EXP, NULL},
    {"Floor", INGOT_UNARY_FLOOR, NULL},
    {"Gelu", INGOT_UNARY_GELU, gelu_form},
    {"HardSigmoid", INGOT_UNARY_HARD_SIGMOID, alpha_beta},
    {"HardSwish", INGOT_UNARY_HARD_SWISH, NULL},
    {"LeakyRelu", INGOT_UNARY_LEAKY_RELU, alpha_beta},
    {"Log", INGOT_UNARY_LOG, NULL},
    {"Mish", INGOT_UNARY_MISH, NULL},
    {"Neg", INGOT_UNARY_NEG, NULL},
    {"Pow", INGOT_UNARY_POW, constant_power},
    {"Reciprocal", INGOT_UNARY_RECIPROCAL, NULL},
    {"Relu", INGOT_UNARY_RELU, NULL},
    {"Round", INGOT_UNARY_ROUND, NULL},
    {"Selu", INGOT_UNARY_SELU, alpha_gamma},
    {"Sigmoid", INGOT_UNARY_SIGMOID, NULL},
    {"Sign", INGOT_UNARY_SIGN, NULL},
    {"Softplus", INGOT_UNARY_SOFTPLUS, NULL},
    {"Softsign", INGOT_UNARY_SOFTSIGN, NULL},
    {"Sqrt", INGOT_UNARY_SQRT, NULL},
    {"Swish", INGOT_UNARY_SILU, alpha_beta},
    {"Tanh", INGOT_UNARY_TANH, NULL},
};

bool ingot_cpu_unary_of(const ingot_node *node, ingot_unary *unary)
{
    if (strcmp(node->domain, "ai.onnx") != 0 || node->operand_count == 0 || !ingot_cpu_is_float(node->inputs[0]))
        return false;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].op_type, node->op_type) != 0)
            continue;
        ingot_unary found = {.kind = entries[i].kind};
        if (entries[i].fill && !entries[i].fill(node, &found))
            return false;
        *unary = found;
        return true;
    }
    return false;
}
