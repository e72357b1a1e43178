"""Models of QuantizeLinear and DequantizeLinear pairs around float operators, as quantizers write them: value for value what ONNX
Runtime makes of them with its fusions, into the same operators on 8 bits."""
import dataclasses

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(20250211)


class Draft:
    """A graph in the making. Values are names; what quantize returns is dequantized again."""

    def __init__(self):
        self.nodes, self.constants, self.feeds, self.outputs = [], [], {}, {}

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def input(self, *shape, scale=0.03, zero=120):
        name = f"x{len(self.feeds)}"
        self.feeds[name] = RANDOM.standard_normal(shape).astype(np.float32)
        return self.quantize(name, scale, zero)

    def quantize(self, value, scale, zero=None, kind=np.uint8):
        parameters = [self.constant(np.float32(scale))] + ([] if zero is None else [self.constant(kind(zero))])
        return self.node("DequantizeLinear", self.node("QuantizeLinear", value, *parameters), *parameters)

    def weights(self, *shape, axis=None, kind=np.int8):
        """Codes of 8 bits, dequantized; one scale for each index of the axis. Returns the value and the scale."""
        scale = np.float32(0.013) if axis is None else (RANDOM.random(shape[axis]) / 100 + 0.005).astype(np.float32)
        codes = self.constant(RANDOM.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind))
        more = {} if axis is None else {"axis": axis}
        return self.node("DequantizeLinear", codes, self.constant(scale), self.constant(np.zeros_like(scale, dtype=kind)), **more), scale

    def bias(self, x_scale, scale, count):
        scale = np.broadcast_to(np.float32(x_scale) * scale, count).astype(np.float32)
        codes = self.constant(RANDOM.integers(-2000, 2000, count).astype(np.int32))
        return self.node("DequantizeLinear", codes, self.constant(scale), self.constant(np.zeros(count, np.int32)), axis=0)

    def output(self, value, kind=TensorProto.FLOAT):
        self.outputs[value] = kind

    def model(self):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name, x in self.feeds.items()]
        outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in self.outputs.items()]
        graph = helper.make_graph(self.nodes, "graph", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# ---- Graphs ----


def convolutions(d):
    x = d.input(2, 8, 11, 9)
    w, scale = d.weights(16, 8, 3, 3, axis=0)
    y = d.node("Relu", d.node("Conv", x, w, d.bias(0.03, scale, 16), pads=[1, 1, 1, 1]))
    y = d.quantize(y, 0.08, 0)
    w, _ = d.weights(16, 1, 3, 3)
    z = d.quantize(d.node("Conv", y, w, group=16, pads=[1, 1, 1, 1], strides=[1, 1]), 0.11, 131)
    y = d.quantize(d.node("Add", y, z), 0.12, 101)
    d.output(d.quantize(d.node("GlobalAveragePool", y), 0.01, 120))
    d.output(y)


def clipped_convolution(d):
    x = d.input(1, 4, 7, 7)
    w, _ = d.weights(6, 4, 1, 1, axis=0)
    y = d.node("Clip", d.node("Conv", x, w), d.constant(np.float32(0)), d.constant(np.float32(6)))
    d.output(d.quantize(y, 6 / 255, 0))


def clip_that_cuts_more(d):
    x = d.input(1, 4, 7, 7)
    w, _ = d.weights(6, 4, 1, 1, axis=0)
    y = d.node("Clip", d.node("Conv", x, w), d.constant(np.float32(0)), d.constant(np.float32(1)))
    d.output(d.quantize(y, 6 / 255, 0))


def products(d):
    x = d.input(2, 5, 24)
    w, _ = d.weights(24, 40, axis=1)
    y = d.quantize(d.node("MatMul", x, w), 0.09, 110)
    d.output(d.quantize(d.node("Add", y, d.quantize(d.constant(RANDOM.random(40).astype(np.float32)), 1 / 255, 0)), 0.1, 108))
    w, _ = d.weights(24, 30, kind=np.uint8)
    d.output(d.node("MatMul", x, w))


def attention(d):
    q, k, v = (d.input(1, 7, 32, scale=s) for s in (0.03, 0.04, 0.02))
    heads = [d.quantize(d.node("Transpose", d.node("Reshape", x, d.constant(np.int64([1, 7, 4, 8]))), perm=perm), s, 120)
             for x, s, perm in ((q, 0.03, [0, 2, 1, 3]), (k, 0.04, [0, 2, 3, 1]), (v, 0.02, [0, 2, 1, 3]))]
    scores = d.quantize(d.node("MatMul", heads[0], heads[1]), 0.07, 128)
    scores = d.quantize(d.node("Mul", scores, d.quantize(d.constant(np.float32(0.35)), 0.35 / 255, 0)), 0.025, 128)
    shares = d.quantize(d.node("Softmax", scores, axis=-1), 0.0037, 0)
    y = d.quantize(d.node("MatMul", shares, heads[2]), 0.018, 125)
    d.output(d.node("Transpose", y, perm=[0, 2, 1, 3]))


def gemms(d):
    x = d.input(9, 20)
    w, scale = d.weights(20, 12, axis=1)
    y = d.quantize(d.node("Gemm", x, w, d.bias(0.03, scale, 12)), 0.06, 119)
    w, scale = d.weights(10, 12, axis=0)
    d.output(d.node("Gemm", y, w, d.bias(0.06, scale, 10), transB=1))


def gates(d):
    x = d.input(2, 6, 40)
    gate = d.quantize(d.node("Sigmoid", x), 1 / 256, 0)
    y = d.quantize(d.node("Mul", x, gate), 0.02, 30)
    d.output(d.quantize(d.node("LeakyRelu", y, alpha=0.1), 0.021, 20))


def moves(d):
    x = d.input(1, 6, 8, 8)
    y = d.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    a, b = d.node("Split", y, d.constant(np.int64([2, 4])), outputs=2, axis=1)
    y = d.node("Concat", d.quantize(b, 0.03, 120), d.quantize(a, 0.03, 120), axis=1)
    y = d.node("Slice", d.quantize(y, 0.03, 120), d.constant(np.int64([1])), d.constant(np.int64([4])), d.constant(np.int64([2])))
    y = d.node("Unsqueeze", d.node("Flatten", d.quantize(y, 0.03, 120)), d.constant(np.int64([0])))
    y = d.node("Squeeze", d.quantize(y, 0.03, 120), d.constant(np.int64([0])))
    table, _ = d.weights(9, 5, kind=np.uint8)
    d.output(d.quantize(d.node("Gather", table, d.constant(np.int64([[3, 0, 8]]))), 0.013, 0))
    d.output(d.quantize(d.node("Reshape", y, d.constant(np.int64([2, 2, -1]))), 0.03, 120))


def joined(d):
    x, y = d.input(2, 3, 5, scale=0.03), d.input(2, 4, 5, scale=0.02, zero=100)
    d.output(d.quantize(d.node("Concat", x, y, axis=1), 0.031, 122))


def relu_before_signed(d):
    x = d.quantize(d.node("Neg", d.input(3, 50)), 0.02, 4, np.int8)
    d.output(d.quantize(d.node("Relu", x), 0.011, -128, np.int8))
    d.output(d.quantize(d.node("Relu", d.node("Neg", x)), 0.012, -100, np.int8))


def shared_values(d):
    """The float product has a second reader, the codes too."""
    x = d.input(4, 20)
    w, _ = d.weights(20, 12, axis=1)
    y = d.node("MatMul", x, w)
    d.output(d.node("Neg", y))
    z = d.quantize(y, 0.06, 119)
    d.output(d.quantize(d.node("Add", z, z), 0.1, 119))
    d.output(z)


def exposed_values(d):
    """What a rewrite would swallow is an output."""
    x = d.input(1, 4, 7, 7)
    w, _ = d.weights(6, 4, 1, 1, axis=0)
    y = d.node("Conv", x, w)
    d.output(y)
    d.output(d.quantize(d.node("Relu", y), 0.07, 0))


@dataclasses.dataclass
class Case:
    build: object
    tolerance: float = 0

    def __str__(self):
        return self.build.__name__


# Float products are sums in an order of each engine's own.
CASES = [Case(convolutions), Case(clipped_convolution), Case(clip_that_cuts_more, 6 / 255), Case(products), Case(attention), Case(gemms),
         Case(gates), Case(moves), Case(joined), Case(relu_before_signed), Case(shared_values, 0.1), Case(exposed_values, 0.07)]


def onnx_runtime(model, feeds):
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds)))


def run(ingot, model, feeds, folder, *words):
    onnx.save(model, folder / "model.onnx")
    for name, value in feeds.items():
        np.save(folder / f"{name}.npy", value)
        words += ("--input", f"{name}={folder / name}.npy")
    ingot("run", folder / "model.onnx", *words, "--output-dir", folder / "out")
    return {path.stem: np.load(path) for path in (folder / "out").iterdir()}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_quantized_graphs_give_onnx_runtimes_values(ingot, tmp_path, case):
    draft = Draft()
    case.build(draft)
    model = draft.model()
    wanted, found = onnx_runtime(model, draft.feeds), run(ingot, model, draft.feeds, tmp_path)
    assert sorted(found) == sorted(wanted)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5 if case.tolerance else 2e-7, atol=case.tolerance, err_msg=name)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_exact_passes_keep_every_bit_of_quantized_graphs(ingot, tmp_path, case):
    draft = Draft()
    case.build(draft)
    model = draft.model()
    plain = run(ingot, model, draft.feeds, tmp_path, "--opt-level", "0")
    moved = run(ingot, model, draft.feeds, tmp_path, "--opt-level", "1")
    for name, value in plain.items():
        np.testing.assert_array_equal(moved[name], value, err_msg=name)


# ---- What only looks as if it could run on codes ----


def scaled_gemm(d):
    x = d.input(4, 6)
    w, scale = d.weights(6, 5)
    d.output(d.quantize(d.node("Gemm", x, w, d.bias(0.03, scale, 5), alpha=0.25), 0.05, 120))


def gemm_whose_c_has_scales_of_rows(d):
    x = d.input(5, 6)
    w, scale = d.weights(6, 5, axis=1)
    codes = d.constant(RANDOM.integers(-2000, 2000, (5, 5)).astype(np.int32))
    c = d.node("DequantizeLinear", codes, d.constant((np.float32(0.03) * scale).astype(np.float32)),
               d.constant(np.zeros(5, np.int32)), axis=0)
    d.output(d.quantize(d.node("Gemm", x, w, c), 0.05, 120))


def gemm_whose_c_has_fewer_scales(d):
    x = d.input(3, 6)
    w, scale = d.weights(6, 5, axis=1)
    codes = d.constant(RANDOM.integers(-2000, 2000, (3, 5)).astype(np.int32))
    c = d.node("DequantizeLinear", codes, d.constant((np.float32(0.03) * scale[:3]).astype(np.float32)),
               d.constant(np.zeros(3, np.int32)), axis=0)
    d.output(d.quantize(d.node("Gemm", x, w, c), 0.05, 120))


def pool_of_a_matrix(d):
    d.output(d.quantize(d.node("GlobalAveragePool", d.input(3, 4)), 0.03, 120))


@pytest.mark.parametrize("graph", [scaled_gemm, gemm_whose_c_has_scales_of_rows, gemm_whose_c_has_fewer_scales, pool_of_a_matrix],
                         ids=lambda graph: graph.__name__)
def test_quantized_graphs_that_must_stay_as_they_are(ingot, tmp_path, graph):
    draft = Draft()
    graph(draft)
    plain = run(ingot, draft.model(), draft.feeds, tmp_path, "--opt-level", "0")
    step = numpy_helper.to_array(draft.constants[-2])
    for name, value in run(ingot, draft.model(), draft.feeds, tmp_path).items():
        np.testing.assert_allclose(value, plain[name], atol=1.01 * step, rtol=0)


def test_softmax_before_opset_13_covers_all_axes_from_1(ingot, tmp_path):
    draft = Draft()
    draft.output(draft.quantize(draft.node("Softmax", draft.input(2, 3, 4)), 1 / 256, 0))
    model = draft.model()
    model.opset_import[0].version = 11
    (value,) = run(ingot, model, draft.feeds, tmp_path).values()
    np.testing.assert_allclose(value.reshape(2, -1).sum(axis=1), 1, atol=12 / 256)


def test_convolution_of_bytes_with_pads_beyond_memory_is_right(ingot, tmp_path):
    far = 2 ** 31 - 1
    numbers = {"s": np.float32(0.1), "z": np.uint8(0), "w": np.ones((4, 4, 2, 2), np.uint8)}
    node = helper.make_node("QLinearConv", ["x", "s", "z", "w", "s", "z", "s", "z"], ["y"], pads=[0, 0, far, far], dilations=[far, far])
    graph = helper.make_graph([node], "graph", [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 4, 1, 1])],
                              [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in numbers.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (value,) = run(ingot, model, {"x": np.full((1, 4, 1, 1), 3, np.uint8)}, tmp_path).values()
    assert value.shape == (1, 4, 1, 1) and (value == round(12 * 0.1)).all()
