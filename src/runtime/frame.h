/* A frame: the memory of one running plan, and running it. The main plan's frame belongs to a context; bodies have frames of
 * their own, made when they first run. Everything is kept, so that a run at sizes seen allocates nothing. */
#ifndef INGOT_RUNTIME_FRAME_H
#define INGOT_RUNTIME_FRAME_H

#include "base/clock.h"
#include "plan/plan.h"
#include "runtime/profile.h"

typedef struct ingot_frame ingot_frame;

/* What a warm-up takes for values whose sizes only a run finds out, at most: runs to come may have others. */
#define INGOT_WARM_UP_BYTES ((size_t)8 << 20)

/* What is the same for all frames of one run. */
typedef struct ingot_run {
    int threads;
    const ingot_cancel *session_cancel, *run_cancel; /* NULL: none */
    uint64_t deadline;                               /* of ingot_clock_ns: no step begins after it; 0: none */
    uint64_t touch_until;                            /* no memory is touched ahead of its use after it; 0: all is */
    bool
        warms_up; /* both branches of an If run, but no step that would end after the deadline, or give a large value */
    ingot_profile *profile; /* NULL: steps are not noted */
    ingot_error *error;
} ingot_run;

/* Where an output goes. */
typedef struct ingot_target {
    ingot_value *value; /* NULL: it stays in the frame, see ingot_frame_output */
    bool bound;         /* the caller's tensor: its type, shape and memory stay as they are and must fit */
} ingot_target;

/* budget (borrowed) counts the frame's memory, bodies included, as a part of its own. */
ingot_status ingot_frame_create(ingot_plan *plan, ingot_budget *budget, ingot_frame **frame, ingot_error *error);
void ingot_frame_release(ingot_frame *frame);
/* Gives back all memory that a run needs; the next run makes it again. */
void ingot_frame_trim(ingot_frame *frame);

/* Gives back what values hold whose sizes only a run finds out, and what bodies do. */
void ingot_frame_forget_found(ingot_frame *frame);

/* Lays the frame out for these input shapes (values without data will do) and touches its memory. */
ingot_status ingot_frame_prepare(ingot_frame *frame, const ingot_value *const *inputs, const ingot_run *run);

/* Touches the memory that the outputs of a run have where the caller gives them none. */
void ingot_frame_touch_outputs(const ingot_frame *frame, const ingot_run *run);

/* Runs the plan. inputs and targets are those of plan->graph, in order. Values are checked by the caller. */
ingot_status ingot_frame_run(ingot_frame *frame, const ingot_value *const *inputs, const ingot_target *targets,
                             const ingot_run *run);

/* Whether the caller's tensor target fits output number output, which is a tensor of this shape; names both where not. */
ingot_status ingot_frame_check_bound(const ingot_frame *frame, size_t output, const ingot_value *target,
                                     ingot_element element, int rank, const int64_t *dims, ingot_error *error);

/* Output number index of the last run; valid until the next one. */
const ingot_value *ingot_frame_output(const ingot_frame *frame, size_t index);

/* ---- Between frame.c and frame_run.c ---- */

/* Memory of its own for a buffer slot, and the tensor's shape. */
ingot_status ingot_frame_size_buffer(ingot_frame *frame, size_t slot, ingot_element element, int rank,
                                     const int64_t *dims, ingot_error *error);
void ingot_frame_load_inputs(ingot_frame *frame, const ingot_value *const *inputs);
/* Before the steps: lets them write the targets where they can. After them: copies what they could not write there. */
ingot_status ingot_frame_aim_outputs(ingot_frame *frame, const ingot_target *targets, const ingot_run *run);
ingot_status ingot_frame_deliver(ingot_frame *frame, size_t output, const ingot_target *target, const ingot_run *run);

/* ---- For control.c ---- */

/* State of one control step between runs. */
typedef struct ingot_control_state {
    ingot_frame **bodies; /* one for each body; NULL until it runs */
    ingot_value *carried; /* two for each carried value: trips write them in turn */
    ingot_value *slices;  /* of Scan: one for each scan input */
    const ingot_value **inputs;
    ingot_target *targets;
    size_t carried_count, slice_count;
} ingot_control_state;

struct ingot_frame {
    ingot_plan *plan;
    ingot_layout *layout;       /* the one applied, or NULL */
    ingot_value *views;         /* [slot]: constants, inputs, views, slices of the arena; owns nothing */
    ingot_value *owned;         /* [slot]: buffers of its own, for what the arena does not hold */
    ingot_value **current;      /* [slot]: into one of both; NULL: a slot without memory */
    const ingot_value **inputs; /* operands of all steps, one after the other */
    ingot_value **outputs;
    size_t *first_input, *first_output;     /* [step]: where its operands begin */
    ingot_budget budget;                    /* what the frame and its bodies hold */
    atomic_size_t arena_bytes, arena_bound; /* of the layout, for statistics during a run */
    ingot_block arena, scratch, workspace;
    ingot_type *types; /* [slot]: for shapes found out in the run */
    ingot_infer_value *infer_values;
    ingot_control_state *control; /* [step] */
};

/* Runs a control step of the frame; operands are the frame's. */
ingot_status ingot_control_run(ingot_frame *frame, size_t step, const ingot_run *run);
void ingot_control_release(const ingot_plan_step *step, ingot_control_state *state);
/* Lets budget count what the values of the state will hold. */
void ingot_control_count(ingot_control_state *state, ingot_budget *budget);

static inline bool ingot_run_cancelled(const ingot_run *run)
{
    return ingot_cancelled(run->session_cancel) || ingot_cancelled(run->run_cancel) ||
           (run->deadline && ingot_clock_ns() > run->deadline);
}

#endif
