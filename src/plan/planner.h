/* What the parts of planning share (plan*.c, layout*.c). */
#ifndef INGOT_PLAN_PLANNER_H
#define INGOT_PLAN_PLANNER_H

#include "plan/plan.h"

typedef struct ingot_planner {
    ingot_plan *plan;
    const ingot_plan_options *options;
    ingot_claim claim;
    ingot_tactic *tactics;              /* of each region */
    size_t (*forms)[INGOT_MAX_LAYOUTS]; /* [value]: the slot that holds it in that layout; INGOT_NO_SLOT: none yet */
    ingot_error *error;
} ingot_planner;

/* count zeroed elements in the plan's arena; NULL with the error set where memory is out. */
void *ingot_planner_alloc(ingot_planner *p, size_t count, size_t size);

/* The plan of a graph at this depth of nesting; arena: of the outermost plan, NULL: this is it. */
ingot_status ingot_planner_plan(const ingot_graph *graph, const ingot_plan_options *options, ingot_arena *arena,
                                int depth, ingot_plan **plan, ingot_error *error);

/* Regions and their tactics; the steps in order, with the slots that they read and write. */
ingot_status ingot_planner_add_steps(ingot_planner *p, int depth);

/* Lays the weights of all steps out for their kernels. */
ingot_status ingot_planner_pack(ingot_planner *p);

/* Makes an aligned copy of a constant that will not be read again where it lies: both are never whole in memory at once. */
ingot_status ingot_planner_copy_constant(ingot_planner *p, const ingot_value *from, ingot_value **copy);

/* Where each slot's value lives and for how long; constants that are read in place are aligned. */
ingot_status ingot_planner_place_slots(ingot_planner *p);

/* Sizes, offsets and workspaces of an empty layout for these inputs. */
ingot_status ingot_layout_fill(ingot_plan *plan, const ingot_value *const *inputs, int threads, ingot_layout *layout,
                               ingot_error *error);

#endif
