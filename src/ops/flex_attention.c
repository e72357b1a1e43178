/* FlexAttention, rewritten into standard operators: its graphs may be anything, so there is no kernel of the whole. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "ops/control.h"
#include "ops/upgrade.h"

/* ---- WidenFloat ---- */

static ingot_status infer_widen(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    bool narrow = x->element == INGOT_FLOAT16 || x->element == INGOT_BFLOAT16;
    ingot_infer_set(c, 0, narrow ? INGOT_FLOAT : x->element, x->rank, x->dims);
    return INGOT_OK;
}

const ingot_op ingot_op_widen_float = {
    .summary =
        "float16 and bfloat16 as float, other types as they are; Ingot's own, in what FlexAttention is rewritten into",
    .infer = infer_widen,
};

/* ---- The rewriting ---- */

typedef struct attention {
    ingot_builder b;
    ingot_node *node;
    ingot_graph_value *q, *k, *v;
    ingot_graph_value *batch_and_heads, *kv_heads, *group; /* sizes: B and Hq; Hkv; Hq / Hkv */
    ingot_graph_value *q_length, *kv_length;
} attention;

static ingot_attribute int_attribute(const char *name, int64_t value)
{
    return (ingot_attribute){.name = name, .type = INGOT_ATTRIBUTE_INT, .i = value};
}

static ingot_graph_value *concat(ingot_builder *b, ingot_graph_value *const *parts, size_t count)
{
    ingot_attribute axis = int_attribute("axis", 0);
    return ingot_build_with(b, "Concat", parts, count, &axis, 1);
}

#define CONCAT(b, ...)                                   \
    concat(b, (ingot_graph_value *const[]){__VA_ARGS__}, \
           sizeof((ingot_graph_value *const[]){__VA_ARGS__}) / sizeof(ingot_graph_value *))

/* Sizes of 0 are meant. */
static ingot_graph_value *reshape(ingot_builder *b, ingot_graph_value *x, ingot_graph_value *shape)
{
    ingot_attribute allow = int_attribute("allowzero", 1);
    return ingot_build_with(b, "Reshape", (ingot_graph_value *const[]){x, shape}, 2, &allow, 1);
}

/* The square root of the scale, of Q's type: both Q and K are multiplied by it. */
static ingot_graph_value *root_of_scale(attention *a)
{
    ingot_builder *b = &a->b;
    const ingot_attribute *scale = ingot_node_attribute(a->node, "scale");
    if (scale)
        return INGOT_BUILD(b, "CastLike", ingot_build_number(b, INGOT_FLOAT, (double)sqrtf(scale->f)), a->q);
    ingot_attribute to = int_attribute("to", INGOT_FLOAT);
    ingot_graph_value *size = ingot_build_sizes(b, a->q, 3, 4);
    ingot_graph_value *root = INGOT_BUILD(b, "Sqrt", ingot_build_with(b, "Cast", &size, 1, &to, 1));
    return INGOT_BUILD(b, "CastLike", INGOT_BUILD(b, "Sqrt", INGOT_BUILD(b, "Reciprocal", root)), a->q);
}

/* Q K^T, [B, Hq, L, S]. The query heads that share a key head lie on an axis of their own meanwhile. */
static ingot_graph_value *scores(attention *a)
{
    static const int64_t last_two_swapped[] = {0, 1, 3, 2}, two[] = {2};
    ingot_builder *b = &a->b;
    ingot_graph_value *root = root_of_scale(a);
    ingot_attribute perm = {.name = "perm", .type = INGOT_ATTRIBUTE_INTS, .count = 4, .ints = last_two_swapped};
    ingot_graph_value *key = INGOT_BUILD(b, "Mul", a->k, root);
    key = ingot_build_with(b, "Transpose", &key, 1, &perm, 1);
    key = INGOT_BUILD(b, "Unsqueeze", key, ingot_build_ints(b, two, 1));
    ingot_graph_value *shape =
        CONCAT(b, ingot_build_sizes(b, a->q, 0, 1), a->kv_heads, a->group, ingot_build_sizes(b, a->q, 2, 4));
    ingot_graph_value *query = reshape(b, INGOT_BUILD(b, "Mul", a->q, root), shape);
    return reshape(b, INGOT_BUILD(b, "MatMul", query, key), CONCAT(b, a->batch_and_heads, a->q_length, a->kv_length));
}

/* The scores in the type that the softmax is to be computed in. */
static ingot_graph_value *in_precision(attention *a, ingot_graph_value *x)
{
    const ingot_attribute *precision = ingot_node_attribute(a->node, "softmax_precision");
    if (precision) {
        ingot_attribute to = int_attribute("to", precision->i);
        return ingot_build_with(&a->b, "Cast", &x, 1, &to, 1);
    }
    ingot_graph_value *output = ingot_build_value(&a->b, "");
    ingot_build_node(&a->b, &(ingot_node_spec){.domain = "ai.ingot",
                                               .op_type = "WidenFloat",
                                               .name = a->b.name,
                                               .opset = 1,
                                               .inputs = &x,
                                               .input_count = 1,
                                               .operand_count = 1,
                                               .outputs = &output,
                                               .output_count = 1});
    return output;
}

/* A graph that gives its input. */
static ingot_graph *identity_graph(ingot_builder *b)
{
    ingot_graph *graph = NULL;
    ingot_graph_value *x = NULL;
    if (b->status == INGOT_OK)
        b->status = ingot_graph_create(b->graph->module, "", &graph, b->error);
    if (b->status == INGOT_OK)
        b->status = ingot_graph_add_value(graph, "", 0, &x, b->error);
    if (b->status == INGOT_OK)
        b->status = ingot_graph_add_input(graph, x, b->error);
    if (b->status == INGOT_OK)
        b->status = ingot_graph_add_output(graph, x, "", b->error);
    return graph;
}

static ingot_status check_body(const attention *a, const ingot_body *body)
{
    if (body->formal_count == 1 && body->graph->output_count == 1)
        return INGOT_OK;
    return ingot_fail(a->b.error, INGOT_INVALID_MODEL,
                      "the graph '%s' has %zu inputs and %zu outputs, but must have one of each", body->attribute,
                      body->formal_count, body->graph->output_count);
}

/* x after one of the node's graphs, which becomes the branch of an If that is always taken; x where it is not given. */
static ingot_graph_value *modified(attention *a, const char *attribute, ingot_graph_value *x)
{
    ingot_builder *b = &a->b;
    const ingot_body *body = ingot_node_body(a->node, attribute);
    if (!body || b->status != INGOT_OK)
        return x;
    b->status = check_body(a, body);
    size_t captures = body->capture_count;
    ingot_graph_value **inputs = ingot_arena_alloc_array(b->graph->module->arena, captures + 3, sizeof *inputs);
    if (!inputs && b->status == INGOT_OK)
        b->status = ingot_fail_memory(b->error, captures, "a node");
    ingot_graph *otherwise = identity_graph(b);
    ingot_graph_value *yes = ingot_build_number(b, INGOT_BOOL, 1), *output = ingot_build_value(b, "");
    if (b->status != INGOT_OK)
        return NULL;
    inputs[0] = yes;
    inputs[1] = inputs[2 + captures] = x;
    for (size_t i = 0; i < captures; i++)
        inputs[2 + i] = a->node->inputs[body->capture_first + i];
    const ingot_body bodies[] = {{"then_branch", body->graph, 0, 1, 1 + captures},
                                 {"else_branch", otherwise, 0, 2 + captures, 1}};
    const ingot_attribute attributes[] = {{.name = "then_branch", .type = INGOT_ATTRIBUTE_GRAPH, .body = 0},
                                          {.name = "else_branch", .type = INGOT_ATTRIBUTE_GRAPH, .body = 1}};
    ingot_build_node(b, &(ingot_node_spec){.op_type = "If",
                                           .name = b->name,
                                           .opset = INGOT_BUILD_OPSET,
                                           .inputs = inputs,
                                           .input_count = captures + 3,
                                           .operand_count = 1,
                                           .outputs = &output,
                                           .output_count = 1,
                                           .attributes = attributes,
                                           .attribute_count = 2,
                                           .bodies = bodies,
                                           .body_count = 2});
    return output;
}

/* Probabilities times V, [B, Hq, L, size of a value]. */
static ingot_graph_value *weighted(attention *a, ingot_graph_value *probabilities)
{
    static const int64_t two[] = {2};
    ingot_builder *b = &a->b;
    ingot_graph_value *value =
        INGOT_BUILD(b, "Unsqueeze", INGOT_BUILD(b, "CastLike", a->v, probabilities), ingot_build_ints(b, two, 1));
    ingot_graph_value *shape =
        CONCAT(b, ingot_build_sizes(b, a->q, 0, 1), a->kv_heads, a->group, a->q_length, a->kv_length);
    ingot_graph_value *y = INGOT_BUILD(b, "MatMul", reshape(b, probabilities, shape), value);
    return reshape(b, y, CONCAT(b, a->batch_and_heads, a->q_length, ingot_build_sizes(b, a->v, 3, 4)));
}

ingot_status ingot_upgrade_flex_attention(ingot_node *node, ingot_error *error)
{
    attention a = {.b = {.graph = node->graph, .before = node, .name = node->name, .error = error},
                   .node = node,
                   .q = node->inputs[0],
                   .k = node->inputs[1],
                   .v = node->inputs[2]};
    ingot_builder *b = &a.b;
    a.batch_and_heads = ingot_build_sizes(b, a.q, 0, 2);
    a.q_length = ingot_build_sizes(b, a.q, 2, 3);
    a.kv_heads = ingot_build_sizes(b, a.k, 1, 2);
    a.kv_length = ingot_build_sizes(b, a.k, 2, 3);
    a.group = INGOT_BUILD(b, "Div", ingot_build_sizes(b, a.q, 1, 2), a.kv_heads);
    ingot_attribute last = int_attribute("axis", -1);
    ingot_graph_value *x = modified(&a, "score_mod", in_precision(&a, scores(&a)));
    x = modified(&a, "prob_mod", ingot_build_with(b, "Softmax", &x, 1, &last, 1));
    x = weighted(&a, x);
    INGOT_TRY(b->status);
    ingot_graph_value *const inputs[] = {x, a.v};
    return ingot_node_become(
        node,
        &(ingot_node_spec){
            .op_type = "CastLike", .opset = INGOT_BUILD_OPSET, .inputs = inputs, .input_count = 2, .operand_count = 2},
        error);
}
