/* The passes: what they make of a graph, and that it still gives what the model asked for. The models and the values, which
 * come from another engine, are in make_pass_models.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "onnx/import.h"
#include "pass_models.h"
#include "passes/passes.h"
#include "runtime/evaluate.h"

/* ---- A model, optimized and run ---- */

typedef struct fixture {
    ingot_model *model;
    ingot_module *module;
    ingot_budget budget;
    ingot_reference_evaluator evaluator;
    ingot_error error;
} fixture;

static void open_fixture(fixture *f, const void *data, size_t size)
{
    *f = (fixture){0};
    ingot_budget_init(&f->budget, 0);
    ingot_reference_evaluator_init(&f->evaluator, &f->budget);
    if (ingot_model_open_memory(data, size, NULL, &f->model, &f->error) != INGOT_OK ||
        ingot_module_copy(f->model->module, &f->budget, &f->module, &f->error) != INGOT_OK)
        fail_msg("%s", f->error.message);
}

static void close_fixture(fixture *f)
{
    ingot_module_release(f->module);
    ingot_model_release(f->model);
    ingot_reference_evaluator_clear(&f->evaluator);
}

static ingot_status optimize(fixture *f, ingot_opt_level level, const char *disabled)
{
    ingot_pass_context context = {.evaluator = &f->evaluator.base, .error = &f->error};
    return ingot_passes_run(f->module, level, disabled, &context);
}

static void optimize_well(fixture *f, ingot_opt_level level)
{
    if (optimize(f, level, NULL) != INGOT_OK || ingot_graph_verify(f->module->main, &f->error) != INGOT_OK)
        fail_msg("%s", f->error.message);
}

static void expect_operators(const ingot_graph *graph, const char *expected)
{
    char found[512] = "";
    for (const ingot_node *n = graph->first; n; n = n->next) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s", used ? " " : "", n->op_type);
    }
    assert_string_equal(found, expected);
}

static const ingot_node *find_node(const ingot_graph *graph, const char *op_type)
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
static void run_and_compare(fixture *f, const float *x, const float *y, size_t y_count)
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

static void check(const void *data, size_t size, ingot_opt_level level, const char *operators, const float *x,
                  const float *y, size_t y_count)
{
    fixture f;
    open_fixture(&f, data, size);
    optimize_well(&f, level);
    expect_operators(f.module->main, operators);
    run_and_compare(&f, x, y, y_count);
    close_fixture(&f);
}
#define CHECK(name, level, operators) \
    check(name##_model, sizeof name##_model, level, operators, name##_x, name##_y, sizeof name##_y / sizeof *name##_y)
#define OPEN(f, name) open_fixture(f, name##_model, sizeof name##_model)

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

static void batch_normalization_goes_into_a_grouped_convolution(void **state)
{
    CHECK(conv_batch_norm, INGOT_OPT_ALL, "Conv");
}

static void batch_normalization_goes_into_a_grouped_transposed_convolution(void **state)
{
    CHECK(conv_transpose_batch_norm, INGOT_OPT_ALL, "ConvTranspose");
}

static void a_convolution_of_every_second_pixels_becomes_one_of_the_image(void **state)
{
    CHECK(phases, INGOT_OPT_ALL, "Conv");
    CHECK(phases_depth, INGOT_OPT_ALL, "Conv");
}

static void a_convolution_that_does_not_see_all_pixels_stays(void **state)
{
    CHECK(no_phases, INGOT_OPT_ALL, "Slice Slice Slice Slice Slice Concat Conv");
}

static void batch_normalization_goes_into_a_gemm_with_factors(void **state)
{
    CHECK(gemm_batch_norm, INGOT_OPT_ALL, "Gemm");
}

static void batch_normalization_goes_into_a_gemm_of_transposed_weights(void **state)
{
    CHECK(gemm_transposed_batch_norm, INGOT_OPT_ALL, "Gemm");
}

static void batch_normalization_after_a_product_makes_a_gemm(void **state)
{
    CHECK(matmul_batch_norm, INGOT_OPT_ALL, "Gemm");
}

static void arithmetic_by_channel_goes_into_the_convolution(void **state)
{
    CHECK(conv_arithmetic, INGOT_OPT_ALL, "Conv");
}

static void a_vector_along_the_width_stays_out_of_the_convolution(void **state)
{
    CHECK(conv_last_axis, INGOT_OPT_ALL, "Conv Mul");
}

static void layer_normalization_with_scale_and_bias_is_found(void **state)
{
    CHECK(layer_norm, INGOT_OPT_ALL, "LayerNormalization");
}

static void layer_normalization_of_two_axes_without_scale_is_found(void **state)
{
    CHECK(layer_norm_plain, INGOT_OPT_ALL, "LayerNormalization");
}

static void normalization_of_an_inner_axis_stays(void **state)
{
    CHECK(layer_norm_other_axis, INGOT_OPT_ALL, "ReduceMean Sub Pow ReduceMean Add Sqrt Div");
}

static void normalization_with_a_variance_of_other_axes_stays(void **state)
{
    CHECK(layer_norm_mixed_axes, INGOT_OPT_ALL, "ReduceMean Sub Pow ReduceMean Add Sqrt Div");
}

static void a_scale_of_another_axis_stays_outside(void **state)
{
    CHECK(layer_norm_wide_scale, INGOT_OPT_ALL, "LayerNormalization Mul");
}

static void gelu_halved_last_is_found(void **state)
{
    CHECK(gelu_half_last, INGOT_OPT_ALL, "Gelu");
}

static void gelu_of_a_halved_operand_is_found(void **state)
{
    CHECK(gelu_half_first, INGOT_OPT_ALL, "Gelu");
}

static void gelu_of_a_halved_sum_is_found(void **state)
{
    CHECK(gelu_half_inside, INGOT_OPT_ALL, "Gelu");
}

static void gelu_by_tanh_is_found(void **state)
{
    CHECK(gelu_tanh, INGOT_OPT_ALL, "Gelu");
}

static void a_gelu_with_another_number_stays(void **state)
{
    CHECK(gelu_off, INGOT_OPT_ALL, "Div Erf Add Mul Mul");
}

static void a_gelu_with_another_factor_stays(void **state)
{
    CHECK(gelu_other_factor, INGOT_OPT_ALL, "Neg Div Erf Add Mul Mul");
}

static void gelu_with_its_cube_in_pieces_is_found(void **state)
{
    CHECK(gelu_cube_in_pieces, INGOT_OPT_ALL, "Gelu");
}

static void rows_that_a_product_picks_are_gathered(void **state)
{
    CHECK(one_hot, INGOT_OPT_ALL, "Mul Cast Unsqueeze Clip Squeeze Gather");
    CHECK(one_hot_expanded, INGOT_OPT_ALL, "Cast Unsqueeze Clip Squeeze Gather");
}

static void rows_numbered_otherwise_are_multiplied(void **state)
{
    CHECK(one_hot_from_one, INGOT_OPT_ALL, "Cast Unsqueeze Equal Cast MatMul");
}

static void hard_swish_by_clip_is_found(void **state)
{
    CHECK(hard_swish_clip, INGOT_OPT_ALL, "HardSwish");
}

static void hard_swish_by_hard_sigmoid_is_found(void **state)
{
    CHECK(hard_swish_gate, INGOT_OPT_ALL, "HardSwish");
}

static void a_hard_sigmoid_of_another_slope_stays(void **state)
{
    CHECK(hard_swish_off, INGOT_OPT_ALL, "HardSigmoid Mul");
}

static void swish_is_found(void **state)
{
    CHECK(swish, INGOT_OPT_ALL, "Swish");
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

/* ---- Quantized models ---- */

static void what_moves_elements_moves_codes(void **state)
{
    fixture f;
    OPEN(&f, quantized_moves);
    optimize_well(&f, INGOT_OPT_EXACT);
    expect_operators(f.module->main,
                     "QuantizeLinear Transpose DequantizeLinear Neg QuantizeLinear Reshape DequantizeLinear");
    close_fixture(&f);
}

static void weights_of_float_products_are_dequantized_once(void **state)
{
    fixture f;
    OPEN(&f, quantized_weights);
    optimize_well(&f, INGOT_OPT_EXACT);
    expect_operators(f.module->main, "MatMul");
    close_fixture(&f);
}

static void parts_of_another_scale_are_looked_up(void **state)
{
    fixture f;
    OPEN(&f, quantized_parts);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main,
                     "QuantizeLinear DequantizeLinear Neg QuantizeLinear QLinearLeakyRelu Concat DequantizeLinear");
    close_fixture(&f);
}

static void products_between_quantizers_are_of_codes(void **state)
{
    fixture f;
    OPEN(&f, quantized_products);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "QuantizeLinear QLinearMatMul MatMulInteger Add Cast Mul");
    close_fixture(&f);
}

static void arithmetic_between_quantizers_is_done_on_codes(void **state)
{
    fixture f;
    OPEN(&f, quantized_sums);
    optimize_well(&f, INGOT_OPT_ALL);
    expect_operators(f.module->main, "QuantizeLinear QLinearSoftmax QLinearAdd QLinearMul DequantizeLinear Neg");
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
        cmocka_unit_test(batch_normalization_goes_into_a_grouped_convolution),
        cmocka_unit_test(batch_normalization_goes_into_a_grouped_transposed_convolution),
        cmocka_unit_test(a_convolution_of_every_second_pixels_becomes_one_of_the_image),
        cmocka_unit_test(a_convolution_that_does_not_see_all_pixels_stays),
        cmocka_unit_test(batch_normalization_goes_into_a_gemm_with_factors),
        cmocka_unit_test(batch_normalization_goes_into_a_gemm_of_transposed_weights),
        cmocka_unit_test(batch_normalization_after_a_product_makes_a_gemm),
        cmocka_unit_test(arithmetic_by_channel_goes_into_the_convolution),
        cmocka_unit_test(a_vector_along_the_width_stays_out_of_the_convolution),
        cmocka_unit_test(layer_normalization_with_scale_and_bias_is_found),
        cmocka_unit_test(layer_normalization_of_two_axes_without_scale_is_found),
        cmocka_unit_test(normalization_of_an_inner_axis_stays),
        cmocka_unit_test(normalization_with_a_variance_of_other_axes_stays),
        cmocka_unit_test(a_scale_of_another_axis_stays_outside),
        cmocka_unit_test(gelu_halved_last_is_found),
        cmocka_unit_test(gelu_of_a_halved_operand_is_found),
        cmocka_unit_test(gelu_of_a_halved_sum_is_found),
        cmocka_unit_test(gelu_by_tanh_is_found),
        cmocka_unit_test(a_gelu_with_another_number_stays),
        cmocka_unit_test(a_gelu_with_another_factor_stays),
        cmocka_unit_test(gelu_with_its_cube_in_pieces_is_found),
        cmocka_unit_test(rows_that_a_product_picks_are_gathered),
        cmocka_unit_test(rows_numbered_otherwise_are_multiplied),
        cmocka_unit_test(hard_swish_by_clip_is_found),
        cmocka_unit_test(hard_swish_by_hard_sigmoid_is_found),
        cmocka_unit_test(a_hard_sigmoid_of_another_slope_stays),
        cmocka_unit_test(swish_is_found),
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
        cmocka_unit_test(what_moves_elements_moves_codes),
        cmocka_unit_test(weights_of_float_products_are_dequantized_once),
        cmocka_unit_test(parts_of_another_scale_are_looked_up),
        cmocka_unit_test(products_between_quantizers_are_of_codes),
        cmocka_unit_test(arithmetic_between_quantizers_is_done_on_codes),
        cmocka_unit_test(the_level_decides_what_runs),
        cmocka_unit_test(disabled_passes_do_not_run),
        cmocka_unit_test(an_unknown_pass_is_refused_with_the_names_there_are),
        cmocka_unit_test(a_lack_of_memory_is_told),
        cmocka_unit_test(a_cancelled_token_ends_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
