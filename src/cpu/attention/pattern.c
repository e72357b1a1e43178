#include "cpu/attention/pattern.h"

#include <string.h>

#include "cpu/extent.h"
#include "ops/binary.h"
#include "ops/shape.h"
#include "ops/softmax.h"

#define MAX_SCORE_NODES 6

typedef struct search {
    const ingot_cpu_claim *claim;
    ingot_attention_pattern d;
    ingot_cpu_draft draft;
    ingot_node *scores[MAX_SCORE_NODES]; /* from the softmax back to the first product, without it */
    int score_count;
    ingot_node *product;
    bool may_grow; /* a mask may be larger than the scores, for all that is known of their shapes */
} search;

/* The node that makes the value, for this region alone. */
static ingot_node *own_producer(const ingot_cpu_claim *claim, const ingot_graph_value *value)
{
    ingot_node *node = value ? value->producer : NULL;
    return node && value->use_count == 1 && value->output_count == 0 && !claim->taken[node->id] &&
                   node->body_count == 0 && node->outputs[0] == value
               ? node
               : NULL;
}

static bool is_matrix_product(const ingot_node *node)
{
    return ingot_cpu_is(node, "MatMul") && ingot_cpu_is_float(node->inputs[0]) && ingot_cpu_is_float(node->inputs[1]) &&
           node->inputs[0]->type.rank >= 2 && node->inputs[0]->type.rank <= INGOT_ATTENTION_RANK &&
           node->inputs[0]->type.rank == node->inputs[1]->type.rank && node->outputs[0] &&
           node->outputs[0]->type.rank == node->inputs[0]->type.rank;
}

/* A view that leaves the last two axes as they are: what is before them then counts the same matrices. */
static bool keeps_matrices(const ingot_node *node)
{
    const ingot_type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    if (x->kind != INGOT_KIND_TENSOR || x->rank < 2 || y->rank < 2 || x->rank > INGOT_ATTENTION_RANK ||
        y->rank > INGOT_ATTENTION_RANK)
        return false;
    for (int i = 1; i <= 2; i++) {
        ingot_dim size = x->dims[x->rank - i];
        if (!ingot_dim_is_number(size) || size == 0 || size != y->dims[y->rank - i])
            return false;
    }
    return true;
}

/* Whether the sizes before the matrices' follow from how many these are. */
static bool has_countable_batch(const ingot_type *type)
{
    int unknown = 0;
    for (int i = 0; i < type->rank - 2; i++) {
        unknown += !ingot_dim_is_number(type->dims[i]);
        if (type->dims[i] == 0)
            return false;
    }
    return unknown <= 1;
}

static bool binary_kind(const ingot_node *node, ingot_binary_kind *kind)
{
    static const struct {
        const char *op_type;
        ingot_binary_kind kind;
    } entries[] = {{"Add", INGOT_BINARY_ADD}, {"Mul", INGOT_BINARY_MUL}, {"Div", INGOT_BINARY_DIV}};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *kind = entries[i].kind;
        if (ingot_cpu_is(node, entries[i].op_type))
            return true;
    }
    return false;
}

static bool find_scores(search *p, ingot_graph_value *value, int depth);

/* The node changes scores, its input number side, by the other one. */
static bool take_change(search *p, ingot_node *node, ingot_binary_kind kind, int side, int depth)
{
    ingot_graph_value *scores = node->inputs[side], *other = node->inputs[!side];
    ingot_attention_pattern *d = &p->d;
    ingot_attention_change c = {.kind = kind, .input = SIZE_MAX, .space = &node->outputs[0]->type};
    if (scores == other || !ingot_cpu_is_float(scores) || !ingot_cpu_is_float(other) || other->type.rank < 0 ||
        scores->type.rank < 2 || other->type.rank > scores->type.rank)
        return false;
    p->may_grow = p->may_grow || !ingot_cpu_same_shape(scores, node->outputs[0]);
    bool is_number = ingot_cpu_scalar(other, &c.number);
    if (!is_number && (kind != INGOT_BINARY_ADD || ((const ingot_binary_params *)node->params)->axis_given))
        return false;
    p->scores[p->score_count++] = node;
    if (!find_scores(p, scores, depth + 1) || d->change_count == INGOT_ATTENTION_CHANGES ||
        p->draft.input_count == INGOT_CPU_MAX_INPUTS)
        return false;
    if (!is_number) {
        c.input = p->draft.input_count;
        p->draft.inputs[p->draft.input_count++] = other;
    }
    d->changes[d->change_count++] = c;
    return true;
}

/* From the softmax back to the first product; changes are taken on the way out, so that they are in order. */
static bool find_scores(search *p, ingot_graph_value *value, int depth)
{
    ingot_node *node = own_producer(p->claim, value);
    ingot_binary_kind kind;
    if (!node || depth == MAX_SCORE_NODES)
        return false;
    if (is_matrix_product(node)) {
        p->product = node;
        return true;
    }
    if (node->op->flags & INGOT_OP_VIEW) {
        if (!keeps_matrices(node))
            return false;
        p->scores[p->score_count++] = node;
        p->d.viewed = true;
        return find_scores(p, node->inputs[0], depth + 1);
    }
    if (!binary_kind(node, &kind) || node->operand_count != 2)
        return false;
    search before = *p;
    if (take_change(p, node, kind, 0, depth))
        return true;
    *p = before;
    return kind != INGOT_BINARY_DIV && take_change(p, node, kind, 1, depth);
}

/* A Gather of one index that is known and in range. */
static bool is_index(const ingot_node *node)
{
    if (!ingot_cpu_is(node, "Gather") || !ingot_graph_value_is_constant(node->inputs[1]) ||
        node->inputs[1]->constant->rank != 0)
        return false;
    const ingot_type *from = &node->inputs[0]->type;
    int64_t index = ingot_integer_at(node->inputs[1]->constant, 0);
    ingot_dim size = from->dims[ingot_axis_of(((const ingot_axis_params *)node->params)->axis, from->rank)];
    return ingot_dim_is_number(size) && index >= -size && index < size;
}

/* A view that splits the one axis before the matrices. */
static bool splits_batch(const ingot_node *node)
{
    return (node->op->flags & INGOT_OP_VIEW) && node->inputs[0]->type.rank == 3 && keeps_matrices(node) &&
           has_countable_batch(&node->outputs[0]->type);
}

/* Goes back from the operand through nodes that pick and order its elements, and one that scales them. */
static ingot_graph_value *find_operand(const search *p, ingot_graph_value *value, ingot_attention_chain *c)
{
    for (;;) {
        ingot_node *node = own_producer(p->claim, value);
        ingot_graph_value *from = node && node->operand_count > 0 ? node->inputs[0] : NULL;
        if (!node || c->count == INGOT_ATTENTION_STEPS || !ingot_cpu_is_float(from))
            return value;
        if (ingot_cpu_is(node, "Mul") && !c->scaled && ingot_cpu_same_shape(from, value) &&
            ingot_cpu_scalar(node->inputs[1], &c->scale))
            c->scaled = true;
        else if (from->type.rank < 1 || from->type.rank > INGOT_ATTENTION_RANK ||
                 (!ingot_cpu_is(node, "Transpose") && !is_index(node) && !splits_batch(node)))
            return value;
        c->nodes[c->count++] = node;
        value = from;
    }
}

/* A Transpose that all three operands come from, and nobody else does. */
static void share_transpose(search *p, ingot_graph_value **sources)
{
    ingot_graph_value *shared = sources[INGOT_QUERIES];
    ingot_node *node = shared->producer;
    if (sources[INGOT_KEYS] != shared || sources[INGOT_VALUES] != shared || shared->use_count != INGOT_QKV ||
        shared->output_count > 0 || !node || !ingot_cpu_is(node, "Transpose") || p->claim->taken[node->id] ||
        !ingot_cpu_is_float(node->inputs[0]) || node->inputs[0]->type.rank > INGOT_ATTENTION_RANK)
        return;
    for (int i = 0; i < INGOT_QKV; i++)
        if (p->d.chains[i].count == 0 || p->d.chains[i].count == INGOT_ATTENTION_STEPS)
            return;
    for (int i = 0; i < INGOT_QKV; i++) {
        p->d.chains[i].nodes[p->d.chains[i].count++] = node;
        sources[i] = node->inputs[0];
    }
}

static bool add_node(ingot_cpu_draft *draft, ingot_node *node)
{
    for (size_t i = 0; i < draft->node_count; i++)
        if (draft->nodes[i] == node)
            return true;
    if (draft->node_count == INGOT_CPU_MAX_NODES)
        return false;
    draft->nodes[draft->node_count++] = node;
    return true;
}

/* Chains were found from their ends; a run goes through them from their beginnings. */
static void reverse(ingot_attention_chain *c)
{
    for (int i = 0; i < c->count / 2; i++) {
        ingot_node *node = c->nodes[i];
        c->nodes[i] = c->nodes[c->count - 1 - i];
        c->nodes[c->count - 1 - i] = node;
    }
}

/* A Transpose of the result, of which rows stay whole. */
static ingot_node *find_order(const ingot_cpu_claim *claim, const ingot_node *product)
{
    ingot_node *node = ingot_cpu_follower(claim, product->outputs[0]);
    int rank = product->outputs[0]->type.rank;
    return node && node->outputs[0] && ingot_cpu_is(node, "Transpose") &&
                   ingot_transpose_source(node->params, rank, rank - 1) == rank - 1
               ? node
               : NULL;
}

static bool fill_nodes(search *p, ingot_node *softmax, ingot_node *last)
{
    ingot_cpu_draft *draft = &p->draft;
    bool fits = true;
    draft->node_count = 0;
    for (int i = 0; i < INGOT_QKV; i++) {
        reverse(&p->d.chains[i]);
        for (int n = 0; n < p->d.chains[i].count; n++)
            fits = fits && add_node(draft, p->d.chains[i].nodes[n]);
    }
    fits = fits && add_node(draft, p->product);
    for (int i = p->score_count - 1; i >= 0; i--)
        fits = fits && add_node(draft, p->scores[i]);
    fits = fits && add_node(draft, softmax) && add_node(draft, last);
    ingot_node *order = find_order(p->claim, last);
    p->d.order = order && fits && draft->node_count < INGOT_CPU_MAX_NODES ? order->params : NULL;
    return fits && (!p->d.order || add_node(draft, order));
}

static bool same_batch(const ingot_graph_value *a, const ingot_graph_value *b)
{
    int rank = a->type.rank;
    return rank >= 2 && rank == b->type.rank &&
           memcmp(a->type.dims, b->type.dims, (size_t)(rank - 2) * sizeof *a->type.dims) == 0;
}

/* Shapes of the scores that masks are spread over, where they are not the result's. */
static bool find_spaces(search *p)
{
    for (size_t i = 0; i < p->d.change_count; i++) {
        ingot_attention_change *c = &p->d.changes[i];
        if (!p->d.viewed || c->input == SIZE_MAX)
            c->space = NULL;
        else if (!has_countable_batch(c->space))
            return false;
    }
    return true;
}

static bool is_last_axis(const ingot_softmax_params *params, int rank)
{
    return rank > 0 && ingot_axis_of(params->axis, rank) == rank - 1;
}

bool ingot_attention_find(const ingot_cpu_claim *claim, ingot_node *softmax, ingot_attention_pattern *pattern,
                          ingot_cpu_draft *draft)
{
    search p = {.claim = claim};
    ingot_graph_value *scores = ingot_cpu_is(softmax, "Softmax") ? softmax->outputs[0] : NULL;
    ingot_node *last = ingot_cpu_follower(claim, scores);
    if (!last || !is_matrix_product(last) || last->inputs[0] != scores || last->inputs[1] == scores ||
        !is_last_axis(softmax->params, scores->type.rank))
        return false;
    p.draft.input_count = INGOT_QKV;
    p.may_grow = !same_batch(scores, last->outputs[0]);
    if (!find_scores(&p, softmax->inputs[0], 0) || (p.d.viewed && p.may_grow) || !find_spaces(&p))
        return false;
    ingot_graph_value *operands[INGOT_QKV] = {p.product->inputs[0], p.product->inputs[1], last->inputs[1]};
    for (int i = 0; i < INGOT_QKV; i++)
        p.draft.inputs[i] = find_operand(&p, operands[i], &p.d.chains[i]);
    share_transpose(&p, p.draft.inputs);
    if (!fill_nodes(&p, softmax, last))
        return false;
    *pattern = p.d;
    *draft = p.draft;
    return true;
}
