/* One node on values at hand, by its reference kernel: what constant folding asks for. */
#ifndef INGOT_RUNTIME_EVALUATE_H
#define INGOT_RUNTIME_EVALUATE_H

#include "base/block.h"
#include "passes/passes.h"

typedef struct ingot_reference_evaluator {
    ingot_evaluator base; /* hand this in */
    ingot_budget *budget;
    ingot_block scratch;
} ingot_reference_evaluator;

void ingot_reference_evaluator_init(ingot_reference_evaluator *evaluator, ingot_budget *budget);
void ingot_reference_evaluator_clear(ingot_reference_evaluator *evaluator);

#endif
