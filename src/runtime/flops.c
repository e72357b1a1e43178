#include "runtime/flops.h"

#include <string.h>

#include "ops/matmul.h"

/* Sizes of an operand under the layout; NULL where they are not known. */
static const int64_t *dims_of(const ingot_layout *layout, const size_t *slots, size_t count, size_t index, int *rank)
{
    if (index >= count || slots[index] == INGOT_NO_SLOT || !layout->slots[slots[index]].known)
        return NULL;
    *rank = layout->slots[slots[index]].rank;
    return layout->dims + layout->slots[slots[index]].dims;
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
    const int64_t *a, *b, *y; /* inputs 0 and 1, output 0 */
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
} counters[] = {
    {"Conv", conv},      {"ConvTranspose", conv_transpose},
    {"FusedConv", conv}, {"GRU", recurrent},
    {"Gemm", gemm},      {"LSTM", recurrent},
    {"MatMul", matmul},  {"RNN", recurrent},
};

double ingot_step_flops(const ingot_layout *layout, const ingot_plan_step *step)
{
    operands o = {.node = step->kind == INGOT_STEP_REGION ? step->region.nodes[0] : step->node};
    o.a = dims_of(layout, step->inputs, step->input_count, 0, &o.a_rank);
    o.b = dims_of(layout, step->inputs, step->input_count, 1, &o.b_rank);
    o.y = dims_of(layout, step->outputs, step->output_count, 0, &o.y_rank);
    if (!o.a || !o.b || !o.y)
        return 0;
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (strcmp(counters[i].op_type, o.node->op_type) == 0)
            return counters[i].count(&o);
    return 0;
}
