"""Every operator of ONNX Runtime's that Ingot promises has a test of its values, or is refused by name and told of in docs/ops.md."""
import pathlib

import pytest

import test_contrib
import test_contrib_pages
import test_contrib_search
import test_operators

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "ops.md").read_text(encoding="utf-8")

PROMISED = """
    Attention AttnLSTM BeamSearch BiasAdd BiasDropout BiasGelu BiasSoftmax BiasSplitGelu BifurcationDetector CDist
    ConvTransposeWithDynamicPads CropAndResize DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention DequantizeLinear
    DynamicQuantizeLSTM DynamicQuantizeMatMul DynamicTimeWarping EmbedLayerNormalization ExpandDims FastGelu FusedConv FusedGemm
    FusedMatMul FusedMatMulActivation GatedRelativePositionBias GatherBlockQuantized GatherND Gelu GemmaRotaryEmbedding
    GreedySearch GridSample GroupNorm GroupQueryAttention Inverse Irfft MatMulBnb4 MatMulFpQ4 MatMulIntegerToFloat MatMulNBits
    MaxpoolWithMask MultiHeadAttention MurmurHash3 NGramRepeatBlock NhwcConv NhwcFusedConv NhwcMaxPool Pad QAttention
    QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool QLinearConcat QLinearConv QLinearGlobalAveragePool
    QLinearLeakyRelu QLinearMul QLinearReduceMean QLinearSigmoid QLinearSoftmax QLinearWhere QuantizeLinear QuickGelu Range
    ReduceSumInteger RelativePositionBias RemovePadding RestorePadding Rfft RotaryEmbedding SampleOp SimplifiedLayerNormalization
    SkipGroupNorm SkipLayerNormalization SkipSimplifiedLayerNormalization Tokenizer TorchEmbedding TransposeMatMul Trilu
    UnfoldTensor Unique WordConvEmbedding""".split()
REFUSED = """
    EPContext MoE PackedAttention PackedMultiHeadAttention QMoE Sampling Snpe SparseAttention WhisperBeamSearch""".split()

# Tests that are not of one case each.
TESTS = {
    "BeamSearch": test_contrib_search.test_beam_search_over_a_decoder_finds_what_onnx_runtime_finds,
    "GreedySearch": test_contrib_search.test_greedy_search_finds_what_onnx_runtime_finds,
    "Tokenizer": test_operators.test_tokens,
}
CASES = {case.op for case in test_contrib.ALL} | {case.op for case, _ in test_contrib_pages.NUMPY}


@pytest.mark.parametrize("operator", PROMISED)
def test_an_operator_that_is_promised_has_a_test_and_a_line_in_the_page(operator):
    assert operator in CASES or callable(TESTS.get(operator))
    assert f"\n| {operator} | " in PAGE


@pytest.mark.parametrize("operator", REFUSED)
def test_an_operator_that_is_not_taken_is_refused_by_a_test_and_by_the_page(operator):
    assert operator in test_contrib_pages.REFUSED
    assert operator in PAGE[PAGE.index("## Not taken"):]


def test_nothing_is_refused_beside_that():
    assert sorted(test_contrib_pages.REFUSED) == sorted(REFUSED)
