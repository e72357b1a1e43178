"""ingot verify: what passes, what fails, and what it says."""
import json
import subprocess

import numpy as np
import onnx
import pytest
from conftest import INGOT, save_model, tensor_info
from onnx import TensorProto, helper, numpy_helper

X = np.array([[1, 2, np.nan], [-1, 0, np.inf]], np.float32)


@pytest.fixture
def case(tmp_path):
    """Makes a case of an identity model: each set is (what goes in, what must come out)."""
    def make(*sets, name="case", element=TensorProto.FLOAT, tolerance=None):
        folder = tmp_path / name
        folder.mkdir()
        save_model(folder / "model.onnx", [helper.make_node("Identity", ["x"], ["y"])],
                   [tensor_info("x", element, ["N", "M"])], [tensor_info("y", element, ["N", "M"])])
        for number, (given, wanted) in enumerate(sets):
            data = folder / f"test_data_set_{number}"
            data.mkdir()
            onnx.save_tensor(numpy_helper.from_array(given), data / "input_0.pb")
            onnx.save_tensor(numpy_helper.from_array(wanted), data / "output_0.pb")
        if tolerance:
            (folder / "tolerance.json").write_text(json.dumps(tolerance))
        return folder
    return make


def failing(ingot, *folders):
    """Standard output of a verify that fails; it is no error of the command, so nothing is on standard error."""
    done = subprocess.run([INGOT, "verify", *map(str, folders)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stderr == ""
    return done.stdout


def test_equal_passes_with_nan_and_infinity(ingot, case):
    assert ingot("verify", case((X, X), (X[:1], X[:1]))).stdout == "1 passed, 0 failed\n"


def test_within_the_default_tolerance(ingot, case):
    assert ingot("verify", case((X, X * np.float32(1.0009)))).stdout == "1 passed, 0 failed\n"


def test_a_difference_is_reported_with_its_place(ingot, case):
    wanted = X.copy()
    wanted[1, 0] = -3
    wanted[0, 1] = 2.5
    folder = case((X, X), (X, wanted))
    text = failing(ingot, folder)
    line, closing = text.splitlines()
    assert line.startswith(f"{folder}/test_data_set_1: output 'y': largest difference 2 at [1,0]: -1, not -3")
    assert "2 elements" in line and closing == "0 passed, 1 failed"


@pytest.mark.parametrize("place, value", [((0, 0), np.nan), ((0, 2), 1), ((1, 2), -np.inf), ((1, 2), 1e38)])
def test_nan_and_infinity_equal_only_themselves(ingot, case, place, value):
    wanted = X.copy()
    wanted[place] = value
    assert f"at [{place[0]},{place[1]}]" in failing(ingot, case((X, wanted)))


def test_tolerance_of_the_case(ingot, case):
    wanted = X + np.float32(0.25)
    assert "0 passed" in failing(ingot, case((X, wanted), name="a"))
    ingot("verify", case((X, wanted), name="b", tolerance={"rtol": 0, "atol": 0.25}))
    assert "0 passed" in failing(ingot, case((X, wanted), name="c", tolerance={"rtol": 0, "atol": 0.2}))


@pytest.mark.parametrize("tolerance", ["{", "[]", '{"rtol": 1}', '{"rtol": "a", "atol": 0}'])
def test_damaged_tolerance(ingot, case, tolerance):
    folder = case((X, X))
    (folder / "tolerance.json").write_text(tolerance)
    assert "tolerance.json" in failing(ingot, folder)


def test_whole_numbers_are_exact(ingot, case):
    big = np.array([[2**62, 5]])
    ingot("verify", case((big, big), name="a", element=TensorProto.INT64))
    assert "at [0,0]" in failing(ingot, case((big, big + [[1, 0]]), name="b", element=TensorProto.INT64))
    ingot("verify", case((big, big - 1), name="c", element=TensorProto.INT64, tolerance={"rtol": 0, "atol": 1}))


@pytest.mark.parametrize("wanted, words", [
    (X[:1], "float[2,3], not float[1,3]"), (X[0], "not float[3]"), (X.astype(np.float64), "not double[2,3]")])
def test_type_and_shape_must_be_right(ingot, case, wanted, words):
    assert words in failing(ingot, case((X, wanted)))


def test_strings(ingot, case):
    strings = np.array([["a", "b"]], dtype=object)
    ingot("verify", case((strings, strings), name="a", element=TensorProto.STRING))
    text = failing(ingot, case((strings, np.array([["a", "c"]], dtype=object)), name="b", element=TensorProto.STRING))
    assert 'at [0,1]: "b", not "c"' in text


def test_many_cases_report_in_order_whatever_the_jobs(ingot, case):
    folders = [case((X, X if number % 3 else X + 1), name=f"case{number}") for number in range(9)]
    text = failing(ingot, "--jobs", 4, *folders)
    lines = text.splitlines()
    assert [line.split("/test_data")[0] for line in lines[:-1]] == [str(folder) for folder in folders[::3]]
    assert lines[-1] == "6 passed, 3 failed"


def test_json(ingot, case):
    result = json.loads(failing(ingot, "--json", case((X, X + 1), name="a"), case((X, X), name="b")))
    assert result["passed"] == 1 and result["failed"] == 1
    assert len(result["failures"]) == 1 and "'y'" in result["failures"][0]


@pytest.mark.parametrize("missing, words", [
    ("model.onnx", "model.onnx"), ("test_data_set_0/input_0.pb", "'x'"), ("test_data_set_0/output_0.pb", "output_J.pb")])
def test_missing_files(ingot, case, missing, words):
    folder = case((X, X))
    (folder / missing).unlink()
    assert words in failing(ingot, folder)


def test_a_folder_without_data_and_a_folder_that_is_not_there(ingot, case, tmp_path):
    assert "test_data_set_0" in failing(ingot, case())
    assert "0 passed, 1 failed" in failing(ingot, tmp_path / "none")


def test_more_recorded_than_the_model_has(ingot, case):
    folder = case((X, X))
    data = folder / "test_data_set_0"
    (data / "output_1.pb").write_bytes((data / "output_0.pb").read_bytes())
    assert "output_1.pb" in failing(ingot, folder)


def zipmap_case(folder, scores, recorded):
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["cat", "dog"])
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(
        TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, [])))
    graph = helper.make_graph([node], "graph", [tensor_info("x", TensorProto.FLOAT, ["N", 2])],
                              [helper.make_value_info("y", kind)])
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)],
                                ir_version=8), folder / "model.onnx")
    onnx.save_tensor(numpy_helper.from_array(np.array(scores, np.float32)), data / "input_0.pb")
    (data / "output_0.json").write_text(json.dumps(recorded))
    return folder


@pytest.mark.parametrize("recorded, words", [
    ([{"dog": 0.75, "cat": 0.25001}, {"cat": 1, "dog": 0}], None),
    ([{"dog": 0.5, "cat": 0.25}, {"cat": 1, "dog": 0}], '[0]["dog"]: 0.75, not 0.5'),
    ([{"dog": 0.75, "cat": 0.25}], "2 entries, not 1"),
    ([{"dog": 0.75, "cow": 0.25}, {"cat": 1, "dog": 0}], '[0]["cow"]: it is missing'),
])
def test_maps_against_json(ingot, tmp_path, recorded, words):
    folder = zipmap_case(tmp_path / "case", [[0.25, 0.75], [1, 0]], recorded)
    if words is None:
        ingot("verify", folder)
    else:
        assert words in failing(ingot, folder)
