/* The steps of a plan: regions in the layouts of their tactics, reorders between, control flow and views. */
#include <string.h>

#include "plan/assign.h"
#include "plan/planner.h"

static size_t add_slot(ingot_planner *p, const ingot_graph_value *value, unsigned layout)
{
    ingot_plan *plan = p->plan;
    size_t slot = layout == INGOT_LAYOUT_PLAIN ? value->id : plan->slot_count++;
    plan->slots[slot].value = value;
    plan->slots[slot].layout = layout;
    p->forms[value->id][layout] = slot;
    return slot;
}

/* The slot that the value was made in: its other layouts are made from it. */
static size_t home_of(const ingot_planner *p, const ingot_graph_value *value)
{
    for (unsigned l = 0; l < INGOT_MAX_LAYOUTS; l++) {
        size_t slot = p->forms[value->id][l];
        if (slot != INGOT_NO_SLOT && p->plan->slots[slot].is_home)
            return slot;
    }
    return value->id;
}

static ingot_status add_reorder(ingot_planner *p, const ingot_node *node, const ingot_graph_value *value,
                                unsigned layout)
{
    ingot_plan_step *step = &p->plan->steps[p->plan->step_count++];
    step->kind = INGOT_STEP_REORDER;
    step->node = node;
    step->inputs = ingot_planner_alloc(p, 1, sizeof *step->inputs);
    step->outputs = ingot_planner_alloc(p, 1, sizeof *step->outputs);
    if (!step->inputs || !step->outputs)
        return INGOT_OUT_OF_MEMORY;
    step->input_count = step->output_count = 1;
    step->inputs[0] = home_of(p, value);
    step->outputs[0] = add_slot(p, value, layout);
    return INGOT_OK;
}

/* The node's step reads these values in these layouts (NULL: plain): makes those that are not there. */
static ingot_status prepare_inputs(ingot_planner *p, const ingot_node *node, ingot_graph_value *const *inputs,
                                   size_t count, const uint8_t *layouts)
{
    for (size_t i = 0; i < count; i++) {
        unsigned layout = layouts ? ingot_layout_at(layouts, i) : INGOT_LAYOUT_PLAIN;
        if (inputs[i] && p->forms[inputs[i]->id][layout] == INGOT_NO_SLOT)
            INGOT_TRY(add_reorder(p, node, inputs[i], layout));
    }
    return INGOT_OK;
}

/* Of a region in its tactic's layouts; a step without a tactic is plain. */
static ingot_status set_operands(ingot_planner *p, ingot_plan_step *step, ingot_graph_value *const *inputs,
                                 size_t input_count, ingot_graph_value *const *outputs, size_t output_count)
{
    const ingot_tactic *tactic = &step->tactic;
    step->inputs = ingot_planner_alloc(p, input_count, sizeof *step->inputs);
    step->outputs = ingot_planner_alloc(p, output_count, sizeof *step->outputs);
    if (!step->inputs || !step->outputs)
        return INGOT_OUT_OF_MEMORY;
    step->input_count = input_count;
    step->output_count = output_count;
    for (size_t i = 0; i < input_count; i++)
        step->inputs[i] =
            inputs[i] ? p->forms[inputs[i]->id][ingot_layout_at(tactic->input_layouts, i)] : INGOT_NO_SLOT;
    for (size_t i = 0; i < output_count; i++) {
        step->outputs[i] = INGOT_NO_SLOT;
        if (!outputs[i])
            continue;
        step->outputs[i] = add_slot(p, outputs[i], ingot_layout_at(tactic->output_layouts, i));
        p->plan->slots[step->outputs[i]].is_home = true;
    }
    return INGOT_OK;
}

/* Outputs of the graph are plain. */
static ingot_status deliver_outputs(ingot_planner *p, const ingot_node *node, ingot_graph_value *const *outputs,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (outputs[i] && outputs[i]->output_count > 0)
            INGOT_TRY(prepare_inputs(p, node, &outputs[i], 1, NULL));
    return INGOT_OK;
}

static ingot_status plan_region(ingot_planner *p, size_t number)
{
    const ingot_region *region = &p->claim.regions[number];
    const ingot_tactic *tactic = &p->tactics[number];
    const ingot_node *node = region->nodes[region->node_count - 1];
    INGOT_TRY(prepare_inputs(p, node, region->inputs, region->input_count, tactic->input_layouts));
    ingot_plan_step *step = &p->plan->steps[p->plan->step_count++];
    step->kind = INGOT_STEP_REGION;
    step->region = *region;
    step->tactic = *tactic;
    step->node = node;
    INGOT_TRY(set_operands(p, step, region->inputs, region->input_count, region->outputs, region->output_count));
    return deliver_outputs(p, node, region->outputs, region->output_count);
}

static ingot_status plan_control(ingot_planner *p, const ingot_node *node, ingot_plan_step *step, int depth)
{
    step->kind = INGOT_STEP_CONTROL;
    step->bodies = ingot_planner_alloc(p, node->body_count, sizeof *step->bodies);
    if (!step->bodies)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < node->body_count; i++)
        INGOT_TRY(ingot_planner_plan(node->bodies[i].graph, p->options, p->plan->arena, depth + 1, &step->bodies[i],
                                     p->error));
    return INGOT_OK;
}

/* region_of[i]: 1 + number of the region whose last node is node i of the graph; 0: none. inside[i]: part of a region. */
typedef struct node_regions {
    size_t *last;
    bool *inside;
} node_regions;

static ingot_status map_regions(ingot_planner *p, node_regions *map)
{
    size_t limit = p->plan->graph->module->next_id;
    map->last = ingot_calloc(limit + 1, sizeof *map->last);
    map->inside = ingot_calloc(limit + 1, sizeof *map->inside);
    if (!map->last || !map->inside)
        return ingot_fail_memory(p->error, limit * sizeof *map->last, "the plan");
    for (size_t i = 0; i < p->claim.count; i++) {
        const ingot_region *r = &p->claim.regions[i];
        for (size_t n = 0; n < r->node_count; n++)
            map->inside[r->nodes[n]->id] = true;
        map->last[r->nodes[r->node_count - 1]->id] = i + 1;
    }
    return INGOT_OK;
}

static ingot_status plan_node(ingot_planner *p, const node_regions *map, ingot_node *node, int depth)
{
    if (ingot_cancelled(p->options->cancel))
        return ingot_fail(p->error, INGOT_CANCELLED, "the creation of the session was cancelled");
    if (map->last[node->id])
        return plan_region(p, map->last[node->id] - 1);
    if (map->inside[node->id])
        return INGOT_OK;
    INGOT_TRY(prepare_inputs(p, node, node->inputs, node->input_count, NULL));
    ingot_plan_step *step = &p->plan->steps[p->plan->step_count++];
    step->node = node;
    INGOT_TRY(set_operands(p, step, node->inputs, node->input_count, node->outputs, node->output_count));
    if (node->op->flags & INGOT_OP_CONTROL)
        return plan_control(p, node, step, depth);
    if (node->op->flags & INGOT_OP_VIEW) {
        step->kind = INGOT_STEP_VIEW;
        return INGOT_OK;
    }
    return ingot_node_fail(node, p->error, INGOT_INTERNAL, "backend '%s' did not claim it", p->options->backend->name);
}

/* Operands in the backend's own layouts: there are no more slots past the graph's, and no more reorders. */
static size_t count_own_layouts(const ingot_planner *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->claim.count; i++)
        for (size_t k = 0; k < INGOT_MAX_LAID_OUT; k++)
            count += (size_t)(p->tactics[i].input_layouts[k] != INGOT_LAYOUT_PLAIN) +
                     (p->tactics[i].output_layouts[k] != INGOT_LAYOUT_PLAIN);
    return count;
}

static void begin_forms(ingot_planner *p)
{
    const ingot_graph *graph = p->plan->graph;
    p->plan->slot_count = graph->value_count;
    for (size_t i = 0; i < graph->value_count; i++) {
        for (unsigned l = 0; l < INGOT_MAX_LAYOUTS; l++)
            p->forms[i][l] = INGOT_NO_SLOT;
        p->plan->slots[i].value = graph->values[i];
        p->plan->slots[i].is_home = !graph->values[i]->producer;
        if (p->plan->slots[i].is_home)
            p->forms[i][INGOT_LAYOUT_PLAIN] = i;
    }
}

/* Tactics of the regions, and room for steps and slots. */
static ingot_status choose_tactics(ingot_planner *p)
{
    ingot_plan *plan = p->plan;
    const ingot_graph *graph = plan->graph;
    p->tactics = ingot_calloc(p->claim.count + 1, sizeof *p->tactics);
    p->forms = ingot_calloc(graph->value_count + 1, sizeof *p->forms);
    if (!p->tactics || !p->forms)
        return ingot_fail_memory(p->error, p->claim.count * sizeof *p->tactics, "the plan");
    INGOT_TRY((ingot_is_exposed(graph) ? ingot_assign_exposed : ingot_assign_tactics)(
        graph, p->options->backend, p->options->device, p->claim.regions, p->claim.count, p->tactics, p->error));
    size_t own = count_own_layouts(p);
    plan->steps = ingot_planner_alloc(p, graph->node_count + own, sizeof *plan->steps);
    plan->slots = ingot_planner_alloc(p, graph->value_count + own, sizeof *plan->slots);
    if (!plan->steps || !plan->slots)
        return INGOT_OUT_OF_MEMORY;
    begin_forms(p);
    return INGOT_OK;
}

ingot_status ingot_planner_add_steps(ingot_planner *p, int depth)
{
    node_regions map = {0};
    ingot_status status = p->options->backend->claim(p->options->device, p->plan->graph, &p->claim, p->error);
    if (status == INGOT_OK)
        status = choose_tactics(p);
    if (status == INGOT_OK)
        status = map_regions(p, &map);
    for (ingot_node *n = p->plan->graph->first; n && status == INGOT_OK; n = n->next)
        status = plan_node(p, &map, n, depth);
    ingot_free(map.last);
    ingot_free(map.inside);
    return status;
}
