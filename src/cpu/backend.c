/* The CPU as a backend. */
#include <string.h>

#include "base/float_mode.h"
#include "cpu/family.h"
#include "cpu/int8/int8_conv.h"

/* In the order in which they are asked about a node. */
static const ingot_cpu_family *const families[] = {
    &ingot_cpu_chain,        &ingot_cpu_convolution, &ingot_cpu_transposed_convolution,
    &ingot_cpu_product,      &ingot_cpu_unary,       &ingot_cpu_binary,
    &ingot_cpu_softmax,      &ingot_cpu_reduction,   &ingot_cpu_normalization,
    &ingot_cpu_batch_norm,   &ingot_cpu_pool,        &ingot_cpu_move,
    &ingot_cpu_join,         &ingot_cpu_pad,         &ingot_cpu_gather,
    &ingot_cpu_prelu,        &ingot_cpu_resize,      &ingot_cpu_cast,
    &ingot_cpu_recurrent,    &ingot_cpu_nbits,       &ingot_cpu_int8_convolution,
    &ingot_cpu_int8_product, &ingot_cpu_int8_binary, &ingot_cpu_int8_pool,
    &ingot_cpu_int8_chain,   &ingot_cpu_quantize,    &ingot_cpu_shape,
    &ingot_cpu_reference,
};

#define FAMILY_COUNT (sizeof families / sizeof *families)

/* Asked about all nodes before the others are: their regions may begin before the node that they are asked about. */
static const ingot_cpu_family *const early_families[] = {&ingot_cpu_attention};

#define EARLY_COUNT (sizeof early_families / sizeof *early_families)

struct ingot_device {
    int index;
};

static int probe(ingot_error *error)
{
    return 1;
}

static ingot_status open_device(int index, ingot_device **device, ingot_error *error)
{
    if (index != 0)
        return ingot_fail(error, INGOT_NOT_FOUND, "device 'cpu:%d' does not exist: there is one CPU, number 0", index);
    *device = ingot_calloc(1, sizeof **device);
    return *device ? INGOT_OK : ingot_fail_memory(error, sizeof **device, "the device");
}

static void close_device(ingot_device *device)
{
    ingot_free(device);
}

static ingot_status claim_early(ingot_cpu_claim *claim, ingot_node *node)
{
    bool claimed = false;
    for (size_t i = 0; i < EARLY_COUNT && !claimed; i++)
        INGOT_TRY(early_families[i]->claim(claim, node, &claimed));
    return INGOT_OK;
}

static ingot_status claim_node(ingot_cpu_claim *claim, ingot_node *node)
{
    bool claimed = false;
    /* The last family is the reference: others would read a program's operator as theirs of the same name. */
    size_t first = node->op->flags & INGOT_OP_CUSTOM ? FAMILY_COUNT - 1 : 0;
    for (size_t i = first; i < FAMILY_COUNT && !claimed; i++)
        INGOT_TRY(families[i]->claim(claim, node, &claimed));
    if (claimed)
        return INGOT_OK;
    return ingot_node_fail(node, claim->error, INGOT_UNSUPPORTED, "the CPU has no kernel for it");
}

static ingot_status claim_graph(ingot_device *device, const ingot_graph *graph, ingot_claim *out, ingot_error *error)
{
    ingot_cpu_claim claim = {.graph = graph, .out = out, .error = error};
    claim.taken = ingot_calloc(graph->module->next_id + 1, sizeof *claim.taken);
    if (!claim.taken)
        return ingot_fail_memory(error, graph->module->next_id, "the plan");
    ingot_status status = INGOT_OK;
    for (ingot_node *n = graph->first; n && status == INGOT_OK; n = n->next)
        if (!claim.taken[n->id])
            status = claim_early(&claim, n);
    for (ingot_node *n = graph->first; n && status == INGOT_OK; n = n->next)
        if (!claim.taken[n->id] && !(n->op->flags & (INGOT_OP_VIEW | INGOT_OP_CONTROL)))
            status = claim_node(&claim, n);
    ingot_free(claim.taken);
    return status;
}

static const ingot_cpu_region *detail_of(const ingot_region *region)
{
    return region->detail;
}

ingot_tactic *ingot_cpu_add_tactic(ingot_cpu_tactics *list)
{
    return list->count < INGOT_MAX_TACTICS ? &list->list[list->count++] : NULL;
}

static double operand_bytes(const ingot_graph_value *value, unsigned layout)
{
    int64_t dims[INGOT_MAX_RANK];
    size_t bytes;
    if (!value || value->type.kind != INGOT_KIND_TENSOR || value->type.rank < 0)
        return 0;
    ingot_guess_dims(&value->type, dims);
    bool known = layout == INGOT_LAYOUT_PLAIN
                     ? ingot_tensor_bytes(value->type.element, value->type.rank, dims, &bytes)
                     : ingot_blocked_bytes(layout, value->type.element, value->type.rank, dims, &bytes);
    return known ? (double)bytes : 0;
}

double ingot_cpu_moving_cost(const ingot_region *region, const ingot_tactic *tactic)
{
    double bytes = 0;
    for (size_t i = 0; i < region->input_count; i++)
        bytes += operand_bytes(region->inputs[i], ingot_layout_at(tactic->input_layouts, i));
    for (size_t i = 0; i < region->output_count; i++)
        bytes += operand_bytes(region->outputs[i], ingot_layout_at(tactic->output_layouts, i));
    return ingot_cpu_guess_cost(bytes, 0);
}

static ingot_status tactics(ingot_device *device, const ingot_region *region, ingot_tactic *list, size_t *count,
                            ingot_error *error)
{
    const ingot_cpu_family *family = detail_of(region)->family;
    ingot_cpu_tactics made = {list, 1};
    list[0].name = family->name;
    family->tactic(region, &list[0]);
    if (family->blocked)
        family->blocked(region, &made);
    for (size_t i = 0; i < made.count; i++)
        if (list[i].cost == 0)
            list[i].cost = ingot_cpu_moving_cost(region, &list[i]);
    *count = made.count;
    return INGOT_OK;
}

static ingot_status pack(ingot_device *device, const ingot_region *region, const ingot_tactic *tactic, void *packed,
                         ingot_error *error)
{
    const ingot_cpu_family *family = detail_of(region)->family;
    return family->pack ? family->pack(region, tactic, packed, error) : INGOT_OK;
}

static void pack_rows(ingot_device *device, const ingot_region *region, const ingot_tactic *tactic, size_t first,
                      size_t count, const void *rows, void *packed)
{
    detail_of(region)->family->pack_rows(region, tactic, first, count, rows, packed);
}

static ingot_status measure(ingot_device *device, const ingot_region *region, const ingot_tactic *tactic,
                            const ingot_value *const *inputs, const ingot_value *const *outputs, int threads,
                            size_t *bytes, ingot_error *error)
{
    const ingot_cpu_family *family = detail_of(region)->family;
    *bytes = 0;
    return family->measure ? family->measure(region, tactic, inputs, outputs, threads, bytes, error) : INGOT_OK;
}

static void reorder(ingot_device *device, const ingot_value *from, unsigned from_layout, const ingot_value *to,
                    unsigned to_layout, int threads, void *stream)
{
    size_t image = ingot_blocked_image(from->rank, from->dims);
    if (ingot_value_count(from) == 0)
        return;
    if (to_layout == INGOT_LAYOUT_NHWC)
        ingot_int8_transpose(from->data, (size_t)from->dims[0], (size_t)from->dims[1], image, to->data, threads);
    else if (from_layout == INGOT_LAYOUT_NHWC)
        ingot_int8_transpose(from->data, (size_t)from->dims[0], image, (size_t)from->dims[1], to->data, threads);
    else if (to_layout == INGOT_LAYOUT_C16)
        ingot_block_f32((size_t)from->dims[0], (size_t)from->dims[1], image, from->data, to->data, threads);
    else
        ingot_unblock_f32((size_t)from->dims[0], (size_t)from->dims[1], image, from->data, to->data, threads);
}

static const char *layout_name(unsigned layout)
{
    static const char *const names[] = {
        [INGOT_LAYOUT_PLAIN] = "plain", [INGOT_LAYOUT_C16] = "c16", [INGOT_LAYOUT_NHWC] = "nhwc"};
    return names[layout];
}

static ingot_status run_reference(const ingot_step *step)
{
    const ingot_node *node = step->region->nodes[0];
    ingot_kernel_call call = {.node = node,
                              .params = node->params,
                              .inputs = step->inputs,
                              .input_count = step->region->input_count,
                              .outputs = step->outputs,
                              .output_count = step->region->output_count,
                              .threads = step->threads,
                              .scratch = step->scratch,
                              .budget = step->budget,
                              .error = step->error};
    return detail_of(step->region)->reference(&call);
}

/* Outputs that are there and hold no element, however many rows of nothing they have: there is no work. */
static bool is_empty(const ingot_step *step)
{
    for (size_t i = 0; i < step->region->output_count; i++)
        if (step->outputs[i] &&
            (step->outputs[i]->kind != INGOT_KIND_TENSOR || ingot_value_count(step->outputs[i]) > 0))
            return false;
    return !(step->region->nodes[step->region->node_count - 1]->op->flags & INGOT_OP_SIZES_OUTPUT);
}

/* The reference keeps denormal numbers. */
static ingot_status run_declined(const ingot_step *step)
{
    if (!detail_of(step->region)->reference)
        return ingot_node_fail(step->region->nodes[0], step->error, INGOT_INTERNAL,
                               "kernel '%s' declined shapes that it claimed", step->tactic->name);
    ingot_float_mode_set(INGOT_FLOAT_IEEE);
    return run_reference(step);
}

static ingot_status run(ingot_device *device, const ingot_step *step, void *stream)
{
    bool declined = false;
    if (is_empty(step))
        return INGOT_OK;
    const unsigned callers_mode = ingot_float_mode();
    ingot_float_mode_set(detail_of(step->region)->family->flushes ? INGOT_FLOAT_FLUSH : INGOT_FLOAT_IEEE);
    ingot_status status = detail_of(step->region)->family->run(step, &declined);
    if (status == INGOT_OK && declined)
        status = run_declined(step);
    ingot_float_mode_set(callers_mode);
    return status;
}

const ingot_backend ingot_cpu_backend = {
    .abi = INGOT_BACKEND_ABI,
    .name = "cpu",
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .claim = claim_graph,
    .tactics = tactics,
    .pack = pack,
    .pack_rows = pack_rows,
    .measure = measure,
    .run = run,
    .layout_bytes = ingot_blocked_bytes,
    .layout_name = layout_name,
    .reorder = reorder,
};

/* ---- The reference as a family: takes all, declines all ---- */

static ingot_status claim_reference(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    if (!ingot_reference_kernel(node->op))
        return INGOT_OK;
    return ingot_cpu_claim_whole_node(claim, &ingot_cpu_reference, node, claimed);
}

static void reference_tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "reference";
}

static ingot_status decline(const ingot_step *step, bool *declined)
{
    *declined = true;
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_reference = {
    .name = "reference", .claim = claim_reference, .tactic = reference_tactic, .run = decline};
