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

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_cpu_region *own = step->region->detail;
    ingot_unary_f32(own->detail, step->inputs[0]->data, step->outputs[0]->data, ingot_value_count(step->inputs[0]),
                    step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_unary = {.name = "unary", .claim = claim, .tactic = tactic, .run = run};
