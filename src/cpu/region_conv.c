/* Conv and FusedConv on floats in one and two dimensions. */
#include <string.h>

#include "cpu/conv/blocked.h"
#include "cpu/conv/blocked_depthwise.h"
#include "cpu/conv/conv.h"
#include "cpu/region_conv.h"
#include "ops/conv.h"

/* Ids of tactics: all operands plain; in C16; the input plain, the rest in C16; in C16, one filter a channel. */
typedef enum way { PLAIN, BLOCKED, BLOCKED_FIRST, BLOCKED_DEPTHWISE } way;

typedef struct detail {
    bool packs; /* weights are constant and laid out once */
    ingot_cpu_epilogue epilogue;
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* ---- Geometry ---- */

void ingot_cpu_conv_lay_column_down(ingot_conv *conv)
{
    if (conv->in_width != 1 || conv->out_width != 1 || conv->kernel_width != 1 || conv->pad_left != 0)
        return;
    conv->in_width = conv->in_height;
    conv->out_width = conv->out_height;
    conv->kernel_width = conv->kernel_height;
    conv->stride_width = conv->stride_height;
    conv->dilation_width = conv->dilation_height;
    conv->pad_left = conv->pad_top;
    conv->in_height = conv->out_height = conv->kernel_height = conv->stride_height = conv->dilation_height = 1;
    conv->pad_top = 0;
}

ingot_status ingot_cpu_conv_sizes(const ingot_node *node, bool transposed, int rank, const int64_t *x, const int64_t *w,
                                  ingot_conv *conv, ingot_error *error)
{
    int64_t probe[INGOT_MAX_RANK]; /* weights alone: an image as small as the kernel's reach does */
    ingot_window window;
    size_t group = (size_t)(transposed ? ((const ingot_conv_transpose_params *)node->params)->group
                                       : ((const ingot_conv_params *)node->params)->group);
    *conv = (ingot_conv){.batch = 1,
                         .groups = group,
                         .stride_height = 1,
                         .dilation_height = 1,
                         .kernel_height = 1,
                         .in_height = 1,
                         .out_height = 1};
    conv->outputs = (size_t)w[transposed ? 1 : 0] * (transposed ? group : 1);
    conv->channels = (size_t)w[transposed ? 0 : 1] * (transposed ? 1 : group);
    conv->kernel_width = (size_t)w[rank - 1];
    if (rank == 4)
        conv->kernel_height = (size_t)w[2];
    conv->stride_width = conv->dilation_width = 1;
    if (!x)
        return INGOT_OK;
    memcpy(probe, x, (size_t)rank * sizeof *probe);
    if (transposed)
        INGOT_TRY(ingot_conv_transpose_geometry(node, node->params, NULL, rank, probe, w, &window, error));
    else
        INGOT_TRY(ingot_conv_geometry(node, node->params, NULL, rank, probe, w, &window, error));
    int last = rank - 3;
    conv->batch = (size_t)x[0];
    conv->in_width = (size_t)x[rank - 1];
    conv->out_width = (size_t)window.out[last];
    conv->stride_width = (size_t)window.stride[last];
    conv->dilation_width = (size_t)window.dilation[last];
    conv->pad_left = (size_t)window.begin[last];
    if (rank == 3)
        return INGOT_OK;
    conv->in_height = (size_t)x[2];
    conv->out_height = (size_t)window.out[0];
    conv->stride_height = (size_t)window.stride[0];
    conv->dilation_height = (size_t)window.dilation[0];
    conv->pad_top = (size_t)window.begin[0];
    return INGOT_OK;
}

/* The region's, as its kernels see it. */
static ingot_status fill(const ingot_region *region, int rank, const int64_t *x, const int64_t *w, ingot_conv *conv,
                         ingot_error *error)
{
    INGOT_TRY(ingot_cpu_conv_sizes(region->nodes[0], false, rank, x, w, conv, error));
    if (x && rank == 4)
        ingot_cpu_conv_lay_column_down(conv);
    return INGOT_OK;
}

/* ---- Claiming ---- */

static bool fused_activation(const ingot_conv_params *p, ingot_unary *unary)
{
    static const ingot_unary_kind kinds[] = {[INGOT_CONV_IDENTITY] = INGOT_UNARY_IDENTITY,
                                             [INGOT_CONV_RELU] = INGOT_UNARY_RELU,
                                             [INGOT_CONV_TANH] = INGOT_UNARY_TANH,
                                             [INGOT_CONV_SIGMOID] = INGOT_UNARY_SIGMOID,
                                             [INGOT_CONV_LEAKY_RELU] = INGOT_UNARY_LEAKY_RELU,
                                             [INGOT_CONV_CLIP] = INGOT_UNARY_CLIP,
                                             [INGOT_CONV_HARD_SIGMOID] = INGOT_UNARY_HARD_SIGMOID};
    *unary = (ingot_unary){.kind = kinds[p->activation], .a = p->a, .b = p->b};
    return true;
}

bool ingot_cpu_conv_suits(const ingot_node *node)
{
    const ingot_graph_value *x = node->inputs[0], *w = node->inputs[1];
    const ingot_window_params *p = node->params; /* the first member of both kinds of params */
    for (size_t i = 0; i < node->operand_count; i++)
        if (node->inputs[i] && !ingot_cpu_is_float(node->inputs[i]))
            return false;
    for (size_t i = 0; i < p->pads.count; i++)
        if (p->pads.data[i] < 0)
            return false;
    return node->outputs[0] && (x->type.rank == 3 || x->type.rank == 4) && w->type.rank == x->type.rank;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {.epilogue = {.column_bias = SIZE_MAX, .add = SIZE_MAX}};
    bool fused = strcmp(node->op_type, "FusedConv") == 0 && strcmp(node->domain, "com.microsoft") == 0;
    ingot_cpu_draft draft;
    if ((!fused && !ingot_cpu_is(node, "Conv")) || !ingot_cpu_conv_suits(node) || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    d.packs = ingot_graph_value_is_constant(node->inputs[1]);
    if (fused) {
        fused_activation(node->params, &d.epilogue.activation);
        if (node->operand_count > 3 && node->inputs[3])
            d.epilogue.add = 3;
    }
    ingot_cpu_absorb(claim, &draft, 0, &d.epilogue);
    draft.packed_inputs = d.packs ? 1u << 1 : 0;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_convolution, &draft, claimed);
}

/* ---- Tactics ---- */

static ingot_blocked_conv blocked_of(const ingot_conv *conv, uint32_t id)
{
    return (ingot_blocked_conv){.conv = conv, .plain_input = id == BLOCKED_FIRST};
}

static size_t packed_size(const ingot_conv *conv, uint32_t id)
{
    ingot_blocked_conv blocked = blocked_of(conv, id);
    if (id == BLOCKED_DEPTHWISE)
        return ingot_blocked_depthwise_packed_size(conv);
    return id == PLAIN ? ingot_conv_f32_packed_size(conv) : ingot_blocked_packed_size(&blocked);
}

static void pack_weights(const ingot_conv *conv, uint32_t id, const float *weights, float *packed)
{
    ingot_blocked_conv blocked = blocked_of(conv, id);
    if (id == BLOCKED_DEPTHWISE)
        ingot_blocked_depthwise_pack(conv, weights, packed);
    else if (id != PLAIN)
        ingot_blocked_pack(&blocked, weights, packed);
    else
        ingot_conv_f32_pack(conv, weights, packed);
}

bool ingot_cpu_conv_known_image(const ingot_type *type, int rank, int64_t *dims)
{
    if (type->rank != rank)
        return false;
    for (int i = 0; i < rank; i++) {
        bool known = ingot_dim_is_number(type->dims[i]) && type->dims[i] > 0;
        if (!known && i > 0)
            return false;
        dims[i] = known ? type->dims[i] : 1;
    }
    return true;
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    const ingot_graph_value *w = region->inputs[1];
    ingot_conv conv;
    ingot_error error;
    int64_t dims[INGOT_MAX_RANK];
    tactic->name = "conv_f32";
    if (!detail_of(region)->packs)
        return;
    const int64_t *image = ingot_cpu_conv_known_image(&region->inputs[0]->type, w->constant->rank, dims) ? dims : NULL;
    if (fill(region, w->constant->rank, image, w->constant->dims, &conv, &error) != INGOT_OK)
        return;
    tactic->packed_bytes = packed_size(&conv, PLAIN);
    tactic->name = ingot_conv_f32_tactic(&conv);
}

/* Times that the plain kernels take, against those of the blocked ones: measured on large convolutions, on those of few channels, and
 * on depthwise ones. */
#define PLAIN_TIME           1.15
#define PLAIN_FIRST_TIME     1.3
#define PLAIN_DEPTHWISE_TIME 2.0
/* Channels of an image up to which it is read plain. */
#define FIRST_CHANNELS 8

double ingot_cpu_conv_cost(const ingot_conv *c, bool blocked)
{
    const bool depthwise = c->groups > 1 && ingot_blocked_depthwise_suits(c);
    const double padded = (double)(ingot_block_count(c->outputs) * INGOT_BLOCK) / (double)c->outputs;
    const bool first = c->groups == 1 && c->channels <= FIRST_CHANNELS;
    const double plain = depthwise ? PLAIN_DEPTHWISE_TIME : first ? PLAIN_FIRST_TIME : PLAIN_TIME;
    const double time = blocked ? padded : plain;
    double pixels = (double)c->batch * (double)(c->out_height * c->out_width);
    double inputs = (double)c->batch * (double)(c->channels * c->in_height * c->in_width);
    double outputs = pixels * (double)c->outputs, weights = (double)(c->channels / c->groups);
    weights *= (double)(c->kernel_height * c->kernel_width);
    return ingot_cpu_guess_cost(4 * (inputs + outputs + weights * (double)c->outputs), 2 * outputs * weights * time);
}

static void add_blocked(const ingot_region *region, ingot_cpu_tactics *list, const ingot_conv *conv, way id)
{
    ingot_blocked_conv blocked = blocked_of(conv, id);
    const char *name = id == BLOCKED_DEPTHWISE ? "depthwise c16" : ingot_blocked_tactic(&blocked);
    uint32_t bias = region->nodes[0]->operand_count > 2 ? 1u << 2 : 0;
    ingot_tactic *t = ingot_cpu_add_blocked(list, region, name, 1u << 1 | bias);
    if (!t)
        return;
    if (id == BLOCKED_FIRST)
        t->input_layouts[0] = INGOT_LAYOUT_PLAIN;
    t->id = id;
    t->packed_bytes = packed_size(conv, id);
    t->cost = ingot_cpu_conv_cost(conv, true);
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_graph_value *x = region->inputs[0], *y = region->outputs[0];
    int64_t dims[INGOT_MAX_RANK];
    ingot_conv c;
    ingot_error error;
    if (!detail_of(region)->packs || x->type.rank != 4 || !ingot_cpu_can_block(x) || !ingot_cpu_can_block(y))
        return;
    ingot_guess_dims(&x->type, dims);
    const ingot_value *w = region->inputs[1]->constant;
    if (fill(region, w->rank, dims, w->dims, &c, &error) != INGOT_OK || c.in_height * c.in_width == 1)
        return;
    ingot_blocked_conv blocked = blocked_of(&c, BLOCKED);
    bool depthwise = c.groups > 1 && ingot_blocked_depthwise_suits(&c);
    list->list[0].cost = ingot_cpu_conv_cost(&c, false);
    if (depthwise) {
        add_blocked(region, list, &c, BLOCKED_DEPTHWISE);
        return;
    }
    if (ingot_blocked_suits(&blocked))
        add_blocked(region, list, &c, BLOCKED);
    if (c.groups == 1 && c.channels <= FIRST_CHANNELS)
        add_blocked(region, list, &c, BLOCKED_FIRST);
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const ingot_value *w = region->inputs[1]->constant;
    ingot_conv conv;
    INGOT_TRY(fill(region, w->rank, NULL, w->dims, &conv, error));
    pack_weights(&conv, tactic->id, w->data, packed);
    return INGOT_OK;
}

/* ---- Running ---- */

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    ingot_conv conv;
    INGOT_TRY(fill(region, inputs[0]->rank, inputs[0]->dims, inputs[1]->dims, &conv, error));
    *bytes = 0;
    if (ingot_value_count(outputs[0]) == 0)
        return INGOT_OK;
    ingot_blocked_conv blocked = blocked_of(&conv, tactic->id);
    if (tactic->id == PLAIN)
        *bytes = ingot_conv_f32_workspace(&conv, threads);
    else
        *bytes = tactic->id == BLOCKED_DEPTHWISE ? 0 : ingot_blocked_workspace(&blocked, threads);
    if (!detail_of(region)->packs)
        *bytes = ingot_aligned_size(*bytes) + packed_size(&conv, PLAIN);
    return INGOT_OK;
}

ingot_epilogue ingot_cpu_conv_epilogue(const ingot_step *step, const ingot_cpu_epilogue *from)
{
    ingot_epilogue epilogue = {.activation = from->activation, .add_last = from->add_last};
    if (step->region->nodes[0]->operand_count > 2 && step->inputs[2])
        epilogue.row_bias = step->inputs[2]->data;
    if (from->add != SIZE_MAX)
        epilogue.add = step->inputs[from->add]->data;
    return epilogue;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_region *region = step->region;
    const detail *d = detail_of(region);
    const ingot_value *x = step->inputs[0], *w = step->inputs[1];
    ingot_conv conv;
    INGOT_TRY(fill(region, x->rank, x->dims, w->dims, &conv, step->error));
    if (ingot_value_count(step->outputs[0]) == 0)
        return INGOT_OK;
    const float *packed = step->packed;
    if (!d->packs) {
        size_t offset = step->workspace_bytes - packed_size(&conv, PLAIN);
        pack_weights(&conv, PLAIN, w->data, (float *)((char *)step->workspace + offset));
        packed = (const float *)((const char *)step->workspace + offset);
    }
    const ingot_epilogue epilogue = ingot_cpu_conv_epilogue(step, &d->epilogue);
    float *y = step->outputs[0]->data;
    ingot_blocked_conv blocked = blocked_of(&conv, step->tactic->id);
    if (step->tactic->id == PLAIN)
        ingot_conv_f32(&conv, x->data, packed, &epilogue, y, step->workspace, step->threads);
    else if (step->tactic->id == BLOCKED_DEPTHWISE)
        ingot_blocked_depthwise_f32(&conv, x->data, packed, &epilogue, y, step->threads);
    else
        ingot_blocked_f32(&blocked, x->data, packed, &epilogue, y, step->workspace, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_convolution = {
    .name = "conv",
    .flushes = true,
    .claim = claim,
    .tactic = tactic,
    .blocked = blocked,
    .pack = pack,
    .measure = measure,
    .run = run,
};
