/* The slots of a plan: where values live, from which step to which. */
#include <string.h>

#include "plan/planner.h"

static void use_slot(ingot_plan *plan, size_t slot, size_t step)
{
    ingot_slot *root = &plan->slots[plan->slots[slot].root];
    if (root->last_step < step)
        root->last_step = step;
}

static void define_slot(ingot_plan *plan, const ingot_plan_step *step, size_t number)
{
    for (size_t o = 0; o < step->output_count; o++) {
        if (step->outputs[o] == INGOT_NO_SLOT)
            continue;
        ingot_slot *s = &plan->slots[step->outputs[o]];
        bool view = step->kind == INGOT_STEP_VIEW && o == 0;
        s->place = view ? INGOT_PLACE_VIEW : INGOT_PLACE_BUFFER;
        s->first_step = s->last_step = number;
        if (view)
            s->root = plan->slots[step->inputs[0]].root;
    }
}

static void place_slots(ingot_plan *plan)
{
    const ingot_graph *g = plan->graph;
    for (size_t i = 0; i < plan->slot_count; i++) {
        const ingot_graph_value *v = plan->slots[i].value;
        plan->slots[i].root = i;
        plan->slots[i].place = i >= g->value_count ? INGOT_PLACE_NONE
                               : v->is_input       ? INGOT_PLACE_INPUT
                               : v->constant       ? INGOT_PLACE_CONSTANT
                                                   : INGOT_PLACE_NONE;
    }
    for (size_t i = 0; i < plan->step_count; i++) {
        const ingot_plan_step *step = &plan->steps[i];
        for (size_t k = 0; k < step->input_count; k++)
            if (step->inputs[k] != INGOT_NO_SLOT)
                use_slot(plan, step->inputs[k], i);
        define_slot(plan, step, i);
    }
    for (size_t i = 0; i < g->output_count; i++)
        plan->slots[plan->slots[g->outputs[i]->id].root].escapes = true;
}

static ingot_status align_constant(ingot_planner *p, const ingot_value **constant)
{
    ingot_value *copy = NULL;
    if (ingot_value_is_aligned(*constant))
        return INGOT_OK;
    if (!p->options->packed)
        return ingot_module_align(p->plan->graph->module, constant, p->error);
    INGOT_TRY(ingot_budget_take(p->options->budget, ingot_value_bytes(*constant), "a constant", p->error));
    INGOT_TRY(ingot_planner_copy_constant(p, *constant, &copy));
    *constant = copy;
    return ingot_module_own(p->plan->graph->module, copy, p->error);
}

/* Marks the constants that a run reads, and aligns them. The others were for pack alone. */
static ingot_status keep_constants(ingot_planner *p)
{
    ingot_plan *plan = p->plan;
    for (size_t i = 0; i < plan->step_count; i++) {
        const ingot_plan_step *step = &plan->steps[i];
        for (size_t k = 0; k < step->input_count; k++) {
            bool packed = step->kind == INGOT_STEP_REGION && k < 32 && (step->region.packed_inputs >> k & 1);
            if (step->inputs[k] != INGOT_NO_SLOT && !packed)
                plan->slots[plan->slots[step->inputs[k]].root].is_read = true;
        }
    }
    for (size_t i = 0; i < plan->graph->output_count; i++)
        plan->slots[plan->slots[plan->graph->outputs[i]->id].root].is_read = true;
    for (size_t i = 0; i < plan->slot_count; i++)
        if (plan->slots[i].is_read && i < plan->graph->value_count && plan->graph->values[i]->constant)
            INGOT_TRY(align_constant(p, &plan->graph->values[i]->constant));
    return INGOT_OK;
}

/* Calls visit for every place that holds an escaping buffer. */
static void visit_escaping(ingot_plan *plan, void (*visit)(ingot_slot *slot, ingot_operand operand))
{
    for (size_t i = 0; i < plan->step_count; i++) {
        const ingot_plan_step *step = &plan->steps[i];
        for (size_t k = 0; k < step->input_count + step->output_count; k++) {
            bool is_output = k >= step->input_count;
            size_t index = is_output ? k - step->input_count : k;
            size_t slot = is_output ? step->outputs[index] : step->inputs[index];
            if (slot != INGOT_NO_SLOT && plan->slots[slot].escapes && plan->slots[slot].place == INGOT_PLACE_BUFFER)
                visit(&plan->slots[slot], (ingot_operand){i, index, is_output});
        }
    }
}

static void count_operand(ingot_slot *slot, ingot_operand operand)
{
    slot->operand_count++;
}

static void add_operand(ingot_slot *slot, ingot_operand operand)
{
    slot->operands[slot->operand_count++] = operand;
}

static ingot_status list_operands(ingot_planner *p)
{
    ingot_plan *plan = p->plan;
    visit_escaping(plan, count_operand);
    for (size_t i = 0; i < plan->slot_count; i++) {
        if (plan->slots[i].operand_count == 0)
            continue;
        plan->slots[i].operands = ingot_planner_alloc(p, plan->slots[i].operand_count, sizeof(ingot_operand));
        if (!plan->slots[i].operands)
            return INGOT_OUT_OF_MEMORY;
        plan->slots[i].operand_count = 0;
    }
    visit_escaping(plan, add_operand);
    return INGOT_OK;
}

ingot_status ingot_planner_place_slots(ingot_planner *p)
{
    place_slots(p->plan);
    INGOT_TRY(keep_constants(p));
    return list_operands(p);
}
