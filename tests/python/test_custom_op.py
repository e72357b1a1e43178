"""Operators whose kernel is a Python function: ingot.op."""
import gc
import itertools
import pathlib
import runpy
import threading

import numpy as np
import pytest
from onnx import TensorProto, helper

import ingot

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
X = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4)
numbers = itertools.count()


def fresh():
    """A name that no other test has: what is registered stays."""
    return f"test.python::Op{next(numbers)}"


@pytest.fixture
def load(tmp_path):
    def make(name, shapes, outputs=1, output=FLOAT, element=FLOAT, left_out=(), **attributes):
        domain, _, op = name.rpartition("::")
        inputs = ["" if i in left_out else f"x{i}" for i in range(len(shapes))]
        results = [f"y{i}" for i in range(outputs)]
        node = helper.make_node(op, inputs, results, "the node", domain=domain, **attributes)
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, element, s) for n, s in zip(inputs, shapes) if n],
                                  [helper.make_tensor_value_info(n, output, None) for n in results])
        path = tmp_path / "model.onnx"
        path.write_bytes(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                                helper.make_opsetid(domain, 1)]).SerializeToString())
        return ingot.load(path)
    return make


@pytest.mark.parametrize("shape", [None, lambda x: x])
@pytest.mark.parametrize("declared", [[2, 3, 4], [None, 3, None]])
def test_a_function_is_an_operator(load, shape, declared):
    name = fresh()
    ingot.op(name, shape=shape)(lambda x: 2 * x + 1)
    np.testing.assert_array_equal(load(name, [declared])(X), 2 * X + 1)


def test_the_example_gives_what_the_c_library_gives(load):
    functions = runpy.run_path(str(ROOT / "examples" / "custom_op" / "gelu.py"))
    got = load("com.example.python::Gelu", [[2, 3, 4]])(X)
    np.testing.assert_array_equal(got, functions["gelu"](X))
    approximate = load("com.example.python::Gelu", [[2, 3, 4]], approximate=1)(X)
    np.testing.assert_allclose(approximate, 0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3))), rtol=1e-5, atol=1e-6)


def test_attributes_have_the_types_of_their_defaults(load):
    name, seen = fresh(), []

    @ingot.op(name)
    def told(x, *, whole=3, ratio=0.5, text="none", ints=(0,), floats=(0.0,), texts=("",)):
        seen.append((whole, ratio, text, list(ints), list(floats), list(texts)))
        return x

    load(name, [[2]])(np.zeros(2, np.float32))
    load(name, [[2]], whole=7, ratio=2.25, text="é", ints=[1, 2], floats=[1.5], texts=["a", "b"])(np.zeros(2, np.float32))
    assert seen == [(3, 0.5, "none", [0], [0.0], [""]), (7, 2.25, "é", [1, 2], [1.5], ["a", "b"])]


def test_several_inputs_and_outputs_of_other_types(load):
    name = fresh()
    ingot.op(name, outputs=2, element="int64")(lambda *all_of_them: (sum(all_of_them).astype(np.int64), np.array([len(all_of_them)])))
    total, count = load(name, [[2], [2], [2]], outputs=2, output=INT64).run({f"x{i}": np.float32([i, i]) for i in range(3)}).values()
    assert total.tolist() == [3, 3] and count.tolist() == [3]


def test_an_input_with_the_default_none_may_be_left_out(load):
    name = fresh()

    @ingot.op(name)
    def biased(x, bias=None):
        return x if bias is None else x + bias

    assert load(name, [[1], [1]], left_out=[1])(np.float32([1])).tolist() == [1]
    assert load(name, [[1], [1]])(np.float32([1]), np.float32([2])).tolist() == [3]


def test_strings(load):
    name = fresh()
    ingot.op(name)(lambda x: np.array([text.upper() for text in x], object))
    assert load(name, [[2]], output=STRING, element=STRING)(np.array(["a", "é"], object)).tolist() == ["A", "É"]


def test_what_a_function_keeps_of_its_inputs_stays(load):
    name, kept = fresh(), []
    ingot.op(name)(lambda x: kept.append(x) or x)
    session = load(name, [[1000]])
    for i in range(5):
        session(np.full(1000, i, np.float32))
    del session
    gc.collect()
    assert [a[0] for a in kept[-5:]] == [0, 1, 2, 3, 4] and all((a == a[0]).all() for a in kept)


@pytest.mark.parametrize("function, words", [
    (lambda x: 1 / 0, "ZeroDivisionError"),
    (lambda x: x.astype(np.float64), "double, but float was declared"),
    (lambda x: "no tensor", "the node"),
    (lambda x: None, "the node"),
])
def test_a_function_that_fails_names_the_node_and_the_reason(load, function, words):
    name = fresh()
    ingot.op(name)(function)
    with pytest.raises(ingot.IngotError, match=words) as caught:
        load(name, [[2]])(np.zeros(2, np.float32))
    assert "the node" in str(caught.value)


def test_a_shape_that_is_not_kept_is_a_failure(load):
    name = fresh()
    ingot.op(name, shape=lambda x: [3])(lambda x: x)
    with pytest.raises(ingot.IngotError, match="another shape"):
        load(name, [[2]])(np.zeros(2, np.float32))


def test_a_shape_function_that_raises_is_told_when_the_model_is_loaded(load):
    name = fresh()
    ingot.op(name, shape=lambda x: x[7])(lambda x: x)
    with pytest.raises(ingot.IngotError, match="IndexError"):
        load(name, [[2]])


@pytest.mark.parametrize("name, function, error", [
    ("ai.onnx::Relu", lambda x: x, ingot.InvalidArgument),
    ("Gelu", lambda x: x, ValueError),
    ("a::", lambda x: x, ValueError),
    ("a::" + "b" * 200, lambda x: x, ValueError),
    ("a::B", lambda x, *, k: x, TypeError),
    ("a::B", lambda x, *, k=None: x, TypeError),
    ("a::B", lambda x, *, k=[]: x, TypeError),
    ("a::B", lambda x, **more: x, TypeError),
])
def test_what_cannot_be_an_operator_is_refused(name, function, error):
    with pytest.raises(error):
        ingot.op(name)(function)


def test_a_second_function_of_one_name_is_refused():
    name = fresh()
    ingot.op(name)(lambda x: x)
    with pytest.raises(ingot.InvalidArgument, match="registered already"):
        ingot.op(name)(lambda x: x)


def test_threads_run_one_session(load):
    name = fresh()
    ingot.op(name)(lambda x: x * 3)
    session, wrong = load(name, [[100]]), []

    def work(seed):
        x = np.full(100, seed, np.float32)
        for _ in range(50):
            if not (session(x) == x * 3).all():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_profile_shows_it(load):
    name = fresh()
    ingot.op(name)(lambda x: x)
    assert name in str(ingot.profile(load(name, [[2]]))) or name.rpartition("::")[2] in str(ingot.profile(load(name, [[2]])))
