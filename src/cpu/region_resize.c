/* Resize and Upsample of floats on the last two axes: nearest and linear, by tables in the workspace; and a Transpose that puts the
 * channels last. */
#include <math.h>
#include <string.h>

#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "cpu/sizes.h"
#include "ops/arrange.h"
#include "ops/resize_axis.h"

/* What the region's detail points to. */
typedef struct detail {
    bool last; /* a Transpose that puts the channels last is part of it */
} detail;

static bool puts_last(const ingot_region *region)
{
    return ((const detail *)((const ingot_cpu_region *)region->detail)->detail)->last;
}

static bool suits(const ingot_node *node)
{
    const ingot_resize_params *p = node->params;
    return (ingot_cpu_is(node, "Resize") || ingot_cpu_is(node, "Upsample")) && p->mode != INGOT_RESIZE_CUBIC &&
           !p->antialias && !p->exclude_outside && p->coordinates != INGOT_RESIZE_TF_CROP_AND_RESIZE &&
           ingot_cpu_is_float(node->inputs[0]) && !(node->op->flags & (INGOT_OP_SIZES_OUTPUT | INGOT_OP_IN_PLACE));
}

/* The scale of listed axis i where it is known; else one that resizes. */
static float known_scale(const ingot_node *node, int i)
{
    const ingot_resize_params *p = node->params;
    const size_t input = p->legacy ? 1 : 2;
    const ingot_graph_value *scales = input < node->operand_count ? node->inputs[input] : NULL;
    float scale;
    if (p->scales.given)
        return p->scales.data[i];
    if (scales && !(ingot_graph_value_is_constant(scales) && ingot_value_count(scales->constant) == 0)) {
        if (!ingot_graph_value_is_constant(scales) || scales->constant->element != INGOT_FLOAT ||
            (size_t)i >= ingot_value_count(scales->constant))
            return 0;
        memcpy(&scale, (const char *)scales->constant->data + (size_t)i * sizeof scale, sizeof scale);
        return scale;
    }
    return p->policy == INGOT_RESIZE_STRETCH ? 1 : 0; /* sizes: the same ones, as same_channels found */
}

/* Whether each element stays in its image and channel: their numbers stay the same, and no scale that rounds to them is another. */
static bool keeps_channels(const ingot_node *node)
{
    const ingot_resize_params *p = node->params;
    int listed[INGOT_MAX_RANK], count = ingot_resize_axes(p, node->inputs[0]->type.rank, listed);
    if (!ingot_cpu_same_channels(node->inputs[0], node->outputs[0]))
        return false;
    for (int i = 0; i < count && !p->by_attributes; i++)
        if (listed[i] < 2 && known_scale(node, i) != 1)
            return false;
    return p->coordinates != INGOT_RESIZE_TF_HALF_PIXEL_FOR_NN ||
           (p->mode == INGOT_RESIZE_NEAREST &&
            (p->rounding == INGOT_RESIZE_FLOOR || p->rounding == INGOT_RESIZE_ROUND_PREFER_FLOOR));
}

static bool can_block(const ingot_node *node)
{
    const ingot_graph_value *x = node->inputs[0], *y = node->outputs[0];
    return ingot_cpu_can_block(x) && ingot_cpu_can_block(y) && x->type.rank == 4 && keeps_channels(node);
}

/* A Transpose that puts the channels of the resized images last. Regions of two nodes cannot decline: the images are known to be
 * of a size that the tables can tell, and their coordinates are those of plain images too. */
static ingot_node *find_transpose(const ingot_cpu_claim *claim, const ingot_node *node)
{
    ingot_node *next = can_block(node) ? ingot_cpu_follower(claim, node->outputs[0]) : NULL;
    const ingot_resize_params *p = node->params;
    if (!next || p->coordinates == INGOT_RESIZE_TF_HALF_PIXEL_FOR_NN || !ingot_cpu_is(next, "Transpose") ||
        !ingot_transpose_is_channels_last(next->params, 4))
        return NULL;
    for (int i = 2; i < 4; i++)
        if (!ingot_dim_is_number(node->inputs[0]->type.dims[i]) || node->inputs[0]->type.dims[i] > UINT32_MAX)
            return NULL;
    return next;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {0};
    ingot_cpu_draft draft;
    if (!suits(node) || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    ingot_node *next = find_transpose(claim, node);
    if (next) {
        d.last = true;
        draft.nodes[draft.node_count++] = next;
    }
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_resize, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "resize_f32";
}

/* Time that single elements take to gather, against whole pixels of a block. */
#define PLAIN_TIME 5.0

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    if (!can_block(region->nodes[0]))
        return;
    list->list[0].cost = PLAIN_TIME * ingot_cpu_moving_cost(region, &list->list[0]);
    ingot_tactic *t = ingot_cpu_add_blocked(list, region, "resize_c16", ~1u);
    if (t && puts_last(region))
        t->output_layouts[0] = INGOT_LAYOUT_PLAIN;
}

/* Bytes of one of an axis's three tables. */
static size_t table_bytes(const ingot_value *y, int axis)
{
    return axis >= 0 ? (size_t)y->dims[axis] * sizeof(float) : sizeof(float);
}

/* The Resize's output, whose shape alone counts. */
static ingot_value resized(const ingot_region *region, const ingot_value *output)
{
    ingot_value y = *output;
    for (int i = 1; i < 4 && puts_last(region); i++)
        y.dims[i] = output->dims[i == 1 ? 3 : i - 1];
    return y;
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    const ingot_value y = resized(region, outputs[0]);
    *bytes = ingot_aligned_size(3 * (table_bytes(&y, y.rank - 2) + table_bytes(&y, y.rank - 1)));
    if (puts_last(region) && tactic->input_layouts[0] == INGOT_LAYOUT_PLAIN)
        *bytes += ingot_value_bytes(&y);
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
        const double place = floor(x);
        const bool between = x != place; /* else twice a half of one element: infinities beside it do not count */
        low[i] = clamped(place, map->in);
        high[i] = clamped(place + between, map->in);
        weight[i] = between ? (float)(x - place) : 0.5f;
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

/* The axes are the last two of y; the others stay as they are. */
typedef struct resize {
    const ingot_value *x, *y; /* y: the Resize's output, but where it lies */
    ingot_resize_axis height, width;
} resize;

static void run_blocked(const ingot_step *step, const resize *r)
{
    const size_t batch = (size_t)r->x->dims[0], channels = (size_t)r->x->dims[1];
    float *y = step->outputs[0]->data;
    if (puts_last(step->region))
        ingot_c16_resize_last_f32(batch, channels, &r->height, &r->width, r->x->data, y, step->threads);
    else
        ingot_c16_resize_f32(batch * ingot_block_count(channels), &r->height, &r->width, r->x->data, y, step->threads);
}

/* What has yet to be transposed lies behind the tables. */
static void run_plain(const ingot_step *step, const resize *r)
{
    static const int channels_last[] = {0, 2, 3, 1};
    const size_t planes = ingot_sizes_product(r->x->dims, 0, r->x->rank > 1 ? r->x->rank - 2 : 0);
    float *y = step->outputs[0]->data;
    if (!puts_last(step->region)) {
        ingot_resize_f32(planes, &r->height, &r->width, r->x->data, y, step->threads);
        return;
    }
    const size_t dims[4] = {(size_t)r->y->dims[0], (size_t)r->y->dims[1], r->height.out, r->width.out};
    float *between = (float *)((char *)step->workspace + step->workspace_bytes - ingot_value_bytes(r->y));
    ingot_resize_f32(planes, &r->height, &r->width, r->x->data, between, step->threads);
    ingot_transpose(4, dims, channels_last, sizeof *y, between, y, step->threads);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_resize_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0], y = resized(step->region, step->outputs[0]);
    ingot_resize_map maps[INGOT_MAX_RANK];
    const int last = x->rank - 1;
    const bool is_blocked = ingot_cpu_is_blocked(step);
    *declined = last < 0 || ingot_value_count(&y) == 0;
    if (*declined)
        return INGOT_OK;
    ingot_resize_read_maps(p, step->inputs, step->region->input_count, &y, maps);
    for (int i = 0; i <= last && !is_blocked; i++)
        *declined = *declined || (i < last - 1 && !maps[i].same) || maps[i].in > UINT32_MAX;
    if (*declined)
        return INGOT_OK;
    const ingot_resize_map flat = {.in = 1, .out = 1, .same = true};
    void *memory = step->workspace;
    resize r = {.x = x, .y = &y};
    r.height = fill_axis(p, last > 0 ? &maps[last - 1] : &flat, &memory);
    r.width = fill_axis(p, &maps[last], &memory);
    if (is_blocked)
        run_blocked(step, &r);
    else
        run_plain(step, &r);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_resize = {
    .name = "resize", .claim = claim, .tactic = tactic, .blocked = blocked, .measure = measure, .run = run};
