/* What a run notes of its steps where its context has a profile. */
#ifndef INGOT_RUNTIME_PROFILE_H
#define INGOT_RUNTIME_PROFILE_H

#include "base/clock.h"
#include "ingot/tools.h"
#include "plan/plan.h"

/* One step of the plan, all its calls in the run noted last. */
typedef struct ingot_profile_count {
    uint64_t ticks, calls;
} ingot_profile_count;

/* One call. */
typedef struct ingot_profile_call {
    size_t step;
    uint64_t begin, end; /* ticks */
} ingot_profile_call;

struct ingot_profile {
    ingot_context *context;
    const ingot_plan *plan;          /* of the run noted last, or at first of the one that the context would begin */
    const struct ingot_frame *frame; /* of that run; NULL: none yet */
    size_t step_count;
    ingot_profile_count *counts; /* [step_count] */
    ingot_profile_call *calls;   /* [call_limit] */
    size_t call_count, call_limit;
    uint64_t call_total;  /* those beyond the limit included */
    size_t mask, phase;   /* steps are noted whose number plus phase has none of the bits of mask */
    uint64_t begin_ticks; /* of the run */
    uint64_t begin_ns;    /* the same by the clock */
    double ns_per_tick;
};

/* Forgets what the run before noted; the next one is in frame. Allocates only where that has another plan than before. */
ingot_status ingot_profile_begin(ingot_profile *profile, const struct ingot_frame *frame, ingot_error *error);
/* Finds out how long a tick was. */
void ingot_profile_end(ingot_profile *profile);

static inline bool ingot_profile_wants(const ingot_profile *profile, size_t step)
{
    return ((step + profile->phase) & profile->mask) == 0;
}

/* The tick at which a step begins; last: at which the one before it ended, if that was noted. */
static inline uint64_t ingot_profile_start(const ingot_profile *profile, uint64_t last)
{
    return profile->mask == 0 && last ? last : ingot_clock_ticks();
}

/* Notes that step number step ran from begin until now, both in ticks; returns now. */
static inline uint64_t ingot_profile_note(ingot_profile *profile, size_t step, uint64_t begin)
{
    uint64_t now = ingot_clock_ticks();
    profile->counts[step].ticks += now - begin;
    profile->counts[step].calls++;
    if (profile->call_count < profile->call_limit)
        profile->calls[profile->call_count++] = (ingot_profile_call){step, begin, now};
    profile->call_total++;
    return now;
}

#endif
