"""What the tests of the Python package share. The package is that of a build folder: INGOT_PYTHON names its python/ folder;
default: build/python."""
import os
import pathlib
import sys

import onnx
import pytest
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = os.environ.get("INGOT_PYTHON", str(ROOT / "build" / "python"))
sys.path.insert(0, PACKAGE)


def make_model(nodes, inputs, outputs, initializers=(), opset=21, ir_version=10, **more):
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version, **more)


def tensor(name, element=TensorProto.FLOAT, shape=("n",)):
    return helper.make_tensor_value_info(name, element, shape)


def identity(element=TensorProto.FLOAT, shape=("n",), opset=21):
    return make_model([helper.make_node("Identity", ["x"], ["y"])], [tensor("x", element, shape)],
                      [tensor("y", element, shape)], opset=opset).SerializeToString()


@pytest.fixture
def add_path(tmp_path):
    """A file: y = x + w, where w may be left out and is 10 then."""
    model = make_model([helper.make_node("Add", ["x", "w"], ["y"])], [tensor("x"), tensor("w", shape=[1])], [tensor("y")],
                       [helper.make_tensor("w", TensorProto.FLOAT, [1], [10])], producer_name="maker", model_version=7,
                       domain="org.example", doc_string="adds")
    helper.set_model_props(model, {"author": "someone"})
    path = tmp_path / "add.onnx"
    onnx.save(model, path)
    return path


@pytest.fixture
def slow_model():
    """Bytes: a loop that runs longer than anybody waits."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Tanh", ["state"], ["next"])], "body",
        [tensor("i", TensorProto.INT64, []), tensor("go", TensorProto.BOOL, []), tensor("state")],
        [tensor("go_on", TensorProto.BOOL, []), tensor("next")])
    many = helper.make_tensor("many", TensorProto.INT64, [], [2**40])
    return make_model([helper.make_node("Loop", ["many", "", "x"], ["y"], body=body)], [tensor("x")], [tensor("y")],
                      [many]).SerializeToString()
