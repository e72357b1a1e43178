/* Reductions of floats over axes that lie side by side. */
#include <string.h>

#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "cpu/reduce/reduce.h"
#include "ops/reduce.h"

typedef struct detail {
    ingot_reduce_kind kind;
    bool root; /* of the result: ReduceL2 */
} detail;

static bool kind_of(const ingot_node *node, detail *d)
{
    static const struct {
        const char *op_type;
        detail detail;
    } entries[] = {{"ReduceMean", {INGOT_REDUCE_MEAN, false}},
                   {"ReduceSum", {INGOT_REDUCE_SUM, false}},
                   {"ReduceMax", {INGOT_REDUCE_MAX, false}},
                   {"ReduceMin", {INGOT_REDUCE_MIN, false}},
                   {"ReduceL1", {INGOT_REDUCE_SUM_ABS, false}},
                   {"ReduceL2", {INGOT_REDUCE_SUM_SQUARE, true}},
                   {"ReduceSumSquare", {INGOT_REDUCE_SUM_SQUARE, false}}};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *d = entries[i].detail;
        if (ingot_cpu_is(node, entries[i].op_type))
            return true;
    }
    return false;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d;
    ingot_cpu_draft draft;
    if (!kind_of(node, &d) || !ingot_cpu_is_float(node->inputs[0]) || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_reduction, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "reduce_f32";
}

/* All axes behind the channels are reduced, and no others. */
static bool reduces_images(const ingot_region *region)
{
    const ingot_reduce_params *p = region->nodes[0]->params;
    const ingot_graph_value *list = region->input_count > 1 ? region->inputs[1] : NULL;
    int rank = region->inputs[0]->type.rank;
    int64_t axes[INGOT_MAX_RANK]; /* those of the file need not be aligned */
    size_t bad, count = p->axes.count;
    uint32_t mask;
    if (list && (!ingot_graph_value_is_constant(list) || list->constant->element != INGOT_INT64))
        return false;
    if (list)
        count = ingot_value_count(list->constant);
    if (count > INGOT_MAX_RANK)
        return false;
    if (count > 0)
        memcpy(axes, list ? list->constant->data : p->axes.data, count * sizeof *axes);
    return ingot_reduce_mask(rank, axes, count, p->noop_with_empty_axes, &mask, &bad) && mask == (1u << rank) - 1 - 3;
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const detail *d = ((const ingot_cpu_region *)region->detail)->detail;
    bool joins = d->kind == INGOT_REDUCE_MEAN || d->kind == INGOT_REDUCE_SUM || d->kind == INGOT_REDUCE_MAX ||
                 d->kind == INGOT_REDUCE_MIN;
    if (!joins || d->root || !ingot_cpu_can_block(region->inputs[0]) || !reduces_images(region))
        return;
    ingot_tactic *t = ingot_cpu_add_blocked(list, region, "reduce_c16", ~1u);
    if (t) /* one pixel a channel: both layouts are the same but for the lanes behind */
        t->output_layouts[0] = INGOT_LAYOUT_PLAIN;
}

/* The reduced axes as first ... end - 1, where none but axes of size 1 lie between them; false else. */
static bool find_run(const ingot_step *step, int *first, int *end)
{
    const ingot_reduce_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0], *list = step->region->input_count > 1 ? step->inputs[1] : NULL;
    size_t bad, count = list ? ingot_value_count(list) : p->axes.count;
    uint32_t mask;
    if (!ingot_reduce_mask(x->rank, list ? list->data : p->axes.data, count, p->noop_with_empty_axes, &mask, &bad))
        return false;
    *first = *end = 0;
    for (int i = 0; i < x->rank; i++) {
        if (x->dims[i] == 1 || !(mask >> i & 1))
            continue;
        if (*end == 0)
            *first = i;
        *end = i + 1;
    }
    for (int i = *first; i < *end; i++)
        if (x->dims[i] != 1 && !(mask >> i & 1))
            return false;
    return true;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const detail *d = ((const ingot_cpu_region *)step->region->detail)->detail;
    const ingot_value *x = step->inputs[0];
    ingot_value *y = step->outputs[0];
    int first, end;
    if (ingot_cpu_is_blocked(step)) {
        ingot_c16_reduce_f32(d->kind, (size_t)x->dims[0], (size_t)x->dims[1], ingot_blocked_image(x->rank, x->dims),
                             x->data, y->data, step->threads);
        return INGOT_OK;
    }
    *declined = ingot_value_count(x) == 0 || !find_run(step, &first, &end);
    if (*declined)
        return INGOT_OK;
    ingot_extent e = ingot_extent_of(x, first, end);
    ingot_reduce_f32(d->kind, e.outer, e.count, e.inner, x->data, y->data, step->threads);
    if (d->root)
        ingot_unary_f32(&(ingot_unary){.kind = INGOT_UNARY_SQRT}, y->data, y->data, ingot_value_count(y),
                        step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_reduction = {
    .name = "reduction", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};
