/* Chains of convolutions whose values between are too large for the cache: pointwise, depthwise, pointwise, or parts of that, or a
 * number a channel times the image (squeeze and excite) before a pointwise one. They run strip by strip (conv/strips.h). */
#include <string.h>

#include "cpu/region_chain.h"
#include "ops/binary.h"
#include "ops/conv.h"

/* Bytes of a value between two links from which on it is worth it: smaller ones stay in the cache as they are. */
#define LARGE_BYTES (512u << 10)
/* And those of pointwise weights up to which it is: each strip goes through all of them. */
#define WEIGHT_BYTES (384u << 10)
/* Rows of a window, but for the first one, up to which it is: what a strip sees of the one before is moved, not made again. */
#define MOST_REACH 4

/* ---- Claiming ---- */

static bool is_image(const ingot_graph_value *v)
{
    return ingot_cpu_is_float(v) && v->type.rank == 4 && ingot_dim_is_number(v->type.dims[1]);
}

static bool is_all(const ingot_ints *list, int64_t number)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->data[i] != number)
            return false;
    return true;
}

/* A convolution that can be a link. */
static bool is_convolution(const ingot_node *node, ingot_link_kind *kind)
{
    if (!ingot_cpu_is(node, "Conv") || !is_image(node->inputs[0]) || !node->outputs[0] || !is_image(node->outputs[0]) ||
        !ingot_graph_value_is_constant(node->inputs[1]) || !ingot_cpu_is_float(node->inputs[1]) ||
        (node->operand_count > 2 && node->inputs[2] && !ingot_cpu_is_float(node->inputs[2])))
        return false;
    const ingot_value *w = node->inputs[1]->constant;
    const ingot_conv_params *p = node->params;
    for (size_t i = 0; i < p->window.pads.count; i++)
        if (p->window.pads.data[i] < 0)
            return false;
    if (p->group > 1) {
        const int64_t dilation = p->window.dilations.count > 0 ? p->window.dilations.data[0] : 1;
        *kind = INGOT_LINK_DEPTHWISE;
        return (w->dims[2] - 1) * dilation <= MOST_REACH && p->group == node->inputs[0]->type.dims[1] &&
               w->dims[0] == p->group && w->dims[1] == 1;
    }
    *kind = INGOT_LINK_POINTWISE;
    return w->dims[2] == 1 && w->dims[3] == 1 && is_all(&p->window.strides, 1) && is_all(&p->window.pads, 0);
}

/* A Mul of an image and one number a channel, which is operand number *numbers. */
static bool is_scale(const ingot_node *node, size_t *numbers)
{
    if (!ingot_cpu_is(node, "Mul") || node->operand_count != 2 || !node->outputs[0] || !is_image(node->outputs[0]) ||
        ((const ingot_binary_params *)node->params)->legacy)
        return false;
    for (*numbers = 0; *numbers < 2; ++*numbers) {
        const ingot_graph_value *v = node->inputs[*numbers], *x = node->inputs[1 - *numbers];
        if (is_image(v) && is_image(x) && ingot_cpu_same_shape(x, node->outputs[0]) &&
            v->type.dims[1] == x->type.dims[1] && v->type.dims[2] == 1 && v->type.dims[3] == 1 &&
            (v->type.dims[0] == 1 || v->type.dims[0] == x->type.dims[0]))
            return true;
    }
    return false;
}

static bool add_input(ingot_cpu_draft *draft, ingot_graph_value *value, size_t *index)
{
    if (draft->input_count >= INGOT_CPU_MAX_INPUTS)
        return false;
    *index = draft->input_count;
    draft->inputs[draft->input_count++] = value;
    return true;
}

static bool add_convolution(ingot_cpu_draft *draft, ingot_chain *d, ingot_node *node, ingot_link_kind kind)
{
    ingot_chain_link link = {.kind = kind, .node = draft->node_count, .bias = SIZE_MAX};
    link.epilogue = (ingot_cpu_epilogue){.column_bias = SIZE_MAX, .add = SIZE_MAX};
    if (draft->node_count >= INGOT_CPU_MAX_NODES || !add_input(draft, node->inputs[1], &link.weights))
        return false;
    draft->packed_inputs |= 1u << link.weights;
    if (node->operand_count > 2 && node->inputs[2] && !add_input(draft, node->inputs[2], &link.bias))
        return false;
    draft->nodes[draft->node_count++] = node;
    d->links[d->count++] = link;
    return true;
}

static ingot_graph_value *last_value(const ingot_cpu_draft *draft)
{
    return draft->nodes[draft->node_count - 1]->outputs[0];
}

/* Whether the value is so large that it had better not leave the cache. Sizes that are not known may be. */
static bool is_large(const ingot_graph_value *value)
{
    double bytes = sizeof(float);
    for (int i = 1; i < 4; i++) {
        if (!ingot_dim_is_number(value->type.dims[i]))
            return true;
        bytes *= (double)value->type.dims[i];
    }
    return bytes >= LARGE_BYTES;
}

/* The convolution that takes what the chain has made so far and can be its next link. */
static ingot_node *find_next(const ingot_cpu_claim *claim, const ingot_cpu_draft *draft, const ingot_chain *d,
                             ingot_link_kind *kind)
{
    ingot_node *next = ingot_cpu_follower(claim, last_value(draft));
    if (!next || d->count >= INGOT_MOST_LINKS || next->inputs[0] != last_value(draft) || !is_convolution(next, kind))
        return NULL;
    const ingot_link_kind last = d->links[d->count - 1].kind;
    const bool begins = d->count == 1 && last == INGOT_LINK_POINTWISE;
    return (*kind == INGOT_LINK_DEPTHWISE && begins) || (*kind == INGOT_LINK_POINTWISE && last != *kind) ? next : NULL;
}

/* Activations of all links, additions of the last one: what lies between is of the chain alone. */
static bool add_links(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, ingot_chain *d, bool *large)
{
    for (;;) {
        ingot_link_kind kind;
        ingot_cpu_epilogue *e = &d->links[d->count - 1].epilogue;
        if (d->links[d->count - 1].kind != INGOT_LINK_SCALE) {
            e->add = 0; /* taken: no addition is absorbed */
            ingot_cpu_absorb(claim, draft, 0, e);
            e->add = SIZE_MAX;
        }
        const ingot_graph_value *between = last_value(draft);
        ingot_node *next = find_next(claim, draft, d, &kind);
        if (!next)
            break;
        *large = *large || is_large(between);
        if (!add_convolution(draft, d, next, kind))
            return false;
    }
    ingot_cpu_absorb(claim, draft, 0, &d->links[d->count - 1].epilogue);
    return true;
}

static bool has_small_weights(const ingot_cpu_draft *draft, const ingot_chain *d)
{
    size_t bytes = 0;
    for (size_t i = 0; i < d->count; i++)
        if (d->links[i].kind != INGOT_LINK_SCALE)
            bytes += ingot_value_bytes(draft->inputs[d->links[i].weights]->constant);
    return bytes <= WEIGHT_BYTES;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    ingot_chain d = {0};
    ingot_cpu_draft draft = {0};
    ingot_link_kind kind;
    size_t numbers;
    bool large = false;
    if (is_scale(node, &numbers)) {
        add_input(&draft, node->inputs[1 - numbers], &d.image);
        d.links[0] = (ingot_chain_link){.kind = INGOT_LINK_SCALE, .bias = SIZE_MAX};
        add_input(&draft, node->inputs[numbers], &d.links[0].weights);
        draft.nodes[draft.node_count++] = node;
        d.count = 1;
    } else if (is_convolution(node, &kind)) {
        add_input(&draft, node->inputs[0], &d.image);
        add_convolution(&draft, &d, node, kind);
    } else {
        return INGOT_OK;
    }
    if (!add_links(claim, &draft, &d, &large) || d.count < 2 || !large || !has_small_weights(&draft, &d))
        return INGOT_OK;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_chain, &draft, claimed);
}

/* ---- Tactics ---- */

static size_t all_packed(const ingot_region *region, uint32_t id)
{
    ingot_link links[INGOT_MOST_LINKS];
    ingot_error error;
    size_t bytes = 0;
    if (ingot_chain_links(region, NULL, links, &error) != INGOT_OK)
        return 0;
    for (size_t i = 0; i < ingot_chain_of(region)->count; i++)
        bytes += ingot_chain_packed_size(&links[i], id);
    return bytes;
}

/* What the links would cost one by one: a chain lies as they would, and so has their bits. */
static double guess_cost(const ingot_region *region, uint32_t id)
{
    ingot_link links[INGOT_MOST_LINKS];
    ingot_error error;
    int64_t dims[INGOT_MAX_RANK];
    double cost = 0;
    ingot_guess_dims(&region->inputs[ingot_chain_of(region)->image]->type, dims);
    if (ingot_chain_links(region, dims, links, &error) != INGOT_OK)
        return 0;
    for (size_t i = 0; i < ingot_chain_of(region)->count; i++) {
        const ingot_conv *c = &links[i].conv;
        const double bytes =
            2.0 * sizeof(float) * (double)(c->batch * c->channels) * (double)(c->in_height * c->in_width);
        cost += links[i].kind == INGOT_LINK_SCALE ? ingot_cpu_guess_cost(bytes, 0)
                                                  : ingot_cpu_conv_cost(c, id == INGOT_CHAIN_STRIPS);
    }
    return cost;
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "links";
    tactic->packed_bytes = all_packed(region, INGOT_CHAIN_PLAIN);
    tactic->cost = guess_cost(region, INGOT_CHAIN_PLAIN);
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_chain *d = ingot_chain_of(region);
    uint32_t plain = region->packed_inputs;
    for (size_t i = 0; i < d->count; i++) {
        if (d->links[i].bias != SIZE_MAX)
            plain |= 1u << d->links[i].bias;
        if (d->links[i].kind == INGOT_LINK_SCALE)
            plain |= 1u << d->links[i].weights;
    }
    ingot_tactic *t = ingot_cpu_add_blocked(list, region, "strips c16", plain);
    t->id = INGOT_CHAIN_STRIPS;
    t->packed_bytes = all_packed(region, INGOT_CHAIN_STRIPS);
    t->cost = guess_cost(region, INGOT_CHAIN_STRIPS);
}

const ingot_cpu_family ingot_cpu_chain = {
    .name = "strips",
    .flushes = true,
    .claim = claim,
    .tactic = tactic,
    .blocked = blocked,
    .pack = ingot_chain_pack,
    .measure = ingot_chain_measure,
    .run = ingot_chain_run,
};
