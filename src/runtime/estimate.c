#include "runtime/estimate.h"

#include <string.h>

#include "ops/einsum.h"
#include "ops/pool.h"

/* Bytes in a nanosecond that no machine passes by much. */
#define BYTES_A_NS 64.0

/* ---- Operators that read their operands many times over, and have no flops ---- */

static double count_of(const ingot_value *value)
{
    return value && value->kind == INGOT_KIND_TENSOR ? (double)ingot_value_count(value) : 0;
}

/* All combinations of labels. */
static double einsum(const ingot_node *node, const ingot_value *const *inputs, ingot_value *const *outputs)
{
    const ingot_text equation = ((const ingot_einsum_params *)node->params)->equation;
    int64_t sizes[INGOT_EINSUM_LABELS] = {0};
    int ellipsis = 0;
    for (size_t i = 0; i < node->operand_count; i++) {
        const int own = ingot_einsum_ellipsis(equation, i, inputs[i]->rank);
        if (own < 0)
            return 0;
        ellipsis = own > ellipsis ? own : ellipsis;
    }
    for (size_t i = 0; i < node->operand_count; i++) {
        ingot_einsum_axes axes;
        ingot_einsum_operand(equation, i, inputs[i]->rank, ellipsis, &axes);
        for (int d = 0; d < axes.rank; d++)
            if (inputs[i]->dims[d] > sizes[axes.labels[d]])
                sizes[axes.labels[d]] = inputs[i]->dims[d];
    }
    double work = 1;
    for (size_t i = 0; i < INGOT_EINSUM_LABELS; i++)
        work *= sizes[i] ? (double)sizes[i] : 1;
    return work;
}

static double pool(const ingot_node *node, const ingot_value *const *inputs, ingot_value *const *outputs)
{
    const ingot_window_params *window = &((const ingot_pool_params *)node->params)->window;
    double work = count_of(outputs[0]);
    for (size_t i = 0; i < window->kernel_shape.count; i++)
        work *= (double)window->kernel_shape.data[i];
    return work;
}

static double determinant(const ingot_node *node, const ingot_value *const *inputs, ingot_value *const *outputs)
{
    return inputs[0]->rank < 1 ? 0 : count_of(inputs[0]) * (double)inputs[0]->dims[inputs[0]->rank - 1] / 3;
}

static const struct {
    const char *op_type;
    double (*work)(const ingot_node *node, const ingot_value *const *inputs, ingot_value *const *outputs);
    double a_ns; /* so much of the work is done in a nanosecond at most, by any of its kernels */
} heavy[] = {{"AveragePool", pool, INGOT_FLOPS_A_NS},
             {"Det", determinant, 2},
             {"Einsum", einsum, 2},
             {"LpPool", pool, INGOT_FLOPS_A_NS},
             {"MaxPool", pool, INGOT_FLOPS_A_NS}};

static double heavy_ns(const ingot_plan_step *step, const ingot_value *const *inputs, ingot_value *const *outputs)
{
    const ingot_node *node = step->region.nodes[0];
    if (step->region.node_count != 1 || step->input_count == 0 || !inputs[0] || !outputs[0])
        return 0;
    for (size_t i = 0; i < sizeof heavy / sizeof *heavy; i++)
        if (strcmp(node->op_type, heavy[i].op_type) == 0)
            return heavy[i].work(node, inputs, outputs) / heavy[i].a_ns;
    return 0;
}

double ingot_step_least_ns(const ingot_layout *layout, const ingot_type *types, const ingot_plan_step *step,
                           const ingot_value *const *inputs, ingot_value *const *outputs)
{
    if (step->kind != INGOT_STEP_REGION)
        return 0;
    return ingot_step_flops(layout, types, step) / INGOT_FLOPS_A_NS +
           ingot_step_bytes(step, inputs, outputs) / BYTES_A_NS + heavy_ns(step, inputs, outputs);
}
