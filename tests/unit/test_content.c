/* Content of small integer tensors, followed through the shape rules of arithmetic operators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"

typedef struct fixture {
    ingot_budget budget;
    ingot_module *module;
    ingot_error error;
    ingot_dim n; /* a free size */
} fixture;

static int create(void **state)
{
    static fixture f;
    f = (fixture){.module = NULL};
    ingot_budget_init(&f.budget, 0);
    if (ingot_module_create(&f.budget, &f.module, &f.error) != INGOT_OK)
        return -1;
    if (!f.module->main && ingot_graph_create(f.module, "g", &f.module->main, &f.error) != INGOT_OK)
        return -1;
    f.n = ingot_dim_symbol(f.module->dims, "N", 1);
    *state = &f;
    return 0;
}

static int destroy(void **state)
{
    fixture *f = *state;
    ingot_module_release(f->module);
    return 0;
}

static ingot_graph_value *new_value(fixture *f)
{
    ingot_graph_value *value = NULL;
    assert_int_equal(ingot_graph_add_value(f->module->main, NULL, 0, &value, &f->error), INGOT_OK);
    return value;
}

/* A tensor of that type whose content is count values; count -1: a scalar. */
static ingot_graph_value *known(fixture *f, ingot_element element, const ingot_dim *values, int count)
{
    ingot_graph_value *value = new_value(f);
    size_t elements = count < 0 ? 1 : (size_t)count;
    const ingot_dim dims[] = {count};
    value->type = ingot_type_shaped(element, count < 0 ? 0 : 1, dims);
    value->known = ingot_arena_copy(f->module->arena, values, elements * sizeof *values);
    value->known_count = elements;
    return value;
}

static ingot_graph_value *scalar(fixture *f, ingot_dim value)
{
    return known(f, INGOT_INT64, &value, -1);
}

/* The output of a node of these inputs after its shape rule has run. */
static ingot_graph_value *apply(fixture *f, const char *op, int opset, ingot_graph_value *a, ingot_graph_value *b,
                                ingot_graph_value *c)
{
    ingot_graph_value *inputs[] = {a, b, c}, *output = new_value(f);
    size_t count = c ? 3 : b ? 2 : 1;
    ingot_node_spec spec = {.op_type = op,
                            .name = op,
                            .opset = opset,
                            .inputs = inputs,
                            .input_count = count,
                            .operand_count = count,
                            .outputs = &output,
                            .output_count = 1};
    ingot_node *node;
    assert_int_equal(ingot_graph_add_node(f->module->main, &spec, NULL, &node, &f->error), INGOT_OK);
    assert_int_equal(ingot_op_resolve(node, &f->error), INGOT_OK);
    assert_int_equal(ingot_op_infer(node, &f->error), INGOT_OK);
    return output;
}

static void assert_content(fixture *f, const ingot_graph_value *value, size_t index, const char *want)
{
    char text[64];
    assert_non_null(value->known);
    assert_true(index < value->known_count);
    assert_string_equal(ingot_dim_describe(f->module->dims, value->known[index], text, sizeof text), want);
}

static void arithmetic_on_sizes_stays_symbolic(void **state)
{
    fixture *f = *state;
    ingot_dims *dims = f->module->dims;
    ingot_graph_value *n = scalar(f, f->n), *two = scalar(f, 2);
    assert_true(apply(f, "Mul", 14, n, two, NULL)->known[0] == ingot_dim_mul(dims, f->n, 2));
    assert_true(apply(f, "Add", 14, n, two, NULL)->known[0] == ingot_dim_add(dims, f->n, 2));
    assert_true(apply(f, "Div", 14, n, two, NULL)->known[0] == ingot_dim_make(dims, INGOT_DIM_FLOOR_DIV, f->n, 2));
    assert_true(apply(f, "Max", 13, n, two, NULL)->known[0] == ingot_dim_make(dims, INGOT_DIM_MAX, f->n, 2));
}

static void a_vector_and_a_scalar_broadcast(void **state)
{
    fixture *f = *state;
    const ingot_dim values[] = {f->n, 4, -7};
    ingot_graph_value *result = apply(f, "Mul", 14, known(f, INGOT_INT64, values, 3), scalar(f, 1), NULL);
    assert_int_equal(result->known_count, 3);
    assert_content(f, result, 0, "N");
    assert_content(f, result, 1, "4");
    assert_content(f, result, 2, "-7");
}

static void integers_are_divided_toward_zero(void **state)
{
    fixture *f = *state;
    assert_content(f, apply(f, "Div", 14, scalar(f, -7), scalar(f, 2), NULL), 0, "-3");
    assert_content(f, apply(f, "Div", 14, scalar(f, 7), scalar(f, 2), NULL), 0, "3");
}

static void a_quotient_that_may_be_negative_is_not_guessed(void **state)
{
    fixture *f = *state;
    ingot_graph_value *difference = apply(f, "Sub", 14, scalar(f, f->n), scalar(f, 5), NULL);
    assert_null(apply(f, "Div", 14, difference, scalar(f, 2), NULL)->known);
}

static void what_leaves_the_type_is_not_known(void **state)
{
    fixture *f = *state;
    ingot_dim big = 2000000000;
    ingot_graph_value *a = known(f, INGOT_INT32, &big, -1);
    assert_null(apply(f, "Add", 14, a, a, NULL)->known);
}

static void a_size_is_never_minus_one(void **state)
{
    fixture *f = *state;
    assert_content(f, apply(f, "Equal", 13, scalar(f, f->n), scalar(f, -1), NULL), 0, "0");
    assert_content(f, apply(f, "Equal", 13, scalar(f, f->n), scalar(f, f->n), NULL), 0, "1");
    assert_null(apply(f, "Equal", 13, scalar(f, f->n), scalar(f, 3), NULL)->known);
}

static void where_takes_the_side_that_is_known(void **state)
{
    fixture *f = *state;
    const ingot_dim choices[] = {1, 0};
    const ingot_dim yes[] = {f->n, 2};
    ingot_graph_value *result =
        apply(f, "Where", 16, known(f, INGOT_BOOL, choices, 2), known(f, INGOT_INT64, yes, 2), scalar(f, 9));
    assert_content(f, result, 0, "N");
    assert_content(f, result, 1, "9");
}

static void a_product_of_sizes_is_followed(void **state)
{
    fixture *f = *state;
    const ingot_dim sizes[] = {f->n, 3, 4};
    ingot_graph_value *result = apply(f, "ReduceProd", 18, known(f, INGOT_INT64, sizes, 3), NULL, NULL);
    assert_int_equal(result->known_count, 1);
    assert_true(result->known[0] == ingot_dim_mul(f->module->dims, f->n, 12));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, create, destroy)
    const struct CMUnitTest tests[] = {
        CASE(arithmetic_on_sizes_stays_symbolic), CASE(a_vector_and_a_scalar_broadcast),
        CASE(integers_are_divided_toward_zero),   CASE(a_quotient_that_may_be_negative_is_not_guessed),
        CASE(what_leaves_the_type_is_not_known),  CASE(a_size_is_never_minus_one),
        CASE(where_takes_the_side_that_is_known), CASE(a_product_of_sizes_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
