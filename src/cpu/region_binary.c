/* Two-operand elementwise nodes on floats, with what follows them in one pass. */
#include <string.h>

#include "cpu/c16/c16.h"
#include "cpu/family.h"
#include "ops/binary.h"

typedef struct detail {
    ingot_binary_kind kind;
    ingot_cpu_epilogue epilogue;
} detail;

static bool kind_of(const ingot_node *node, ingot_binary_kind *kind)
{
    static const struct {
        const char *op_type;
        ingot_binary_kind kind;
    } entries[] = {{"Add", INGOT_BINARY_ADD}, {"Sub", INGOT_BINARY_SUB}, {"Mul", INGOT_BINARY_MUL},
                   {"Div", INGOT_BINARY_DIV}, {"Max", INGOT_BINARY_MAX}, {"Min", INGOT_BINARY_MIN}};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *kind = entries[i].kind;
        if (ingot_cpu_is(node, entries[i].op_type))
            return true;
    }
    return false;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {.epilogue = {.column_bias = SIZE_MAX, .add = 0}};
    ingot_cpu_draft draft;
    bool variadic = ingot_cpu_is(node, "Max") || ingot_cpu_is(node, "Min");
    if (!kind_of(node, &d.kind) || node->operand_count != 2 || !node->outputs[0] ||
        (!variadic && ((const ingot_binary_params *)node->params)->legacy) || !ingot_cpu_is_float(node->inputs[0]) ||
        !ingot_cpu_is_float(node->inputs[1]) || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    ingot_node *next = ingot_cpu_follower(claim, node->outputs[0]);
    if (next && next->inputs[0] == node->outputs[0] && next->outputs[0] &&
        ingot_cpu_unary_of(next, &d.epilogue.activation))
        draft.nodes[draft.node_count++] = next;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    draft.flags = INGOT_OP_IN_PLACE;
    return ingot_cpu_claim_region(claim, &ingot_cpu_binary, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "eltwise_binary_f32";
}

/* ---- Blocked channels ---- */

static bool is_one(const ingot_graph_value *v, int dim)
{
    return v->type.dims[dim] == 1;
}

/* One element, or one for each channel of y: of all images, or of each. */
static bool is_per_channel(const ingot_graph_value *v, const ingot_graph_value *y)
{
    int rank = v->type.rank, channel = rank - y->type.rank + 1;
    if (rank < 0 || rank > y->type.rank)
        return false;
    for (int i = channel > -1 ? channel + 1 : 0; i < rank; i++)
        if (!is_one(v, i))
            return false;
    if (channel < 0)
        return true;
    if (channel > 0 && v->type.dims[0] != y->type.dims[0] && !is_one(v, 0))
        return false;
    bool single = is_one(v, channel) && (channel == 0 || is_one(v, 0));
    return single || v->type.dims[channel] == y->type.dims[1];
}

/* All channels of y, which are more than one; other sizes may turn out to be 1. */
static bool has_channels(const ingot_graph_value *v, const ingot_graph_value *y)
{
    return v->type.rank == y->type.rank && v->type.dims[1] == y->type.dims[1] && ingot_dim_is_number(v->type.dims[1]) &&
           !is_one(v, 1) && !is_one(v, 2) && !is_one(v, v->type.rank - 1);
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_graph_value *a = region->inputs[0], *b = region->inputs[1], *y = region->nodes[0]->outputs[0];
    if (!ingot_cpu_can_block(y))
        return;
    bool whole_a = ingot_cpu_same_shape(a, y), whole_b = ingot_cpu_same_shape(b, y);
    if ((whole_a && whole_b) || (has_channels(a, y) && has_channels(b, y)))
        ingot_cpu_add_blocked(list, region, "eltwise_binary_c16", 0);
    else if (whole_a && is_per_channel(b, y))
        ingot_cpu_add_blocked(list, region, "eltwise_channel_c16", 1u << 1);
    else if (whole_b && is_per_channel(a, y))
        ingot_cpu_add_blocked(list, region, "eltwise_channel_c16", 1u << 0);
}

/* x and one number, element by element. */
static void run_flat(const ingot_step *step, const detail *d, bool one_a, bool one_b)
{
    const ingot_value *y = step->outputs[0];
    size_t count = ingot_blocked_count(y->rank, y->dims);
    ptrdiff_t a_stride = !one_a, b_stride = !one_b;
    ingot_binary op = {.kind = d->kind,
                       .rank = 1,
                       .dims = &count,
                       .a = step->inputs[0]->data,
                       .b = step->inputs[1]->data,
                       .a_strides = &a_stride,
                       .b_strides = &b_stride,
                       .y = y->data,
                       .then = d->epilogue.activation};
    ingot_binary_f32(&op, step->threads);
}

static void run_channels(const ingot_step *step, const detail *d, bool plain_a)
{
    static const ingot_channel_kind kinds[INGOT_BINARY_COUNT][2] = {
        [INGOT_BINARY_ADD] = {INGOT_CHANNEL_ADD, INGOT_CHANNEL_ADD},
        [INGOT_BINARY_SUB] = {INGOT_CHANNEL_SUB, INGOT_CHANNEL_SUB_FROM},
        [INGOT_BINARY_MUL] = {INGOT_CHANNEL_MUL, INGOT_CHANNEL_MUL},
        [INGOT_BINARY_DIV] = {INGOT_CHANNEL_DIV, INGOT_CHANNEL_DIV_OF},
        [INGOT_BINARY_MIN] = {INGOT_CHANNEL_MIN, INGOT_CHANNEL_MIN},
        [INGOT_BINARY_MAX] = {INGOT_CHANNEL_MAX, INGOT_CHANNEL_MAX}};
    const ingot_value *y = step->outputs[0], *x = step->inputs[plain_a], *b = step->inputs[!plain_a];
    const size_t channels = (size_t)y->dims[1];
    ingot_channel_op op = {.kind = kinds[d->kind][plain_a],
                           .batch = (size_t)y->dims[0],
                           .channels = channels,
                           .image = ingot_blocked_image(y->rank, y->dims),
                           .x = x->data,
                           .b = b->data,
                           .b_batch = ingot_value_count(b) > channels ? channels : 0,
                           .y = y->data,
                           .then = d->epilogue.activation};
    ingot_c16_channels_f32(&op, step->threads);
}

/* ---- Running ---- */

/* Sizes as they lie: of blocks of channels there is a dimension more. */
static int sizes(const ingot_value *v, bool is_blocked, size_t *dims)
{
    for (int i = 0; i < v->rank; i++)
        dims[i] = (size_t)v->dims[i];
    if (!is_blocked)
        return v->rank;
    dims[1] = ingot_block_count(dims[1]);
    dims[v->rank] = INGOT_BLOCK;
    return v->rank + 1;
}

/* Operands of any shapes. */
static ingot_status run_broadcast(const ingot_step *step, const detail *d, bool is_blocked)
{
    const ingot_value *a = step->inputs[0], *b = step->inputs[1], *y = step->outputs[0];
    size_t a_dims[INGOT_MAX_RANK + 1], b_dims[INGOT_MAX_RANK + 1], y_dims[INGOT_MAX_RANK + 1];
    ptrdiff_t a_strides[INGOT_MAX_RANK + 1], b_strides[INGOT_MAX_RANK + 1];
    const int a_rank = sizes(a, is_blocked, a_dims), b_rank = sizes(b, is_blocked, b_dims);
    const int rank = sizes(y, is_blocked, y_dims);
    if (!ingot_broadcast_strides(a_rank, a_dims, rank, y_dims, a_strides) ||
        !ingot_broadcast_strides(b_rank, b_dims, rank, y_dims, b_strides)) {
        char x[128], z[128];
        return ingot_node_fail(step->region->nodes[0], step->error, INGOT_INVALID_INPUT, "%s and %s do not broadcast",
                               ingot_value_describe(a, x, sizeof x), ingot_value_describe(b, z, sizeof z));
    }
    ingot_binary op = {.kind = d->kind,
                       .rank = rank,
                       .dims = y_dims,
                       .a = a->data,
                       .b = b->data,
                       .a_strides = a_strides,
                       .b_strides = b_strides,
                       .y = y->data,
                       .then = d->epilogue.activation};
    ingot_binary_f32(&op, step->threads);
    return INGOT_OK;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_cpu_region *own = step->region->detail;
    const detail *d = own->detail;
    const uint8_t *layouts = step->tactic->input_layouts;
    const ingot_value *y = step->outputs[0];
    const bool is_blocked = step->tactic->output_layouts[0] == INGOT_LAYOUT_C16;
    const bool plain_a = layouts[0] == INGOT_LAYOUT_PLAIN, plain = plain_a || layouts[1] == INGOT_LAYOUT_PLAIN;
    if (!is_blocked || !plain)
        return run_broadcast(step, d, is_blocked);
    if (ingot_value_count(step->inputs[!plain_a]) == 1 && y->dims[1] > 1)
        run_flat(step, d, plain_a, !plain_a);
    else
        run_channels(step, d, plain_a);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_binary = {
    .name = "binary", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};
