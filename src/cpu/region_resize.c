/* Resize and Upsample of floats on the last two axes: nearest and linear, by tables in the workspace. */
#include <math.h>

#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "ops/resize_axis.h"

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    const ingot_resize_params *p = node->params;
    if ((!ingot_cpu_is(node, "Resize") && !ingot_cpu_is(node, "Upsample")) || p->mode == INGOT_RESIZE_CUBIC ||
        p->antialias || p->exclude_outside || p->coordinates == INGOT_RESIZE_TF_CROP_AND_RESIZE ||
        !ingot_cpu_is_float(node->inputs[0]) || (node->op->flags & (INGOT_OP_SIZES_OUTPUT | INGOT_OP_IN_PLACE)))
        return INGOT_OK;
    return ingot_cpu_claim_whole_node(claim, &ingot_cpu_resize, node, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "resize_f32";
}

/* Time that single elements take to gather, against whole pixels of a block. */
#define PLAIN_TIME 5.0

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_graph_value *x = region->inputs[0], *y = region->outputs[0];
    if (!ingot_cpu_can_block(x) || !ingot_cpu_can_block(y) || x->type.rank != 4 || !ingot_cpu_same_channels(x, y))
        return;
    list->list[0].cost = PLAIN_TIME * ingot_cpu_moving_cost(region, &list->list[0]);
    ingot_cpu_add_blocked(list, region, "resize_c16", ~1u);
}

/* Bytes of one of an axis's three tables. */
static size_t table_bytes(const ingot_value *y, int axis)
{
    return axis >= 0 ? (size_t)y->dims[axis] * sizeof(float) : sizeof(float);
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    const ingot_value *y = outputs[0];
    *bytes = 3 * (table_bytes(y, y->rank - 2) + table_bytes(y, y->rank - 1));
    return INGOT_OK;
}

static void fill_nearest(const ingot_resize_params *p, const ingot_resize_map *map, uint32_t *low)
{
    for (int64_t i = 0; i < map->out; i++)
        low[i] = (uint32_t)ingot_resize_nearest(p, map, i);
}

static uint32_t clamped(double x, int64_t size)
{
    return x > 0 ? (uint32_t)(x < (double)size ? x : (double)(size - 1)) : 0;
}

static void fill_linear(const ingot_resize_params *p, const ingot_resize_map *map, uint32_t *low, uint32_t *high,
                        float *weight)
{
    for (int64_t i = 0; i < map->out; i++) {
        bool outside;
        double x = map->same ? (double)i : ingot_resize_coordinate(p, map, i, &outside);
        if (!(fabs(x) < 0x1p40))
            x = 0;
        low[i] = clamped(floor(x), map->in);
        high[i] = clamped(floor(x) + 1, map->in);
        weight[i] = (float)(x - floor(x));
    }
}

/* Takes its tables from *memory. */
static ingot_resize_axis fill_axis(const ingot_resize_params *p, const ingot_resize_map *map, void **memory)
{
    size_t out = (size_t)map->out;
    uint32_t *low = *memory, *high = low + out;
    float *weight = (float *)(high + out);
    *memory = weight + out;
    if (p->mode == INGOT_RESIZE_NEAREST) {
        fill_nearest(p, map, low);
        return (ingot_resize_axis){.in = (size_t)map->in, .out = out, .low = low};
    }
    fill_linear(p, map, low, high, weight);
    return (ingot_resize_axis){.in = (size_t)map->in, .out = out, .low = low, .high = high, .weight = weight};
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_resize_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0], *y = step->outputs[0];
    ingot_resize_map maps[INGOT_MAX_RANK];
    int last = x->rank - 1;
    bool is_blocked = ingot_cpu_is_blocked(step);
    *declined = last < 0 || ingot_value_count(y) == 0;
    if (*declined)
        return INGOT_OK;
    ingot_resize_read_maps(p, step->inputs, step->region->input_count, y, maps);
    for (int i = 0; i <= last && !is_blocked; i++)
        *declined = *declined || (i < last - 1 && !maps[i].same) || maps[i].in > UINT32_MAX;
    if (*declined)
        return INGOT_OK;
    const ingot_resize_map flat = {.in = 1, .out = 1, .same = true};
    void *memory = step->workspace;
    ingot_resize_axis height = fill_axis(p, last > 0 ? &maps[last - 1] : &flat, &memory);
    ingot_resize_axis width = fill_axis(p, &maps[last], &memory);
    if (is_blocked) {
        ingot_c16_resize_f32((size_t)x->dims[0] * ingot_block_count((size_t)x->dims[1]), &height, &width, x->data,
                             y->data, step->threads);
        return INGOT_OK;
    }
    ingot_resize_f32(ingot_sizes_product(x->dims, 0, last > 0 ? last - 1 : 0), &height, &width, x->data, y->data,
                     step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_resize = {
    .name = "resize", .claim = claim, .tactic = tactic, .blocked = blocked, .measure = measure, .run = run};
