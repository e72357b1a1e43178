/* What a session tells of itself. */
#include <stdio.h>
#include <string.h>

#include "runtime/flops.h"
#include "runtime/session.h"

size_t ingot_session_input_count(const ingot_session *s)
{
    return s ? s->input_count : 0;
}

const ingot_value_info *ingot_session_input(const ingot_session *s, size_t index)
{
    return s && index < s->input_count ? &s->inputs[index] : NULL;
}

size_t ingot_session_output_count(const ingot_session *s)
{
    return s ? s->output_count : 0;
}

const ingot_value_info *ingot_session_output(const ingot_session *s, size_t index)
{
    return s && index < s->output_count ? &s->outputs[index] : NULL;
}

void ingot_statistics_init(ingot_statistics *statistics)
{
    if (statistics)
        *statistics = (ingot_statistics){.size = sizeof *statistics};
}

static void count_plan(ingot_plan *plan, ingot_statistics *statistics)
{
    statistics->packed_bytes += plan->packed_bytes;
    statistics->node_count += plan->graph->node_count;
    statistics->region_count += plan->step_count;
    for (size_t i = 0; i < plan->step_count; i++)
        for (size_t b = 0; plan->steps[i].bodies && b < plan->steps[i].node->body_count; b++)
            count_plan(plan->steps[i].bodies[b], statistics);
}

static void count_frame(const ingot_frame *frame, ingot_statistics *statistics)
{
    statistics->arena_bytes += atomic_load(&frame->budget.used);
    if (atomic_load(&frame->arena_bytes) <= statistics->peak_arena_bytes)
        return;
    statistics->peak_arena_bytes = atomic_load(&frame->arena_bytes);
    statistics->bound_arena_bytes = atomic_load(&frame->arena_bound);
}

ingot_status ingot_session_statistics(const ingot_session *session, ingot_statistics *statistics, ingot_error *error)
{
    if (!session || !statistics || statistics->size < sizeof *statistics)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "ingot_session_statistics needs a session, and statistics filled by ingot_statistics_init");
    ingot_session *s = (ingot_session *)session; /* its lock only */
    size_t size = statistics->size;
    *statistics = s->statistics;
    statistics->size = size;
    count_plan(s->plan, statistics);
    statistics->cached_shapes = ingot_plan_cached_layouts(s->plan);
    pthread_mutex_lock(&s->open_lock);
    if (s->open.plan) {
        statistics->packed_bytes += s->open.plan->packed_bytes;
        statistics->cached_shapes += ingot_plan_cached_layouts(s->open.plan);
    }
    pthread_mutex_unlock(&s->open_lock);
    pthread_mutex_lock(&s->lock);
    for (ingot_context *c = s->all; c; c = c->next_of_all) {
        count_frame(c->frame, statistics);
        if (c->open_frame)
            count_frame(c->open_frame, statistics);
        statistics->context_count++;
    }
    pthread_mutex_unlock(&s->lock);
    statistics->runs = atomic_load(&s->runs);
    statistics->failed_runs = atomic_load(&s->failed_runs);
    return INGOT_OK;
}

/* FLOPs of a step in the shapes that some context is laid out for. */
static double count_flops(ingot_session *s, const ingot_plan_step *step)
{
    double flops = 0;
    pthread_mutex_lock(&s->lock);
    for (const ingot_context *c = s->all; c && flops == 0; c = c->next_of_all)
        if (c->frame->layout)
            flops = ingot_step_flops(c->frame->layout, NULL, step);
    pthread_mutex_unlock(&s->lock);
    return flops;
}

bool ingot_session_region(const ingot_session *s, size_t index, ingot_region_info *region)
{
    if (!s || index >= s->plan->step_count)
        return false;
    ingot_session_describe_step(s, s->plan, index, region);
    region->flops = count_flops((ingot_session *)s, &s->plan->steps[index]);
    return true;
}

void ingot_session_describe_step(const ingot_session *s, const ingot_plan *plan, size_t index,
                                 ingot_region_info *region)
{
    static const char *const names[] = {[INGOT_STEP_REGION] = "region",
                                        [INGOT_STEP_VIEW] = "view",
                                        [INGOT_STEP_CONTROL] = "control",
                                        [INGOT_STEP_REORDER] = "reorder"};
    const ingot_plan_step *step = &plan->steps[index];
    bool is_region = step->kind == INGOT_STEP_REGION;
    *region = (ingot_region_info){.name = step->node->name,
                                  .operators = step->operators,
                                  .backend = is_region || step->kind == INGOT_STEP_REORDER ? s->backend->name : "",
                                  .tactic = is_region ? step->tactic.name : names[step->kind],
                                  .packed_bytes = is_region && !step->shares_packed ? step->tactic.packed_bytes : 0};
}

static ingot_status name_step(const ingot_session *s, const ingot_plan *plan, ingot_plan_step *step, ingot_error *error)
{
    char text[256];
    if (step->kind == INGOT_STEP_REORDER)
        snprintf(text, sizeof text, "Reorder to %s", s->backend->layout_name(plan->slots[step->outputs[0]].layout));
    else
        snprintf(text, sizeof text, "%s",
                 step->region.node_count ? step->region.nodes[0]->op_type : step->node->op_type);
    for (size_t n = 1, used = strlen(text); n < step->region.node_count && used < sizeof text; n++)
        used += (size_t)snprintf(text + used, sizeof text - used, "+%s", step->region.nodes[n]->op_type);
    step->operators = ingot_arena_strndup(plan->arena, text, strlen(text));
    return step->operators ? INGOT_OK : ingot_fail_memory(error, sizeof text, "the session");
}

ingot_status ingot_session_name_regions(const ingot_session *s, ingot_plan *plan, ingot_error *error)
{
    for (size_t i = 0; i < plan->step_count; i++) {
        INGOT_TRY(name_step(s, plan, &plan->steps[i], error));
        for (size_t b = 0; plan->steps[i].bodies && b < plan->steps[i].node->body_count; b++)
            INGOT_TRY(ingot_session_name_regions(s, plan->steps[i].bodies[b], error));
    }
    return INGOT_OK;
}
