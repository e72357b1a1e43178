"""Tensors in blocks of channels: the same values in every layout, and few reorders between them."""
import json

import numpy as np
import onnxruntime
import pytest
from conftest import save_model, tensor_info
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes with their weights, made one after the other; a method returns the name of the node's output."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(7)

    def constant(self, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def node(self, operator, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def numbers(self, *shape):
        return self.constant((self.random.standard_normal(shape) * .3).astype(np.float32))

    def conv(self, x, channels, outputs, kernel=3, group=1, stride=1):
        weights = self.numbers(outputs, channels // group, kernel, kernel)
        return self.node("Conv", x, weights, self.numbers(outputs), group=group, strides=[stride] * 2,
                         pads=[kernel // 2] * 4)

    def save(self, path, outputs, shape, out_shape=("N", "C", "H", "W")):
        return save_model(path, self.nodes, [tensor_info("x", TensorProto.FLOAT, shape)],
                          [tensor_info(name, TensorProto.FLOAT, None if out_shape is None else list(out_shape))
                           for name in outputs], self.weights)


def image_network(path, outputs=None):
    """First layer, depthwise, squeeze-and-excite, residual, pool, concatenation, resize: what networks for images are made of."""
    g = Graph()
    first = g.node("Relu", g.conv("x", 3, 32, stride=2))
    wide = g.node("HardSwish", g.conv(first, 32, 64, kernel=1))
    deep = g.node("Relu", g.conv(wide, 64, 64, kernel=5, group=64))
    squeezed = g.node("Relu", g.conv(g.node("GlobalAveragePool", deep), 64, 16, kernel=1))
    scale = g.node("HardSigmoid", g.conv(squeezed, 16, 64, kernel=1))
    narrow = g.conv(g.node("Mul", deep, scale), 64, 32, kernel=1)
    residual = g.node("Add", first, narrow)
    pooled = g.node("MaxPool", residual, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    joined = g.node("Concat", residual, pooled, axis=1)
    larger = g.node("Resize", joined, "", g.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest")
    last = g.conv(g.node("Relu", g.conv(larger, 64, 48)), 48, 48)
    return g.save(path, [last] if outputs is None else [last, residual, deep, wide], ["N", 3, "H", "W"])


def mixed_network(path):
    """Operators that take both layouts, on numbers of channels that do not fill their blocks."""
    g = Graph()
    x = g.node("Relu", g.conv("x", 3, 21))
    scale, bias, mean = (g.numbers(21) for _ in range(3))
    normal = g.node("BatchNormalization", x, scale, bias, mean, g.constant(np.full(21, 2, np.float32)))
    sloped = g.node("PRelu", g.node("PRelu", normal, g.numbers(21, 1, 1)), g.numbers(1, 21, 1, 1))
    shifted = g.node("Sub", g.constant(np.float32(1)), g.node("Add", sloped, g.numbers(1, 21, 1, 1)))
    padded = g.node("Pad", shifted, g.constant(np.array([0, 0, 1, 2, 0, 0, 0, 1], np.int64)), g.constant(np.float32(.5)))
    average = g.node("AveragePool", padded, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 1, 1, 0])
    left, middle, right = g.node("Split", average, g.constant(np.array([5, 9, 7], np.int64)), axis=1, outputs=3)
    joined = g.node("Concat", right, g.node("Sigmoid", left), middle, axis=1)
    taken = g.node("Slice", g.node("Concat", joined, left, axis=1),
                   *(g.constant(np.array([n], np.int64)) for n in (5, 26, 1)))
    smooth = g.node("Resize", taken, "", g.constant(np.array([1, 1, 1.5, 2], np.float32)), mode="linear")
    spread = g.node("Div", smooth, g.node("Exp", g.node("ReduceMean", smooth, axes=[2, 3], keepdims=1)))
    last = g.node("Softmax", g.conv(spread, 21, 19), axis=1)
    flat = g.node("Flatten", g.node("GlobalMaxPool", spread))
    return g.save(path, [last, joined, flat], ["N", 3, "H", "W"], None)


def joining_network(path):
    """Parts that lie inside of what they are joined to or split from, and are read again after others have been made from them."""
    g = Graph()
    first, second = g.node("Relu", g.conv("x", 3, 16)), g.node("Relu", g.conv("x", 3, 32))
    inner = g.node("Concat", first, second, axis=1)
    outer = g.node("Concat", inner, g.conv(inner, 48, 20), axis=1)
    changed = g.node("Relu", g.node("Neg", inner))
    twice = g.node("Concat", first, first, axis=1)
    parts = g.node("Split", outer, g.constant(np.array([16, 32, 20], np.int64)), axis=1, outputs=3)
    again = g.node("Concat", parts[1], g.node("Sigmoid", parts[0]), parts[2], axis=1)
    exposed = g.node("Add", g.node("Tanh", again), outer)
    last = g.node("Concat", exposed, g.node("Abs", changed), g.node("Neg", second), twice, first, axis=1)
    return g.save(path, [last, exposed], ["N", 3, "H", "W"], None)


def transposing_network(path):
    """Images whose channels are last, made of images whose channels are first, and back; what a Resize makes among them."""
    g = Graph()
    first = g.node("Relu", g.conv("x", 3, 21))
    last = g.node("Transpose", first, perm=[0, 2, 3, 1])
    again = g.conv(g.node("Transpose", g.node("Neg", last), perm=[0, 3, 1, 2]), 21, 40)
    small = g.node("Transpose", g.conv(again, 40, 5), perm=[0, 2, 3, 1])
    smooth = g.node("Resize", again, "", g.constant(np.array([1, 1, 2.5, 3], np.float32)), mode="linear")
    near = g.node("Resize", g.conv(again, 40, 19), "", g.constant(np.array([1, 1, 2, .5], np.float32)), mode="nearest")
    lines = g.node("Reshape", first, g.constant(np.array([0, 0, -1], np.int64)))
    wide = g.node("Transpose", g.node("Abs", lines), perm=[0, 2, 1])
    outputs = [small, g.node("Transpose", smooth, perm=[0, 2, 3, 1]), g.node("Transpose", near, perm=[0, 2, 3, 1]),
               last, wide, g.node("Transpose", again, perm=[0, 1, 3, 2])]
    return g.save(path, outputs, ["N", 3, "H", "W"], None)


def style_network(path, outputs=None, shape=("N", 3, "H", "W")):
    """Strided convolutions and back by transposed ones, normalized images, residuals of cropped images: what image filters are made of."""
    g = Graph()

    def normal(x, channels):
        return g.node("InstanceNormalization", x, g.numbers(channels), g.numbers(channels), epsilon=1e-3)

    def up(x, channels, outputs, kernel, **attributes):
        return g.node("ConvTranspose", x, g.numbers(channels, outputs // attributes.get("group", 1), kernel, kernel),
                      g.numbers(outputs), strides=[2, 2], **attributes)

    first = g.node("Relu", normal(g.conv("x", 3, 20, kernel=5), 20))
    small = g.node("LeakyRelu", normal(g.conv(first, 20, 32, stride=2), 32))
    inner = g.node("Conv", small, g.numbers(32, 32, 3, 3))
    cropped = g.node("Slice", small, *(g.constant(np.array(n, np.int64)) for n in ([1, 1], [-1, -1], [2, 3])))
    residual = g.node("Add", normal(inner, 32), cropped)
    wide = g.node("Relu", normal(up(residual, 32, 48, 3, pads=[1, 1, 1, 1], output_padding=[1, 1]), 48))
    grouped = g.node("Relu", up(wide, 48, 48, 4, group=3, pads=[1, 1, 1, 1]))
    single = up(g.node("Add", normal(grouped, 48), grouped), 48, 48, 3, group=48)
    far = g.node("ConvTranspose", single, g.numbers(48, 17, 3, 2), dilations=[2, 3])
    cut = g.node("ConvTranspose", far, g.numbers(17, 3, 2, 2), strides=[2, 2], pads=[1, 1, 0, 0])
    last = g.node("Tanh", cut)
    return g.save(path, [last] if outputs is None else [last, residual, wide, grouped, single, cropped],
                  list(shape), None)


def results(ingot, model, x, folder, *options):
    np.save(folder / "x.npy", x)
    ingot("run", model, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder, *options)
    names = [output["name"] for output in json.loads(ingot("inspect", model, "--json").stdout)["outputs"]]
    return [np.load(folder / f"{name}.npy") for name in names]


@pytest.mark.parametrize("layout", ["plain", "own", None])
@pytest.mark.parametrize("make", [image_network, mixed_network, joining_network, transposing_network, style_network,
                                  lambda path: image_network(path, "all"), lambda path: style_network(path, "all")],
                         ids=["image", "mixed", "joining", "transposing", "style", "exposed", "exposed style"])
def test_values_do_not_depend_on_the_layout(ingot, tmp_path, monkeypatch, make, layout):
    model = make(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    if layout:
        monkeypatch.setenv("INGOT_LAYOUT", layout)
    for shape in ((1, 3, 34, 30), (3, 3, 17, 40), (1, 3, 16, 16)):
        x = np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
        for have, want in zip(results(ingot, model, x, tmp_path), session.run(None, {"x": x})):
            assert have.shape == want.shape
            np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("make", [image_network, style_network])
def test_an_exposed_value_changes_no_bit(ingot, tmp_path, make):
    x = np.random.default_rng(3).standard_normal((1, 3, 34, 30)).astype(np.float32)
    last = results(ingot, make(tmp_path / "m.onnx"), x, tmp_path)[0]
    exposed = results(ingot, make(tmp_path / "all.onnx", "all"), x, tmp_path)[0]
    assert last.tobytes() == exposed.tobytes()


@pytest.mark.parametrize("level", ["avx512", "avx2", "sse4", "scalar"])
@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("activation", ["sigmoid", "silu", "tanh"])
def test_an_exposed_value_changes_no_bit_of_an_activation_that_ends_in_0(ingot, tmp_path, monkeypatch, operator,
                                                                         activation, level):
    monkeypatch.setenv("INGOT_CPU", level)
    x = np.linspace(-120, 20, 4 * 16 * 64, dtype=np.float32).reshape(1, 4, 16, 64)
    x[0, 1] = np.linspace(-89, -87, 16 * 64, dtype=np.float32).reshape(16, 64)
    found = []
    for exposed in (False, True):
        g = Graph()
        y = inner = g.node(operator, "x", g.constant(np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1)))
        if activation == "silu":
            y = g.node("Mul", inner, g.node("Sigmoid", inner))
        else:
            y = g.node(activation.capitalize(), inner)
        model = g.save(tmp_path / "m.onnx", [y, inner] if exposed else [y], x.shape, None)
        found.append(results(ingot, model, x, tmp_path, "--opt-level", "1")[0])
    assert found[0].tobytes() == found[1].tobytes()
    if activation == "sigmoid":
        assert np.all(found[0][x < -87.3] == 0)
        np.testing.assert_allclose(found[0][x >= -87.3], 1 / (1 + np.exp(-x[x >= -87.3].astype(np.float64))), rtol=1e-6)


def test_blocks_of_channels_go_through_normalized_and_enlarged_images(ingot, tmp_path):
    x = np.random.default_rng(5).standard_normal((1, 3, 160, 152)).astype(np.float32)
    model = style_network(tmp_path / "m.onnx", shape=x.shape)
    tactics = {region["tactic"] for region in json.loads(ingot("inspect", model, "--json").stdout)["session"]["regions"]}
    assert {"norm_c16", "crop_c16", "transposed c16"} <= tactics
    bits = {results(ingot, model, x, tmp_path, "--threads", threads)[0].tobytes() for threads in (1, 2, 3, 7)}
    assert len(bits) == 1


@pytest.mark.parametrize("level", ["avx512", "avx2", "sse4", "scalar"])
@pytest.mark.parametrize("layout", ["plain", "own"])
@pytest.mark.parametrize("last", [False, True])
def test_a_linear_resize_keeps_infinities_and_large_numbers(ingot, tmp_path, monkeypatch, last, layout, level):
    monkeypatch.setenv("INGOT_LAYOUT", layout)
    monkeypatch.setenv("INGOT_CPU", level)
    x = np.random.default_rng(1).standard_normal((1, 17, 6, 40)).astype(np.float32)
    x[0, 0, 2:4, 2:4] = np.inf
    x[0, 1, 3, 3:6] = -np.inf
    x[0, 2, 1:3, 1], x[0, 2, 1:3, 2] = 3e38, -3e38
    x[0, 3, 2, 20], x[0, 3, 3, 20] = 3e38, -3e38
    for mode, scales in (("half_pixel", (2, 2)), ("asymmetric", (2, 2)), ("half_pixel", (1, .5))):
        g = Graph()
        y = g.node("Resize", g.node("Identity", "x"), "", g.constant(np.array([1, 1, *scales], np.float32)),
                   mode="linear", coordinate_transformation_mode=mode)
        if last:
            y = g.node("Transpose", y, perm=[0, 2, 3, 1])
        found = results(ingot, g.save(tmp_path / "m.onnx", [y], x.shape, None), x, tmp_path)[0]
        found = found.transpose(0, 3, 1, 2) if last else found
        want = x.astype(np.float64)
        for axis, scale in enumerate(scales, 2):
            size = x.shape[axis]
            at = np.arange(size * scale) / scale if mode == "asymmetric" else (np.arange(size * scale) + .5) / scale - .5
            low = np.floor(at).astype(int)
            weight = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
            left, right = (want.take(np.clip(low + i, 0, size - 1), axis) for i in (0, 1))
            with np.errstate(invalid="ignore"):
                want = np.where(weight == 0, left, (1 - weight) * left + weight * right)
        assert np.isinf(want).any() and np.isinf(want).sum() < want.size / 10
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


TRANSPOSED = {
    # A phase of rows that has no output.
    "empty phase": ((1, 20, 1, 9), (2, 2), {"strides": [2, 2], "pads": [0, 0, 1, 0]}),
    "output shape": ((2, 20, 5, 7), (3, 4), {"strides": [2, 3], "output_shape": [12, 22], "auto_pad": "SAME_UPPER"}),
    "output shape of explicit size": ((1, 20, 5, 7), (4, 4), {"strides": [2, 2], "output_shape": [10, 14]}),
    "kernel of the strides": ((2, 20, 9, 30), (2, 3), {"strides": [2, 3]}),
    "kernel of the strides, cut off": ((2, 20, 9, 30), (2, 2), {"strides": [2, 2], "pads": [0, 0, 0, 1]}),
    "many channels": ((1, 2000, 3, 13), (2, 2), {"strides": [2, 2]}),
    "column": ((1, 20, 33, 1), (3, 1), {"strides": [2, 1]}),
    "column with a wide stride": ((1, 20, 33, 1), (3, 1), {"strides": [2, 2]}),
}


@pytest.mark.parametrize("layout", ["plain", "own", None])
@pytest.mark.parametrize("image", ["known", "unknown"])
@pytest.mark.parametrize("case", TRANSPOSED)
def test_a_transposed_convolution_of_any_phases(ingot, tmp_path, monkeypatch, case, image, layout):
    shape, kernel, attributes = TRANSPOSED[case]
    g = Graph()
    x = g.node("ConvTranspose", g.node("Relu", "x"), g.numbers(shape[1], 35, *kernel), g.numbers(35), **attributes)
    model = g.save(tmp_path / "m.onnx", [g.node("Relu", x)], shape if image == "known" else ["N", shape[1], "H", "W"],
                   None)
    if layout:
        monkeypatch.setenv("INGOT_LAYOUT", layout)
    values = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    want = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"]).run(None, {"x": values})[0]
    found = [results(ingot, model, values, tmp_path, "--threads", threads)[0] for threads in (1, 2, 5)]
    assert found[0].shape == want.shape
    np.testing.assert_allclose(found[0], want, rtol=1e-4, atol=1e-5 * np.abs(want).max())
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


def chain_network(path, outputs=None):
    """Chains of pointwise and depthwise convolutions, with activations, strides, a scale, a residual and odd numbers of channels."""
    g = Graph()
    first = g.conv("x", 3, 31)
    wide = g.node("Relu", g.conv(first, 31, 63, kernel=1))
    deep = g.node("HardSwish", g.conv(wide, 63, 63, kernel=5, group=63, stride=2))
    narrow = g.conv(deep, 63, 47, kernel=1)
    inner = g.node("Sigmoid", g.conv(narrow, 47, 47, group=47))
    residual = g.node("Relu", g.node("Add", g.conv(inner, 47, 47, kernel=1), narrow))
    squeezed = g.node("Sigmoid", g.node("GlobalAveragePool", residual))
    scaled = g.node("Mul", squeezed, residual)
    last = g.node("Relu", g.conv(g.node("Softplus", g.conv(scaled, 47, 30, kernel=1)), 30, 30, group=30, stride=2))
    all_values = [last, wide, deep, inner, scaled]
    return g.save(path, [last] if outputs is None else all_values, ["N", 3, "H", "W"])


@pytest.mark.parametrize("layout", ["plain", None])
@pytest.mark.parametrize("shape", [(1, 3, 75, 90), (2, 3, 160, 131), (1, 3, 9, 1), (3, 3, 2, 7)])
def test_a_chain_of_convolutions_has_the_bits_of_its_links(ingot, tmp_path, monkeypatch, shape, layout):
    if layout:
        monkeypatch.setenv("INGOT_LAYOUT", layout)
    chains, links = chain_network(tmp_path / "m.onnx"), chain_network(tmp_path / "all.onnx", "all")
    x = np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
    want = onnxruntime.InferenceSession(str(chains), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    last = results(ingot, links, x, tmp_path)[0]
    np.testing.assert_allclose(last, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())
    for threads in (1, 2, 3):
        assert results(ingot, chains, x, tmp_path, "--threads", threads)[0].tobytes() == last.tobytes()


def test_what_lies_within_a_chain_is_no_tensor(ingot, tmp_path):
    regions = json.loads(ingot("inspect", chain_network(tmp_path / "m.onnx"), "--json").stdout)["session"]["regions"]
    assert sum(region["tactic"] == "strips c16" for region in regions) == 3


def test_an_image_network_is_reordered_at_its_end_at_most(ingot, tmp_path):
    regions = json.loads(ingot("inspect", image_network(tmp_path / "m.onnx"), "--json").stdout)["session"]["regions"]
    assert sum(region["tactic"] == "reorder" for region in regions) <= 2


def test_the_plain_layout_alone_needs_no_reorder(ingot, tmp_path, monkeypatch):
    monkeypatch.setenv("INGOT_LAYOUT", "plain")
    regions = json.loads(ingot("inspect", image_network(tmp_path / "m.onnx"), "--json").stdout)["session"]["regions"]
    assert all(region["tactic"] != "reorder" and "c16" not in region["tactic"] for region in regions)


def test_bodies_of_control_flow_read_values_of_any_layout(ingot, tmp_path, monkeypatch):
    monkeypatch.setenv("INGOT_LAYOUT", "own")
    g, body = Graph(), Graph()
    inner = g.node("Relu", g.conv("x", 3, 20))
    weights = g.numbers(20, 20, 3, 3)
    body.nodes = [helper.make_node("Conv", [inner, weights], ["c"], pads=[1, 1, 1, 1]),
                  helper.make_node("Relu", ["c"], ["r"])]
    then = helper.make_graph(body.nodes, "then", [], [tensor_info("r", TensorProto.FLOAT, None)])
    other = helper.make_graph([helper.make_node("Neg", [inner], ["n"])], "else", [], [tensor_info("n", TensorProto.FLOAT, None)])
    total = g.node("ReduceSum", "x", keepdims=0)
    chosen = g.node("If", g.node("Greater", total, g.constant(np.float32(0))), then_branch=then, else_branch=other)
    model = g.save(tmp_path / "m.onnx", [g.node("MaxPool", g.node("Add", chosen, inner), kernel_shape=[2, 2])],
                   ["N", 3, "H", "W"], None)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    for sign in (1, -1):
        x = np.full((2, 3, 9, 8), sign, np.float32)
        (have,), (want,) = results(ingot, model, x, tmp_path), session.run(None, {"x": x})
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())


def resizing_network(path, outputs=None):
    """Images of known sizes that are resized and then get their channels last."""
    g = Graph()
    first = g.node("Relu", g.conv("x", 3, 21))
    linear = g.node("Resize", first, "", g.constant(np.array([1, 1, 2.5, 5], np.float32)), mode="linear")
    near = g.node("Resize", g.conv(first, 21, 35), "", g.constant(np.array([1, 1, 2, .5], np.float32)), mode="nearest")
    sized = g.node("Resize", first, "", "", g.constant(np.array([2, 21, 40, 7], np.int64)), mode="linear",
                   coordinate_transformation_mode="align_corners")
    spread = g.node("Resize", first, "", g.constant(np.array([1, 1.03, 1, 2], np.float32)), mode="nearest",
                    coordinate_transformation_mode="asymmetric")
    inner = [linear, near, sized, spread]
    last = [g.node("Transpose", x, perm=[0, 2, 3, 1]) for x in inner]
    return g.save(path, last if outputs is None else last + inner, [2, 3, 18, 20], None)


@pytest.mark.parametrize("layout", ["plain", "own", None])
def test_a_resize_that_puts_channels_last_has_the_bits_of_its_nodes(ingot, tmp_path, monkeypatch, layout):
    if layout:
        monkeypatch.setenv("INGOT_LAYOUT", layout)
    one, two = resizing_network(tmp_path / "m.onnx"), resizing_network(tmp_path / "all.onnx", "all")
    assert ingot("inspect", one).stdout.count("Resize+Transpose") == 3
    x = np.random.default_rng(1).standard_normal((2, 3, 18, 20)).astype(np.float32)
    nodes = results(ingot, two, x, tmp_path)
    want = onnxruntime.InferenceSession(str(one), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    for threads in (1, 2, 3):
        for have, single, right in zip(results(ingot, one, x, tmp_path, "--threads", threads), nodes, want):
            np.testing.assert_allclose(have, right, rtol=1e-4, atol=1e-5)
            assert have.tobytes() == single.tobytes()


@pytest.mark.parametrize("layout", ["plain", "own", None])
def test_images_whose_sizes_are_not_known_to_be_the_same_are_joined_in_blocks(ingot, tmp_path, monkeypatch, layout):
    """Sizes of 1 repeat; which they are shows only in a run."""
    if layout:
        monkeypatch.setenv("INGOT_LAYOUT", layout)
    g = Graph()
    first, second = g.conv("x", 3, 21), g.conv("z", 3, 21)
    joined = g.node("Relu", g.node("Add", first, second))
    last = g.conv(g.node("Sub", g.node("Mul", second, joined), first), 21, 32)
    model = save_model(tmp_path / "m.onnx", g.nodes,
                       [tensor_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"]),
                        tensor_info("z", TensorProto.FLOAT, ["M", 3, "I", "J"])],
                       [tensor_info(last, TensorProto.FLOAT, None)], g.weights)
    if layout == "own":
        assert "eltwise_binary_c16" in ingot("inspect", model).stdout
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    for x_shape, z_shape in (((2, 3, 9, 12), (2, 3, 9, 12)), ((2, 3, 9, 12), (1, 3, 9, 1)), ((1, 3, 1, 12), (3, 3, 9, 1)),
                             ((1, 3, 1, 1), (2, 3, 7, 5)), ((1, 3, 1, 1), (1, 3, 1, 1))):
        random = np.random.default_rng(len(x_shape))
        x, z = (random.standard_normal(shape).astype(np.float32) for shape in (x_shape, z_shape))
        np.save(tmp_path / "z.npy", z)
        (have,) = results(ingot, model, x, tmp_path, "--input", f"z={tmp_path / 'z.npy'}")
        (want,) = session.run(None, {"x": x, "z": z})
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())
