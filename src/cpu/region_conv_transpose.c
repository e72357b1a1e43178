/* ConvTranspose on floats in one and two dimensions. */
#include "cpu/conv/blocked_transpose.h"
#include "cpu/region_conv.h"
#include "ops/conv.h"

/* Ids of tactics: all operands plain; in C16. */
typedef enum way { PLAIN, BLOCKED } way;

typedef struct detail {
    bool packs; /* weights are constant and laid out once */
    ingot_cpu_epilogue epilogue;
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {.epilogue = {.column_bias = SIZE_MAX, .add = SIZE_MAX}};
    ingot_cpu_draft draft;
    if (!ingot_cpu_is(node, "ConvTranspose") || !ingot_cpu_conv_suits(node) || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    d.packs = ingot_graph_value_is_constant(node->inputs[1]);
    ingot_cpu_absorb(claim, &draft, 0, &d.epilogue);
    draft.packed_inputs = d.packs ? 1u << 1 : 0;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_transposed_convolution, &draft, claimed);
}

/* ---- Tactics ---- */

/* As the node has them, without a column laid down: which images are columns need not be the same for all. */
static ingot_status sizes_for_weights(const ingot_region *region, way id, ingot_conv *conv, ingot_error *error)
{
    const ingot_value *w = region->inputs[1]->constant;
    int64_t dims[INGOT_MAX_RANK]; /* only what is the same for all images counts */
    ingot_guess_dims(&region->inputs[0]->type, dims);
    return ingot_cpu_conv_sizes(region->nodes[0], true, w->rank, id == BLOCKED ? dims : NULL, w->dims, conv, error);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    ingot_conv conv;
    ingot_error error;
    tactic->name = "conv_transpose_f32";
    if (detail_of(region)->packs && sizes_for_weights(region, PLAIN, &conv, &error) == INGOT_OK)
        tactic->packed_bytes = ingot_conv_transpose_f32_packed_size(&conv);
}

/* Bytes of an image that are gone through again and again without coming from memory. */
#define CACHED_BYTES (1.0 * (1 << 20))

/* The plain kernel makes a product of each output channel with the whole image, and adds its rows to the channel's plane; the blocked
 * one copies the image for each phase whose outputs see several pixels. */
static double cost_of(const ingot_conv *c, bool blocked)
{
    const double padded = (double)(ingot_block_count(c->outputs) * INGOT_BLOCK) / (double)c->outputs;
    const double batch = (double)c->batch, taps = (double)(c->kernel_height * c->kernel_width);
    const double inputs = (double)(c->channels * c->in_height * c->in_width), group = 4 * inputs / (double)c->groups;
    const double outputs = (double)(c->outputs * c->out_height * c->out_width);
    const double products = (double)(c->outputs * c->in_height * c->in_width) * taps;
    const double flops = 2 * products * (double)(c->channels / c->groups);
    double bytes = 4 * (inputs + outputs);
    if (blocked)
        bytes += 8 * inputs * (double)ingot_blocked_transpose_copies(c);
    else
        bytes += 16 * products + (group > CACHED_BYTES ? group * (double)c->outputs : 0);
    return ingot_cpu_guess_cost(batch * bytes + 4 * (double)(c->channels * c->outputs / c->groups) * taps,
                                batch * flops * (blocked ? padded : 1));
}

/* The pads must be those of any image: where they follow from the output's size, the image's must be known. */
static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_graph_value *x = region->inputs[0], *y = region->outputs[0];
    const ingot_conv_transpose_params *p = region->nodes[0]->params;
    int64_t dims[INGOT_MAX_RANK];
    ingot_conv conv;
    ingot_error error;
    if (!detail_of(region)->packs || !ingot_cpu_can_block(x) || !ingot_cpu_can_block(y) ||
        (p->output_shape.count > 0 && !ingot_cpu_conv_known_image(&x->type, x->type.rank, dims)) ||
        sizes_for_weights(region, BLOCKED, &conv, &error) != INGOT_OK || conv.in_height * conv.in_width == 1 ||
        !ingot_blocked_transpose_suits(&conv))
        return;
    list->list[0].cost = cost_of(&conv, false);
    ingot_tactic *t = ingot_cpu_add_blocked(list, region, "transposed c16",
                                            1u << 1 | (region->nodes[0]->operand_count > 2 ? 1u << 2 : 0));
    if (!t)
        return;
    t->id = BLOCKED;
    t->packed_bytes = ingot_blocked_transpose_packed_size(&conv);
    t->cost = cost_of(&conv, true);
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    ingot_conv conv;
    INGOT_TRY(sizes_for_weights(region, (way)tactic->id, &conv, error));
    if (tactic->id == BLOCKED)
        ingot_blocked_transpose_pack(&conv, region->inputs[1]->constant->data, packed);
    else
        ingot_conv_transpose_f32_pack(&conv, region->inputs[1]->constant->data, packed);
    return INGOT_OK;
}

/* ---- Running ---- */

/* A column that is laid down keeps its packed weights: where they are blocked the window, of one column, is as wide as the stride. */
static ingot_status sizes_for_run(const ingot_region *region, const ingot_value *x, const ingot_value *w,
                                  ingot_conv *conv, ingot_error *error)
{
    INGOT_TRY(ingot_cpu_conv_sizes(region->nodes[0], true, x->rank, x->dims, w->dims, conv, error));
    if (x->rank == 4)
        ingot_cpu_conv_lay_column_down(conv);
    return INGOT_OK;
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    ingot_conv conv;
    INGOT_TRY(sizes_for_run(region, inputs[0], inputs[1], &conv, error));
    *bytes = 0;
    if (ingot_value_count(outputs[0]) == 0)
        return INGOT_OK;
    *bytes = tactic->id == BLOCKED ? ingot_blocked_transpose_workspace(&conv, threads)
                                   : ingot_conv_transpose_f32_workspace(&conv, threads);
    if (!detail_of(region)->packs)
        *bytes = ingot_aligned_size(*bytes) + ingot_conv_transpose_f32_packed_size(&conv);
    return INGOT_OK;
}

/* The kernel knows no addition: it is done afterwards. */
static void run_plain(const ingot_step *step, const ingot_conv *conv, const float *packed, const ingot_epilogue *all)
{
    const float *add = all->add;
    ingot_epilogue epilogue = *all;
    const ingot_value *y = step->outputs[0];
    epilogue.add = NULL;
    if (add && !all->add_last)
        epilogue.activation = (ingot_unary){0};
    ingot_conv_transpose_f32(conv, step->inputs[0]->data, packed, &epilogue, y->data, step->workspace, step->threads);
    if (!add)
        return;
    size_t count = ingot_value_count(y);
    ptrdiff_t stride = 1;
    ingot_binary op = {.kind = INGOT_BINARY_ADD,
                       .rank = 1,
                       .dims = &count,
                       .a = y->data,
                       .b = add,
                       .a_strides = &stride,
                       .b_strides = &stride,
                       .y = y->data};
    if (!all->add_last)
        op.then = all->activation;
    ingot_binary_f32(&op, step->threads);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const detail *d = detail_of(step->region);
    const ingot_value *x = step->inputs[0], *w = step->inputs[1], *y = step->outputs[0];
    ingot_conv conv;
    INGOT_TRY(sizes_for_run(step->region, x, w, &conv, step->error));
    if (ingot_value_count(y) == 0)
        return INGOT_OK;
    const float *packed = step->packed;
    if (!d->packs) {
        size_t offset = step->workspace_bytes - ingot_conv_transpose_f32_packed_size(&conv);
        float *own = (float *)((char *)step->workspace + offset);
        ingot_conv_transpose_f32_pack(&conv, w->data, own);
        packed = own;
    }
    const ingot_epilogue epilogue = ingot_cpu_conv_epilogue(step, &d->epilogue);
    if (step->tactic->id == BLOCKED)
        ingot_blocked_transpose_f32(&conv, x->data, packed, &epilogue, y->data, step->workspace, step->threads);
    else
        run_plain(step, &conv, packed, &epilogue);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_transposed_convolution = {
    .name = "conv_transpose",
    .flushes = true,
    .claim = claim,
    .tactic = tactic,
    .blocked = blocked,
    .pack = pack,
    .measure = measure,
    .run = run,
};
