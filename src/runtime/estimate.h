/* How long a step takes at least, for who must not run one that takes long. */
#ifndef INGOT_RUNTIME_ESTIMATE_H
#define INGOT_RUNTIME_ESTIMATE_H

#include "runtime/flops.h"

/* Multiplications and additions in a nanosecond that no machine passes. */
#define INGOT_FLOPS_A_NS 150.0

/* Nanoseconds for the step on these operands, whose shapes are set, at least, as far as one can tell without running it. types as
 * ingot_step_flops takes them. */
double ingot_step_least_ns(const ingot_layout *layout, const ingot_type *types, const ingot_plan_step *step,
                           const ingot_value *const *inputs, ingot_value *const *outputs);

#endif
