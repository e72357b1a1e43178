/* Attention as exporters write it: MatMul, what scales and masks the scores, Softmax, MatMul; with what puts the operands and
 * the result in order around them. The region is found from its Softmax. */
#include <string.h>

#include "cpu/attention/attention.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "ops/arrange.h"
#include "ops/shape.h"
#include "ops/softmax.h"

enum { Q, K, V, OPERANDS };
#define MAX_STEPS       4
#define MAX_SCORE_NODES 6

/* How an operand is found in an input of the region: through these nodes, the first one reads the input. */
typedef struct chain {
    ingot_node *nodes[MAX_STEPS];
    int count;
    bool scaled;
    float scale;
} chain;

typedef struct change {
    ingot_binary_kind kind;
    size_t input; /* SIZE_MAX: number */
    float number;
    const ingot_type *space; /* its scores' shape where there are views between, else NULL */
} change;

typedef struct detail {
    chain chains[OPERANDS];
    change changes[INGOT_ATTENTION_CHANGES];
    size_t change_count;
    bool viewed;
    const ingot_transpose_params *order; /* of the result, or NULL */
} detail;

typedef struct pattern {
    const ingot_cpu_claim *claim;
    detail d;
    ingot_cpu_draft draft;
    ingot_node *scores[MAX_SCORE_NODES]; /* from the softmax back to the first product, without it */
    int score_count;
    ingot_node *product;
    bool viewed;   /* there are views among the scores' nodes */
    bool may_grow; /* a mask may be larger than the scores, for all that is known of their shapes */
} pattern;

/* ---- Claiming ---- */

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

static bool find_scores(pattern *p, ingot_graph_value *value, int depth);

/* The node changes scores, its input number side, by the other one. */
static bool take_change(pattern *p, ingot_node *node, ingot_binary_kind kind, int side, int depth)
{
    ingot_graph_value *scores = node->inputs[side], *other = node->inputs[!side];
    detail *d = &p->d;
    change c = {.kind = kind, .input = SIZE_MAX, .space = &node->outputs[0]->type};
    if (scores == other || !ingot_cpu_is_float(scores) || !ingot_cpu_is_float(other) || other->type.rank < 0 ||
        scores->type.rank < 2 || other->type.rank > scores->type.rank)
        return false;
    p->may_grow = p->may_grow || !ingot_cpu_same_shape(scores, node->outputs[0]);
    bool is_number = ingot_cpu_scalar(other, &c.number);
    if (!is_number && kind != INGOT_BINARY_ADD)
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
static bool find_scores(pattern *p, ingot_graph_value *value, int depth)
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
        p->viewed = true;
        return find_scores(p, node->inputs[0], depth + 1);
    }
    if (!binary_kind(node, &kind) || node->operand_count != 2)
        return false;
    pattern before = *p;
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

/* Goes back from the operand through nodes that pick and order its elements, and one that scales them. */
static ingot_graph_value *find_operand(const pattern *p, ingot_graph_value *value, chain *c)
{
    for (;;) {
        ingot_node *node = own_producer(p->claim, value);
        ingot_graph_value *from = node && node->operand_count > 0 ? node->inputs[0] : NULL;
        if (!node || c->count == MAX_STEPS || !ingot_cpu_is_float(from))
            return value;
        if (ingot_cpu_is(node, "Mul") && !c->scaled && ingot_cpu_same_shape(from, value) &&
            ingot_cpu_scalar(node->inputs[1], &c->scale))
            c->scaled = true;
        else if (from->type.rank < 1 || from->type.rank > INGOT_ATTENTION_RANK ||
                 (!ingot_cpu_is(node, "Transpose") && !is_index(node)))
            return value;
        c->nodes[c->count++] = node;
        value = from;
    }
}

/* A Transpose that all three operands come from, and nobody else does. */
static void share_transpose(pattern *p, ingot_graph_value **sources)
{
    ingot_graph_value *shared = sources[Q];
    ingot_node *node = shared->producer;
    if (sources[K] != shared || sources[V] != shared || shared->use_count != OPERANDS || shared->output_count > 0 ||
        !node || !ingot_cpu_is(node, "Transpose") || p->claim->taken[node->id] ||
        !ingot_cpu_is_float(node->inputs[0]) || node->inputs[0]->type.rank > INGOT_ATTENTION_RANK)
        return;
    for (int i = 0; i < OPERANDS; i++)
        if (p->d.chains[i].count == 0 || p->d.chains[i].count == MAX_STEPS)
            return;
    for (int i = 0; i < OPERANDS; i++) {
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
static void reverse(chain *c)
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

static bool fill_nodes(pattern *p, ingot_node *softmax, ingot_node *last)
{
    ingot_cpu_draft *draft = &p->draft;
    bool fits = true;
    draft->node_count = 0;
    for (int i = 0; i < OPERANDS; i++) {
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

static bool is_last_axis(const ingot_softmax_params *params, int rank)
{
    return rank > 0 && ingot_axis_of(params->axis, rank) == rank - 1;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    pattern p = {.claim = claim};
    ingot_graph_value *scores = ingot_cpu_is(node, "Softmax") ? node->outputs[0] : NULL;
    ingot_node *last = ingot_cpu_follower(claim, scores);
    if (!last || !is_matrix_product(last) || last->inputs[0] != scores || last->inputs[1] == scores ||
        !is_last_axis(node->params, scores->type.rank))
        return INGOT_OK;
    p.draft.input_count = OPERANDS;
    p.may_grow = !same_batch(scores, last->outputs[0]);
    if (!find_scores(&p, node->inputs[0], 0) || (p.viewed && p.may_grow))
        return INGOT_OK;
    p.d.viewed = p.viewed;
    for (size_t i = 0; i < p.d.change_count; i++) {
        change *c = &p.d.changes[i];
        if (!p.viewed || c->input == SIZE_MAX)
            c->space = NULL;
        else if (!has_countable_batch(c->space))
            return INGOT_OK;
    }
    ingot_graph_value *operands[OPERANDS] = {p.product->inputs[0], p.product->inputs[1], last->inputs[1]};
    for (int i = 0; i < OPERANDS; i++)
        p.draft.inputs[i] = find_operand(&p, operands[i], &p.d.chains[i]);
    share_transpose(&p, p.draft.inputs);
    if (!fill_nodes(&p, node, last))
        return INGOT_OK;
    p.draft.detail = &p.d;
    p.draft.detail_size = sizeof p.d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_attention, &p.draft, claimed);
}

/* ---- Shapes ---- */

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* A tensor that is not laid out densely. */
typedef struct strided {
    int rank;
    int64_t dims[INGOT_ATTENTION_RANK];
    ptrdiff_t strides[INGOT_ATTENTION_RANK], first;
} strided;

static void pick_index(strided *s, const ingot_node *node)
{
    int axis = ingot_axis_of(((const ingot_axis_params *)node->params)->axis, s->rank);
    int64_t index = ingot_integer_at(node->inputs[1]->constant, 0);
    s->first += (ptrdiff_t)(index < 0 ? index + s->dims[axis] : index) * s->strides[axis];
    s->rank--;
    for (int i = axis; i < s->rank; i++) {
        s->dims[i] = s->dims[i + 1];
        s->strides[i] = s->strides[i + 1];
    }
}

static void reorder(strided *s, const ingot_transpose_params *params)
{
    strided from = *s;
    for (int i = 0; i < s->rank; i++) {
        int source = ingot_transpose_source(params, s->rank, i);
        s->dims[i] = from.dims[source];
        s->strides[i] = from.strides[source];
    }
}

static strided follow_chain(const ingot_value *x, const chain *c)
{
    strided s = {.rank = x->rank};
    memcpy(s.dims, x->dims, (size_t)x->rank * sizeof *s.dims);
    ingot_dense_strides(x->rank, x->dims, s.strides);
    for (int i = 0; i < c->count; i++) {
        if (ingot_cpu_is(c->nodes[i], "Transpose"))
            reorder(&s, c->nodes[i]->params);
        else if (ingot_cpu_is(c->nodes[i], "Gather"))
            pick_index(&s, c->nodes[i]);
    }
    return s;
}

/* Batch of the scores where the change or the product is, counted through by an operand of sizes dims. */
static void spread_batch(ingot_matrices *m, const int64_t *batch, int batch_rank, int rank, const int64_t *dims,
                         const ptrdiff_t *strides)
{
    m->rank = batch_rank;
    for (int i = 0; i < batch_rank; i++) {
        int own = i - (batch_rank - (rank - 2));
        m->dims[i] = (size_t)batch[i];
        m->strides[i] = own < 0 || dims[own] == 1 ? 0 : strides[own];
    }
}

static void fill_operand(ingot_matrices *m, const strided *s, const int64_t *batch, int batch_rank, const chain *c,
                         const ingot_value *x)
{
    m->data = x->data ? (const float *)x->data + s->first : NULL;
    m->row = s->strides[s->rank - 2];
    m->column = s->strides[s->rank - 1];
    m->scaled = c->scaled;
    m->scale = c->scale;
    spread_batch(m, batch, batch_rank, s->rank, s->dims, s->strides);
}

/* A mask, right-aligned with the scores: [..., rows or 1, keys or 1]. */
static void fill_mask(ingot_matrices *m, const ingot_value *x, const int64_t *batch, int batch_rank)
{
    int64_t dims[INGOT_MAX_RANK + 2];
    ptrdiff_t strides[INGOT_MAX_RANK + 2];
    int rank = x->rank < 2 ? 2 : x->rank;
    for (int i = 0; i < rank; i++)
        dims[i] = i < rank - x->rank ? 1 : x->dims[i - (rank - x->rank)];
    ingot_dense_strides(rank, dims, strides);
    m->data = x->data;
    m->row = dims[rank - 2] == 1 ? 0 : strides[rank - 2];
    m->column = dims[rank - 1] == 1 ? 0 : 1;
    spread_batch(m, batch, batch_rank, rank, dims, strides);
}

/* The result's matrices among the elements of y, which may be in another order. */
static void fill_result(ingot_attention *a, const ingot_value *y, const strided *s)
{
    a->y.row = s->strides[s->rank - 2];
    a->y.column = 1;
    a->y_data = y->data;
    spread_batch(&a->y, s->dims, s->rank - 2, s->rank, s->dims, s->strides);
    for (int i = 0; i < a->y.rank; i++)
        a->count *= a->y.dims[i];
}

static strided order_result(const ingot_transpose_params *order, const ingot_value *y)
{
    strided s = {.rank = y->rank};
    ptrdiff_t dense[INGOT_ATTENTION_RANK];
    ingot_dense_strides(y->rank, y->dims, dense);
    for (int i = 0; i < y->rank; i++) {
        int source = order ? ingot_transpose_source(order, y->rank, i) : i;
        s.dims[source] = y->dims[i];
        s.strides[source] = dense[i];
    }
    return s;
}

/* The batch of such a shape, of count matrices. */
static void count_batch(const ingot_type *type, size_t count, int64_t *batch)
{
    int64_t others = 1;
    for (int i = 0; i < type->rank - 2; i++)
        others *= ingot_dim_is_number(type->dims[i]) ? type->dims[i] : 1;
    for (int i = 0; i < type->rank - 2; i++)
        batch[i] = ingot_dim_is_number(type->dims[i]) ? type->dims[i] : (int64_t)count / others;
}

static void fill_masks(const detail *d, const ingot_value *const *inputs, const int64_t *batch, int batch_rank,
                       ingot_attention *a)
{
    int64_t counted[INGOT_ATTENTION_RANK];
    a->change_count = d->change_count;
    for (size_t i = 0; i < d->change_count; i++) {
        const change *c = &d->changes[i];
        a->changes[i] = (ingot_score_change){.kind = c->kind, .is_number = c->input == SIZE_MAX, .number = c->number};
        if (c->space)
            count_batch(c->space, a->count, counted);
        if (c->input != SIZE_MAX)
            fill_mask(&a->changes[i].matrices, inputs[c->input], c->space ? counted : batch,
                      c->space ? c->space->rank - 2 : batch_rank);
    }
}

/* Without views among the scores' nodes all have the result's batch. Where a mask, or V, makes it larger than Q's and K's, or one
 * row or key more, the same scores are made again. */
static void fill(const ingot_region *region, const ingot_value *const *inputs, const ingot_value *y, ingot_attention *a)
{
    const detail *d = detail_of(region);
    strided operands[OPERANDS], result = order_result(d->order, y);
    int64_t batch[INGOT_ATTENTION_RANK];
    for (int i = 0; i < OPERANDS; i++)
        operands[i] = follow_chain(inputs[i], &d->chains[i]);
    const strided *q = &operands[Q], *k = &operands[K], *v = &operands[V];
    *a = (ingot_attention){.count = 1};
    a->rows = (size_t)result.dims[result.rank - 2];
    a->depth = (size_t)q->dims[q->rank - 1];
    a->keys = (size_t)v->dims[v->rank - 2];
    a->width = (size_t)v->dims[v->rank - 1];
    for (int i = 0; i < q->rank - 2; i++)
        batch[i] = !d->viewed ? result.dims[i] : q->dims[i] == 1 ? k->dims[i] : q->dims[i];
    fill_operand(&a->q, q, batch, q->rank - 2, &d->chains[Q], inputs[Q]);
    fill_operand(&a->k, k, batch, k->rank - 2, &d->chains[K], inputs[K]);
    fill_operand(&a->v, v, result.dims, v->rank - 2, &d->chains[V], inputs[V]);
    if (q->dims[q->rank - 2] == 1)
        a->q.row = 0;
    if (k->dims[k->rank - 1] == 1)
        a->k.column = 0;
    fill_result(a, y, &result);
    fill_masks(d, inputs, batch, q->rank - 2, a);
}

/* ---- Running ---- */

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "attention_f32";
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    ingot_attention a;
    fill(region, inputs, outputs[0], &a);
    *bytes = ingot_attention_f32_workspace(&a, threads);
    return INGOT_OK;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    ingot_attention a;
    fill(step->region, step->inputs, step->outputs[0], &a);
    ingot_attention_f32(&a, step->workspace, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_attention = {
    .name = "attention", .claim = claim, .tactic = tactic, .measure = measure, .run = run};
