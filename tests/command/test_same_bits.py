"""Outputs have the same bits for every number of threads and whatever else is in the batch."""
import os
import pathlib

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
# Of several kinds, large enough that their work is shared out: text, input shapes without the batch, shapes of weights.
MODELS = {
    "convolutions": ("""g (float[N,8,60,60] x) => (float[N,24,30,30] y, float[N,10] z) {
        a = Conv <pads = [1, 1, 1, 1]> (x, w1, b1) b = Relu(a) c = Conv <group = 32, pads = [1, 1, 1, 1], strides = [2, 2]> (b, w2)
        d = Sigmoid(c) e = Mul(c, d) y = Conv(e, w3) f = GlobalAveragePool(y) h = Flatten(f) i = Gemm(h, w4) z = Softmax(i) }""",
                     {"x": [8, 60, 60]},
                     {"w1": [32, 8, 3, 3], "b1": [32], "w2": [32, 1, 3, 3], "w3": [24, 32, 1, 1], "w4": [24, 10]}),
    "attention": ("""g (float[N,70,96] x) => (float[N,70,96] y) <int64[4] heads = {0, 0, 4, 24}, int64[3] back = {0, 0, -1},
        float scale = {0.2}> {
        q0 = MatMul(x, wq) q1 = Reshape(q0, heads) q = Transpose <perm = [0, 2, 1, 3]> (q1)
        k0 = MatMul(x, wk) k1 = Reshape(k0, heads) k = Transpose <perm = [0, 2, 3, 1]> (k1)
        v0 = MatMul(x, wv) v1 = Reshape(v0, heads) v = Transpose <perm = [0, 2, 1, 3]> (v1)
        s0 = MatMul(q, k) s1 = Mul(s0, scale) s = Softmax <axis = -1> (s1) o0 = MatMul(s, v)
        o1 = Transpose <perm = [0, 2, 1, 3]> (o0) o2 = Reshape(o1, back) o3 = Add(o2, x)
        y = LayerNormalization(o3, gain, shift) }""", {"x": [70, 96]},
                  {"wq": [96, 96], "wk": [96, 96], "wv": [96, 96], "gain": [96], "shift": [96]}),
    "recurrent": ("""g (float[S,N,40] x) => (float[S,2,N,48] y) { y, h, c = LSTM <hidden_size = 48, direction = "bidirectional"> (x, w, r) }""",
                  {"x": [40]}, {"w": [2, 192, 40], "r": [2, 192, 48]}),
}
BATCH_AXIS = {"recurrent": 1}


def make(name, folder):
    text, _, weights = MODELS[name]
    model = onnx.parser.parse_model(HEAD + text)
    random = np.random.default_rng(len(name))
    for key, shape in weights.items():
        array = (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, key))
    onnx.save(model, folder / "model.onnx")
    return folder / "model.onnx"


def outputs_of(ingot, model, inputs, folder, *words):
    for key, array in inputs.items():
        np.save(folder / f"{key}.npy", array)
        words = (*words, "--input", f"{key}={folder}/{key}.npy")
    ingot("run", model, "--output-dir", folder / "out", *words)
    return {path.name: path.read_bytes() for path in sorted((folder / "out").glob("*.npy"))}


def inputs_of(name, batch):
    random = np.random.default_rng(1)
    axis = BATCH_AXIS.get(name, 0)
    return {key: random.standard_normal(([25] if axis else []) + [batch] + shape).astype(np.float32)
            for key, shape in MODELS[name][1].items()}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("batch", [1, 3])
def test_every_number_of_threads_gives_the_same_bits(ingot, tmp_path, name, batch):
    model, inputs = make(name, tmp_path), inputs_of(name, batch)
    expected = outputs_of(ingot, model, inputs, tmp_path, "--threads", 1)
    assert expected
    for threads in (2, 3, 7):
        assert outputs_of(ingot, model, inputs, tmp_path, "--threads", threads) == expected, threads


@pytest.mark.parametrize("name", MODELS)
def test_neighbours_in_the_batch_change_no_bit(ingot, tmp_path, name):
    model, inputs, axis = make(name, tmp_path), inputs_of(name, 5), BATCH_AXIS.get(name, 0)
    outputs_of(ingot, model, inputs, tmp_path, "--threads", 2)
    together = {path.name: np.load(path) for path in (tmp_path / "out").glob("*.npy")}
    for row in (0, 2, 4):
        alone = {key: np.take(array, [row], axis) for key, array in inputs.items()}
        outputs_of(ingot, model, alone, tmp_path, "--threads", 2)
        for file, array in together.items():
            batch_axis = 2 if name == "recurrent" else 0
            got = np.load(tmp_path / "out" / file)
            assert np.take(array, [row], batch_axis).tobytes() == got.tobytes(), (row, file)


REAL = ["mnist", "face_landmark", "yunet_dynamic", "gtcrn", "qlstm_scan", "tiny_time_mixer"]


@pytest.mark.parametrize("name", REAL)
def test_real_models_give_the_same_bits_with_every_number_of_threads(ingot, tmp_path, name):
    folder = os.environ.get("INGOT_TEST_DATA")
    if not folder:
        pytest.skip("INGOT_TEST_DATA is not set")
    models = pathlib.Path(folder) / "models"
    with np.load(models / "golden" / f"{name}.npz") as golden:
        inputs = {key[3:]: golden[key] for key in golden.files if key.startswith("in:")}
    for number, (key, array) in enumerate(inputs.items()):
        np.save(tmp_path / f"{number}.npy", array)
    words = [word for number, key in enumerate(inputs) for word in ("--input", f"{key}={tmp_path}/{number}.npy")]
    results = []
    for threads in (1, 2, 3, 7):
        out = tmp_path / f"out{threads}"
        ingot("run", models / f"{name}.onnx", "--threads", threads, "--output-dir", out, *words)
        results.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert results[0] and all(result == results[0] for result in results)
