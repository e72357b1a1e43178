"""What the tests of the command share. INGOT is the command's path; default: build/ingot."""
import os
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
INGOT = os.environ.get("INGOT", str(ROOT / "build" / "ingot"))


def call(*words, code=0):
    """Runs the command; the exit code must be this one, and a failure must say something on standard error."""
    done = subprocess.run([INGOT, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    assert "Sanitizer" not in done.stderr, done.stderr
    assert done.returncode == code, done.stderr
    assert (done.stderr == "") == (code == 0), done.stderr
    return done


@pytest.fixture
def ingot():
    return call


def save_model(path, nodes, inputs, outputs, initializers=(), opset=17, ir_version=8, **more):
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version,
                              **more)
    onnx.save(model, path)
    return path


def tensor_info(name, element, shape):
    return helper.make_tensor_value_info(name, element, shape)


@pytest.fixture
def identity(tmp_path):
    """Makes a model that hands its inputs on: identity(x=(TensorProto.FLOAT, ["N", 3])) has the output out_x."""
    def make(opset=17, ir_version=8, **inputs):
        return save_model(tmp_path / "identity.onnx",
                          [helper.make_node("Identity", [name], ["out_" + name]) for name in inputs],
                          [tensor_info(name, *what) for name, what in inputs.items()],
                          [tensor_info("out_" + name, *what) for name, what in inputs.items()], opset=opset, ir_version=ir_version)
    return make


@pytest.fixture
def through(identity, tmp_path):
    """Hands one file through an identity model of this type; returns what comes out."""
    def run(path, element, shape, *words):
        model = identity(x=(element, shape))
        call("run", model, "--input", f"x={path}", "--output-dir", tmp_path / "out", *words)
        return np.load(tmp_path / "out" / "out_x.npy")
    return run


@pytest.fixture
def float_model(identity):
    return identity(x=(TensorProto.FLOAT, ["N", 4]))
