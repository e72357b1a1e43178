"""Sizes at the edge: too many dimensions, rows of nothing, weights at odd places."""
import numpy as np
import pytest
from conftest import save_model, tensor_info
from onnx import TensorProto, helper, numpy_helper


def test_a_scan_output_of_too_many_dimensions_is_refused(ingot, tmp_path):
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Reshape", ["x", "s"], ["item"])], "body",
        [tensor_info("i", TensorProto.INT64, []), tensor_info("go", TensorProto.BOOL, [])],
        [tensor_info("go_on", TensorProto.BOOL, []), tensor_info("item", TensorProto.FLOAT, None)])
    model = save_model(tmp_path / "scan.onnx", [helper.make_node("Loop", ["m", ""], ["y"], name="many", body=body)],
                       [tensor_info("m", TensorProto.INT64, []), tensor_info("x", TensorProto.FLOAT, [1]),
                        tensor_info("s", TensorProto.INT64, ["R"])], [tensor_info("y", TensorProto.FLOAT, None)])
    np.save(tmp_path / "m.npy", np.array(2, np.int64))
    np.save(tmp_path / "s.npy", np.ones(16, np.int64))
    done = ingot("run", model, "--input", f"m={tmp_path / 'm.npy'}", "--input", "x=random", "--input",
                 f"s={tmp_path / 's.npy'}", code=1)
    assert "'many'" in done.stderr and "16 dimensions" in done.stderr


@pytest.mark.parametrize("operator", ["CumSum", "LpNormalization", "Trilu"])
def test_rows_of_nothing_take_no_time(ingot, tmp_path, operator):
    shape = numpy_helper.from_array(np.array([2**40, 0], np.int64), "shape")
    axis = numpy_helper.from_array(np.array(1, np.int64), "axis")
    inputs = ["x", "axis"] if operator == "CumSum" else ["x"]
    model = save_model(tmp_path / "nothing.onnx",
                       [helper.make_node("ConstantOfShape", ["shape"], ["x"]), helper.make_node(operator, inputs, ["y"])],
                       [], [tensor_info("y", TensorProto.FLOAT, None)], [shape, axis])
    assert "y" in ingot("run", model).stdout


@pytest.mark.parametrize("shift", range(4))
def test_weights_that_are_not_aligned_are_folded_and_used(ingot, tmp_path, shift):
    random = np.random.default_rng(0)
    w, scale, bias, mean = (random.standard_normal(dims).astype(np.float32) for dims in ((64, 8, 3, 3), 64, 64, 64))
    variance = random.uniform(.5, 2, 64).astype(np.float32)
    held = [numpy_helper.from_array(a, n) for a, n in zip((w, scale, bias, mean, variance), ("w", "s", "b", "m", "v"))]
    model = save_model(tmp_path / "model.onnx",
                       [helper.make_node("Conv", ["x", "w"], ["c"]),
                        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"])],
                       [tensor_info("x", TensorProto.FLOAT, [1, 8, 5, 5])],
                       [tensor_info("y", TensorProto.FLOAT, [1, 64, 3, 3])], held, doc_string="x" * shift)
    x = random.standard_normal((1, 8, 5, 5)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    ingot("run", model, "--input", tmp_path / "x.npy", "--output-dir", tmp_path)
    windows = np.lib.stride_tricks.sliding_window_view(x[0], (3, 3), (1, 2))
    c = np.einsum("cyxij,ocij->oyx", windows.astype(np.float64), w.astype(np.float64))
    column = [a.astype(np.float64)[:, None, None] for a in (scale, bias, mean, variance)]
    wanted = (c - column[2]) / np.sqrt(column[3] + 1e-5) * column[0] + column[1]
    np.testing.assert_allclose(np.load(tmp_path / "y.npy")[0], wanted, rtol=1e-4, atol=1e-4)
