/* Operations between DequantizeLinear and QuantizeLinear, on bytes throughout: of one operand by a table of 256 entries, which the
 * float kernels fill; products of two by a kernel of their own. Both have the bits of the nodes run one by one. */
#include <string.h>

#include "base/float_mode.h"
#include "cpu/family.h"
#include "cpu/int8/bytes.h"
#include "cpu/ref/ref_iterate.h"
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
    ingot_int8_scale from, other, to; /* other: of the second factor of a product */
    bool is_product;
    size_t link_count;
    link links[MOST_LINKS];
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* ---- Claiming ---- */

static bool is_byte_element(ingot_element element)
{
    return element == INGOT_UINT8 || element == INGOT_INT8;
}

static bool has_bytes(const ingot_graph_value *v)
{
    return v && v->type.kind == INGOT_KIND_TENSOR && is_byte_element(v->type.element);
}

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
    return node && strcmp(node->op_type, "DequantizeLinear") == 0 && has_bytes(node->inputs[0]) &&
           ingot_cpu_is_float(node->outputs[0]) && constant_scale(node, node->inputs[0]->type.element, scale);
}

static bool is_quantize(const ingot_node *node, ingot_int8_scale *scale)
{
    const ingot_quantize_params *p = node ? node->params : NULL;
    return node && strcmp(node->op_type, "QuantizeLinear") == 0 && ingot_cpu_is_float(node->inputs[0]) &&
           has_bytes(node->outputs[0]) && (p->precision == 0 || p->precision == INGOT_FLOAT) &&
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

/* The product of node's result and another dequantized tensor's, as far as they are here alone; NULL: none. */
static ingot_node *find_product(const ingot_cpu_claim *claim, ingot_node *node, ingot_node **other, detail *d)
{
    ingot_node *product = ingot_cpu_follower(claim, node->outputs[0]);
    if (!product || !ingot_cpu_is(product, "Mul"))
        return NULL;
    const ingot_graph_value *second = product->inputs[product->inputs[0] == node->outputs[0]];
    *other = second->producer;
    return *other != node && is_dequantize(*other, &d->other) && ingot_cpu_follower(claim, second) == product &&
                   !claim->taken[(*other)->id]
               ? product
               : NULL;
}

static ingot_status claim_product(ingot_cpu_claim *claim, ingot_node *node, detail *d, bool *claimed)
{
    ingot_node *other = NULL, *product = find_product(claim, node, &other, d);
    ingot_node *last = product ? ingot_cpu_follower(claim, product->outputs[0]) : NULL;
    if (!is_quantize(last, &d->to))
        return INGOT_OK;
    d->is_product = true;
    ingot_cpu_draft draft = {.nodes = {node, other, product, last},
                             .node_count = 4,
                             .inputs = {node->inputs[0], other->inputs[0]},
                             .input_count = 2,
                             .detail = d,
                             .detail_size = sizeof *d};
    return ingot_cpu_claim_region(claim, &ingot_cpu_int8_chain, &draft, claimed);
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {0};
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
        return d.link_count == 0 ? claim_product(claim, node, &d, claimed) : INGOT_OK;
    draft.nodes[draft.node_count++] = next;
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

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    bool is_product = detail_of(region)->is_product;
    tactic->name = is_product ? "multiply_bytes" : "table_of_bytes";
    tactic->packed_bytes = is_product ? 0 : 256;
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const detail *d = detail_of(region);
    const unsigned callers_mode = ingot_float_mode();
    uint8_t bytes[256];
    float numbers[256];
    if (d->is_product)
        return INGOT_OK;
    ingot_float_mode_set(INGOT_FLOAT_IEEE);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    ingot_int8_dequantize(bytes, &d->from, numbers, sizeof bytes, 1);
    for (size_t i = 0; i < d->link_count; i++)
        apply(&d->links[i], numbers);
    ingot_int8_quantize(numbers, &d->to, packed, sizeof bytes, 1);
    ingot_float_mode_set(callers_mode);
    return INGOT_OK;
}

/* ---- Running ---- */

/* x times one number, by a table. */
static void multiply_by(const ingot_int8_times *times, const uint8_t *x, uint8_t number, uint8_t *y, size_t count,
                        int threads)
{
    uint8_t bytes[256], numbers[256], table[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    memset(numbers, number, sizeof numbers);
    if (count < sizeof bytes) {
        ingot_int8_multiply_bytes(times, x, numbers, y, count, 1);
        return;
    }
    ingot_int8_multiply_bytes(times, bytes, numbers, table, sizeof bytes, 1);
    ingot_int8_look_up(table, x, y, count, threads);
}

static void multiply(const ingot_step *step, const detail *d)
{
    const ingot_value *a = step->inputs[0], *b = step->inputs[1], *y = step->outputs[0];
    ingot_int8_times times = {d->from, d->other, d->to}, swapped = {d->other, d->from, d->to};
    ingot_walk walk;
    ingot_walk_init(&walk, y->rank, y->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b->rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        const uint8_t *x = (const uint8_t *)a->data + walk.offset[1], *z = (const uint8_t *)b->data + walk.offset[2];
        uint8_t *to = (uint8_t *)y->data + walk.offset[0];
        if (walk.step[2] == 0)
            multiply_by(&times, x, *z, to, walk.run, step->threads);
        else if (walk.step[1] == 0)
            multiply_by(&swapped, z, *x, to, walk.run, step->threads);
        else
            ingot_int8_multiply_bytes(&times, x, z, to, walk.run, step->threads);
    }
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const detail *d = detail_of(step->region);
    if (d->is_product)
        multiply(step, d);
    else
        ingot_int8_look_up(step->packed, step->inputs[0]->data, step->outputs[0]->data,
                           ingot_value_count(step->inputs[0]), step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_int8_chain = {
    .name = "int8_chain", .claim = claim, .tactic = tactic, .pack = pack, .run = run};
