"""ingot run: inputs by name, outputs by name, what people and machines see."""
import json

import numpy as np
import onnx
import pytest
from conftest import save_model, tensor_info
from onnx import TensorProto, helper


def test_missing_inputs_are_named_with_type_and_shape(ingot, identity):
    message = ingot("run", identity(a=(TensorProto.FLOAT, ["batch", 3]), b=(TensorProto.STRING, [])), code=1).stderr
    assert "'a' float[batch,3]" in message and "'b' string[]" in message and "--input" in message


def test_unknown_input_name_lists_the_inputs(ingot, float_model):
    message = ingot("run", float_model, "--input", "y=z.npy", code=1).stderr
    assert "y=z.npy" in message and "'x' float[N,4]" in message


def test_the_only_input_needs_no_name(ingot, float_model, tmp_path):
    np.save(tmp_path / "a=b.npy", np.ones((2, 4), np.float32))
    ingot("run", float_model, "--input", tmp_path / "a=b.npy", "--output-dir", tmp_path / "out")
    assert np.load(tmp_path / "out" / "out_x.npy").shape == (2, 4)


def test_two_inputs_need_names(ingot, identity, tmp_path):
    np.save(tmp_path / "x.npy", np.ones(1, np.float32))
    model = identity(a=(TensorProto.FLOAT, [1]), b=(TensorProto.FLOAT, [1]))
    assert "'a'" in ingot("run", model, "--input", tmp_path / "x.npy", code=1).stderr


@pytest.mark.parametrize("name", ["a=b", "a", "a=b=c", "x/y:0", "758", "räksmörgås"])
def test_names_hold_any_character(ingot, identity, tmp_path, name):
    model = identity(**{name: (TensorProto.FLOAT, [3]), "a=": (TensorProto.FLOAT, [3])})
    np.save(tmp_path / "x.npy", np.arange(3, dtype=np.float32))
    ingot("run", model, "--input", f"{name}={tmp_path}/x.npy", "--input", "random", "--output-dir", tmp_path / "out")
    file = "out_" + name.replace("/", "_").replace(":", "_") + ".npy"
    assert np.load(tmp_path / "out" / file).tolist() == [0, 1, 2]


def test_outputs_whose_files_would_be_the_same_get_different_ones(ingot, identity, tmp_path):
    model = identity(**{"a/b": (TensorProto.FLOAT, [1]), "a:b": (TensorProto.INT64, [1]), "a_b_": (TensorProto.BOOL, [1])})
    ingot("run", model, "--input", "random", "--output-dir", tmp_path / "out")
    kinds = {path.name: np.load(path).dtype.kind for path in (tmp_path / "out").iterdir()}
    assert kinds == {"out_a_b.npy": "f", "out_a_b_.npy": "i", "out_a_b__.npy": "b"}


def test_random_inputs_are_the_same_for_the_same_seed(ingot, float_model, tmp_path):
    def run(source, out):
        ingot("run", float_model, "--input", source, "--shape", "x=5x4", "--output-dir", tmp_path / out)
        return np.load(tmp_path / out / "out_x.npy")
    first = run("random:3", "a")
    assert first.shape == (5, 4) and first.min() >= 0 and first.max() < 1 and len(set(first.ravel())) == 20
    assert np.array_equal(first, run("x=random:3", "b"))
    assert not np.array_equal(first, run("random:4", "c"))


def test_free_sizes_of_random_inputs_are_one(ingot, float_model, tmp_path):
    ingot("run", float_model, "--input", "random", "--output-dir", tmp_path / "out")
    assert np.load(tmp_path / "out" / "out_x.npy").shape == (1, 4)


@pytest.mark.parametrize("shape", ["5x4", "x=5x4"])
def test_shape_with_and_without_name(ingot, float_model, shape):
    assert "float[5,4]" in ingot("run", float_model, "--input", "random", "--shape", shape).stdout


def test_shape_of_an_unknown_input(ingot, float_model):
    assert "y=1x2" in ingot("run", float_model, "--input", "random", "--shape", "y=1x2", code=1).stderr


def test_strings_cannot_be_random(ingot, identity):
    message = ingot("run", identity(x=(TensorProto.STRING, [2])), "--input", "random", code=1).stderr
    assert "'x'" in message and "--input" in message


def test_wrong_type_is_refused_by_name(ingot, float_model, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 4), np.int64))
    assert "'x'" in ingot("run", float_model, "--input", tmp_path / "x.npy", code=1).stderr


@pytest.mark.parametrize("file", ["x.txt", "x", "none.npy", "none.npz", "none.png", "none.pb"])
def test_files_that_are_no_input(ingot, float_model, tmp_path, file):
    (tmp_path / "x.txt").write_text("1 2 3")
    assert file in ingot("run", float_model, "--input", f"x={tmp_path}/{file}", code=1).stderr


def test_output_dir_that_cannot_be_made(ingot, float_model, tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "none" / "none"):
        assert str(folder) in ingot("run", float_model, "--input", "random", "--output-dir", folder, code=1).stderr


def test_summary_shows_type_shape_elements_and_times(ingot, identity, tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1.5, -2, np.nan]], np.float32))
    np.save(tmp_path / "b.npy", np.array(["x\x1b", "y"]))
    np.save(tmp_path / "c.npy", np.array([2**63 + 1], np.uint64))
    model = identity(a=(TensorProto.FLOAT, [1, 3]), b=(TensorProto.STRING, [2]), c=(TensorProto.UINT64, [1]))
    lines = ingot("run", model, *[word for name in "abc" for word in ("--input", f"{name}={tmp_path}/{name}.npy")]).stdout
    lines = lines.splitlines()
    assert lines[0] == "out_a  float[1,3] 1.5 -2 nan"
    assert lines[1] == 'out_b  string[2] "x\\x1b" "y"'
    assert lines[2] == "out_c  uint64[1] 9223372036854775809"
    assert lines[3].startswith("load ") and " ms, run " in lines[3]


@pytest.fixture
def scores(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[0.1, 0.7, 0.2, np.nan], [5, 6, 7, 8]], np.float32))
    (tmp_path / "labels.txt").write_text("cat\n dog \r\nbird, small\n")
    return ["--input", tmp_path / "x.npy", "--labels", tmp_path / "labels.txt"]


def test_top_classes_with_labels(ingot, float_model, scores):
    lines = [line.split(None, 2) for line in ingot("run", float_model, *scores, "--top", 2).stdout.splitlines()]
    assert lines[:6] == [["out_x[0]"], ["0.7", "1", "dog"], ["0.2", "2", "bird, small"],
                         ["out_x[1]"], ["8", "3"], ["7", "2", "bird, small"]]


def test_top_classes_as_json(ingot, float_model, scores):
    result = json.loads(ingot("run", float_model, *scores, "--top", 9, "--json").stdout)
    output, = result["outputs"]
    assert output["name"] == "out_x" and output["type"] == "float[2,4]"
    assert [entry["index"] for entry in output["top"][0]] == [1, 2, 0]  # NaN is no score
    assert output["top"][0][0]["score"] == pytest.approx(0.7) and output["top"][0][0]["label"] == "dog"
    assert [entry["index"] for entry in output["top"][1]] == [3, 2, 1, 0] and output["top"][1][0]["label"] is None
    assert result["load_ms"] >= 0 and result["run_ms"] >= 0


@pytest.mark.parametrize("text", ["cat\ndog\nbird\n", "cat, dog,bird"])
def test_labels_from_metadata(ingot, tmp_path, scores, text):
    model = save_model(tmp_path / "m.onnx", [helper.make_node("Identity", ["x"], ["y"])],
                       [tensor_info("x", TensorProto.FLOAT, ["N", 4])], [tensor_info("y", TensorProto.FLOAT, ["N", 4])])
    proto = onnx.load(model)
    helper.set_model_props(proto, {"names": text})
    onnx.save(proto, model)
    lines = ingot("run", model, *scores[:2], "--top", 1, "--labels", "@names").stdout.splitlines()
    assert lines[1].split() == ["0.7", "1", "dog"]
    assert "@none" in ingot("run", model, *scores[:2], "--top", 1, "--labels", "@none", code=1).stderr


def test_inputs_with_defaults_may_be_left_out_or_given(ingot, tmp_path):
    weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [10, 20])
    model = save_model(tmp_path / "m.onnx", [helper.make_node("Add", ["x", "w"], ["y"])],
                       [tensor_info("x", TensorProto.FLOAT, [2]), tensor_info("w", TensorProto.FLOAT, [2])],
                       [tensor_info("y", TensorProto.FLOAT, [2])], [weight])
    np.save(tmp_path / "x.npy", np.array([1, 2], np.float32))
    np.save(tmp_path / "w.npy", np.array([5, 5], np.float32))
    ingot("run", model, "--input", tmp_path / "x.npy", "--output-dir", tmp_path / "a")
    ingot("run", model, "--input", f"x={tmp_path}/x.npy", "--input", f"w={tmp_path}/w.npy", "--output-dir", tmp_path / "b")
    assert np.load(tmp_path / "a" / "y.npy").tolist() == [11, 22]
    assert np.load(tmp_path / "b" / "y.npy").tolist() == [6, 7]


def test_a_sequence_of_maps_is_json(ingot, tmp_path):
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[7, -8])
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])))
    graph = helper.make_graph([node], "graph", [tensor_info("x", TensorProto.FLOAT, ["N", 2])],
                              [helper.make_value_info("y", kind)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)],
                                ir_version=8), tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", np.array([[0.5, np.nan], [1, 2]], np.float32))
    ingot("run", tmp_path / "m.onnx", "--input", tmp_path / "x.npy", "--output-dir", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "y.json").read_text()) == [{"7": 0.5, "-8": None}, {"7": 1, "-8": 2}]


def test_a_sequence_of_tensors_is_a_file_each(ingot, tmp_path):
    node = helper.make_node("SequenceConstruct", ["x", "z"], ["y"])
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    model = save_model(tmp_path / "m.onnx", [node],
                       [tensor_info("x", TensorProto.FLOAT, [2]), tensor_info("z", TensorProto.FLOAT, [3])],
                       [helper.make_value_info("y", kind)])
    ingot("run", model, "--input", "random", "--output-dir", tmp_path / "out")
    assert {path.name: np.load(path).shape for path in (tmp_path / "out").iterdir()} == {"y.0.npy": (2,), "y.1.npy": (3,)}
