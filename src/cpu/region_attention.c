/* Attention: products, masks and softmax between them, and what orders operands, as one region. */
#include <string.h>

#include "cpu/attention/pattern.h"
#include "cpu/extent.h"
#include "ops/shape.h"

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    ingot_attention_pattern pattern;
    ingot_cpu_draft draft;
    if (!ingot_attention_find(claim, node, &pattern, &draft))
        return INGOT_OK;
    draft.detail = &pattern;
    draft.detail_size = sizeof pattern;
    return ingot_cpu_claim_region(claim, &ingot_cpu_attention, &draft, claimed);
}

/* ---- Shapes ---- */

static const ingot_attention_pattern *pattern_of(const ingot_region *region)
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

/* The batch of such a shape, of count matrices. */
static void count_batch(const ingot_type *type, size_t count, int64_t *batch)
{
    int64_t others = 1;
    for (int i = 0; i < type->rank - 2; i++)
        others *= ingot_dim_is_number(type->dims[i]) ? type->dims[i] : 1;
    for (int i = 0; i < type->rank - 2; i++)
        batch[i] = ingot_dim_is_number(type->dims[i]) ? type->dims[i] : (int64_t)count / others;
}

static void split_batch(strided *s, const ingot_type *type)
{
    strided from = *s;
    ptrdiff_t stride = from.strides[0];
    s->rank = type->rank;
    count_batch(type, (size_t)from.dims[0], s->dims);
    for (int i = s->rank - 3; i >= 0; i--) {
        s->strides[i] = stride;
        stride *= (ptrdiff_t)s->dims[i];
    }
    for (int i = 1; i <= 2; i++) {
        s->dims[s->rank - i] = from.dims[3 - i];
        s->strides[s->rank - i] = from.strides[3 - i];
    }
}

static strided follow_chain(const ingot_value *x, const ingot_attention_chain *c)
{
    strided s = {.rank = x->rank};
    memcpy(s.dims, x->dims, (size_t)x->rank * sizeof *s.dims);
    ingot_dense_strides(x->rank, x->dims, s.strides);
    for (int i = 0; i < c->count; i++) {
        if (ingot_cpu_is(c->nodes[i], "Transpose"))
            reorder(&s, c->nodes[i]->params);
        else if (ingot_cpu_is(c->nodes[i], "Gather"))
            pick_index(&s, c->nodes[i]);
        else if (c->nodes[i]->op->flags & INGOT_OP_VIEW)
            split_batch(&s, &c->nodes[i]->outputs[0]->type);
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

static void fill_operand(ingot_matrices *m, const strided *s, const int64_t *batch, int batch_rank,
                         const ingot_attention_chain *c, const ingot_value *x)
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

static void fill_masks(const ingot_attention_pattern *d, const ingot_value *const *inputs, const int64_t *batch,
                       int batch_rank, ingot_attention *a)
{
    int64_t counted[INGOT_ATTENTION_RANK];
    a->change_count = d->change_count;
    for (size_t i = 0; i < d->change_count; i++) {
        const ingot_attention_change *c = &d->changes[i];
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
    const ingot_attention_pattern *d = pattern_of(region);
    strided operands[INGOT_QKV], result = order_result(d->order, y);
    int64_t batch[INGOT_ATTENTION_RANK];
    for (int i = 0; i < INGOT_QKV; i++)
        operands[i] = follow_chain(inputs[i], &d->chains[i]);
    const strided *q = &operands[INGOT_QUERIES], *k = &operands[INGOT_KEYS], *v = &operands[INGOT_VALUES];
    *a = (ingot_attention){.count = 1};
    a->rows = (size_t)result.dims[result.rank - 2];
    a->depth = (size_t)q->dims[q->rank - 1];
    a->keys = (size_t)v->dims[v->rank - 2];
    a->width = (size_t)v->dims[v->rank - 1];
    for (int i = 0; i < q->rank - 2; i++)
        batch[i] = !d->viewed ? result.dims[i] : q->dims[i] == 1 ? k->dims[i] : q->dims[i];
    fill_operand(&a->q, q, batch, q->rank - 2, &d->chains[INGOT_QUERIES], inputs[INGOT_QUERIES]);
    fill_operand(&a->k, k, batch, k->rank - 2, &d->chains[INGOT_KEYS], inputs[INGOT_KEYS]);
    fill_operand(&a->v, v, result.dims, v->rank - 2, &d->chains[INGOT_VALUES], inputs[INGOT_VALUES]);
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
    .name = "attention", .flushes = true, .claim = claim, .tactic = tactic, .measure = measure, .run = run};
