/* Making regions: what all families share. */
#include <string.h>

#include "base/number.h"
#include "cpu/family.h"
#include "ops/binary.h"

bool ingot_cpu_draft_node(ingot_node *node, ingot_cpu_draft *draft)
{
    if (node->input_count > INGOT_CPU_MAX_INPUTS)
        return false;
    *draft = (ingot_cpu_draft){.nodes = {node}, .node_count = 1, .input_count = node->input_count};
    if (node->input_count)
        memcpy(draft->inputs, node->inputs, node->input_count * sizeof *node->inputs);
    return true;
}

static ingot_status add_region(ingot_cpu_claim *claim, const ingot_cpu_family *family, const ingot_region *region,
                               const void *detail, size_t detail_size, bool *claimed)
{
    ingot_arena *arena = claim->out->arena;
    ingot_region r = *region;
    ingot_cpu_region *own = ingot_arena_alloc(arena, sizeof *own);
    r.nodes = ingot_arena_copy(arena, region->nodes, region->node_count * sizeof *region->nodes);
    r.inputs = ingot_arena_copy(arena, region->inputs, region->input_count * sizeof *region->inputs);
    void *copy = ingot_arena_copy(arena, detail, detail_size);
    if (!own || !r.nodes || !r.inputs || !copy)
        return ingot_fail_memory(claim->error, sizeof *own, "the plan");
    *own =
        (ingot_cpu_region){family, copy, region->node_count == 1 ? ingot_reference_kernel(region->nodes[0]->op) : NULL};
    const ingot_node *last = region->nodes[region->node_count - 1];
    r.outputs = last->outputs;
    r.output_count = last->output_count;
    r.detail = own;
    for (size_t i = 0; i < r.node_count; i++)
        claim->taken[r.nodes[i]->id] = true;
    *claimed = true;
    return ingot_claim_add(claim->out, &r, claim->error);
}

ingot_status ingot_cpu_claim_region(ingot_cpu_claim *claim, const ingot_cpu_family *family,
                                    const ingot_cpu_draft *draft, bool *claimed)
{
    ingot_region region = {.nodes = (ingot_node **)draft->nodes,
                           .node_count = draft->node_count,
                           .inputs = (ingot_graph_value **)draft->inputs,
                           .input_count = draft->input_count,
                           .packed_inputs = draft->packed_inputs,
                           .flags = draft->flags};
    return add_region(claim, family, &region, draft->detail, draft->detail_size, claimed);
}

ingot_status ingot_cpu_claim_whole_node(ingot_cpu_claim *claim, const ingot_cpu_family *family, ingot_node *node,
                                        bool *claimed)
{
    ingot_region region = {.nodes = &node,
                           .node_count = 1,
                           .inputs = node->inputs,
                           .input_count = node->input_count,
                           .flags = node->op->flags & (INGOT_OP_IN_PLACE | INGOT_OP_SIZES_OUTPUT)};
    return add_region(claim, family, &region, NULL, 0, claimed);
}

ingot_node *ingot_cpu_follower(const ingot_cpu_claim *claim, const ingot_graph_value *value)
{
    if (!value || value->use_count != 1 || value->output_count > 0)
        return NULL;
    ingot_node *node = value->uses[0].node;
    return claim->taken[node->id] || node->body_count > 0 ? NULL : node;
}

bool ingot_cpu_same_shape(const ingot_graph_value *a, const ingot_graph_value *b)
{
    return a && b && a->type.rank >= 0 && a->type.rank == b->type.rank &&
           memcmp(a->type.dims, b->type.dims, (size_t)a->type.rank * sizeof *a->type.dims) == 0;
}

bool ingot_cpu_scalar(const ingot_graph_value *value, float *result)
{
    if (!ingot_graph_value_is_constant(value) || value->constant->element != INGOT_FLOAT ||
        ingot_value_count(value->constant) != 1)
        return false;
    *result = *(const float *)value->constant->data;
    return true;
}

bool ingot_cpu_is(const ingot_node *node, const char *op_type)
{
    return strcmp(node->op_type, op_type) == 0 && strcmp(node->domain, "ai.onnx") == 0;
}

/* ---- Layouts ---- */

bool ingot_cpu_can_block(const ingot_graph_value *value)
{
    return ingot_cpu_is_float(value) && (value->type.rank == 3 || value->type.rank == 4);
}

bool ingot_cpu_can_be_channels_last(const ingot_graph_value *value)
{
    return value && value->type.kind == INGOT_KIND_TENSOR && value->type.rank == 4 &&
           (value->type.element == INGOT_UINT8 || value->type.element == INGOT_INT8);
}

ingot_tactic *ingot_cpu_add_channels_last(ingot_cpu_tactics *list, const char *name, uint32_t inputs)
{
    ingot_tactic *tactic = ingot_cpu_add_tactic(list);
    if (!tactic)
        return NULL;
    tactic->name = name;
    for (size_t i = 0; i < INGOT_MAX_LAID_OUT; i++)
        tactic->input_layouts[i] = inputs >> i & 1 ? INGOT_LAYOUT_NHWC : INGOT_LAYOUT_PLAIN;
    tactic->output_layouts[0] = INGOT_LAYOUT_NHWC;
    return tactic;
}

bool ingot_cpu_same_channels(const ingot_graph_value *a, const ingot_graph_value *b)
{
    return a && b && a->type.rank >= 2 && b->type.rank >= 2 && a->type.dims[0] == b->type.dims[0] &&
           a->type.dims[1] == b->type.dims[1];
}

ingot_tactic *ingot_cpu_add_blocked(ingot_cpu_tactics *list, const ingot_region *region, const char *name,
                                    uint32_t plain_inputs)
{
    ingot_tactic *tactic = ingot_cpu_add_tactic(list);
    if (!tactic)
        return NULL;
    tactic->name = name;
    for (size_t i = 0; i < region->input_count && i < INGOT_MAX_LAID_OUT; i++)
        if (region->inputs[i] && !(plain_inputs >> i & 1))
            tactic->input_layouts[i] = INGOT_LAYOUT_C16;
    for (size_t i = 0; i < region->output_count && i < INGOT_MAX_LAID_OUT; i++)
        if (region->outputs[i])
            tactic->output_layouts[i] = INGOT_LAYOUT_C16;
    return tactic;
}

/* ---- Epilogues ---- */

/* A constant that is added along the last axis: [columns], with any number of sizes 1 before. */
static bool is_column_bias(const ingot_graph_value *v, int64_t columns)
{
    if (columns <= 0 || !ingot_graph_value_is_constant(v) || v->constant->element != INGOT_FLOAT ||
        v->constant->rank < 1 || v->constant->dims[v->constant->rank - 1] != columns)
        return false;
    return ingot_value_count(v->constant) == (size_t)columns;
}

static bool take_node(ingot_cpu_draft *draft, ingot_node *node, ingot_graph_value *input, size_t *index)
{
    if (draft->node_count >= INGOT_CPU_MAX_NODES || (input && draft->input_count >= INGOT_CPU_MAX_INPUTS))
        return false;
    draft->nodes[draft->node_count++] = node;
    if (!input)
        return true;
    *index = draft->input_count;
    draft->inputs[draft->input_count++] = input;
    return true;
}

/* The addition that follows, where one operand is value and the other can be an epilogue's. */
static bool absorb_add(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, ingot_graph_value *value, int64_t columns,
                       ingot_cpu_epilogue *e)
{
    ingot_node *node = ingot_cpu_follower(claim, value);
    if (!node || !ingot_cpu_is(node, "Add") || !node->outputs[0] || !ingot_cpu_same_shape(value, node->outputs[0]))
        return false;
    ingot_graph_value *other = node->inputs[0] == value ? node->inputs[1] : node->inputs[0];
    if (other == value || !ingot_cpu_is_float(other))
        return false;
    if (e->column_bias == SIZE_MAX && e->add == SIZE_MAX && is_column_bias(other, columns) &&
        other->constant->rank <= value->type.rank && !((const ingot_binary_params *)node->params)->axis_given)
        return take_node(draft, node, other, &e->column_bias);
    if (e->add == SIZE_MAX && ingot_cpu_same_shape(value, other))
        return take_node(draft, node, other, &e->add);
    return false;
}

static bool absorb_activation(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, ingot_graph_value *value,
                              ingot_cpu_epilogue *e)
{
    ingot_node *node = ingot_cpu_follower(claim, value);
    return node && node->inputs[0] == value && node->outputs[0] && ingot_cpu_unary_of(node, &e->activation) &&
           take_node(draft, node, NULL, NULL);
}

/* x * sigmoid(x): the value has two uses, both of them here. */
static bool absorb_silu(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, ingot_graph_value *value,
                        ingot_cpu_epilogue *e)
{
    if (value->use_count != 2 || value->output_count > 0 || draft->node_count + 2 > INGOT_CPU_MAX_NODES)
        return false;
    ingot_node *first = value->uses[0].node, *second = value->uses[1].node;
    ingot_node *sigmoid = ingot_cpu_is(first, "Sigmoid") ? first : second;
    ingot_node *product = sigmoid == first ? second : first;
    if (!ingot_cpu_is(sigmoid, "Sigmoid") || !ingot_cpu_is(product, "Mul") || claim->taken[sigmoid->id] ||
        claim->taken[product->id] || !sigmoid->outputs[0] || !product->outputs[0] ||
        ingot_cpu_follower(claim, sigmoid->outputs[0]) != product)
        return false;
    e->activation = (ingot_unary){.kind = INGOT_UNARY_SILU, .a = 1};
    return take_node(draft, sigmoid, NULL, NULL) && take_node(draft, product, NULL, NULL);
}

static ingot_graph_value *last_value(const ingot_cpu_draft *draft)
{
    return draft->nodes[draft->node_count - 1]->outputs[0];
}

static void absorb_here(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, int64_t columns, ingot_cpu_epilogue *e)
{
    while (e->activation.kind == INGOT_UNARY_IDENTITY && absorb_add(claim, draft, last_value(draft), columns, e))
        ;
    if (e->activation.kind == INGOT_UNARY_IDENTITY && !absorb_silu(claim, draft, last_value(draft), e))
        absorb_activation(claim, draft, last_value(draft), e);
    if (e->activation.kind != INGOT_UNARY_IDENTITY && e->add == SIZE_MAX &&
        absorb_add(claim, draft, last_value(draft), 0, e))
        e->add_last = true;
}

/* Whether the sizes follow from those of the graph's inputs: no node needs to run to know them. */
static bool has_settled_sizes(const ingot_dims *dims, const ingot_type *type)
{
    enum { MAX_OPEN = 32 };
    ingot_dim open[MAX_OPEN];
    for (int i = 0; i < type->rank; i++) {
        open[0] = type->dims[i];
        for (int count = 1; count > 0;) {
            const ingot_dim_expression *e = ingot_dims_expression(dims, open[--count]);
            if (ingot_dim_is_number(open[count]) || (e && e->kind == INGOT_DIM_SYMBOL))
                continue;
            if (!e || e->kind == INGOT_DIM_FRESH || count + 2 > MAX_OPEN)
                return false;
            open[count++] = e->a;
            open[count++] = e->b;
        }
    }
    return true;
}

/* The node that gives the value another shape, which is known without running others; NULL: there is none. */
static ingot_node *view_after(const ingot_cpu_claim *claim, const ingot_graph_value *value)
{
    ingot_node *node = ingot_cpu_follower(claim, value);
    return node && (node->op->flags & INGOT_OP_VIEW) && node->inputs[0] == value && node->outputs[0] &&
                   node->outputs[0]->type.rank > 0 &&
                   has_settled_sizes(claim->graph->module->dims, &node->outputs[0]->type)
               ? node
               : NULL;
}

void ingot_cpu_absorb(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, int64_t columns,
                      ingot_cpu_epilogue *epilogue)
{
    if (last_value(draft))
        absorb_here(claim, draft, columns, epilogue);
}

void ingot_cpu_absorb_behind_view(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, int64_t columns,
                                  ingot_cpu_epilogue *epilogue)
{
    ingot_node *view = last_value(draft) ? view_after(claim, last_value(draft)) : NULL;
    if (!view || draft->node_count == INGOT_CPU_MAX_NODES)
        return;
    const ingot_type *type = &view->outputs[0]->type;
    draft->nodes[draft->node_count++] = view;
    absorb_here(claim, draft, type->dims[type->rank - 1] == columns ? columns : 0, epilogue);
    if (draft->nodes[draft->node_count - 1] == view)
        draft->node_count--;
}
