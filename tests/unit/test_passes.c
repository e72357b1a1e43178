/* The passes that clean a graph up, and what holds for all: what they make of a graph, and that it still gives what the model asked
 * for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pass_fixture.h"
#include "pass_models.h"

static void a_chain_of_nodes_that_do_nothing_goes(void **state)
{
    CHECK(identities, INGOT_OPT_EXACT, "Relu");
}

static void what_only_looks_like_nothing_stays(void **state)
{
    CHECK(no_identities, INGOT_OPT_ALL, "Neg Sub Neg Add Slice Add Reshape Mul");
}

static void arithmetic_on_fixed_shapes_goes(void **state)
{
    CHECK(shapes, INGOT_OPT_EXACT, "Reshape");
}

static void arithmetic_on_free_sizes_goes_where_they_keep_their_place(void **state)
{
    CHECK(dynamic_shape, INGOT_OPT_EXACT, "Reshape");
}

static void exchanged_free_sizes_stay(void **state)
{
    CHECK(dynamic_shape_exchanged, INGOT_OPT_ALL, "Shape Gather Reshape");
}

static void nodes_of_constants_go(void **state)
{
    CHECK(constants, INGOT_OPT_EXACT, "Mul");
}

static void equal_nodes_and_constants_are_kept_once(void **state)
{
    CHECK(twins, INGOT_OPT_EXACT, "Mul Mul Softmax Softmax Sum Add");
}

static void chains_of_views_become_one(void **state)
{
    CHECK(views, INGOT_OPT_EXACT, "Reshape Transpose Reshape");
}

static void transposes_meet_behind_views_and_work_on_rows(void **state)
{
    CHECK(transposes_around_a_product, INGOT_OPT_EXACT,
          "MatMul Add Reshape Transpose Gather Transpose Gather Transpose Sub");
    CHECK(transposes_around_a_gemm, INGOT_OPT_EXACT, "Transpose Reshape Gemm Reshape");
    CHECK(product_of_sizes, INGOT_OPT_EXACT, "Reshape Transpose");
}

static void transposes_that_would_not_meet_stay(void **state)
{
    CHECK(transposes_that_stay, INGOT_OPT_EXACT, "Transpose MatMul Transpose Relu Transpose MatMul Add Relu");
}

static void expect_operand_shape(const ingot_graph *graph, const char *op_type, size_t operand, const int64_t *dims,
                                 int rank)
{
    const ingot_value *content = find_node(graph, op_type)->inputs[operand]->constant;
    assert_non_null(content);
    assert_int_equal(content->rank, rank);
    assert_memory_equal(content->dims, dims, (size_t)rank * sizeof *dims);
}

static void a_constant_that_repeats_itself_shrinks_to_its_period(void **state)
{
    fixture f;
    OPEN(&f, repeated);
    optimize_well(&f, INGOT_OPT_EXACT);
    expect_operand_shape(f.module->main, "PRelu", 1, (const int64_t[]){2, 1, 1}, 3);
    expect_operand_shape(f.module->main, "Mul", 0, (const int64_t[]){1, 1, 3}, 3);
    run_and_compare(&f, repeated_x, repeated_y, sizeof repeated_y / sizeof *repeated_y);
    close_fixture(&f);
}

static void a_constant_that_spreads_the_other_operand_keeps_its_shape(void **state)
{
    fixture f;
    OPEN(&f, repeated_spreading);
    optimize_well(&f, INGOT_OPT_EXACT);
    expect_operand_shape(f.module->main, "Mul", 1, (const int64_t[]){2, 3}, 2);
    run_and_compare(&f, repeated_spreading_x, repeated_spreading_y,
                    sizeof repeated_spreading_y / sizeof *repeated_spreading_y);
    close_fixture(&f);
}

static void what_is_said_in_halves_is_computed_in_floats(void **state)
{
    fixture f;
    OPEN(&f, half);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "Cast Conv Relu Sigmoid Cast MaxPool Cast Less");
    for (const ingot_node *n = f.module->main->first; n; n = n->next)
        if (strcmp(n->op_type, "Cast") != 0 && strcmp(n->op_type, "Less") != 0)
            assert_int_equal(n->outputs[0]->type.element, INGOT_FLOAT);
    assert_int_equal(find_node(f.module->main, "Less")->inputs[0]->type.element, INGOT_FLOAT16);
    assert_int_equal(f.module->main->outputs[0]->type.element, INGOT_FLOAT16);
    assert_ptr_equal(f.module->main->outputs[2]->producer, find_node(f.module->main, "Sigmoid"));
    close_fixture(&f);
}

static void halves_that_only_move_stay_and_casts_of_the_model_round(void **state)
{
    fixture f;
    OPEN(&f, half_moved_only);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "Transpose Cast Neg Cast");
    assert_int_equal(find_node(f.module->main, "Transpose")->outputs[0]->type.element, INGOT_FLOAT16);
    close_fixture(&f);
}

static void halves_are_computed_as_such_where_bits_must_stay(void **state)
{
    fixture f;
    OPEN(&f, half);
    optimize_well(&f, INGOT_OPT_EXACT);
    expect_operators(f.module->main, "Conv Relu Sigmoid MaxPool Less Cast");
    close_fixture(&f);
}

static void the_branch_taken_moves_in_and_the_other_does_not_matter(void **state)
{
    CHECK(if_constant, INGOT_OPT_EXACT, "Neg Add Add");
}

/* ---- Bodies ---- */

static void bodies_take_constants_and_drop_what_they_do_not_use(void **state)
{
    fixture f;
    OPEN(&f, captures);
    optimize_well(&f, INGOT_OPT_EXACT);
    expect_operators(f.module->main, "Neg If If");
    const ingot_node *first = find_node(f.module->main, "If");
    assert_int_equal(first->input_count - first->operand_count, 5);
    assert_int_equal(first->bodies[0].capture_count, 2); /* t and x: w is its own now */
    assert_int_equal(first->bodies[1].capture_count, 3); /* c, x, t */
    const ingot_node *inner = find_node(first->bodies[1].graph, "If");
    expect_operators(inner->bodies[1].graph, "Sub"); /* v + w is folded in there */
    const ingot_node *second = f.module->main->last;
    assert_int_equal(second->bodies[0].capture_count, 1); /* x: nobody reads what t went into */
    assert_int_equal(second->bodies[1].capture_count, 1);
    close_fixture(&f);
}

/* ---- What must not be folded ---- */

static void a_node_that_fails_while_folding_stays(void **state)
{
    fixture f;
    OPEN(&f, division_by_zero);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "Div Add");
    assert_int_equal(f.error.status, INGOT_OK);
    close_fixture(&f);
}

static void a_large_result_of_little_is_not_folded(void **state)
{
    fixture f;
    OPEN(&f, giant);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "ConstantOfShape Add");
    close_fixture(&f);
}

/* ---- What nobody reads, and what somebody does ---- */

static void unread_nodes_and_optional_outputs_go(void **state)
{
    fixture f;
    OPEN(&f, unread_outputs);
    optimize_well(&f, INGOT_OPT_EXACT);
    expect_operators(f.module->main, "MaxPool");
    assert_int_equal(f.module->main->first->output_count, 1);
    close_fixture(&f);
}

static void a_layer_that_two_read_is_not_made_twice(void **state)
{
    fixture f;
    OPEN(&f, shared);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "Conv Mul Relu");
    close_fixture(&f);
}

static void a_swallowed_value_that_is_an_output_is_made_beside(void **state)
{
    fixture f;
    OPEN(&f, exposed);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "Conv Conv");
    const ingot_node *first = f.module->main->first;
    assert_ptr_equal(first->outputs[0], f.module->main->outputs[0]);
    assert_int_equal(first->operand_count, 2);
    assert_string_equal(f.module->main->output_names[1], "y");
    close_fixture(&f);
}

/* ---- Levels and names ---- */

static void the_level_decides_what_runs(void **state)
{
    fixture f;
    OPEN(&f, conv_batch_norm);
    optimize_well(&f, INGOT_OPT_NONE);
    expect_operators(f.module->main, "Conv BatchNormalization");
    optimize_well(&f, INGOT_OPT_EXACT);
    expect_operators(f.module->main, "Conv BatchNormalization");
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "Conv");
    close_fixture(&f);
}

static void disabled_passes_do_not_run(void **state)
{
    fixture f;
    OPEN(&f, conv_batch_norm);
    assert_int_equal(optimize(&f, INGOT_OPT_ALL, "fuse-gelu, fold-batch-norm"), INGOT_OK);
    expect_operators(f.module->main, "Conv BatchNormalization");
    close_fixture(&f);
}

static void an_unknown_pass_is_refused_with_the_names_there_are(void **state)
{
    fixture f;
    OPEN(&f, swish);
    assert_int_equal(optimize(&f, INGOT_OPT_ALL, "fuse-gelu,fold-everything"), INGOT_INVALID_ARGUMENT);
    assert_non_null(strstr(f.error.message, "'fold-everything'"));
    for (const ingot_pass *pass = ingot_passes; pass->name; pass++)
        assert_non_null(strstr(f.error.message, pass->name));
    close_fixture(&f);
}

static void a_cancelled_token_ends_the_work(void **state)
{
    fixture f;
    ingot_cancel *cancel;
    OPEN(&f, swish);
    assert_int_equal(ingot_cancel_create(&cancel, NULL), INGOT_OK);
    ingot_cancel_raise(cancel);
    ingot_pass_context context = {.evaluator = &f.evaluator.base, .cancel = cancel, .error = &f.error};
    assert_int_equal(ingot_passes_run(f.module, INGOT_OPT_ALL, NULL, &context), INGOT_CANCELLED);
    ingot_cancel_release(cancel);
    close_fixture(&f);
}

/* ---- Memory ---- */

static size_t allocations_left;

static bool count_down(size_t size)
{
    return allocations_left > 0 && allocations_left-- > 0;
}

/* Every allocation of the passes fails once: what was there is released by then, as the sanitizers see. A node that cannot be
 * folded for lack of memory stays, so the work may end well. */
static void check_lack_of_memory(const void *data, size_t size)
{
    bool failed = true;
    for (size_t n = 0; failed; n++) {
        fixture f;
        open_fixture(&f, data, size);
        allocations_left = n;
        ingot_set_allocation_hook(count_down);
        ingot_status status = optimize(&f, INGOT_OPT_ALL, NULL);
        ingot_set_allocation_hook(NULL);
        failed = allocations_left == 0;
        assert_true(status == INGOT_OK || (failed && status == INGOT_OUT_OF_MEMORY));
        close_fixture(&f);
    }
}

static void a_lack_of_memory_is_told(void **state)
{
    check_lack_of_memory(captures_model, sizeof captures_model);
    check_lack_of_memory(if_constant_model, sizeof if_constant_model);
    check_lack_of_memory(conv_batch_norm_model, sizeof conv_batch_norm_model);
    check_lack_of_memory(phases_model, sizeof phases_model);
    check_lack_of_memory(layer_norm_plain_model, sizeof layer_norm_plain_model);
    check_lack_of_memory(views_model, sizeof views_model);
    check_lack_of_memory(transposes_around_a_product_model, sizeof transposes_around_a_product_model);
    check_lack_of_memory(transposes_around_a_gemm_model, sizeof transposes_around_a_gemm_model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_nodes_that_do_nothing_goes),
        cmocka_unit_test(what_only_looks_like_nothing_stays),
        cmocka_unit_test(arithmetic_on_fixed_shapes_goes),
        cmocka_unit_test(arithmetic_on_free_sizes_goes_where_they_keep_their_place),
        cmocka_unit_test(exchanged_free_sizes_stay),
        cmocka_unit_test(nodes_of_constants_go),
        cmocka_unit_test(equal_nodes_and_constants_are_kept_once),
        cmocka_unit_test(chains_of_views_become_one),
        cmocka_unit_test(transposes_meet_behind_views_and_work_on_rows),
        cmocka_unit_test(transposes_that_would_not_meet_stay),
        cmocka_unit_test(a_constant_that_repeats_itself_shrinks_to_its_period),
        cmocka_unit_test(a_constant_that_spreads_the_other_operand_keeps_its_shape),
        cmocka_unit_test(what_is_said_in_halves_is_computed_in_floats),
        cmocka_unit_test(halves_that_only_move_stay_and_casts_of_the_model_round),
        cmocka_unit_test(halves_are_computed_as_such_where_bits_must_stay),
        cmocka_unit_test(the_branch_taken_moves_in_and_the_other_does_not_matter),
        cmocka_unit_test(bodies_take_constants_and_drop_what_they_do_not_use),
        cmocka_unit_test(a_node_that_fails_while_folding_stays),
        cmocka_unit_test(a_large_result_of_little_is_not_folded),
        cmocka_unit_test(unread_nodes_and_optional_outputs_go),
        cmocka_unit_test(a_layer_that_two_read_is_not_made_twice),
        cmocka_unit_test(a_swallowed_value_that_is_an_output_is_made_beside),
        cmocka_unit_test(the_level_decides_what_runs),
        cmocka_unit_test(disabled_passes_do_not_run),
        cmocka_unit_test(an_unknown_pass_is_refused_with_the_names_there_are),
        cmocka_unit_test(a_lack_of_memory_is_told),
        cmocka_unit_test(a_cancelled_token_ends_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
