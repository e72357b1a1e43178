/* PRelu on floats with one slope for all elements or one a channel. */
#include "base/threads.h"
#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "ops/binary.h"

/* Elements that a chunk of work computes. */
#define CHUNK ((size_t)8 << 10)

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    if (!ingot_cpu_is(node, "PRelu") || ((const ingot_binary_params *)node->params)->legacy ||
        !ingot_cpu_is_float(node->inputs[0]) || !ingot_cpu_is_float(node->inputs[1]))
        return INGOT_OK;
    return ingot_cpu_claim_whole_node(claim, &ingot_cpu_prelu, node, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "eltwise_prelu_f32";
}

/* One slope a channel: [channels, 1, 1], also with a 1 before. */
static bool is_per_channel(const ingot_type *slopes, const ingot_type *x)
{
    int channel = slopes->rank - x->rank + 1;
    if (channel < 0 || channel > 1 || slopes->dims[channel] != x->dims[1])
        return false;
    for (int i = 0; i < slopes->rank; i++)
        if (i != channel && slopes->dims[i] != 1)
            return false;
    return true;
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    if (ingot_cpu_can_block(region->inputs[0]) && is_per_channel(&region->inputs[1]->type, &region->inputs[0]->type))
        ingot_cpu_add_blocked(list, region, "prelu_c16", 1u << 1);
}

static void run_blocked(const ingot_step *step)
{
    const ingot_value *x = step->inputs[0];
    ingot_channel_op op = {.kind = INGOT_CHANNEL_LEAKY_RELU,
                           .batch = (size_t)x->dims[0],
                           .channels = (size_t)x->dims[1],
                           .image = ingot_blocked_image(x->rank, x->dims),
                           .x = x->data,
                           .b = step->inputs[1]->data,
                           .y = step->outputs[0]->data};
    ingot_c16_channels_f32(&op, step->threads);
}

typedef struct prelu_task {
    ingot_extent extent; /* of the axis that the slopes lie on */
    size_t planes_per_chunk;
    const float *x, *slopes;
    float *y;
} prelu_task;

static void run_planes(void *argument, size_t chunk, int participant)
{
    const prelu_task *t = argument;
    const ingot_extent *e = &t->extent;
    size_t planes = e->outer * e->count, first = chunk * t->planes_per_chunk;
    size_t end = planes - first < t->planes_per_chunk ? planes : first + t->planes_per_chunk;
    for (size_t plane = first; plane < end; plane++) {
        ingot_unary op = {.kind = INGOT_UNARY_LEAKY_RELU, .a = t->slopes[plane % e->count]};
        ingot_unary_f32(&op, t->x + plane * e->inner, t->y + plane * e->inner, e->inner, 1);
    }
}

/* The axis of x along which the slopes lie: -1 where there is but one; false where they lie along more. */
static bool find_axis(const ingot_value *x, const ingot_value *slopes, int *axis)
{
    *axis = -1;
    for (int i = 0; i < slopes->rank; i++) {
        if (slopes->dims[i] == 1)
            continue;
        if (*axis >= 0)
            return false;
        *axis = i + x->rank - slopes->rank;
    }
    return true;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_value *x = step->inputs[0], *slopes = step->inputs[1];
    prelu_task t = {.x = x->data, .slopes = slopes->data, .y = step->outputs[0]->data};
    int axis;
    if (ingot_cpu_is_blocked(step)) {
        run_blocked(step);
        return INGOT_OK;
    }
    *declined = ingot_value_count(x) == 0 || slopes->rank > x->rank || !find_axis(x, slopes, &axis);
    if (*declined)
        return INGOT_OK;
    if (axis < 0) {
        ingot_unary op = {.kind = INGOT_UNARY_LEAKY_RELU, .a = *t.slopes};
        ingot_unary_f32(&op, t.x, t.y, ingot_value_count(x), step->threads);
        return INGOT_OK;
    }
    t.extent = ingot_extent_of(x, axis, axis + 1);
    t.planes_per_chunk = t.extent.inner < CHUNK ? CHUNK / t.extent.inner : 1;
    size_t planes = t.extent.outer * t.extent.count;
    *declined = t.extent.inner == 1 || slopes->dims[axis - (x->rank - slopes->rank)] != x->dims[axis];
    if (!*declined)
        ingot_parallel(step->threads, (planes + t.planes_per_chunk - 1) / t.planes_per_chunk, run_planes, &t);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_prelu = {
    .name = "prelu", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};
