/* Arithmetic of a step, counted from shapes: what the direct algorithm needs. */
#ifndef INGOT_RUNTIME_FLOPS_H
#define INGOT_RUNTIME_FLOPS_H

#include "plan/plan.h"

/* Multiplications and additions of the products in a step (convolutions, matrix products, recurrent layers); 0 where a shape is
 * not known, and for other operators. */
double ingot_step_flops(const ingot_layout *layout, const ingot_plan_step *step);

#endif
