"""Products as regions: weights that a Transpose turns are packed as they lie; long narrow products are split by rows."""
import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from conftest import save_model, tensor_info


def run(ingot, tmp_path, model, x, *words):
    np.save(tmp_path / "x.npy", x)
    ingot("run", model, "--input", tmp_path / "x.npy", "--output-dir", tmp_path / "out", *words)
    return np.load(tmp_path / "out" / "y.npy")


def test_a_large_transposed_weight_is_packed_as_it_lies(ingot, tmp_path):
    rng = np.random.default_rng(1)
    w = rng.standard_normal((1200, 300)).astype(np.float32)
    bias = rng.standard_normal(1200).astype(np.float32)
    x = rng.standard_normal((2, 5, 300)).astype(np.float32)
    nodes = [helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["x", "t"], ["m"]),
             helper.make_node("Add", ["m", "bias"], ["y"])]
    model = save_model(tmp_path / "m.onnx", nodes, [tensor_info("x", TensorProto.FLOAT, ["B", "S", 300])],
                       [tensor_info("y", TensorProto.FLOAT, None)],
                       [numpy_helper.from_array(w, "w"), numpy_helper.from_array(bias, "bias")])
    assert "Transpose+MatMul+Add" in ingot("inspect", model).stdout
    y = run(ingot, tmp_path, model, x)
    np.testing.assert_allclose(y, x.astype(np.float64) @ w.T.astype(np.float64) + bias, rtol=1e-5, atol=2e-5)


def test_a_long_narrow_product_has_the_bits_of_its_rows(ingot, tmp_path):
    """Split by rows, with other tiles than a product of few rows has, and for any number of threads."""
    rng = np.random.default_rng(2)
    w = rng.standard_normal((900, 70)).astype(np.float32)
    x = rng.standard_normal((1000, 900)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    model = save_model(tmp_path / "m.onnx", nodes, [tensor_info("x", TensorProto.FLOAT, ["N", 900])],
                       [tensor_info("y", TensorProto.FLOAT, ["N", 70])], [numpy_helper.from_array(w, "w")])
    whole = run(ingot, tmp_path, model, x)
    exact = np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0)
    np.testing.assert_allclose(whole, exact, rtol=1e-5, atol=1e-4)
    for threads in (2, 7):
        assert run(ingot, tmp_path, model, x, "--threads", threads).tobytes() == whole.tobytes()
    for first, end in ((0, 1), (55, 58), (990, 1000)):
        assert run(ingot, tmp_path, model, x[first:end]).tobytes() == whole[first:end].tobytes()


def tied_model(path, vocabulary, width):
    """Rows of one matrix come in, products with all its rows go out, as in language models; no name is as long as to align it."""
    rng = np.random.default_rng(3)
    w = rng.standard_normal((vocabulary, width)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["w", "x"], ["rows"]), helper.make_node("Relu", ["rows"], ["r"]),
             helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["r", "t"], ["y"])]
    save_model(path, nodes, [tensor_info("x", TensorProto.INT64, ["B", "S"])], [tensor_info("y", TensorProto.FLOAT, None),
               tensor_info("rows", TensorProto.FLOAT, None)], [numpy_helper.from_array(w, "w")])
    return w


def test_a_matrix_that_is_gathered_from_and_multiplied_by_is_in_memory_once(ingot, tmp_path, monkeypatch):
    vocabulary, width = 1203, 301
    w = tied_model(tmp_path / "m.onnx", vocabulary, width)
    listing = ingot("inspect", tmp_path / "m.onnx").stdout
    assert "gather_packed_rows" in listing
    packed = int(re.search(r"(\d+) bytes of packed weights", listing)[1])
    assert w.nbytes <= packed < 1.1 * w.nbytes
    x = np.array([[0, 1202, 31, 32], [-1, -1203, 500, 64]])
    for level in ("avx512", "avx2", "sse4", "scalar"):
        monkeypatch.setenv("INGOT_CPU", level)
        y = run(ingot, tmp_path, tmp_path / "m.onnx", x)
        assert np.load(tmp_path / "out" / "rows.npy").tobytes() == w[x].tobytes()
        np.testing.assert_allclose(y, np.maximum(w[x], 0).astype(np.float64) @ w.T.astype(np.float64), rtol=1e-5, atol=2e-5)


def test_an_index_outside_a_packed_matrix_is_refused(ingot, tmp_path):
    tied_model(tmp_path / "m.onnx", 1203, 301)
    np.save(tmp_path / "x.npy", np.array([[0, 1203]]))
    result = ingot("run", tmp_path / "m.onnx", "--input", tmp_path / "x.npy", code=1)
    assert "1203" in result.stderr and "Gather" in result.stderr


def test_what_follows_behind_a_view_is_done_with_the_product(ingot, tmp_path):
    """A Gemm of flattened tokens whose shape comes from the input's sizes: a GELU, then a sum, after they are put back."""
    rng = np.random.default_rng(4)
    w, v = rng.standard_normal((2, 24, 24)).astype(np.float32)
    bias = rng.standard_normal(24).astype(np.float32)
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Reshape", ["x", "flat"], ["f"]),
             helper.make_node("Gemm", ["f", "w", "bias"], ["g"]), helper.make_node("Reshape", ["g", "s"], ["h"]),
             helper.make_node("Relu", ["h"], ["r"]), helper.make_node("Reshape", ["r", "flat"], ["i"]),
             helper.make_node("Gemm", ["i", "v"], ["j"]), helper.make_node("Reshape", ["j", "s"], ["k"]),
             helper.make_node("Add", ["x", "k"], ["y"])]
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(v, "v"), numpy_helper.from_array(bias, "bias"),
               numpy_helper.from_array(np.array([-1, 24]), "flat")]

    def model(*outputs):
        return save_model(tmp_path / "m.onnx", nodes, [tensor_info("x", TensorProto.FLOAT, ["B", "S", 24])],
                          [tensor_info(name, TensorProto.FLOAT, None) for name in ("y", *outputs)], weights)
    listing = ingot("inspect", model()).stdout
    assert "Gemm+Reshape+Relu" in listing and "Gemm+Reshape+Add" in listing
    whole = {}
    for shape in ((2, 5, 24), (1, 40, 24), (3, 1, 24), (0, 5, 24)):
        x = rng.standard_normal(shape).astype(np.float32)
        y = whole[shape] = run(ingot, tmp_path, model(), x)
        rows = np.maximum(x.astype(np.float64) @ w + bias, 0) @ v
        assert y.shape == shape
        np.testing.assert_allclose(y, x + rows, rtol=1e-5, atol=2e-4)
        for outputs in (("k", "h"), ("g", "j", "r")):
            assert run(ingot, tmp_path, model(*outputs), x).tobytes() == y.tobytes()
        assert run(ingot, tmp_path, model(), x, "--opt-level", 0).tobytes() == y.tobytes()
