/* One-operand elementwise nodes on floats. */
#include "cpu/family.h"

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    ingot_unary unary;
    ingot_cpu_draft draft;
    if (!ingot_cpu_unary_of(node, &unary) || !node->outputs[0] || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    draft.detail = &unary;
    draft.detail_size = sizeof unary;
    draft.flags = INGOT_OP_IN_PLACE;
    return ingot_cpu_claim_region(claim, &ingot_cpu_unary, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "eltwise_unary_f32";
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    if (ingot_cpu_can_block(region->inputs[0]))
        ingot_cpu_add_blocked(list, region, "eltwise_unary_c16", ~1u);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_cpu_region *own = step->region->detail;
    const ingot_value *x = step->inputs[0];
    size_t count = ingot_cpu_is_blocked(step) ? ingot_blocked_count(x->rank, x->dims) : ingot_value_count(x);
    ingot_unary_f32(own->detail, x->data, step->outputs[0]->data, count, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_unary = {
    .name = "unary", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};
