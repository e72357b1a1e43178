"""Attention as exporters write it runs as one region: with numpy's results, and the bits of its nodes one by one."""
import numpy as np
import onnx
import onnx.parser
import pytest

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

MODELS = {
    # Heads split off by views, a key transposed at once, a mask that is a row for each batch; the result put back in order.
    "bert": ("""
g (float[B,S,12] q, float[B,S,12] k, float[B,S,12] v, float[B,1,1,S] mask) => (float[B,S,3,4] y)
  <int64[4] heads = {0, 0, 3, 4}, float scale = {0.5}> {
  a = Reshape(q, heads) b = Reshape(k, heads) c = Reshape(v, heads)
  d = Transpose <perm = [0, 2, 1, 3]> (a) e = Transpose <perm = [0, 2, 3, 1]> (b) f = Transpose <perm = [0, 2, 1, 3]> (c)
  s = MatMul(d, e) t = Mul(s, scale) u = Add(t, mask) p = Softmax <axis = -1> (u) o = MatMul(p, f)
  y = Transpose <perm = [0, 2, 1, 3]> (o)
}
""", {"q": (2, 37, 12), "k": (2, 37, 12), "v": (2, 37, 12), "mask": (2, 1, 1, 37)}),
    # One tensor for all three, picked by index; masks before and after a view of the scores.
    "windows": ("""
g (float[B,3,9,3,2,5] images, float[1,2,9,9] bias, float[1,3,1,9,9] mask) => (float[W,9,2,5] y)
  <int64[5] flat = {-1, 9, 3, 2, 5}, int64 zero = {0}, int64 one = {1}, int64 last = {-1}, float scale = {0.7}, int64[5] split = {-1, 3, 2, 9, 9},
   int64[4] join = {-1, 2, 9, 9}> {
  x = Reshape(images, flat) a = Transpose <perm = [2, 0, 3, 1, 4]> (x) q = Gather(a, zero) k = Gather(a, one) v = Gather(a, last)
  r = Mul(q, scale) l = Transpose <perm = [0, 1, 3, 2]> (k) s = MatMul(r, l) t = Add(s, bias)
  c = Reshape(t, split) d = Add(mask, c) e = Reshape(d, join) p = Softmax <axis = 3> (e) o = MatMul(p, v)
  y = Transpose <perm = [0, 2, 1, 3]> (o)
}
""", {"images": (2, 3, 9, 3, 2, 5), "bias": (1, 2, 9, 9), "mask": (1, 3, 1, 9, 9)}),
    # Heads beside the batch, set apart from it by a view after they are brought forward; factors on both sides.
    "vit": ("""
g (float[5,H,4] q, float[5,H,4] k, float[5,H,4] v) => (float[N,3,5,4] y) <float half = {0.5}, int64[4] split = {-1, 3, 5, 4}> {
  a = Transpose <perm = [1, 0, 2]> (q) b = Transpose <perm = [1, 0, 2]> (k) c = Transpose <perm = [1, 0, 2]> (v)
  d = Reshape(a, split) e = Reshape(b, split) f = Reshape(c, split)
  l = Transpose <perm = [0, 1, 3, 2]> (e) m = Mul(l, half) n = Mul(d, half)
  s = MatMul(n, m) p = Softmax(s) y = MatMul(p, f)
}
""", {"q": (5, 6, 4), "k": (5, 6, 4), "v": (5, 6, 4)}),
    # A mask that makes the scores of one query and one key larger, and values with a batch of their own.
    "growing": ("""
g (float[1,2,1,D] q, float[1,2,D,K] k, float[B,2,T,W] v, float[M,1,R,T] mask) => (float[B,2,R,W] y) <float root = {2.0}> {
  s = MatMul(q, k) t = Div(s, root) u = Add(t, mask) p = Softmax(u) y = MatMul(p, v)
}
""", {"q": (1, 2, 1, 7), "k": (1, 2, 7, 1), "v": (3, 2, 6, 5), "mask": (3, 1, 4, 6)}),
    # Few queries, many keys, nothing around; rank 3.
    "decoding": ("""
g (float[H,M,8] q, float[H,8,N] k, float[H,N,40] v) => (float[H,M,40] y) {
  s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v)
}
""", {"q": (2, 1, 8), "k": (2, 8, 1500), "v": (2, 1500, 40)}),
    # Large enough to be worked on by parts, more than one block of keys, and a factor for the keys.
    "long": ("""
g (float[1,2,N,16] q, float[1,2,N,16] k, float[1,2,N,16] v) => (float[1,2,N,16] y) <float scale = {0.3}> {
  l = Transpose <perm = [0, 1, 3, 2]> (k) m = Mul(l, scale) s = MatMul(q, m) p = Softmax(s) y = MatMul(p, v)
}
""", {"q": (1, 2, 900, 16), "k": (1, 2, 900, 16), "v": (1, 2, 900, 16)}),
}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def heads(x):
    return x.reshape(*x.shape[:2], 3, 4).transpose(0, 2, 1, 3)


def windows(images, bias, mask):
    q, k, v = images.reshape(-1, 9, 3, 2, 5).transpose(2, 0, 3, 1, 4)
    scores = (q * np.float64(np.float32(0.7))) @ k.transpose(0, 1, 3, 2) + bias
    scores = (scores.reshape(-1, 3, 2, 9, 9) + mask).reshape(scores.shape)
    return (softmax(scores) @ v).transpose(0, 2, 1, 3)


def beside(x):
    return x.transpose(1, 0, 2).reshape(-1, 3, 5, 4)


EXPECTED = {
    "bert": lambda q, k, v, mask: (softmax(heads(q) @ heads(k).swapaxes(2, 3) * 0.5 + mask) @ heads(v)).transpose(0, 2, 1, 3),
    "windows": windows,
    "vit": lambda q, k, v: softmax(beside(q) @ beside(k).swapaxes(2, 3) / 4) @ beside(v),
    "growing": lambda q, k, v, mask: softmax(q @ k / 2 + mask) @ v,
    "decoding": lambda q, k, v: softmax(q @ k) @ v,
    "long": lambda q, k, v: softmax(q @ (k.swapaxes(2, 3) * np.float64(np.float32(0.3)))) @ v,
}


def draw(shapes):
    rng = np.random.default_rng(7)
    values = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    if "mask" in values:
        values["mask"][rng.random(values["mask"].shape) < 0.3] = -1e9
    return values


def results(ingot, tmp_path, model, inputs, *words):
    np.savez(tmp_path / "in.npz", **inputs)
    ingot("run", model, "--input", tmp_path / "in.npz", "--output-dir", tmp_path / "out", *words)
    return {path.stem: np.load(path) for path in (tmp_path / "out").glob("*.npy")}


@pytest.mark.parametrize("name", MODELS)
def test_it_is_one_region_with_the_results_of_numpy(ingot, tmp_path, name):
    text, shapes = MODELS[name]
    onnx.save(onnx.parser.parse_model(HEAD + text), tmp_path / "m.onnx")
    assert "attention_f32" in ingot("inspect", tmp_path / "m.onnx").stdout
    inputs = draw(shapes)
    expected = EXPECTED[name](**{key: value.astype(np.float64) for key, value in inputs.items()})
    found = results(ingot, tmp_path, tmp_path / "m.onnx", inputs)["y"]
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("name", MODELS)
def test_it_has_the_bits_of_its_nodes_for_any_threads(ingot, tmp_path, name):
    text, shapes = MODELS[name]
    model = onnx.parser.parse_model(HEAD + text)
    onnx.save(model, tmp_path / "fused.onnx")
    softmax_node = next(node for node in model.graph.node if node.op_type == "Softmax")
    for value in (softmax_node.input[0], softmax_node.output[0]):  # exposed, they are no region's own
        model.graph.output.append(onnx.helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, None))
    onnx.save(model, tmp_path / "nodes.onnx")
    assert "attention_f32" not in ingot("inspect", tmp_path / "nodes.onnx").stdout
    inputs = draw(shapes)
    one_by_one = results(ingot, tmp_path, tmp_path / "nodes.onnx", inputs)["y"]
    for threads in (1, 2, 3, 7):
        fused = results(ingot, tmp_path, tmp_path / "fused.onnx", inputs, "--threads", threads)["y"]
        assert fused.tobytes() == one_by_one.tobytes()


@pytest.mark.parametrize("queries", [1, 40])
def test_without_keys_it_gives_zeros(ingot, tmp_path, queries):
    text, shapes = MODELS["decoding"]
    onnx.save(onnx.parser.parse_model(HEAD + text), tmp_path / "m.onnx")
    found = results(ingot, tmp_path, tmp_path / "m.onnx", draw({"q": (2, queries, 8), "k": (2, 8, 0), "v": (2, 0, 40)}))["y"]
    assert found.shape == (2, queries, 40) and not found.any()
