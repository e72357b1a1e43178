/* Arithmetic and memory traffic of a step, counted from shapes: what the direct algorithm needs. */
#ifndef INGOT_RUNTIME_FLOPS_H
#define INGOT_RUNTIME_FLOPS_H

#include "plan/plan.h"

/* Multiplications and additions of the products in a step (convolutions, matrix products, recurrent layers); 0 where a shape is
 * not known, and for other operators. types[slot] (NULL: none) tells shapes that the layout does not know. */
double ingot_step_flops(const ingot_layout *layout, const ingot_type *types, const ingot_plan_step *step);

/* Bytes of a step's operands as they are after a run, weights in the layout of the kernel included: each is read or written
 * once. What lies inside a region, and what a view or control flow hands on, is no traffic. */
double ingot_step_bytes(const ingot_plan_step *step, const ingot_value *const *inputs, ingot_value *const *outputs);

#endif
