/* Softmax and LogSoftmax on floats. */
#include "cpu/extent.h"
#include "cpu/family.h"
#include "cpu/reduce/reduce.h"
#include "ops/softmax.h"

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    if ((!ingot_cpu_is(node, "Softmax") && !ingot_cpu_is(node, "LogSoftmax")) || !ingot_cpu_is_float(node->inputs[0]))
        return INGOT_OK;
    return ingot_cpu_claim_whole_node(claim, &ingot_cpu_softmax, node, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "softmax_f32";
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_node *node = step->region->nodes[0];
    const ingot_softmax_params *p = node->params;
    const ingot_value *x = step->inputs[0];
    *declined = x->rank == 0;
    if (*declined || ingot_value_count(x) == 0)
        return INGOT_OK;
    int axis = ingot_axis_of(p->axis, x->rank);
    ingot_extent e = ingot_extent_of(x, axis, p->flattens ? x->rank : axis + 1);
    ingot_softmax_f32(ingot_cpu_is(node, "LogSoftmax"), e.outer, e.count, e.inner, x->data, step->outputs[0]->data,
                      step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_softmax = {
    .name = "softmax", .flushes = true, .claim = claim, .tactic = tactic, .run = run};
