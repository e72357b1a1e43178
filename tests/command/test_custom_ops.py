"""Operators that a shared library brings: values, shapes, and what is said when something is wrong."""
import math
import pathlib

import numpy as np
import pytest
from conftest import INGOT, ROOT, call, save_model, tensor_info
from onnx import TensorProto, helper, numpy_helper

BUILD = pathlib.Path(INGOT).resolve().parent
GELU = BUILD / "examples" / "libcustom_op_gelu.so"
LIBRARY = BUILD / "tests" / "libtest_custom_ops.so"
FLOAT = TensorProto.FLOAT


@pytest.fixture
def run(tmp_path):
    """Runs one node of a library on arrays; returns its output, or with code=1 the message."""
    def go(op, inputs, *words, library=LIBRARY, domain="test.custom", output=FLOAT, free=False, code=0, **attributes):
        node = helper.make_node(op, [f"x{i}" if a is not None else "" for i, a in enumerate(inputs)], ["y"], name="the node",
                                domain=domain, **attributes)
        given = {f"x{i}": a for i, a in enumerate(inputs) if a is not None}
        infos = [tensor_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), [None] * a.ndim if free else a.shape)
                 for name, a in given.items()]
        model = helper.make_model(helper.make_graph([node], "graph", infos, [tensor_info("y", output, None)]), ir_version=8,
                                  opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)])
        path = tmp_path / "model.onnx"
        path.write_bytes(model.SerializeToString())
        command = ["run", path, "--output-dir", tmp_path / "out", *words]
        command += ["--custom-ops", library] if library else []
        for name, a in given.items():
            np.save(tmp_path / f"{name}.npy", a)
            command += ["--input", f"{name}={tmp_path / name}.npy"]
        done = call(*command, code=code)
        return done.stderr if code else np.load(tmp_path / "out" / "y.npy")
    return go


X = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("free", [False, True])
def test_the_gelu_example_gives_x_times_phi_of_x(run, free):
    expected = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in X.ravel().tolist()]
    got = run("Gelu", [X], library=GELU, domain="com.example", free=free)
    np.testing.assert_allclose(got, np.reshape(expected, X.shape), rtol=1e-6, atol=1e-7)


def test_an_attribute_reaches_the_kernel(run):
    expected = 0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X ** 3)))
    got = run("Gelu", [X], library=GELU, domain="com.example", approximate=1)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_threads_do_not_change_a_bit(run):
    x = np.random.default_rng(1).standard_normal(100_003, dtype=np.float32)
    one, two = (run("Gelu", [x], "--threads", n, library=GELU, domain="com.example") for n in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_defaults_stand_for_attributes_that_are_left_out(run):
    assert run("Tell", [X], output=TensorProto.STRING, number=7) == "7 1 0.50 exact none 0 0 0 0"


def test_every_kind_of_attribute_is_parsed(run):
    tensor = numpy_helper.from_array(np.zeros(3, np.float32), "t")
    got = run("Tell", [X], output=TensorProto.STRING, number=-1, flag=0, ratio=2.25, mode="fast", text="é", ints=[1, 2],
              floats=[1.0], texts=["a", "b", "c"], tensor=tensor)
    assert got == "-1 0 2.25 fast é 2 1 3 1"


@pytest.mark.parametrize("free", [False, True])
def test_a_kernel_may_tell_the_size_of_its_output(run, free):
    np.testing.assert_array_equal(run("Positive", [X], free=free), X[X > 0])


def test_variadic_inputs(run):
    np.testing.assert_array_equal(run("Sum", [X, X, 2 * X]), 4 * X)


@pytest.mark.parametrize("free", [False, True])
def test_a_shape_rule_may_broadcast(run, free):
    a, b = np.arange(3, dtype=np.float32).reshape(3, 1), np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(run("Outer", [a, b], free=free), a * b)


def test_an_optional_input_may_be_left_out_or_given(run):
    np.testing.assert_array_equal(run("Biased", [X]), X - 1)
    np.testing.assert_array_equal(run("Biased", [X, np.float32([5])]), X + 5)


@pytest.mark.parametrize("op, inputs, attributes, words", [
    ("Fail", [X], {}, "it cannot do 42"),
    ("Silent", [X], {}, "its kernel failed"),
    ("Tell", [X], {}, "attribute 'number', which the operator requires, is missing"),
    ("Tell", [X], {"number": 1.5}, "attribute 'number' is of type float, but the operator takes int"),
    ("Tell", [X], {"number": 1, "mode": "slow"}, "'mode' is 'slow', which is none of: fast, exact"),
    ("Tell", [X], {"number": 1, "flag": 2}, "'flag' is 2, but must be 0 or 1"),
    ("Sum", [X], {"more": 1}, "the operator has no attribute 'more'"),
    ("Sum", [X.astype(np.float64)], {}, "is of type double, which the operator does not take"),
    ("Outer", [X], {}, "it has 1 inputs, but the operator takes 2 to 2"),
    ("Outer", [X, np.zeros(3, np.float32)], {}, "do not broadcast"),
    ("Nothing", [X], {}, "operator 'Nothing' of domain test.custom is not supported"),
])
def test_a_message_names_the_node_and_the_fault(run, op, inputs, attributes, words):
    message = run(op, inputs, code=1, **attributes)
    assert words in message and "the node" in message


def test_without_the_library_the_message_says_how_to_give_one(run):
    assert "custom operators" in run("Gelu", [X], library=None, domain="com.example", code=1)


def test_a_file_that_is_no_library_of_operators_is_refused(run, tmp_path):
    assert "could not be loaded" in run("Gelu", [X], library=tmp_path / "model.onnx", code=1)
    assert "ingot_custom_ops" in run("Gelu", [X], library=BUILD / "src" / "libingot.so", code=1)


def test_inspect_and_bench_take_the_library_too(tmp_path, run):
    run("Gelu", [X], library=GELU, domain="com.example")
    shown = call("inspect", tmp_path / "model.onnx", "--custom-ops", GELU).stdout
    assert "com.example::Gelu" in shown
    call("bench", tmp_path / "model.onnx", "--seconds", "0.01", "--custom-ops", GELU)
