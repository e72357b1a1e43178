/* Two-operand elementwise nodes on floats, with what follows them in one pass. */
#include <string.h>

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

static void sizes(const ingot_value *v, size_t *dims)
{
    for (int i = 0; i < v->rank; i++)
        dims[i] = (size_t)v->dims[i];
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_cpu_region *own = step->region->detail;
    const detail *d = own->detail;
    const ingot_value *a = step->inputs[0], *b = step->inputs[1], *y = step->outputs[0];
    size_t a_dims[INGOT_MAX_RANK], b_dims[INGOT_MAX_RANK], y_dims[INGOT_MAX_RANK];
    ptrdiff_t a_strides[INGOT_MAX_RANK], b_strides[INGOT_MAX_RANK];
    sizes(a, a_dims);
    sizes(b, b_dims);
    sizes(y, y_dims);
    if (!ingot_broadcast_strides(a->rank, a_dims, y->rank, y_dims, a_strides) ||
        !ingot_broadcast_strides(b->rank, b_dims, y->rank, y_dims, b_strides)) {
        char x[128], z[128];
        return ingot_node_fail(step->region->nodes[0], step->error, INGOT_INVALID_INPUT, "%s and %s do not broadcast",
                               ingot_value_describe(a, x, sizeof x), ingot_value_describe(b, z, sizeof z));
    }
    ingot_binary op = {.kind = d->kind,
                       .rank = y->rank,
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

const ingot_cpu_family ingot_cpu_binary = {.name = "binary", .claim = claim, .tactic = tactic, .run = run};
