#!/usr/bin/env python3
"""Write extra_schemas.json: what ONNX Runtime says of the operators beside the standard that Ingot runs. make_schemas.py puts
them into schema_table.c.

usage: make_extra_schemas.py [OUT]      OUT: default extra_schemas.json beside this script; needs the onnxruntime version named here
"""
import json
import os
import sys

import onnxruntime
from onnx import AttributeProto, helper
from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

ONNXRUNTIME_VERSION = "1.32.0"
ANY = 0xFFFF  # INGOT_SCHEMA_ANY

# Domain: operators. Those of the default domain are ONNX Runtime's own forms of what the standard has later, or not at all.
OPERATORS = {
    "ai.onnx": "LayerNormalization SimplifiedLayerNormalization",
    "com.microsoft": """
        Attention AttnLSTM BeamSearch BiasAdd BiasDropout BiasGelu BiasSoftmax BiasSplitGelu BifurcationDetector CDist
        ConvTransposeWithDynamicPads CropAndResize DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention
        DequantizeLinear DynamicQuantizeLSTM DynamicQuantizeMatMul DynamicTimeWarping EmbedLayerNormalization ExpandDims
        FastGelu FusedGemm FusedMatMul FusedMatMulActivation GatedRelativePositionBias GatherBlockQuantized GatherND Gelu
        GemmaRotaryEmbedding GreedySearch GridSample GroupNorm GroupQueryAttention Inverse Irfft MatMulBnb4 MatMulFpQ4
        MatMulIntegerToFloat MatMulNBits MaxpoolWithMask MultiHeadAttention MurmurHash3 NGramRepeatBlock NhwcConv
        NhwcFusedConv NhwcMaxPool Pad QAttention QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool
        QLinearConcat QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearReduceMean QLinearSigmoid
        QLinearSoftmax QLinearWhere QuantizeLinear QuickGelu Range ReduceSumInteger RelativePositionBias RemovePadding
        RestorePadding Rfft RotaryEmbedding SampleOp SkipGroupNorm SkipLayerNormalization
        SkipSimplifiedLayerNormalization TorchEmbedding TransposeMatMul Trilu UnfoldTensor Unique WordConvEmbedding""",
    "com.microsoft.nchwc": """
        AveragePool Conv GlobalAveragePool GlobalMaxPool MaxPool ReorderInput ReorderOutput Upsample""",
}


def values_of(parameters):
    return [[p.name, int(p.option), bool(p.isHomogeneous), p.typeStr] for p in parameters]


def attribute_of(attribute):
    default = None
    if attribute._default_value:
        proto = AttributeProto.FromString(attribute._default_value)
        default = helper.get_attribute_value(proto)
        if isinstance(default, bytes):
            default = default.decode()
        elif not isinstance(default, (int, float, str)):
            default = [item.decode() if isinstance(item, bytes) else item for item in default]
    return [attribute.name, int(attribute.type), attribute.required, default]


def row(schema):
    counts = [min(count, ANY) for count in
              (schema.min_input, schema.max_input, schema.min_output, schema.max_output)]
    return {
        "domain": schema.domain or "ai.onnx",
        "name": schema.name,
        "since": schema.since_version,
        "counts": counts,
        "inputs": values_of(schema.inputs),
        "outputs": values_of(schema.outputs),
        "attributes": sorted(attribute_of(a) for a in schema.attributes.values()),
        "constraints": {c.type_param_str: sorted(c.allowed_type_strs) for c in schema.type_constraints},
    }


def main():
    if onnxruntime.__version__ != ONNXRUNTIME_VERSION:
        sys.exit(f"make_extra_schemas.py: needs onnxruntime {ONNXRUNTIME_VERSION}, found {onnxruntime.__version__}")
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                             "extra_schemas.json")
    wanted = {(domain, name) for domain, names in OPERATORS.items() for name in names.split()}
    rows = {}
    for schema in get_all_operator_schema():
        key = schema.domain or "ai.onnx", schema.name
        if key in wanted and schema.since_version == 1:
            rows[key] = row(schema)
    if wanted - set(rows):
        sys.exit(f"make_extra_schemas.py: onnxruntime does not know {sorted(wanted - set(rows))}")
    lines = ",\n".join(json.dumps(rows[key]) for key in sorted(rows))
    with open(out, "w", encoding="utf-8") as file:
        file.write(f'{{"onnxruntime": "{ONNXRUNTIME_VERSION}", "operators": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
