/* Shape and Size: they read sizes alone, so their operand may lie in any layout. */
#include "cpu/family.h"

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    if (!ingot_cpu_is(node, "Shape") && !ingot_cpu_is(node, "Size"))
        return INGOT_OK;
    return ingot_cpu_claim_whole_node(claim, &ingot_cpu_shape, node, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "shape";
    tactic->cost = ingot_cpu_guess_cost(0, 0);
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    ingot_tactic *t = ingot_cpu_can_block(region->inputs[0]) ? ingot_cpu_add_tactic(list) : NULL;
    if (!t)
        return;
    *t = list->list[0];
    t->input_layouts[0] = INGOT_LAYOUT_C16;
}

/* The reference kernel is all that it takes. */
static ingot_status run(const ingot_step *step, bool *declined)
{
    *declined = true;
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_shape = {
    .name = "shape", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};
