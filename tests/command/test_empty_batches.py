"""Convolutions of no images: an empty result of the right shape, by every kernel and at every level."""
import numpy as np
import pytest
from conftest import save_model, tensor_info
from onnx import TensorProto, helper, numpy_helper

CONVOLUTIONS = [(16, 16, 3, 1, 1), (64, 64, 1, 1, 1), (64, 64, 3, 1, 1), (32, 32, 3, 1, 32), (16, 32, 3, 2, 1), (3, 16, 3, 2, 1),
                (3, 3, 9, 1, 1), (16, 16, 5, 1, 1)]


@pytest.mark.parametrize("batch", [0, "n"])
@pytest.mark.parametrize("channels, outputs, kernel, stride, groups", CONVOLUTIONS)
@pytest.mark.parametrize("layout", ["plain", "own"])
def test_no_images_give_an_empty_result(ingot, tmp_path, monkeypatch, channels, outputs, kernel, stride, groups, batch, layout):
    monkeypatch.setenv("INGOT_LAYOUT", layout)
    weights = np.ones((outputs, channels // groups, kernel, kernel), np.float32)
    conv = helper.make_node("Conv", ["x", "w"], ["y"], strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)
    model = save_model(tmp_path / "conv.onnx", [conv], [tensor_info("x", TensorProto.FLOAT, [batch, channels, 8, 8])],
                       [tensor_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(weights, "w")])
    np.save(tmp_path / "x.npy", np.zeros((0, channels, 8, 8), np.float32))
    for level in "0", "2":
        ingot("run", model, "--input", f"x={tmp_path / 'x.npy'}", "--opt-level", level, "--output-dir", tmp_path / level)
        assert np.load(tmp_path / level / "y.npy").shape == (0, outputs, 8 // stride, 8 // stride)


@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("scales, words", [((2, 1), "x_scale has 2 elements, expected one"),
                                           ((1, 3), "w_scale has 3 elements, expected 1 or 4, one for each output channel")])
def test_scales_of_a_wrong_number_are_refused_for_any_number_of_images(ingot, tmp_path, batch, scales, words):
    codes = {"z": np.array(1, np.uint8), "w": np.ones((4, 2, 3, 3), np.uint8), "y_scale": np.array(0.5, np.float32),
             "x_scale": np.ones(scales[0], np.float32), "w_scale": np.ones(scales[1], np.float32)}
    node = helper.make_node("QLinearConv", ["x", "x_scale", "z", "w", "w_scale", "z", "y_scale", "z"], ["y"])
    model = save_model(tmp_path / "conv.onnx", [node], [tensor_info("x", TensorProto.UINT8, ["n", 2, 8, 8])],
                       [tensor_info("y", TensorProto.UINT8, None)], [numpy_helper.from_array(v, k) for k, v in codes.items()])
    np.save(tmp_path / "x.npy", np.zeros((batch, 2, 8, 8), np.uint8))
    assert words in ingot("run", model, "--input", f"x={tmp_path / 'x.npy'}", code=1).stderr
