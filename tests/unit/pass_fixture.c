#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pass_fixture.h"

void open_fixture(fixture *f, const void *data, size_t size)
{
    *f = (fixture){0};
    ingot_budget_init(&f->budget, 0);
    ingot_reference_evaluator_init(&f->evaluator, &f->budget);
    if (ingot_model_open_memory(data, size, NULL, &f->model, &f->error) != INGOT_OK ||
        ingot_module_copy(f->model->module, &f->budget, &f->module, &f->error) != INGOT_OK)
        fail_msg("%s", f->error.message);
}

void close_fixture(fixture *f)
{
    ingot_module_release(f->module);
    ingot_model_release(f->model);
    ingot_reference_evaluator_clear(&f->evaluator);
}

ingot_status optimize(fixture *f, ingot_opt_level level, const char *disabled)
{
    ingot_pass_context context = {.evaluator = &f->evaluator.base, .error = &f->error};
    return ingot_passes_run(f->module, level, disabled, &context);
}

void optimize_well(fixture *f, ingot_opt_level level)
{
    if (optimize(f, level, NULL) != INGOT_OK || ingot_graph_verify(f->module->main, &f->error) != INGOT_OK)
        fail_msg("%s", f->error.message);
}

void expect_operators(const ingot_graph *graph, const char *expected)
{
    char found[512] = "";
    for (const ingot_node *n = graph->first; n; n = n->next) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s", used ? " " : "", n->op_type);
    }
    assert_string_equal(found, expected);
}

const ingot_node *find_node(const ingot_graph *graph, const char *op_type)
{
    for (const ingot_node *n = graph->first; n; n = n->next)
        if (strcmp(n->op_type, op_type) == 0)
            return n;
    fail_msg("there is no %s", op_type);
    return NULL;
}

/* One node after another by the reference kernels. values: by id, filled. */
static void run_nodes(fixture *f, const ingot_value **values)
{
    for (const ingot_node *n = f->module->main->first; n; n = n->next) {
        const ingot_value *inputs[8] = {NULL};
        ingot_value *outputs[8] = {NULL};
        for (size_t i = 0; i < n->input_count; i++)
            inputs[i] = !n->inputs[i]            ? NULL
                        : n->inputs[i]->constant ? n->inputs[i]->constant
                                                 : values[n->inputs[i]->id];
        for (size_t i = 0; i < n->output_count; i++) {
            outputs[i] = n->outputs[i] ? ingot_calloc(1, sizeof(ingot_value)) : NULL;
            if (n->outputs[i])
                values[n->outputs[i]->id] = outputs[i];
        }
        if (f->evaluator.base.run(&f->evaluator.base, n, inputs, outputs, &f->error) != INGOT_OK)
            fail_msg("%s", f->error.message);
    }
}

static void expect_values(const ingot_value *found, const float *expected, size_t count)
{
    assert_int_equal(ingot_value_count(found), count);
    const float *data = ingot_value_data(found);
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(data[i] - expected[i]) <= 1e-6f + 1e-5f * fabsf(expected[i])) && data[i] != expected[i])
            fail_msg("element %zu is %g, but must be %g", i, (double)data[i], (double)expected[i]);
}

/* The main graph has one input and one output; free sizes are 3. */
void run_and_compare(fixture *f, const float *x, const float *y, size_t y_count)
{
    const ingot_graph *graph = f->module->main;
    const ingot_value **values = ingot_calloc(graph->value_count, sizeof *values);
    ingot_graph_value *input = graph->inputs[0];
    ingot_value fed;
    int64_t dims[INGOT_MAX_RANK];
    size_t bytes;
    for (int i = 0; i < input->type.rank; i++)
        dims[i] = ingot_dim_is_number(input->type.dims[i]) ? input->type.dims[i] : 3;
    assert_true(ingot_tensor_bytes(INGOT_FLOAT, input->type.rank, dims, &bytes));
    ingot_value_init(&fed);
    ingot_value_set_view(&fed, INGOT_FLOAT, input->type.rank, dims, (void *)(uintptr_t)x, bytes);
    values[input->id] = &fed;
    run_nodes(f, values);
    expect_values(values[graph->outputs[0]->id], y, y_count);
    values[input->id] = NULL;
    for (size_t i = 0; i < graph->value_count; i++)
        ingot_value_release((ingot_value *)(uintptr_t)values[i]);
    ingot_free(values);
}

void check_pass(const void *data, size_t size, ingot_opt_level level, const char *operators, const float *x,
                const float *y, size_t y_count)
{
    fixture f;
    open_fixture(&f, data, size);
    optimize_well(&f, level);
    expect_operators(f.module->main, operators);
    run_and_compare(&f, x, y, y_count);
    close_fixture(&f);
}
