"""ingot inspect."""
import json

import numpy as np
import onnx
import pytest
from conftest import save_model, tensor_info
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def model(tmp_path):
    weight = numpy_helper.from_array(np.ones((4, 2), np.float32), "w")
    path = save_model(tmp_path / "m.onnx",
                      [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])],
                      [tensor_info("x", TensorProto.FLOAT, ["batch", 4])], [tensor_info("y", TensorProto.FLOAT, ["batch", 2])],
                      [weight], producer_name="maker", producer_version="3")
    proto = onnx.load(path)
    helper.set_model_props(proto, {"key": "value"})
    onnx.save(proto, path)
    return path


def test_json_tells_what_the_file_holds(ingot, model):
    facts = json.loads(ingot("inspect", model, "--json").stdout)
    assert facts["file"] == str(model) and facts["size"] == model.stat().st_size
    assert facts["ir_version"] == 8 and facts["producer"] == "maker 3" and facts["graph"] == "graph"
    assert facts["opsets"] == {"ai.onnx": 17}
    assert facts["inputs"] == [{"name": "x", "type": "float[batch,4]", "shape": ["batch", 4], "has_default": False}]
    assert [output["name"] for output in facts["outputs"]] == ["y"]
    assert facts["metadata"] == {"key": "value"} and facts["operators"] == {"MatMul": 1, "Relu": 1}
    assert facts["initializers"] == {"count": 1, "bytes": 32}
    assert facts["error"] is None and facts["session"]["nodes"] >= 1
    assert all(region["backend"] == "cpu" for region in facts["session"]["regions"])


def test_text_tells_the_same(ingot, model):
    text = ingot("inspect", model).stdout
    for word in (str(model), "maker 3", "ai.onnx 17", "x  float[batch,4]", "key = value", "MatMul", "Relu", "regions"):
        assert word in text


def unknown_operator(path):
    return save_model(path, [helper.make_node("Frobnicate", ["x"], ["y"], name="the_node")],
                      [tensor_info("x", TensorProto.FLOAT, [1])], [tensor_info("y", TensorProto.FLOAT, [1])])


def test_a_model_that_cannot_run_fails_and_names_the_operator(ingot, tmp_path):
    done = ingot("inspect", unknown_operator(tmp_path / "m.onnx"), code=1)
    assert "Frobnicate" in done.stderr and str(tmp_path / "m.onnx") in done.stderr


@pytest.mark.parametrize("content", [b"", b"\0", b"<html>", b"\x08\x08" * 50], ids=range(4))
def test_what_is_no_model_is_refused_in_one_line(ingot, tmp_path, content):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    done = ingot("inspect", path, code=1)
    assert done.stderr.startswith(f"ingot inspect: {path}") and done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_control_characters_of_a_model_do_not_reach_the_terminal(ingot, tmp_path):
    name = "x\x1b[31m"
    model = save_model(tmp_path / "m.onnx", [helper.make_node("Identity", [name], ["y"])],
                       [tensor_info(name, TensorProto.FLOAT, [1])], [tensor_info("y", TensorProto.FLOAT, [1])])
    text = ingot("inspect", model).stdout
    assert "\x1b" not in text and "x\\x1b[31m" in text
