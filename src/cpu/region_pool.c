/* Pools of float images in one and two dimensions, and of whole planes. */
#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "cpu/reduce/reduce.h"
#include "ops/pool.h"

typedef struct detail {
    bool average, global;
} detail;

static bool kind_of(const ingot_node *node, detail *d)
{
    static const struct {
        const char *op_type;
        detail detail;
    } entries[] = {{"MaxPool", {false, false}},
                   {"AveragePool", {true, false}},
                   {"GlobalMaxPool", {false, true}},
                   {"GlobalAveragePool", {true, true}}};
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
    bool indices = node->output_count > 1 && node->outputs[1];
    if (!kind_of(node, &d) || indices || !node->outputs[0] || !ingot_cpu_is_float(node->inputs[0]) ||
        !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_pool, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "pool_f32";
}

/* Every window has an element of the image in it, whatever the image's size. */
static bool always_covers(const ingot_window_params *p)
{
    bool covers = !p->ceil_mode;
    for (size_t i = 0; i < p->dilations.count; i++)
        covers = covers && p->dilations.data[i] == 1;
    for (size_t i = 0; i < p->pads.count; i++)
        covers = covers && p->pads.data[i] < p->kernel_shape.data[i % p->kernel_shape.count];
    return covers;
}

/* Time of windows in plain rows, against those of whole pixels of a block. */
#define PLAIN_TIME 2.5

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const detail *d = ((const ingot_cpu_region *)region->detail)->detail;
    const ingot_pool_params *p = region->nodes[0]->params;
    if (!ingot_cpu_can_block(region->inputs[0]) || (d->average && !d->global && !always_covers(&p->window)))
        return;
    ingot_tactic *t = ingot_cpu_add_blocked(list, region, d->global ? "pool_global_c16" : "pool_c16", 0);
    if (!d->global)
        list->list[0].cost = PLAIN_TIME * ingot_cpu_moving_cost(region, &list->list[0]);
    if (t && d->global) /* one pixel a channel: both layouts are the same but for the lanes behind */
        t->output_layouts[0] = INGOT_LAYOUT_PLAIN;
}

static void run_global(const ingot_step *step, bool average)
{
    const ingot_value *x = step->inputs[0];
    ingot_reduce_kind kind = average ? INGOT_REDUCE_MEAN : INGOT_REDUCE_MAX;
    if (ingot_cpu_is_blocked(step)) {
        ingot_c16_reduce_f32(kind, (size_t)x->dims[0], (size_t)x->dims[1], ingot_blocked_image(x->rank, x->dims),
                             x->data, step->outputs[0]->data, step->threads);
        return;
    }
    ingot_extent e = ingot_extent_of(x, 2, x->rank);
    ingot_reduce_f32(kind, e.outer, e.count, 1, x->data, step->outputs[0]->data, step->threads);
}

/* Whether every window has an element of the image in it: a mean of none is the reference's. */
static bool covers(const ingot_window *w, const int64_t *in)
{
    for (int i = 0; i < w->spatial; i++)
        if (w->dilation[i] != 1 || w->begin[i] >= w->kernel[i] || (w->out[i] - 1) * w->stride[i] - w->begin[i] >= in[i])
            return false;
    return true;
}

/* Output sizes are the window's: they are not 0. */
static ingot_pool geometry(const ingot_value *x, const ingot_window *w)
{
    int last = w->spatial - 1;
    ingot_pool pool = {.planes = ingot_sizes_product(x->dims, 0, 2),
                       .in_height = 1,
                       .out_height = 1,
                       .kernel_height = 1,
                       .stride_height = 1,
                       .dilation_height = 1,
                       .in_width = (size_t)x->dims[x->rank - 1],
                       .out_width = (size_t)w->out[last],
                       .kernel_width = (size_t)w->kernel[last],
                       .stride_width = (size_t)w->stride[last],
                       .dilation_width = (size_t)w->dilation[last],
                       .pad_left = (size_t)w->begin[last],
                       .pad_right = (size_t)w->end[last]};
    if (last == 0)
        return pool;
    pool.in_height = (size_t)x->dims[2];
    pool.out_height = (size_t)w->out[0];
    pool.kernel_height = (size_t)w->kernel[0];
    pool.stride_height = (size_t)w->stride[0];
    pool.dilation_height = (size_t)w->dilation[0];
    pool.pad_top = (size_t)w->begin[0];
    pool.pad_bottom = (size_t)w->end[0];
    return pool;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const detail *d = ((const ingot_cpu_region *)step->region->detail)->detail;
    const ingot_node *node = step->region->nodes[0];
    const ingot_pool_params *p = node->params;
    const ingot_value *x = step->inputs[0];
    ingot_window window;
    bool is_blocked = ingot_cpu_is_blocked(step);
    *declined = !is_blocked && (ingot_value_count(x) == 0 || (!d->global && x->rank != 3 && x->rank != 4));
    if (*declined)
        return INGOT_OK;
    if (d->global) {
        run_global(step, d->average);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_pool_geometry(node, p, NULL, x->rank, x->dims, &window, step->error));
    *declined = !is_blocked && d->average && !covers(&window, x->dims + 2);
    if (*declined)
        return INGOT_OK;
    ingot_pool pool = geometry(x, &window);
    pool.average = d->average;
    pool.count_padding = p->count_include_pad;
    if (is_blocked) {
        pool.planes = (size_t)x->dims[0] * ingot_block_count((size_t)x->dims[1]);
        ingot_c16_pool_f32(&pool, x->data, step->outputs[0]->data, step->threads);
        return INGOT_OK;
    }
    ingot_pool_f32(&pool, x->data, step->outputs[0]->data, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_pool = {
    .name = "pool", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};
