/* BatchNormalization with given statistics on floats, with the activation behind it: a scale and a shift a channel. */
#include <math.h>

#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "ops/norm.h"

typedef struct detail {
    bool packs; /* the statistics are constants: scale and shift are computed once */
    ingot_unary activation;
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {.packs = true};
    ingot_cpu_draft draft;
    const ingot_batch_norm_params *p = node->params;
    if (!ingot_cpu_is(node, "BatchNormalization") || p->training || p->per_place || !node->outputs[0] ||
        node->operand_count != 5 || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    for (size_t i = 0; i < 5; i++) {
        if (!ingot_cpu_is_float(node->inputs[i]))
            return INGOT_OK;
        d.packs = d.packs && (i == 0 || ingot_graph_value_is_constant(node->inputs[i]));
    }
    ingot_node *next = ingot_cpu_follower(claim, node->outputs[0]);
    if (next && next->inputs[0] == node->outputs[0] && next->outputs[0] && ingot_cpu_unary_of(next, &d.activation))
        draft.nodes[draft.node_count++] = next;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    draft.flags = INGOT_OP_IN_PLACE;
    draft.packed_inputs = d.packs ? 0x1e : 0; /* all but x */
    return ingot_cpu_claim_region(claim, &ingot_cpu_batch_norm, &draft, claimed);
}

/* to holds all scales, then all shifts. statistics: scale, bias, mean, variance. */
static void compute(const ingot_region *region, const ingot_value *const *statistics, float *to)
{
    const ingot_batch_norm_params *p = region->nodes[0]->params;
    const float *scale = statistics[0]->data, *bias = statistics[1]->data, *mean = statistics[2]->data,
                *variance = statistics[3]->data;
    size_t channels = ingot_value_count(statistics[0]);
    for (size_t i = 0; i < channels; i++) {
        double factor = scale[i] / sqrt((double)variance[i] + p->epsilon);
        to[i] = (float)factor;
        to[channels + i] = (float)(bias[i] - mean[i] * factor);
    }
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "channel_affine_f32";
    if (detail_of(region)->packs)
        tactic->packed_bytes = 2 * sizeof(float) * ingot_value_count(region->inputs[1]->constant);
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    ingot_tactic *t =
        ingot_cpu_can_block(region->inputs[0]) ? ingot_cpu_add_blocked(list, region, "channel_affine_c16", ~1u) : NULL;
    if (t)
        t->packed_bytes = list->list[0].packed_bytes;
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const ingot_value *statistics[4];
    for (size_t i = 0; i < 4; i++)
        statistics[i] = region->inputs[i + 1]->constant;
    compute(region, statistics, packed);
    return INGOT_OK;
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    if (!detail_of(region)->packs)
        *bytes = 2 * sizeof(float) * ingot_value_count(inputs[1]);
    return INGOT_OK;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const detail *d = detail_of(step->region);
    const ingot_value *x = step->inputs[0];
    const float *scale = step->packed;
    if (ingot_value_count(x) == 0)
        return INGOT_OK;
    if (!d->packs) {
        compute(step->region, step->inputs + 1, step->workspace);
        scale = step->workspace;
    }
    size_t channels = x->rank > 1 ? (size_t)x->dims[1] : 1;
    if (ingot_cpu_is_blocked(step)) {
        ingot_channel_op op = {.kind = INGOT_CHANNEL_AFFINE,
                               .batch = (size_t)x->dims[0],
                               .channels = channels,
                               .image = ingot_blocked_image(x->rank, x->dims),
                               .x = x->data,
                               .b = scale,
                               .c = scale + channels,
                               .y = step->outputs[0]->data,
                               .then = d->activation};
        ingot_c16_channels_f32(&op, step->threads);
        return INGOT_OK;
    }
    size_t outer = (size_t)x->dims[0], inner = ingot_sizes_product(x->dims, 2, x->rank);
    ingot_channel_affine_f32(outer, channels, inner, x->data, scale, scale + channels, &d->activation,
                             step->outputs[0]->data, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_batch_norm = {.name = "batch_norm",
                                               .claim = claim,
                                               .tactic = tactic,
                                               .blocked = blocked,
                                               .pack = pack,
                                               .measure = measure,
                                               .run = run};
