/* Convolutions and pools that ONNX Runtime wrote for another layout: channels last (NhwcConv and its kin of com.microsoft), and
 * blocks of channels (com.microsoft.nchwc). All become the standard's, with channels first.
 *
 * In a tensor of blocks each block of 8 or 16 channels lies together, and the number of channels is rounded up with zeros. As
 * what a tensor means, and not how it lies, is all that a model can tell, such a tensor is taken as [N, channels rounded up, H, W];
 * only the weights, whose elements the file holds in that order, are put back. */
#include <string.h>

#include "ops/expand.h"

static const char *const conv_names[] = {
    "activation", "activation_params", "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides", NULL};
#define CONV_ATTRIBUTES 9

/* The first names are those of the activation. */
#define ACTIVATION_NAMES 2

/* FusedConv of X, W, B and Z; what it has no activation for becomes a node of its own. */
static ingot_graph_value *convolve(ingot_expansion *e, ingot_graph_value *const *inputs)
{
    static const char *const fused[] = {"", "Clip", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Tanh"};
    ingot_attribute attributes[CONV_ATTRIBUTES];
    bool fuses = false;
    for (size_t i = 0; i < sizeof fused / sizeof *fused; i++)
        fuses = fuses || ingot_expand_is(e, "activation", fused[i]);
    size_t count = ingot_expand_pass_on(e, conv_names + (fuses ? 0 : ACTIVATION_NAMES), attributes);
    ingot_graph_value *y =
        ingot_expand_add(e, &(ingot_expand_spec){"com.microsoft", "FusedConv", 1, attributes, count, inputs, 4});
    return fuses ? y : ingot_expand_activation(e, y);
}

/* ---- Channels last ---- */

static ingot_graph_value *channels_first(ingot_expansion *e, size_t input)
{
    ingot_graph_value *x = ingot_expand_input(e, input);
    return x ? ingot_expand_channels_first(e, x) : NULL;
}

/* NhwcConv and NhwcFusedConv. */
ingot_status ingot_upgrade_nhwc_conv(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *inputs[] = {channels_first(&e, 0), ingot_expand_input(&e, 1), ingot_expand_input(&e, 2),
                                   channels_first(&e, 3)};
    ingot_expand_result(&e, 0, ingot_expand_channels_last(&e, convolve(&e, inputs)));
    return ingot_expand_end(&e);
}

static const char *const pool_names[] = {"auto_pad", "ceil_mode",     "count_include_pad", "dilations", "kernel_shape",
                                         "pads",     "storage_order", "strides",           NULL};
#define POOL_ATTRIBUTES 8

ingot_status ingot_upgrade_nhwc_max_pool(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute attributes[POOL_ATTRIBUTES];
    size_t count = ingot_expand_pass_on(&e, pool_names, attributes);
    ingot_graph_value *y = INGOT_EXPAND(&e, "MaxPool", 12, attributes, count, channels_first(&e, 0));
    ingot_expand_result(&e, 0, ingot_expand_channels_last(&e, y));
    return ingot_expand_end(&e);
}

/* ---- The size of a block ---- */

#define BLOCK_NOTE  "ingot_block" /* attribute that keeps what was found out, as nodes change one by one */
#define SMALL_BLOCK 8
#define LARGE_BLOCK 16
#define NCHWC       "com.microsoft.nchwc"
#define MAX_NOTED   (1 << 20) /* nodes that a search looks at */

static bool is_nchwc(const ingot_node *node, const char *op_type)
{
    return node && strcmp(node->domain, NCHWC) == 0 && strcmp(node->op_type, op_type) == 0;
}

/* Output channels of a convolution, rounded up; 0: not known. */
static int64_t rounded_channels(const ingot_node *node)
{
    const ingot_value *w = node->operand_count > 1 && node->inputs[1] ? node->inputs[1]->constant : NULL;
    return w && w->rank == 4 ? w->dims[0] : 0;
}

/* What one node tells of the size: the numbers of channels that are rounded up. 0: nothing. */
static int64_t block_hint(const ingot_node *node)
{
    if (is_nchwc(node, "Conv"))
        return rounded_channels(node) % LARGE_BLOCK == SMALL_BLOCK ? SMALL_BLOCK : 0;
    if (!is_nchwc(node, "ReorderOutput") || node->operand_count < 1 || !node->inputs[0])
        return 0;
    const ingot_attribute *channels = ingot_node_attribute(node, "channels");
    const ingot_node *conv = node->inputs[0]->producer;
    bool small_would_do =
        channels && channels->i > 0 && channels->i % LARGE_BLOCK > 0 && channels->i % LARGE_BLOCK <= SMALL_BLOCK;
    if (!small_would_do || !is_nchwc(conv, "Conv"))
        return 0;
    return rounded_channels(conv) % LARGE_BLOCK == 0 ? LARGE_BLOCK : SMALL_BLOCK;
}

/* The file does not say the size: it is what the machine had that wrote it. Where no number of channels tells, 16. */
static int64_t find_block(const ingot_graph *graph)
{
    size_t looked_at = 0;
    for (const ingot_node *n = graph->first; n && looked_at < MAX_NOTED; n = n->next, looked_at++) {
        int64_t hint = block_hint(n);
        if (hint)
            return hint;
    }
    return LARGE_BLOCK;
}

static ingot_status note_block(ingot_node *node, int64_t block, ingot_error *error)
{
    size_t count = node->attribute_count;
    ingot_attribute *list = ingot_arena_alloc_array(node->graph->module->arena, count + 1, sizeof *list);
    if (!list)
        return ingot_fail_memory(error, count * sizeof *list, "attributes");
    if (count > 0)
        memcpy(list, node->attributes, count * sizeof *list);
    list[count] = ingot_int_of(BLOCK_NOTE, block);
    node->attributes = list;
    node->attribute_count = count + 1;
    return INGOT_OK;
}

/* Of this node; the first one that asks tells all others of its graph. */
static int64_t block_of(ingot_expansion *e)
{
    const ingot_attribute *note = ingot_node_attribute(e->node, BLOCK_NOTE);
    if (note)
        return note->i == SMALL_BLOCK ? SMALL_BLOCK : LARGE_BLOCK;
    int64_t block = find_block(e->node->graph);
    for (ingot_node *n = e->node; n; n = n->next)
        if (e->builder.status == INGOT_OK && (is_nchwc(n, "Conv") || is_nchwc(n, "ReorderInput")))
            e->builder.status = note_block(n, block, e->builder.error);
    return block;
}

/* ---- Blocks of channels ---- */

ingot_status ingot_upgrade_reorder_input(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *x = ingot_expand_input(&e, 0);
    if (ingot_expand_int(&e, "channels_last", 0))
        x = ingot_expand_channels_first(&e, x);
    int64_t block = block_of(&e), over = ingot_expand_size(&e, x, 1, "X") % block;
    const int64_t pads[] = {0, 0, 0, 0, 0, over ? block - over : 0, 0, 0};
    if (over)
        x = INGOT_EXPAND(&e, "Pad", 13, NULL, 0, x, ingot_expand_vector(&e, pads, 8));
    ingot_expand_result(&e, 0, x);
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_reorder_output(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *x = ingot_expand_input(&e, 0);
    int64_t channels = ingot_expand_int(&e, "channels", 0), found = ingot_expand_size(&e, x, 1, "X");
    if (channels > found)
        ingot_expand_fail(&e, INGOT_INVALID_MODEL, "attribute 'channels' is %lld, but its input has %lld channels",
                          (long long)channels, (long long)found);
    if (channels > 0 && channels < found)
        x = ingot_expand_slice(&e, x, 1, 0, channels);
    ingot_expand_result(&e, 0, ingot_expand_int(&e, "channels_last", 0) ? ingot_expand_channels_last(&e, x) : x);
    return ingot_expand_end(&e);
}

/* Weights as the file has them: [O / block][I][taps][block of O], or, where in_blocks,
 * [O / block][I / block][taps][block of I][block of O]; to [O][I][taps]. */
static void order_weights(const float *from, const int64_t *dims, int64_t block, bool in_blocks, float *to)
{
    int64_t inputs = dims[1], taps = dims[2] * dims[3], inner = in_blocks ? block : 1;
    for (int64_t o = 0; o < dims[0]; o++)
        for (int64_t i = 0; i < inputs; i++)
            for (int64_t t = 0; t < taps; t++) {
                int64_t outer = (o / block * (inputs / inner) + i / inner) * taps + t;
                to[(o * inputs + i) * taps + t] = from[(outer * inner + i % inner) * block + o % block];
            }
}

/* The weights in the standard's order, as a new constant. */
static ingot_graph_value *plain_weights(ingot_expansion *e, int64_t block, bool in_blocks)
{
    ingot_graph_value *w = ingot_expand_input(e, 1), *plain = NULL;
    const ingot_value *stored = ingot_graph_value_is_constant(w) ? w->constant : NULL;
    ingot_graph *graph = e->node->graph;
    ingot_error *error = e->builder.error;
    ingot_value *content = NULL;
    if (e->builder.status != INGOT_OK)
        return NULL;
    e->builder.status = ingot_module_align(graph->module, &stored, error);
    if (e->builder.status == INGOT_OK && graph->module->budget)
        e->builder.status = ingot_budget_take(graph->module->budget, ingot_value_bytes(stored), "weights", error);
    if (e->builder.status == INGOT_OK)
        e->builder.status = ingot_value_create_tensor(INGOT_FLOAT, 4, stored->dims, NULL, 0, &content, error);
    if (e->builder.status != INGOT_OK)
        return NULL;
    order_weights(stored->data, stored->dims, block, in_blocks, content->data);
    e->builder.status = ingot_module_own(graph->module, content, error);
    if (e->builder.status == INGOT_OK)
        e->builder.status = ingot_graph_add_constant(graph, w->name, content, &plain, error);
    return plain;
}

/* Whether the input channels of the weights lie in blocks: not for one channel a group, nor for fewer than a block. */
static bool inputs_in_blocks(ingot_expansion *e, int64_t block, int64_t group)
{
    const ingot_graph_value *w = ingot_expand_input(e, 1);
    const ingot_value *c = ingot_graph_value_is_constant(w) ? w->constant : NULL;
    if (!c || c->kind != INGOT_KIND_TENSOR || c->element != INGOT_FLOAT || c->rank != 4) {
        ingot_expand_fail(e, INGOT_UNSUPPORTED, "its weights must be a constant of rank 4: their order is unknown");
        return false;
    }
    bool in_blocks = group > 1 ? c->dims[1] > 1 : c->dims[1] >= block;
    if (c->dims[0] % block || (in_blocks && c->dims[1] % block))
        ingot_expand_fail(e, INGOT_INVALID_MODEL,
                          "its weights [%lld,%lld,%lld,%lld] are not of blocks of %lld channels", (long long)c->dims[0],
                          (long long)c->dims[1], (long long)c->dims[2], (long long)c->dims[3], (long long)block);
    return in_blocks;
}

ingot_status ingot_upgrade_nchwc_conv(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    int64_t block = block_of(&e);
    bool in_blocks = inputs_in_blocks(&e, block, ingot_expand_int(&e, "group", 1));
    ingot_graph_value *inputs[] = {ingot_expand_input(&e, 0), plain_weights(&e, block, in_blocks),
                                   ingot_expand_input(&e, 2), ingot_expand_input(&e, 3)};
    ingot_expand_result(&e, 0, convolve(&e, inputs));
    return ingot_expand_end(&e);
}

static ingot_status upgrade_pool(ingot_node *node, ingot_error *error, const char *op_type, int opset)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute attributes[POOL_ATTRIBUTES];
    size_t count = ingot_expand_pass_on(&e, pool_names, attributes);
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, op_type, opset, attributes, count, ingot_expand_input(&e, 0)));
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_nchwc_max_pool(ingot_node *node, ingot_error *error)
{
    return upgrade_pool(node, error, "MaxPool", 12);
}

ingot_status ingot_upgrade_nchwc_average_pool(ingot_node *node, ingot_error *error)
{
    return upgrade_pool(node, error, "AveragePool", 19);
}

ingot_status ingot_upgrade_nchwc_global_max_pool(ingot_node *node, ingot_error *error)
{
    return upgrade_pool(node, error, "GlobalMaxPool", 1);
}

ingot_status ingot_upgrade_nchwc_global_average_pool(ingot_node *node, ingot_error *error)
{
    return upgrade_pool(node, error, "GlobalAveragePool", 1);
}

ingot_status ingot_upgrade_nchwc_upsample(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"coordinate_transformation_mode", "mode", NULL};
    ingot_expansion e = ingot_expand_begin(node, error);
    const ingot_attribute *scales = ingot_node_attribute(node, "scales");
    ingot_graph_value *x = ingot_expand_input(&e, 0);
    ingot_attribute attributes[3];
    size_t count = ingot_expand_pass_on(&e, names, attributes);
    attributes[count++] = ingot_text_of("nearest_mode", "floor");
    if (!scales || (int)scales->count != ingot_expand_rank(&e, x, "X"))
        ingot_expand_fail(&e, INGOT_INVALID_MODEL,
                          "attribute 'scales' must hold one number for each axis of its input");
    ingot_graph_value *factors =
        scales ? ingot_expand_cast(&e, ingot_expand_vector(&e, scales->ints, scales->count), INGOT_FLOAT) : NULL;
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Resize", 13, attributes, count, x, NULL, factors));
    return ingot_expand_end(&e);
}
