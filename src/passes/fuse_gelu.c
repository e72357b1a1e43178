/* GELU as exporters spell it out becomes Gelu, exact from Erf and approximate from Tanh:
 *     x / 2 * (1 + erf(x / sqrt(2)))
 *     x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
 * with the products of x, numbers and the sum taken in any order. */
#include "passes/rewrite.h"

#define GELU_OPSET  20
#define SQRT_2      1.4142135623730951
#define SQRT_2_PI   0.7978845608028654 /* sqrt(2 / pi) */
#define CUBE_FACTOR 0.044715

typedef struct gelu {
    ingot_graph_value *x;
    bool tanh;
} gelu;

/* ---- The sum 1 + erf(...) or 1 + tanh(...) ---- */

static ingot_graph_value *match_erf(const ingot_graph_value *value)
{
    const ingot_node *erf = ingot_made_by(value, "Erf");
    const ingot_node *div = erf ? ingot_made_by(erf->inputs[0], "Div") : NULL;
    if (div)
        return ingot_is_number_beside(div->inputs[1], div->inputs[0], SQRT_2) ? div->inputs[0] : NULL;
    return erf ? ingot_other_than_number(ingot_made_by(erf->inputs[0], "Mul"), 1 / SQRT_2) : NULL;
}

/* Multiplies what value is a product of, powers of x and numbers, into power and factor; false: it has another part. */
static bool multiply_parts(const ingot_graph_value *value, const ingot_graph_value *x, int depth, int *power,
                           double *factor)
{
    const ingot_node *pow = ingot_made_by(value, "Pow"), *mul = ingot_made_by(value, "Mul");
    double number;
    if (value == x)
        return ++*power;
    if (ingot_constant_beside(value, x, &number)) {
        *factor *= number;
        return true;
    }
    if (pow && pow->inputs[0] == x && ingot_is_number_beside(pow->inputs[1], x, 3))
        return *power += 3;
    return mul && depth > 0 && multiply_parts(mul->inputs[0], x, depth - 1, power, factor) &&
           multiply_parts(mul->inputs[1], x, depth - 1, power, factor);
}

/* 0.044715 * x^3 */
static bool is_scaled_cube(const ingot_graph_value *value, const ingot_graph_value *x)
{
    int power = 0;
    double factor = 1;
    return multiply_parts(value, x, 3, &power, &factor) && power == 3 &&
           (factor == CUBE_FACTOR || factor == (float)CUBE_FACTOR);
}

static ingot_graph_value *match_tanh(const ingot_graph_value *value)
{
    const ingot_node *tanh = ingot_made_by(value, "Tanh");
    const ingot_graph_value *inner =
        tanh ? ingot_other_than_number(ingot_made_by(tanh->inputs[0], "Mul"), SQRT_2_PI) : NULL;
    const ingot_node *add = ingot_made_by(inner, "Add");
    for (int side = 0; add && side < 2; side++) {
        ingot_graph_value *x = add->inputs[side];
        if (is_scaled_cube(add->inputs[1 - side], x))
            return x;
    }
    return NULL;
}

static bool match_sum(const ingot_graph_value *value, gelu *g)
{
    const ingot_graph_value *inner = ingot_other_than_number(ingot_made_by(value, "Add"), 1);
    if (!inner)
        return false;
    g->x = match_erf(inner);
    g->tanh = !g->x;
    if (!g->x)
        g->x = match_tanh(inner);
    return g->x != NULL;
}

/* ---- The product ---- */

/* x / 2 */
static bool is_half_of(const ingot_graph_value *value, const ingot_graph_value *x)
{
    const ingot_node *div = ingot_made_by(value, "Div");
    if (div)
        return div->inputs[0] == x && ingot_is_number_beside(div->inputs[1], x, 2);
    return ingot_other_than_number(ingot_made_by(value, "Mul"), .5) == x;
}

/* x * sum, or its half where the half is not in the sum. */
static bool match_product(const ingot_graph_value *a, const ingot_graph_value *b, gelu *g)
{
    const ingot_graph_value *half_sum = ingot_other_than_number(ingot_made_by(b, "Mul"), .5);
    if (match_sum(b, g))
        return is_half_of(a, g->x);
    return half_sum && match_sum(half_sum, g) && g->x == a;
}

static bool match_gelu(const ingot_node *mul, gelu *g)
{
    if (match_product(mul->inputs[0], mul->inputs[1], g) || match_product(mul->inputs[1], mul->inputs[0], g))
        return true;
    const ingot_node *whole = ingot_made_by(ingot_other_than_number(mul, .5), "Mul"); /* x * sum, then halved */
    for (int side = 0; whole && side < 2; side++)
        if (match_sum(whole->inputs[side], g) && whole->inputs[1 - side] == g->x)
            return true;
    return false;
}

static ingot_status make_gelu(ingot_node *node, const gelu *g, ingot_error *error)
{
    ingot_graph_value *x = g->x;
    ingot_attribute approximate = {.name = "approximate", .type = INGOT_ATTRIBUTE_STRING, .s = {"tanh", 4}};
    ingot_replacement by = {.op_type = "Gelu",
                            .opset = GELU_OPSET,
                            .inputs = &x,
                            .input_count = 1,
                            .attributes = &approximate,
                            .attribute_count = g->tanh};
    return ingot_replace_node(node, &by, NULL, error);
}

ingot_status ingot_pass_fuse_gelu(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    if (!ingot_can_make("Gelu", GELU_OPSET))
        return INGOT_OK;
    for (ingot_node *n = graph->first; n; n = n->next) {
        gelu g = {0};
        if (!ingot_node_is(n, "Mul") || !ingot_value_is_read(n->outputs[0]) || !match_gelu(n, &g))
            continue;
        if (g.x->type.element != INGOT_FLOAT && g.x->type.element != INGOT_DOUBLE)
            continue;
        INGOT_TRY(make_gelu(n, &g, context->error));
        *changed = true;
    }
    return INGOT_OK;
}
