/* Profiles: what the runs of a context note of their steps. */
#include "runtime/profile.h"

#include <string.h>

#include "runtime/flops.h"
#include "runtime/session.h"

static ingot_status take_plan(ingot_profile *p, const ingot_plan *plan, ingot_error *error)
{
    const size_t count = ingot_plan_count_steps(plan);
    ingot_profile_count *counts = ingot_calloc(count + 1, sizeof *counts);
    if (!counts)
        return ingot_fail_memory(error, count * sizeof *counts, "a profile");
    ingot_free(p->counts);
    p->counts = counts;
    p->step_count = count;
    p->plan = plan;
    return INGOT_OK;
}

/* The plan that a run with what is bound now would take. */
static ingot_status take_next_plan(ingot_profile *p, ingot_error *error)
{
    ingot_session *s = p->context->session;
    if (!ingot_context_replaces_default(p->context))
        return take_plan(p, s->plan, error);
    INGOT_TRY(ingot_session_open(s, error));
    return take_plan(p, s->open.plan, error);
}

ingot_status ingot_profile_create(ingot_context *context, size_t event_limit, ingot_profile **profile,
                                  ingot_error *error)
{
    if (!context || !profile)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "ingot_profile_create needs a context and a place for the profile");
    *profile = NULL;
    ingot_profile *p = ingot_calloc(1, sizeof *p);
    if (!p)
        return ingot_fail_memory(error, sizeof *p, "a profile");
    p->context = context;
    p->call_limit = event_limit;
    p->calls = event_limit < SIZE_MAX ? ingot_calloc(event_limit + 1, sizeof *p->calls) : NULL;
    ingot_status status = p->calls ? take_next_plan(p, error) : ingot_fail_memory(error, event_limit, "a profile");
    if (status != INGOT_OK) {
        ingot_profile_release(p);
        return status;
    }
    context->profile = *profile = p;
    return INGOT_OK;
}

void ingot_profile_release(ingot_profile *p)
{
    if (!p)
        return;
    ingot_profile_set_active(p, false);
    ingot_free(p->counts);
    ingot_free(p->calls);
    ingot_free(p);
}

void ingot_profile_set_active(ingot_profile *p, bool active)
{
    if (p && active)
        p->context->profile = p;
    else if (p && p->context->profile == p)
        p->context->profile = NULL;
}

void ingot_profile_set_stride(ingot_profile *p, size_t stride)
{
    if (!p)
        return;
    p->mask = 0;
    while (p->mask < SIZE_MAX / 4 && p->mask + 1 < stride)
        p->mask = 2 * p->mask + 1;
}

ingot_status ingot_profile_begin(ingot_profile *p, const ingot_frame *frame, ingot_error *error)
{
    if (p->plan != frame->plan)
        INGOT_TRY(take_plan(p, frame->plan, error));
    p->frame = frame;
    memset(p->counts, 0, p->step_count * sizeof *p->counts);
    p->call_count = 0;
    p->phase++;
    p->call_total = 0;
    p->begin_ns = ingot_clock_ns();
    p->begin_ticks = ingot_clock_ticks();
    return INGOT_OK;
}

void ingot_profile_end(ingot_profile *p)
{
    uint64_t ticks = ingot_clock_ticks() - p->begin_ticks;
    p->ns_per_tick = ticks ? (double)(ingot_clock_ns() - p->begin_ns) / (double)ticks : 0;
}

static uint64_t ns_of(const ingot_profile *p, uint64_t ticks)
{
    return (uint64_t)((double)ticks * p->ns_per_tick + 0.5);
}

size_t ingot_profile_region_count(const ingot_profile *p)
{
    return p ? p->step_count : 0;
}

/* ---- Finding a step by its number ---- */

typedef struct place {
    const ingot_plan *plan;
    const ingot_frame *frame; /* NULL: the body never ran */
    size_t index;             /* of the step in the plan */
    size_t parent;
    const char *body;
    int depth;
} place;

/* Goes into the body that holds the step; false where the step is in place->plan itself. */
static bool descend(place *at, size_t number)
{
    const ingot_plan *plan = at->plan;
    if (number - plan->first_number < plan->step_count)
        return false;
    for (size_t i = 0; i < plan->step_count; i++) {
        const ingot_plan_step *step = &plan->steps[i];
        for (size_t b = 0; step->bodies && b < step->node->body_count; b++) {
            size_t first = step->bodies[b]->first_number;
            if (number < first || number - first >= ingot_plan_count_steps(step->bodies[b]))
                continue;
            const ingot_control_state *state = at->frame ? &at->frame->control[i] : NULL;
            *at = (place){.plan = step->bodies[b],
                          .frame = state && state->bodies ? state->bodies[b] : NULL,
                          .parent = plan->first_number + i,
                          .body = step->node->bodies[b].attribute,
                          .depth = at->depth + 1};
            return true;
        }
    }
    return false;
}

static place find(const ingot_profile *p, size_t number)
{
    place at = {.plan = p->plan, .frame = p->frame, .parent = SIZE_MAX};
    while (descend(&at, number))
        continue;
    at.index = number - at.plan->first_number;
    return at;
}

static void count_work(const place *at, const ingot_plan_step *step, ingot_profile_region *region)
{
    const ingot_frame *f = at->frame;
    if (!f || !f->layout || region->calls == 0)
        return;
    double calls = (double)region->calls;
    region->region.flops = calls * ingot_step_flops(f->layout, f->types, step);
    region->bytes =
        calls * ingot_step_bytes(step, f->inputs + f->first_input[at->index], f->outputs + f->first_output[at->index]);
}

bool ingot_profile_get(const ingot_profile *p, size_t index, ingot_profile_region *region)
{
    if (!p || index >= p->step_count)
        return false;
    place at = find(p, index);
    const ingot_plan_step *step = &at.plan->steps[at.index];
    *region = (ingot_profile_region){.depth = at.depth,
                                     .parent = at.parent,
                                     .body = at.body,
                                     .calls = p->counts[index].calls,
                                     .ns = ns_of(p, p->counts[index].ticks)};
    ingot_session_describe_step(p->context->session, at.plan, at.index, &region->region);
    count_work(&at, step, region);
    return true;
}

bool ingot_profile_event_at(const ingot_profile *p, size_t index, ingot_profile_event *event)
{
    if (!p || index >= p->call_count)
        return false;
    const ingot_profile_call *call = &p->calls[index];
    *event =
        (ingot_profile_event){call->step, ns_of(p, call->begin - p->begin_ticks), ns_of(p, call->end - p->begin_ticks)};
    return true;
}

uint64_t ingot_profile_event_total(const ingot_profile *p)
{
    return p ? p->call_total : 0;
}
