/* Operations of one operand on bytes by a table of 256 entries: between DequantizeLinear and QuantizeLinear, where the float kernels
 * fill it, and QLinearSigmoid and QLinearLeakyRelu, where the reference does. The bits are those of the nodes run one by one. */
#include <string.h>

#include "base/float_mode.h"
#include "base/number.h"
#include "cpu/int8/bytes.h"
#include "cpu/region_int8.h"
#include "ops/quantize.h"

#define MOST_LINKS 4

/* An operation of one operand, or of two where one is a constant number. */
typedef struct link {
    bool is_binary, swapped; /* swapped: the number comes first */
    ingot_unary unary;
    ingot_binary_kind binary;
    float number;
} link;

typedef struct detail {
    bool is_chain; /* else the nodes are a QLinear one, and perhaps QLinearMul of its operand and result */
    ingot_int8_scale from, to;
    size_t link_count;
    link links[MOST_LINKS];
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* ---- Claiming ---- */

/* The node's constant scale and zero point, one number each. */
static bool constant_scale(const ingot_node *node, ingot_element element, ingot_int8_scale *scale)
{
    const ingot_graph_value *zero = node->operand_count > 2 ? node->inputs[2] : NULL;
    *scale = (ingot_int8_scale){.is_signed = element == INGOT_INT8};
    if (!ingot_cpu_scalar(node->inputs[1], &scale->scale) ||
        (zero && (!ingot_graph_value_is_constant(zero) || ingot_value_count(zero->constant) != 1)))
        return false;
    scale->zero = zero ? (int32_t)ingot_load_i64(zero->constant->element, zero->constant->data, 0) : 0;
    return true;
}

static bool is_dequantize(const ingot_node *node, ingot_int8_scale *scale)
{
    return node && ingot_int8_is(node, "DequantizeLinear") && ingot_int8_is_bytes(node->inputs[0]) &&
           ingot_cpu_is_float(node->outputs[0]) && constant_scale(node, node->inputs[0]->type.element, scale);
}

static bool is_quantize(const ingot_node *node, ingot_int8_scale *scale)
{
    const ingot_quantize_params *p = node ? node->params : NULL;
    return node && ingot_int8_is(node, "QuantizeLinear") && ingot_cpu_is_float(node->inputs[0]) &&
           ingot_int8_is_bytes(node->outputs[0]) && (p->precision == 0 || p->precision == INGOT_FLOAT) &&
           constant_scale(node, node->outputs[0]->type.element, scale);
}

static bool find_link(const ingot_node *node, const ingot_graph_value *x, link *found)
{
    static const struct {
        const char *op_type;
        ingot_binary_kind kind;
    } binaries[] = {
        {"Add", INGOT_BINARY_ADD}, {"Div", INGOT_BINARY_DIV}, {"Mul", INGOT_BINARY_MUL}, {"Sub", INGOT_BINARY_SUB}};
    *found = (link){0};
    if (node->inputs[0] == x && ingot_cpu_unary_of(node, &found->unary))
        return true;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        if (!ingot_cpu_is(node, binaries[i].op_type))
            continue;
        found->is_binary = true;
        found->binary = binaries[i].kind;
        found->swapped = node->inputs[1] == x;
        return node->inputs[0] != node->inputs[1] && ingot_cpu_scalar(node->inputs[!found->swapped], &found->number);
    }
    return false;
}

static ingot_status claim_chain(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {.is_chain = true};
    if (!is_dequantize(node, &d.from))
        return INGOT_OK;
    ingot_cpu_draft draft = {.nodes = {node}, .node_count = 1, .inputs = {node->inputs[0]}, .input_count = 1};
    const ingot_graph_value *x = node->outputs[0];
    ingot_node *next = ingot_cpu_follower(claim, x);
    while (next && d.link_count < MOST_LINKS && find_link(next, x, &d.links[d.link_count])) {
        draft.nodes[draft.node_count++] = next;
        d.link_count++;
        x = next->outputs[0];
        next = ingot_cpu_follower(claim, x);
    }
    if (!is_quantize(next, &d.to))
        return INGOT_OK;
    draft.nodes[draft.node_count++] = next;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    draft.flags = INGOT_OP_IN_PLACE;
    return ingot_cpu_claim_region(claim, &ingot_cpu_int8_chain, &draft, claimed);
}

static bool is_qlinear(const ingot_node *node, const char *op_type)
{
    return strcmp(node->op_type, op_type) == 0 && strcmp(node->domain, "com.microsoft") == 0;
}

/* All inputs from first on, but the one given, are constants of one element or left out. */
static bool has_constant_scales(const ingot_node *node, size_t first, size_t but)
{
    for (size_t i = first; i < node->operand_count; i++)
        if (i != but && node->inputs[i] &&
            (!ingot_graph_value_is_constant(node->inputs[i]) || ingot_value_count(node->inputs[i]->constant) != 1))
            return false;
    return true;
}

/* QLinearMul of x and f(x), which both go nowhere else. */
static ingot_node *find_product(const ingot_cpu_claim *claim, const ingot_node *node)
{
    const ingot_graph_value *x = node->inputs[0], *y = node->outputs[0];
    ingot_node *product = ingot_cpu_follower(claim, y);
    if (!product || !is_qlinear(product, "QLinearMul") || x->use_count != 2 || x->output_count > 0 ||
        x->type.element != y->type.element)
        return NULL;
    bool first = product->inputs[0] == x && product->inputs[3] == y;
    bool second = product->inputs[3] == x && product->inputs[0] == y;
    return (first || second) && has_constant_scales(product, 1, 3) ? product : NULL;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {0};
    if (!is_qlinear(node, "QLinearSigmoid") && !is_qlinear(node, "QLinearLeakyRelu"))
        return claim_chain(claim, node, claimed);
    if (!ingot_int8_is_bytes(node->inputs[0]) || !ingot_int8_is_bytes(node->outputs[0]) ||
        !has_constant_scales(node, 1, 0))
        return INGOT_OK;
    ingot_cpu_draft draft = {.nodes = {node}, .node_count = 1, .inputs = {node->inputs[0]}, .input_count = 1};
    ingot_node *product = find_product(claim, node);
    if (product)
        draft.nodes[draft.node_count++] = product;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    draft.flags = INGOT_OP_IN_PLACE;
    return ingot_cpu_claim_region(claim, &ingot_cpu_int8_chain, &draft, claimed);
}

/* ---- The table ---- */

static void apply(const link *l, float *numbers)
{
    static const ptrdiff_t one = 1, none = 0;
    const size_t count = 256;
    if (!l->is_binary) {
        ingot_unary_f32(&l->unary, numbers, numbers, count, 1);
        return;
    }
    float copy[256];
    memcpy(copy, numbers, sizeof copy);
    ingot_binary op = {.kind = l->binary,
                       .rank = 1,
                       .dims = &count,
                       .a = l->swapped ? &l->number : copy,
                       .b = l->swapped ? copy : &l->number,
                       .a_strides = l->swapped ? &none : &one,
                       .b_strides = l->swapped ? &one : &none,
                       .y = numbers};
    ingot_binary_f32(&op, 1);
}

static void fill_chain(const detail *d, const uint8_t *bytes, uint8_t *table)
{
    float numbers[256];
    ingot_int8_dequantize(bytes, &d->from, numbers, 256, 1);
    for (size_t i = 0; i < d->link_count; i++)
        apply(&d->links[i], numbers);
    ingot_int8_quantize(numbers, &d->to, table, 256, 1);
}

/* By the reference kernel of a node whose operands are constants but the first, or one more. */
static ingot_status run_reference(const ingot_node *node, ingot_value *first, size_t other_index, ingot_value *other,
                                  uint8_t *table, ingot_error *error)
{
    const ingot_value *inputs[INGOT_CPU_MAX_INPUTS];
    ingot_value y = *first;
    y.data = table;
    ingot_value *outputs[] = {&y};
    for (size_t i = 0; i < node->operand_count; i++)
        inputs[i] = node->inputs[i] ? node->inputs[i]->constant : NULL;
    inputs[0] = first;
    if (other)
        inputs[other_index] = other;
    ingot_kernel_call call = {.node = node,
                              .params = node->params,
                              .inputs = inputs,
                              .input_count = node->operand_count,
                              .outputs = outputs,
                              .output_count = 1,
                              .threads = 1,
                              .error = error};
    return ingot_reference_kernel(node->op)(&call);
}

static ingot_status fill_qlinear(const ingot_region *region, uint8_t *bytes, uint8_t *table, ingot_error *error)
{
    const ingot_node *node = region->nodes[0];
    uint8_t results[256];
    ingot_value x = {
        .kind = INGOT_KIND_TENSOR, .element = node->inputs[0]->type.element, .rank = 1, .dims = {256}, .data = bytes};
    ingot_value f = x;
    f.data = results;
    INGOT_TRY(run_reference(node, &x, 0, NULL, region->node_count == 1 ? table : results, error));
    if (region->node_count == 1)
        return INGOT_OK;
    bool x_first = region->nodes[1]->inputs[0] == node->inputs[0];
    return run_reference(region->nodes[1], x_first ? &x : &f, 3, x_first ? &f : &x, table, error);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "table_of_bytes";
    tactic->packed_bytes = 256;
}

static void channels_last(const ingot_region *region, ingot_cpu_tactics *list)
{
    if (ingot_cpu_can_be_channels_last(region->inputs[0])) {
        ingot_tactic *t = ingot_cpu_add_channels_last(list, "table_of_bytes", 1u << 0);
        if (t)
            t->packed_bytes = 256;
    }
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const detail *d = detail_of(region);
    const unsigned callers_mode = ingot_float_mode();
    uint8_t bytes[256];
    ingot_status status = INGOT_OK;
    ingot_float_mode_set(INGOT_FLOAT_IEEE);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    if (d->is_chain)
        fill_chain(d, bytes, packed);
    else
        status = fill_qlinear(region, bytes, packed, error);
    ingot_float_mode_set(callers_mode);
    return status;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    ingot_int8_look_up(step->packed, step->inputs[0]->data, step->outputs[0]->data, ingot_value_count(step->inputs[0]),
                       step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_int8_chain = {
    .name = "int8_chain", .claim = claim, .tactic = tactic, .blocked = channels_last, .pack = pack, .run = run};
