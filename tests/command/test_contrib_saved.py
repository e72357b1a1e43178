"""Models that ONNX Runtime saved, with convolutions laid out in blocks."""
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from contrib import FLOAT, expected, f32, run


def conv_node(name, source, weights, group=1, **attributes):
    """A Conv and its initializers."""
    tensors = [numpy_helper.from_array(weights, name + "_w"), numpy_helper.from_array(f32(weights.shape[0]), name + "_b")]
    return helper.make_node("Conv", [source, name + "_w", name + "_b"], [name], group=group, **attributes), tensors


def network(channels):
    """Convolutions of all kinds that ONNX Runtime lays out in blocks, with pools, a sum and a concatenation between them."""
    c = channels
    nodes, initializers = [], []
    def conv(name, source, weights, **attributes):
        node, tensors = conv_node(name, source, weights, **attributes)
        nodes.append(node)
        initializers.extend(tensors)
    conv("first", "x", f32(c, 3, 3, 3, scale=0.3), pads=[1, 1, 1, 1])
    nodes.append(helper.make_node("Relu", ["first"], ["relu"]))
    conv("depthwise", "relu", f32(c, 1, 3, 3, scale=0.3), group=c, pads=[1, 1, 1, 1])
    conv("point", "depthwise", f32(c, c, 1, 1, scale=0.2))
    nodes.append(helper.make_node("Add", ["point", "relu"], ["sum"]))
    nodes.append(helper.make_node("MaxPool", ["sum"], ["top"], kernel_shape=[2, 2], strides=[2, 2]))
    nodes.append(helper.make_node("AveragePool", ["sum"], ["mean"], kernel_shape=[2, 2], strides=[2, 2]))
    nodes.append(helper.make_node("Concat", ["top", "mean"], ["both"], axis=1))
    conv("halves", "both", f32(2 * c, c, 3, 3, scale=0.1), group=2, strides=[2, 2])
    nodes.append(helper.make_node("Sigmoid", ["halves"], ["gate"]))
    conv("last", "gate", f32(10, 2 * c, 1, 1, scale=0.1))
    nodes.append(helper.make_node("GlobalAveragePool", ["last"], ["y"]))
    graph = helper.make_graph(nodes, "network", [helper.make_tensor_value_info("x", FLOAT, [1, 3, 12, 12])],
                              [helper.make_tensor_value_info("y", FLOAT, None)], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("channels", [8, 16, 24, 32, 40])
@pytest.mark.parametrize("level", ["BASIC", "EXTENDED", "ALL"])
def test_models_that_onnx_runtime_saved_keep_their_values(ingot, tmp_path, channels, level):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, x = network(channels), f32(1, 3, 12, 12)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.optimized_model_filepath = str(tmp_path / "saved.onnx")
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = expected(model, {"x": x})
    found = run(ingot, onnx.load(tmp_path / "saved.onnx"), {"x": x}, tmp_path)
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-4, atol=1e-5)


# ---- Blocks of 8 channels, as machines without AVX-512 write them ----


def in_blocks_of_8(w, grouped=False):
    """Weights as the files have them, outputs rounded up to 8: [O / 8][I][taps][8], or, where whole blocks of inputs are read,
    [O / 8][I / 8][taps][8 of I][8 of O]."""
    w = np.pad(w, [(0, -w.shape[0] % 8)] + [(0, 0)] * 3)
    o, i = w.shape[:2]
    if not grouped and i >= 8:
        parts = w.reshape(o // 8, 8, i // 8, 8, *w.shape[2:]).transpose(0, 2, 4, 5, 3, 1)
    else:
        parts = w.reshape(o // 8, 8, *w.shape[1:]).transpose(0, 2, 3, 4, 1)
    return np.ascontiguousarray(parts).reshape(w.shape)


def test_blocks_of_8_channels_are_put_in_order(ingot, tmp_path):
    layers = [("first", f32(24, 3, 3, 3, scale=0.3), 1), ("depthwise", f32(24, 1, 3, 3, scale=0.3), 24), ("last", f32(20, 24, 1, 1, scale=0.2), 1)]
    plain, blocked, tensors, stored, source = [], [], [], [], "x"
    for name, w, group in layers:
        node, (weights, bias) = conv_node(name, source, w, group=group, pads=[w.shape[2] // 2] * 4)
        plain.append(node)
        tensors += [weights, bias]
        other = helper.make_node("Conv", list(node.input), [name], domain="com.microsoft.nchwc")
        other.attribute.extend(node.attribute)
        blocked.append(other)
        stored += [numpy_helper.from_array(in_blocks_of_8(w, group > 1), name + "_w"),
                   numpy_helper.from_array(np.pad(numpy_helper.to_array(bias), (0, -w.shape[0] % 8)), name + "_b")]
        source = name
    blocked.append(helper.make_node("ReorderOutput", ["last"], ["y"], domain="com.microsoft.nchwc", channels=20))
    plain.append(helper.make_node("Identity", ["last"], ["y"]))
    x = f32(1, 3, 12, 12)
    models = [helper.make_model(
        helper.make_graph(nodes, "network", [helper.make_tensor_value_info("x", FLOAT, x.shape)],
                          [helper.make_tensor_value_info("y", FLOAT, None)], initializers),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft.nchwc", 1)], ir_version=8)
        for nodes, initializers in ((plain, tensors), (blocked, stored))]
    wanted, found = expected(models[0], {"x": x}), run(ingot, models[1], {"x": x}, tmp_path)
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-4, atol=1e-5)
