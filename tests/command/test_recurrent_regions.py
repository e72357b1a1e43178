"""Recurrent layers whose weights are so large that threads share the units of a step."""
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from conftest import save_model, tensor_info

STEPS, FEATURES = 7, 20


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(x, h, c, r, rb, p):
    n = h.shape[1]
    i, o, f, g = np.split(x + h @ r.T + rb, 4, axis=1)
    i, f = sigmoid(i + p[:n] * c), sigmoid(f + p[2 * n:] * c)
    c = f * c + i * np.tanh(g)
    return sigmoid(o + p[n:2 * n] * c) * np.tanh(c), c


def gru_step(x, h, r, rb, linear_before_reset):
    n = h.shape[1]
    xz, xr, xh = np.split(x, 3, axis=1)
    z, reset = sigmoid(xz + h @ r[:n].T + rb[:n]), sigmoid(xr + h @ r[n:2 * n].T + rb[n:2 * n])
    last = (reset * (h @ r[2 * n:].T + rb[2 * n:]) if linear_before_reset
            else (reset * h) @ r[2 * n:].T + rb[2 * n:])
    return (1 - z) * np.tanh(xh + last) + z * h


def expected(operator, values, direction, linear_before_reset):
    """Y and Y_h by the text of the standard, in double precision."""
    x, w, r, b, h0 = (values[key].astype(np.float64) for key in ("x", "w", "r", "b", "h0"))
    gates = w.shape[1]
    y = np.zeros((STEPS, len(w), x.shape[1], r.shape[2]))
    last = np.zeros(y.shape[1:])
    for d in range(len(w)):
        h, order = h0[d], range(STEPS)
        c = values["c0"][d].astype(np.float64) if operator == "LSTM" else None
        for t in reversed(order) if d == 1 or direction == "reverse" else order:
            seen = x[t] @ w[d].T + b[d][:gates]
            if operator == "LSTM":
                h, c = lstm_step(seen, h, c, r[d], b[d][gates:], values["p"][d].astype(np.float64))
            else:
                h = gru_step(seen, h, r[d], b[d][gates:], linear_before_reset)
            y[t, d] = h
        last[d] = h
    return {"y": y, "last": last}


CASES = [("LSTM", 270, "bidirectional", 0), ("LSTM", 130, "reverse", 0), ("GRU", 160, "forward", 0),
         ("GRU", 150, "reverse", 1), ("GRU", 300, "bidirectional", 0)]


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("operator, hidden, direction, linear_before_reset", CASES)
@pytest.mark.parametrize("wanted", ["y", "last"])
def test_shared_steps_follow_the_standard_with_the_same_bits(ingot, tmp_path, operator, hidden, direction,
                                                             linear_before_reset, batch, wanted):
    rng = np.random.default_rng(hidden)
    gates, directions = (4 if operator == "LSTM" else 3) * hidden, 2 if direction == "bidirectional" else 1
    shapes = {"w": [directions, gates, FEATURES], "r": [directions, gates, hidden], "b": [directions, 2 * gates],
              "h0": [directions, batch, hidden]}
    if operator == "LSTM":
        shapes.update(c0=[directions, batch, hidden], p=[directions, 3 * hidden])
    values = {key: (rng.standard_normal(shape) / 8).astype(np.float32) for key, shape in shapes.items()}
    values["x"] = rng.standard_normal((STEPS, batch, FEATURES)).astype(np.float32)
    names = ["x", "w", "r", "b", "", "h0"] + (["c0", "p"] if operator == "LSTM" else [])
    attributes = {"linear_before_reset": linear_before_reset} if operator == "GRU" else {}
    node = helper.make_node(operator, names, ["y"] if wanted == "y" else ["", "last"], hidden_size=hidden,
                            direction=direction, **attributes)
    model = save_model(tmp_path / "m.onnx", [node], [tensor_info("x", TensorProto.FLOAT, ["S", batch, FEATURES])],
                       [tensor_info(wanted, TensorProto.FLOAT, None)],
                       [numpy_helper.from_array(values[key], key) for key in shapes])
    np.save(tmp_path / "x.npy", values["x"])
    results = []
    for threads in (1, 2, 3, 7):
        ingot("run", model, "--input", tmp_path / "x.npy", "--output-dir", tmp_path / "out", "--threads", threads)
        results.append(np.load(tmp_path / "out" / f"{wanted}.npy"))
    exact = expected(operator, values, direction, linear_before_reset)[wanted]
    np.testing.assert_allclose(results[0], exact, rtol=1e-5, atol=2e-6)
    assert all(result.tobytes() == results[0].tobytes() for result in results)
