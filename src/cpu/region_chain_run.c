/* Chains of convolutions: sizes, packing and running. */
#include <string.h>

#include "base/float_mode.h"
#include "cpu/conv/blocked.h"
#include "cpu/conv/blocked_depthwise.h"
#include "cpu/region_chain.h"

ingot_status ingot_chain_links(const ingot_region *region, const int64_t *image, ingot_link *links, ingot_error *error)
{
    const ingot_chain *d = ingot_chain_of(region);
    int64_t dims[4];
    if (image)
        memcpy(dims, image, sizeof dims);
    for (size_t i = 0; i < d->count; i++) {
        const ingot_chain_link *l = &d->links[i];
        links[i] = (ingot_link){.kind = l->kind, .epilogue = {.activation = l->epilogue.activation}};
        ingot_conv *c = &links[i].conv;
        if (l->kind == INGOT_LINK_SCALE) {
            if (image)
                *c = (ingot_conv){.batch = (size_t)dims[0],
                                  .channels = (size_t)dims[1],
                                  .outputs = (size_t)dims[1],
                                  .in_height = (size_t)dims[2],
                                  .in_width = (size_t)dims[3]};
            c->out_height = c->in_height;
            c->out_width = c->in_width;
            continue;
        }
        const ingot_value *w = region->inputs[l->weights]->constant;
        INGOT_TRY(ingot_cpu_conv_sizes(region->nodes[l->node], false, 4, image ? dims : NULL, w->dims, c, error));
        dims[1] = (int64_t)c->outputs;
        dims[2] = (int64_t)c->out_height;
        dims[3] = (int64_t)c->out_width;
    }
    return INGOT_OK;
}

size_t ingot_chain_packed_size(const ingot_link *link, uint32_t id)
{
    const ingot_blocked_conv blocked = {.conv = &link->conv};
    if (link->kind == INGOT_LINK_SCALE)
        return 0;
    if (id == INGOT_CHAIN_PLAIN)
        return ingot_aligned_size(ingot_conv_f32_packed_size(&link->conv));
    return ingot_aligned_size(link->kind == INGOT_LINK_DEPTHWISE ? ingot_blocked_depthwise_packed_size(&link->conv)
                                                                 : ingot_blocked_packed_size(&blocked));
}

ingot_status ingot_chain_pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const ingot_chain *d = ingot_chain_of(region);
    ingot_link links[INGOT_MOST_LINKS];
    char *next = packed;
    INGOT_TRY(ingot_chain_links(region, NULL, links, error));
    for (size_t i = 0; i < d->count; next += ingot_chain_packed_size(&links[i], tactic->id), i++) {
        const ingot_blocked_conv blocked = {.conv = &links[i].conv};
        float *to = (float *)(void *)next;
        if (links[i].kind == INGOT_LINK_SCALE)
            continue;
        const float *weights = region->inputs[d->links[i].weights]->constant->data;
        if (tactic->id == INGOT_CHAIN_PLAIN)
            ingot_conv_f32_pack(&links[i].conv, weights, to);
        else if (links[i].kind == INGOT_LINK_DEPTHWISE)
            ingot_blocked_depthwise_pack(&links[i].conv, weights, to);
        else
            ingot_blocked_pack(&blocked, weights, to);
    }
    return INGOT_OK;
}

/* Floats of a link's output, plain. */
static size_t out_size(const ingot_link *link)
{
    const ingot_conv *c = &link->conv;
    return c->batch * c->outputs * c->out_height * c->out_width;
}

/* Bytes of a plain chain: the values between, in two places in turn, then the links' own workspace. */
typedef struct plain_sizes {
    size_t between, workspace;
} plain_sizes;

static plain_sizes find_plain_sizes(const ingot_link *links, size_t count, int threads)
{
    plain_sizes sizes = {0};
    for (size_t i = 0; i < count; i++) {
        const size_t between = i + 1 < count ? ingot_aligned_size(out_size(&links[i]) * sizeof(float)) : 0;
        const size_t own = links[i].kind == INGOT_LINK_SCALE ? 0 : ingot_conv_f32_workspace(&links[i].conv, threads);
        sizes.between = ingot_most(sizes.between, between);
        sizes.workspace = ingot_most(sizes.workspace, own);
    }
    return sizes;
}

ingot_status ingot_chain_measure(const ingot_region *region, const ingot_tactic *tactic,
                                 const ingot_value *const *inputs, const ingot_value *const *outputs, int threads,
                                 size_t *bytes, ingot_error *error)
{
    const ingot_chain *d = ingot_chain_of(region);
    ingot_link links[INGOT_MOST_LINKS];
    INGOT_TRY(ingot_chain_links(region, inputs[d->image]->dims, links, error));
    *bytes = 0;
    if (ingot_value_count(outputs[0]) == 0)
        return INGOT_OK;
    const plain_sizes sizes = find_plain_sizes(links, d->count, threads);
    *bytes = tactic->id == INGOT_CHAIN_STRIPS ? ingot_strips_workspace(links, d->count, threads)
                                              : 2 * sizes.between + sizes.workspace;
    return INGOT_OK;
}

static void fill_links(const ingot_step *step, ingot_link *links)
{
    const ingot_chain *d = ingot_chain_of(step->region);
    const char *packed = step->packed;
    for (size_t i = 0; i < d->count; packed += ingot_chain_packed_size(&links[i], step->tactic->id), i++) {
        const ingot_chain_link *l = &d->links[i];
        links[i].weights = (const float *)(const void *)packed;
        if (l->kind == INGOT_LINK_SCALE) {
            const ingot_value *numbers = step->inputs[l->weights];
            links[i].weights = numbers->data;
            links[i].weights_batch = numbers->dims[0] > 1 ? (size_t)numbers->dims[1] : 0;
        }
        if (l->bias != SIZE_MAX)
            links[i].epilogue.row_bias = step->inputs[l->bias]->data;
        if (l->epilogue.add != SIZE_MAX)
            links[i].epilogue.add = step->inputs[l->epilogue.add]->data;
        links[i].epilogue.add_last = l->epilogue.add_last;
    }
}

static void scale_plain(const ingot_link *link, const float *x, float *y, int threads)
{
    const ingot_conv *c = &link->conv;
    const size_t dims[] = {c->batch, c->channels, c->in_height * c->in_width};
    const ptrdiff_t x_strides[] = {(ptrdiff_t)(dims[1] * dims[2]), (ptrdiff_t)dims[2], 1};
    const ptrdiff_t strides[] = {(ptrdiff_t)link->weights_batch, 1, 0};
    ingot_binary op = {.kind = INGOT_BINARY_MUL,
                       .rank = 3,
                       .dims = dims,
                       .a = x,
                       .b = link->weights,
                       .a_strides = x_strides,
                       .b_strides = strides,
                       .y = y};
    const unsigned mode = ingot_float_mode();
    ingot_float_mode_set(INGOT_FLOAT_IEEE);
    ingot_binary_f32(&op, threads);
    ingot_float_mode_set(mode);
}

/* One link after the other. */
static void run_plain(const ingot_step *step, const ingot_link *links)
{
    const ingot_chain *d = ingot_chain_of(step->region);
    const plain_sizes sizes = find_plain_sizes(links, d->count, step->threads);
    char *workspace = step->workspace;
    const float *from = step->inputs[d->image]->data;
    for (size_t i = 0; i < d->count; i++) {
        float *to = (float *)(void *)(workspace + i % 2 * sizes.between);
        if (i + 1 == d->count)
            to = step->outputs[0]->data;
        if (links[i].kind == INGOT_LINK_SCALE)
            scale_plain(&links[i], from, to, step->threads);
        else
            ingot_conv_f32(&links[i].conv, from, links[i].weights, &links[i].epilogue, to,
                           workspace + 2 * sizes.between, step->threads);
        from = to;
    }
}

ingot_status ingot_chain_run(const ingot_step *step, bool *declined)
{
    const ingot_chain *d = ingot_chain_of(step->region);
    const ingot_value *x = step->inputs[d->image];
    ingot_link links[INGOT_MOST_LINKS];
    INGOT_TRY(ingot_chain_links(step->region, x->dims, links, step->error));
    fill_links(step, links);
    if (ingot_value_count(step->outputs[0]) == 0)
        return INGOT_OK;
    if (step->tactic->id == INGOT_CHAIN_STRIPS)
        ingot_strips_f32(links, d->count, x->data, step->outputs[0]->data, step->workspace, step->threads);
    else
        run_plain(step, links);
    return INGOT_OK;
}
