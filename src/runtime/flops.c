#include "runtime/flops.h"

#include <string.h>

#include "ops/matmul.h"

typedef struct shapes {
    const ingot_layout *layout;
    const ingot_type *types; /* of values that the layout does not know; NULL: none */
} shapes;

/* Sizes of a value; NULL where they are not known. */
static const int64_t *dims_of(const shapes *s, const ingot_graph_value *value, int *rank)
{
    if (!value)
        return NULL;
    const ingot_layout_slot *slot = &s->layout->slots[value->id];
    *rank = slot->rank;
    if (slot->known)
        return s->layout->dims + slot->dims;
    if (!s->types || s->types[value->id].kind != INGOT_KIND_TENSOR)
        return NULL;
    *rank = s->types[value->id].rank;
    for (int i = 0; i < *rank; i++)
        if (!ingot_dim_is_number(s->types[value->id].dims[i]))
            return NULL;
    return *rank < 0 ? NULL : s->types[value->id].dims;
}

static double product(const int64_t *dims, int first, int last)
{
    double result = 1;
    for (int i = first; i < last; i++)
        result *= (double)dims[i];
    return result;
}

typedef struct operands {
    const ingot_node *node;
    const int64_t *a, *b, *y; /* inputs 0 and second; output 0, NULL where the counter does without */
    int a_rank, b_rank, y_rank;
} operands;

static double conv(const operands *o) /* each output sums a kernel over the channels of its group */
{
    return 2 * product(o->y, 0, o->y_rank) * product(o->b, 1, o->b_rank);
}

static double conv_transpose(const operands *o)
{
    return 2 * product(o->a, 0, o->a_rank) * product(o->b, 1, o->b_rank);
}

static double matmul(const operands *o)
{
    return o->a_rank < 1 ? 0 : 2 * product(o->y, 0, o->y_rank) * (double)o->a[o->a_rank - 1];
}

static double gemm(const operands *o)
{
    const ingot_gemm_params *p = o->node->params;
    return o->a_rank != 2 ? 0 : 2 * product(o->y, 0, o->y_rank) * (double)o->a[!p->trans_a];
}

static double recurrent(const operands *o) /* x [steps, batch, inputs], w [directions, gates * hidden, inputs] */
{
    const ingot_graph_value *r = o->node->inputs[2];
    if (o->a_rank != 3 || o->b_rank != 3 || r->type.rank != 3 || !ingot_dim_is_number(r->type.dims[2]))
        return 0;
    return 2 * (double)o->a[0] * (double)o->a[1] * product(o->b, 0, 2) * ((double)o->b[2] + (double)r->type.dims[2]);
}

static const struct {
    const char *op_type;
    double (*count)(const operands *o);
    size_t second; /* input */
    bool takes_y;  /* which a recurrent layer may leave out */
} counters[] = {
    {"Conv", conv, 1, true},        {"ConvInteger", conv, 1, true},     {"ConvTranspose", conv_transpose, 1, false},
    {"FusedConv", conv, 1, true},   {"GRU", recurrent, 1, false},       {"Gemm", gemm, 1, true},
    {"LSTM", recurrent, 1, false},  {"MatMul", matmul, 1, true},        {"MatMulInteger", matmul, 1, true},
    {"QLinearConv", conv, 3, true}, {"QLinearMatMul", matmul, 3, true}, {"RNN", recurrent, 1, false},
};

static double count_as(const shapes *s, const ingot_node *node, size_t counter)
{
    operands o = {.node = node};
    size_t second = counters[counter].second;
    o.a = node->input_count > 0 ? dims_of(s, node->inputs[0], &o.a_rank) : NULL;
    o.b = node->input_count > second ? dims_of(s, node->inputs[second], &o.b_rank) : NULL;
    if (counters[counter].takes_y && node->output_count > 0)
        o.y = dims_of(s, node->outputs[0], &o.y_rank);
    return o.a && o.b && (o.y || !counters[counter].takes_y) ? counters[counter].count(&o) : 0;
}

static double count_node(const shapes *s, const ingot_node *node)
{
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (strcmp(counters[i].op_type, node->op_type) == 0)
            return count_as(s, node, i);
    return 0;
}

double ingot_step_flops(const ingot_layout *layout, const ingot_type *types, const ingot_plan_step *step)
{
    shapes s = {layout, types};
    double flops = 0;
    for (size_t i = 0; step->kind == INGOT_STEP_REGION && i < step->region.node_count; i++)
        flops += count_node(&s, step->region.nodes[i]);
    return flops;
}

/* Operators that read as much of their first input as they give. */
static bool reads_part(const ingot_node *node)
{
    static const char *const names[] = {"Gather", "GatherElements", "GatherND", "Slice", "EmbedLayerNormalization"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], node->op_type) == 0)
            return true;
    return false;
}

static double bytes_of(const ingot_value *value)
{
    return value && value->kind == INGOT_KIND_TENSOR ? (double)ingot_value_bytes(value) : 0;
}

double ingot_step_bytes(const ingot_plan_step *step, const ingot_value *const *inputs, ingot_value *const *outputs)
{
    if (step->kind == INGOT_STEP_VIEW || step->kind == INGOT_STEP_CONTROL)
        return 0;
    bool part = step->kind == INGOT_STEP_REGION && reads_part(step->region.nodes[0]);
    double written = 0, bytes = part ? 0 : (double)step->tactic.packed_bytes;
    for (size_t i = 0; i < step->output_count; i++)
        written += bytes_of(outputs[i]);
    for (size_t i = 0; i < step->input_count; i++) {
        bool packed = !part && i < 32 && (step->region.packed_inputs >> i & 1);
        double read = packed ? 0 : bytes_of(inputs[i]);
        bytes += i == 0 && read > written && part ? written : read;
    }
    return bytes + written;
}
