/* Shape rules of the operators that move data, on sizes that are symbols: expected results by the ONNX text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"
#include "ops/slice.h"

typedef struct fixture {
    ingot_module *module;
    ingot_graph *graph;
    ingot_budget budget;
    ingot_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    ingot_budget_init(&f.budget, 0);
    *state = &f;
    return ingot_module_create(&f.budget, &f.module, &f.error) != INGOT_OK ||
           ingot_graph_create(f.module, "main", &f.graph, &f.error) != INGOT_OK;
}

static int tear_down(void **state)
{
    ingot_module_release(((fixture *)*state)->module);
    return 0;
}

/* An input of type float. Sizes below 0 stand for the symbol N. */
static ingot_graph_value *add_input(fixture *f, int rank, const int64_t *sizes)
{
    ingot_graph_value *value;
    ingot_dim dims[INGOT_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dims[i] = sizes[i] < 0 ? ingot_dim_symbol(f->module->dims, "N", 1) : sizes[i];
    assert_int_equal(ingot_graph_add_value(f->graph, "x", 1, &value, &f->error), INGOT_OK);
    assert_int_equal(ingot_graph_add_input(f->graph, value, &f->error), INGOT_OK);
    value->type = ingot_type_shaped(INGOT_FLOAT, rank, dims);
    return value;
}

static ingot_graph_value *add_numbers(fixture *f, const int64_t *numbers, int count)
{
    ingot_graph_value *value;
    assert_int_equal(ingot_graph_add_constant_i64(f->graph, "c", numbers, count, &value, &f->error), INGOT_OK);
    return value;
}

/* Adds a node with one output, resolves and infers it. */
static ingot_status add_node(fixture *f, const char *op_type, int opset, ingot_graph_value *const *inputs, size_t count,
                             const ingot_attribute *attribute, ingot_graph_value **output)
{
    ingot_node *node;
    assert_int_equal(ingot_graph_add_value(f->graph, "y", 1, output, &f->error), INGOT_OK);
    ingot_node_spec spec = {.op_type = op_type,
                            .name = "node_0",
                            .opset = opset,
                            .inputs = inputs,
                            .input_count = count,
                            .operand_count = count,
                            .outputs = output,
                            .output_count = 1,
                            .attributes = attribute,
                            .attribute_count = attribute != NULL};
    INGOT_TRY(ingot_graph_add_node(f->graph, &spec, NULL, &node, &f->error));
    INGOT_TRY(ingot_op_resolve(node, &f->error));
    return ingot_op_infer(node, &f->error);
}

static void expect_shape(fixture *f, const ingot_graph_value *value, const char *expected)
{
    char text[256];
    assert_string_equal(ingot_type_describe(f->module->dims, &value->type, text, sizeof text), expected);
}

static void content_flows_from_shape_to_reshape(void **state)
{
    fixture *f = *state;
    ingot_graph_value *x = add_input(f, 3, (int64_t[]){-1, 4, 6}), *shape, *batch, *wanted, *y;
    const ingot_attribute axis = {.name = "axis", .type = INGOT_ATTRIBUTE_INT, .i = 0};
    assert_int_equal(add_node(f, "Shape", 13, &x, 1, NULL, &shape), INGOT_OK);
    ingot_graph_value *gather[2] = {shape, add_numbers(f, (int64_t[]){0}, 1)};
    assert_int_equal(add_node(f, "Gather", 13, gather, 2, &axis, &batch), INGOT_OK);
    ingot_graph_value *concat[2] = {batch, add_numbers(f, (int64_t[]){2, -1}, 2)};
    assert_int_equal(add_node(f, "Concat", 13, concat, 2, &axis, &wanted), INGOT_OK);
    ingot_graph_value *reshape[2] = {x, wanted};
    assert_int_equal(add_node(f, "Reshape", 13, reshape, 2, NULL, &y), INGOT_OK);
    expect_shape(f, y, "float[N,2,12]");
}

static void reshape_refuses_another_number_of_elements(void **state)
{
    fixture *f = *state;
    ingot_graph_value *inputs[2] = {add_input(f, 2, (int64_t[]){2, 3}), add_numbers(f, (int64_t[]){4, -1}, 2)}, *y;
    assert_int_equal(add_node(f, "Reshape", 13, inputs, 2, NULL, &y), INGOT_INVALID_MODEL);
    assert_non_null(strstr(f->error.message, "node_0"));
    assert_non_null(strstr(f->error.message, "6"));
}

static void slice_to_the_end_keeps_the_symbol(void **state)
{
    fixture *f = *state;
    ingot_graph_value *inputs[3] = {add_input(f, 2, (int64_t[]){-1, 8}), add_numbers(f, (int64_t[]){0, 2}, 2),
                                    add_numbers(f, (int64_t[]){INT64_MAX, INT64_MAX}, 2)};
    ingot_graph_value *y;
    assert_int_equal(add_node(f, "Slice", 13, inputs, 3, NULL, &y), INGOT_OK);
    expect_shape(f, y, "float[N,6]");
}

static void low_attribute_values_are_numbers(void **state)
{
    fixture *f = *state;
    const int64_t lowest[1] = {INT64_MIN};
    const ingot_attribute shape = {.name = "shape", .type = INGOT_ATTRIBUTE_INTS, .count = 1, .ints = lowest};
    ingot_graph_value *x = add_input(f, 1, (int64_t[]){3}), *y;
    assert_int_equal(add_node(f, "Reshape", 1, &x, 1, &shape, &y), INGOT_INVALID_MODEL);
}

static void flatten_takes_the_rank_as_axis(void **state)
{
    fixture *f = *state;
    ingot_attribute axis = {.name = "axis", .type = INGOT_ATTRIBUTE_INT, .i = 3};
    ingot_graph_value *x = add_input(f, 3, (int64_t[]){2, -1, 5}), *y;
    assert_int_equal(add_node(f, "Flatten", 13, &x, 1, &axis, &y), INGOT_OK);
    expect_shape(f, y, "float[N*10,1]");
    axis.i = -1;
    assert_int_equal(add_node(f, "Flatten", 13, &x, 1, &axis, &y), INGOT_OK);
    expect_shape(f, y, "float[N*2,5]");
}

static void expect_range(int64_t size, int64_t start, int64_t end, int64_t step, int64_t first, int64_t count)
{
    int64_t found_first, found_count;
    ingot_slice_range(size, start, end, step, &found_first, &found_count);
    assert_int_equal(found_count, count);
    if (count > 0)
        assert_int_equal(found_first, first);
}

static void slice_ranges_are_clamped(void **state)
{
    (void)state;
    expect_range(5, 1, 4, 2, 1, 2);
    expect_range(5, -1, INT64_MIN, -2, 4, 3);
    expect_range(5, -100, 100, 1, 0, 5);
    expect_range(5, 3, 1, 1, 3, 0);
    expect_range(5, INT64_MAX, INT64_MIN, INT64_MIN, 4, 1);
    expect_range(0, 0, INT64_MAX, 1, 0, 0);
    expect_range(0, INT64_MAX, INT64_MIN, -1, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(content_flows_from_shape_to_reshape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reshape_refuses_another_number_of_elements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slice_to_the_end_keeps_the_symbol, set_up, tear_down),
        cmocka_unit_test_setup_teardown(low_attribute_values_are_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flatten_takes_the_rank_as_axis, set_up, tear_down),
        cmocka_unit_test(slice_ranges_are_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
