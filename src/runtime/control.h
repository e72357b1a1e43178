/* What the operators that run bodies share: If and SequenceMap (control.c), Loop and Scan. */
#ifndef INGOT_RUNTIME_CONTROL_H
#define INGOT_RUNTIME_CONTROL_H

#include "ops/control.h"
#include "runtime/frame.h"

/* One execution of a control step. */
typedef struct ingot_control_call {
    ingot_frame *frame;
    const ingot_plan_step *step;
    const ingot_node *node;
    const ingot_control_params *params;
    ingot_control_state *state;
    const ingot_value *const *inputs; /* operands, then captures */
    ingot_value *const *outputs;      /* owned by the frame; NULL: left out */
    ingot_budget *budget;
    const ingot_run *run;
} ingot_control_call;

/* Memory for the state on the first run of the step. */
ingot_status ingot_control_prepare(ingot_control_call *c, size_t carried, size_t slices);
/* The frame of a body, with captures tied to state->inputs. */
ingot_status ingot_control_frame(ingot_control_call *c, const ingot_body *body, ingot_frame **frame);
/* A scalar operand: bool or int64 in a tensor of one element. */
ingot_status ingot_control_scalar(ingot_control_call *c, size_t input, const char *name, int64_t *result);

/* Carried values: trip number trip writes here, and the next one reads. */
ingot_value *ingot_carried_value(const ingot_control_call *c, size_t index, int64_t trip);
ingot_status ingot_check_carried(ingot_control_call *c, size_t index, const ingot_value *before,
                                 const ingot_value *after);
/* After the last trip: what was carried becomes an output, without a copy where there was a trip. */
ingot_status ingot_deliver_carried(ingot_control_call *c, size_t first_operand, int64_t trips);

/* Scan outputs: what a trip gives must fit those before it; without any trip, sizes that only one would tell are 0. */
ingot_status ingot_check_scan_item(ingot_control_call *c, size_t output, int axis, const ingot_value *stack,
                                   const ingot_value *item);
ingot_status ingot_empty_scan(ingot_control_call *c, size_t output);

ingot_status ingot_run_loop(ingot_control_call *c);
ingot_status ingot_run_scan(ingot_control_call *c);

#endif
