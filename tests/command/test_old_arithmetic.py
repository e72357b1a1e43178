"""Arithmetic of an opset before 7 says by attributes where its second operand goes: what nodes around it become keeps that."""
import numpy as np
import pytest
from conftest import save_model, tensor_info
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(3)
BIAS, SCALE = RANDOM.standard_normal((2, 4)).astype(np.float32)
WEIGHTS = RANDOM.standard_normal((4, 4)).astype(np.float32)


def node(op_type, inputs, output, **attributes):
    return helper.make_node(op_type, inputs.split(), [output], **attributes)


def transposed(attributes):
    """Two Transposes that would meet behind the addition."""
    return ([4, 3, 4], [node("Transpose", "x", "t", perm=[1, 0, 2]), node("Add", "t bias", "a", **attributes),
                        node("Transpose", "a", "y", perm=[1, 0, 2])],
            lambda x, place: (x.transpose(1, 0, 2) + place(BIAS)).transpose(1, 0, 2))


def multiplied(attributes):
    """A product that could add the bias itself."""
    return [2, 4, 4], [node("MatMul", "x weights", "p"), node("Add", "p bias", "y", **attributes)], lambda x, place: (
        x @ WEIGHTS + place(BIAS))


def convolved(attributes):
    return [2, 4, 4], [node("Unsqueeze", "x", "u", axes=[3]), node("Conv", "u kernel", "c"), node("Squeeze", "c", "s", axes=[3]),
                       node("Add", "s bias", "y", **attributes)], lambda x, place: (
        np.einsum("oc,ncy->noy", WEIGHTS, x) + place(BIAS))


def normalized(attributes):
    """A layer normalization, spelled out."""
    def wanted(x, place):
        d = x - x.mean(-1, keepdims=True)
        return d / np.sqrt((d * d).mean(-1, keepdims=True) + .5) * place(SCALE) + place(BIAS)
    return [2, 4, 4], [node("ReduceMean", "x", "m", axes=[-1]), node("Sub", "x m", "d", broadcast=1), node("Mul", "d d", "q"),
                       node("ReduceMean", "q", "v", axes=[-1]), node("Add", "v epsilon", "e", broadcast=1), node("Sqrt", "e", "r"),
                       node("Div", "d r", "n", broadcast=1), node("Mul", "n scale", "k", **attributes),
                       node("Add", "k bias", "y", **attributes)], wanted


@pytest.mark.parametrize("make", [transposed, multiplied, convolved, normalized])
@pytest.mark.parametrize("axis", [None, 1, 2])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_second_operand_goes_where_its_axis_says(ingot, tmp_path, make, axis, level):
    shape, nodes, wanted = make({"broadcast": 1} if axis is None else {"broadcast": 1, "axis": axis})
    if make is transposed and axis == 1:
        shape = [4, 3, 4]
    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    held = {"bias": BIAS, "scale": SCALE, "weights": WEIGHTS, "kernel": WEIGHTS.reshape(4, 4, 1, 1), "epsilon": np.float32([.5])}
    used = {name for n in nodes for name in n.input}
    model = save_model(tmp_path / "old.onnx", nodes, [tensor_info("x", TensorProto.FLOAT, shape)] +
                       [tensor_info(name, TensorProto.FLOAT, held[name].shape) for name in held if name in used],
                       [tensor_info("y", TensorProto.FLOAT, None)],
                       [numpy_helper.from_array(held[name], name) for name in held if name in used], opset=6, ir_version=3)
    np.save(tmp_path / "x.npy", x)
    ingot("run", model, "--input", f"x={tmp_path / 'x.npy'}", "--opt-level", level, "--output-dir", tmp_path)
    y = np.load(tmp_path / "y.npy")
    np.testing.assert_allclose(y, wanted(x, lambda c: c[:, None] if axis == 1 else c), rtol=1e-4, atol=1e-5)
