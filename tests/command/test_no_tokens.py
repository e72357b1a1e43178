"""Views and Transposes of no sequences, or of sequences without tokens: the shape that the nodes say, at every level."""
import numpy as np
import onnx
import onnx.parser
import pytest

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

MODELS = {
    # Two Transposes around a view that keeps one free size at its place and moves the other.
    "moved": ("""
g (float[B,S,12] x) => (float[S,B,1,12] y) <int64[1] first = {0}> {
  t = Transpose <perm = [1, 0, 2]> (x) r = Unsqueeze(t, first) y = Transpose <perm = [1, 2, 0, 3]> (r)
}
""", lambda b, s: (s, b, 1, 12)),
    # Heads that part the free sizes.
    "parted": ("""
g (float[B,S,12] x) => (float[B,3,S,4] y) <int64[1] three = {3}, int64[1] four = {4}, int64[1] zero = {0}, int64[1] one = {1}> {
  n = Shape(x) b = Gather(n, zero) s = Gather(n, one) to = Concat <axis = 0> (b, three, s, four) y = Reshape <allowzero = 1> (x, to)
}
""", lambda b, s: (b, 3, s, 4)),
    # Heads that leave them.
    "split": ("""
g (float[B,S,12] x) => (float[B,S,3,4] y) <int64[2] heads = {3, 4}, int64[1] zero = {0}, int64[1] two = {2}> {
  n = Shape(x) m = Slice(n, zero, two) to = Concat <axis = 0> (m, heads) y = Reshape <allowzero = 1> (x, to)
}
""", lambda b, s: (b, s, 3, 4)),
    # Heads beside the batch.
    "beside": ("""
g (float[B,S,12] x) => (float[H,S,4] y) <int64 three = {3}, int64[1] four = {4}, int64[1] zero = {0}, int64[1] one = {1}> {
  t = Transpose <perm = [1, 0, 2]> (x) n = Shape(x) b = Gather(n, zero) s = Gather(n, one) h = Mul(b, three)
  to = Concat <axis = 0> (s, h, four) r = Reshape <allowzero = 1> (t, to) y = Transpose <perm = [1, 0, 2]> (r)
}
""", lambda b, s: (3 * b, s, 4)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("batch, tokens", [(0, 5), (3, 0), (0, 0), (2, 3)])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_sizes_of_0_stay_where_they_are(ingot, tmp_path, name, batch, tokens, level):
    text, wanted = MODELS[name]
    onnx.save(onnx.parser.parse_model(HEAD + text), tmp_path / "model.onnx")
    np.save(tmp_path / "x.npy", np.zeros((batch, tokens, 12), np.float32))
    ingot("run", tmp_path / "model.onnx", "--input", f"x={tmp_path / 'x.npy'}", "--opt-level", level, "--output-dir", tmp_path)
    assert np.load(tmp_path / "y.npy").shape == wanted(batch, tokens)
