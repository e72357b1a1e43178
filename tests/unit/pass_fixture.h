/* A model, optimized and run, as the tests of the passes want it. Every function fails the test where something goes wrong. The
 * models and the values, which come from another engine, are in make_pass_models.py. */
#ifndef PASS_FIXTURE_H
#define PASS_FIXTURE_H

#include "onnx/import.h"
#include "passes/passes.h"
#include "runtime/evaluate.h"

typedef struct fixture {
    ingot_model *model;
    ingot_module *module;
    ingot_budget budget;
    ingot_reference_evaluator evaluator;
    ingot_error error;
} fixture;

void open_fixture(fixture *f, const void *data, size_t size);
void close_fixture(fixture *f);
/* The status of the passes: the one that does not fail the test. disabled: names of passes, or NULL. */
ingot_status optimize(fixture *f, ingot_opt_level level, const char *disabled);
void optimize_well(fixture *f, ingot_opt_level level);

/* The types of operators of all nodes, in order, with spaces between. */
void expect_operators(const ingot_graph *graph, const char *expected);
/* The first of that type. */
const ingot_node *find_node(const ingot_graph *graph, const char *op_type);
/* The main graph has one input and one output; free sizes are 3. */
void run_and_compare(fixture *f, const float *x, const float *y, size_t y_count);

/* Optimizes, then looks at the operators and at the values. */
void check_pass(const void *data, size_t size, ingot_opt_level level, const char *operators, const float *x,
                const float *y, size_t y_count);
#define CHECK(name, level, operators)                                                   \
    check_pass(name##_model, sizeof name##_model, level, operators, name##_x, name##_y, \
               sizeof name##_y / sizeof *name##_y)
#define OPEN(f, name) open_fixture(f, name##_model, sizeof name##_model)

#endif
