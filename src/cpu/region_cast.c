/* Cast between FP32 and the 16-bit floats. */
#include "cpu/family.h"
#include "cpu/half/half.h"

static bool kind_of(ingot_element from, ingot_element to, ingot_half_kind *kind)
{
    static const struct {
        ingot_element from, to;
        ingot_half_kind kind;
    } entries[] = {{INGOT_FLOAT16, INGOT_FLOAT, INGOT_HALF_TO_FLOAT},
                   {INGOT_FLOAT, INGOT_FLOAT16, INGOT_HALF_FROM_FLOAT},
                   {INGOT_BFLOAT16, INGOT_FLOAT, INGOT_HALF_BFLOAT16_TO_FLOAT},
                   {INGOT_FLOAT, INGOT_BFLOAT16, INGOT_HALF_BFLOAT16_FROM_FLOAT}};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *kind = entries[i].kind;
        if (entries[i].from == from && entries[i].to == to)
            return true;
    }
    return false;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    ingot_half_kind kind;
    ingot_cpu_draft draft;
    if (!ingot_cpu_is(node, "Cast") || !node->outputs[0] || node->inputs[0]->type.kind != INGOT_KIND_TENSOR ||
        !kind_of(node->inputs[0]->type.element, node->outputs[0]->type.element, &kind) ||
        !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    draft.detail = &kind;
    draft.detail_size = sizeof kind;
    return ingot_cpu_claim_region(claim, &ingot_cpu_cast, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "cast_half";
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_half_kind *kind = ((const ingot_cpu_region *)step->region->detail)->detail;
    ingot_half_convert(*kind, step->inputs[0]->data, step->outputs[0]->data, ingot_value_count(step->inputs[0]),
                       step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_cast = {.name = "cast", .claim = claim, .tactic = tactic, .run = run};
