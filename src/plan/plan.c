/* From a graph to the steps that run it. */
#include "plan/planner.h"

ingot_status ingot_claim_add(ingot_claim *claim, const ingot_region *region, ingot_error *error)
{
    INGOT_TRY(ingot_grow(&claim->regions, &claim->capacity, claim->count + 1, sizeof *claim->regions, error));
    claim->regions[claim->count++] = *region;
    return INGOT_OK;
}

void *ingot_planner_alloc(ingot_planner *p, size_t count, size_t size)
{
    void *memory = ingot_arena_alloc_array(p->plan->arena, count + 1, size);
    if (!memory)
        ingot_fail_memory(p->error, count * size, "the plan");
    return memory;
}

bool ingot_plan_slot_bytes(const ingot_plan *plan, size_t slot, ingot_element element, int rank, const int64_t *dims,
                           size_t *bytes)
{
    unsigned layout = plan->slots[slot].layout;
    return layout == INGOT_LAYOUT_PLAIN ? ingot_tensor_bytes(element, rank, dims, bytes)
                                        : plan->backend->layout_bytes(layout, element, rank, dims, bytes);
}

static void count_operands(ingot_plan *plan)
{
    for (const ingot_node *n = plan->graph->first; n; n = n->next)
        if (n->input_count + n->output_count > plan->max_operands)
            plan->max_operands = n->input_count + n->output_count;
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].input_count + plan->steps[i].output_count > plan->max_region_operands)
            plan->max_region_operands = plan->steps[i].input_count + plan->steps[i].output_count;
}

static ingot_status fill_plan(ingot_planner *p, int depth)
{
    ingot_plan *plan = p->plan;
    if (depth > INGOT_MAX_DEPTH)
        return ingot_fail(p->error, INGOT_UNSUPPORTED, "graphs are nested deeper than %d", INGOT_MAX_DEPTH);
    plan->cache.entries = ingot_planner_alloc(p, p->options->layout_limit, sizeof *plan->cache.entries);
    if (!plan->cache.entries)
        return INGOT_OUT_OF_MEMORY;
    plan->cache.limit = p->options->layout_limit;
    INGOT_TRY(ingot_planner_add_steps(p, depth));
    INGOT_TRY(ingot_planner_pack(p));
    count_operands(plan);
    return ingot_planner_place_slots(p);
}

ingot_status ingot_planner_plan(const ingot_graph *graph, const ingot_plan_options *options, ingot_arena *arena,
                                int depth, ingot_plan **result, ingot_error *error)
{
    ingot_plan *plan = ingot_calloc(1, sizeof *plan);
    if (!plan)
        return ingot_fail_memory(error, sizeof *plan, "the plan");
    plan->graph = graph;
    plan->backend = options->backend;
    plan->device = options->device;
    plan->budget = options->budget;
    plan->owns_arena = !arena;
    plan->arena = arena ? arena : ingot_arena_create();
    pthread_mutex_init(&plan->cache.lock, NULL);
    ingot_planner p = {.plan = plan, .options = options, .error = error};
    p.claim.arena = plan->arena;
    ingot_status status = plan->arena ? fill_plan(&p, depth) : ingot_fail_memory(error, 0, "the plan");
    ingot_free(p.claim.regions);
    ingot_free(p.tactics);
    ingot_free(p.forms);
    *result = plan;
    if (status != INGOT_OK) {
        ingot_plan_release(plan);
        *result = NULL;
    }
    return status;
}

/* Gives the plan's steps the numbers from first on, then those of its bodies; returns the next number. */
static size_t number_steps(ingot_plan *plan, size_t first)
{
    size_t next = first + plan->step_count;
    plan->first_number = first;
    for (size_t i = 0; i < plan->step_count; i++)
        for (size_t b = 0; plan->steps[i].bodies && b < plan->steps[i].node->body_count; b++)
            next = number_steps(plan->steps[i].bodies[b], next);
    return next;
}

size_t ingot_plan_count_steps(const ingot_plan *plan)
{
    size_t count = plan->step_count;
    for (size_t i = 0; i < plan->step_count; i++)
        for (size_t b = 0; plan->steps[i].bodies && b < plan->steps[i].node->body_count; b++)
            count += ingot_plan_count_steps(plan->steps[i].bodies[b]);
    return count;
}

ingot_status ingot_plan_create(const ingot_graph *graph, const ingot_plan_options *options, ingot_plan **plan,
                               ingot_error *error)
{
    *plan = NULL;
    INGOT_TRY(ingot_planner_plan(graph, options, NULL, 0, plan, error));
    number_steps(*plan, 0);
    return INGOT_OK;
}

void ingot_plan_release(ingot_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->step_count; i++) {
        ingot_plan_step *step = &plan->steps[i];
        if (step->packed && !step->shares_packed) {
            ingot_budget_give(plan->budget, step->tactic.packed_bytes);
            ingot_free(step->packed);
        }
        for (size_t b = 0; step->bodies && b < step->node->body_count; b++)
            ingot_plan_release(step->bodies[b]);
    }
    for (size_t i = 0; i < plan->cache.count; i++)
        ingot_layout_release(plan->cache.entries[i]);
    pthread_mutex_destroy(&plan->cache.lock);
    if (plan->owns_arena)
        ingot_arena_release(plan->arena);
    ingot_free(plan);
}
