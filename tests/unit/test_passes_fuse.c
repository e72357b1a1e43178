/* The passes that make one operator of several, or an operator on codes of one between quantizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pass_fixture.h"
#include "pass_models.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
        cmocka_unit_test(what_moves_elements_moves_codes),
        cmocka_unit_test(weights_of_float_products_are_dequantized_once),
        cmocka_unit_test(parts_of_another_scale_are_looked_up),
        cmocka_unit_test(products_between_quantizers_are_of_codes),
        cmocka_unit_test(arithmetic_between_quantizers_is_done_on_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
