"""Passes keep results: every model and case of INGOT_TEST_DATA gives the same at each optimization level, with each pass left
out, and with its inner values as outputs too. Equal bits where the passes promise them, near ones where nodes are fused."""
import json
import os
import pathlib
import sys

import numpy as np
import onnx
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import engine  # noqa: E402

DATA = pathlib.Path(os.environ.get("INGOT_TEST_DATA", ""))
COMMAND = pathlib.Path(os.environ.get("INGOT", str(engine.ROOT / "build" / "ingot")))
LIBRARY = pathlib.Path(os.environ.get("INGOT_LIBRARY", COMMAND.parent / "src" / "libingot.so"))
EXACT = ("constants-into-bodies", "fold-if", "fold-constants", "fold-shapes", "remove-identity", "merge-views", "move-transposes",
         "merge-duplicates", "shrink-constants", "move-quantizers", "fold-dequantized", "remove-dead")
FUSING = ("integer-products", "integer-arithmetic", "gather-one-hot", "widen-half", "fuse-layer-norm", "fuse-gelu",
          "fuse-hard-swish", "fold-batch-norm", "conv-of-phases")
SLOW = ("candy_style", "squeezenet_fp16", "deeplab_v3", "dnsmos", "ssd_postprocess", "magika_v3_3")  # these at the levels only

pytestmark = [
    pytest.mark.skipif(not os.environ.get("INGOT_TEST_DATA"), reason="INGOT_TEST_DATA is not set"),
    pytest.mark.skipif(not LIBRARY.exists() or b"__asan_init" in LIBRARY.read_bytes(),
                       reason="needs the library without sanitizers"),
]


def value_cases():
    for path in sorted((DATA / "cases").glob("*/case.json")):
        case = json.loads(path.read_text())
        if case["expect"] == "values":
            yield path.parent, case


def names():
    models = [path.stem for path in sorted((DATA / "models").glob("*.onnx")) if (
        DATA / "models" / "golden" / f"{path.stem}.npz").exists()]
    return [f"model:{name}" for name in models] + [f"case:{folder.name}" for folder, _ in value_cases()]


def open_case(name):
    """The model's path, its inputs and their types."""
    kind, name = name.split(":", 1)
    if kind == "model":
        path = DATA / "models" / f"{name}.onnx"
        with np.load(DATA / "models" / "golden" / f"{name}.npz", allow_pickle=False) as golden:
            feed = {key[3:]: golden[key] for key in golden.files if key.startswith("in:")}
    else:
        folder = DATA / "cases" / name
        path, feed = folder / "model.onnx", {}
        for index, given in enumerate(json.loads((folder / "case.json").read_text())["inputs"]):
            file = folder / f"in_{index}.npy"
            if not file.exists():
                pytest.skip("its inputs are no plain tensors")
            feed[given] = np.load(file, allow_pickle=False)
    model = onnx.load(path, load_external_data=False)
    return path, feed, {info.name: info.type for info in model.graph.input}


def same_bits(one, two):
    if isinstance(one, list):
        return len(one) == len(two) and all(map(same_bits, one, two))
    if isinstance(one, dict):
        return list(one) == list(two) and all(same_bits(np.asarray(a), np.asarray(b)) for a, b in zip(one.values(), two.values()))
    if one is None or two is None:
        return one is two
    if one.dtype == object:
        return one.shape == two.shape and (one == two).all()
    return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


def near(one, two):
    if isinstance(one, list):
        return len(one) == len(two) and all(map(near, one, two))
    if isinstance(one, dict):
        return list(one) == list(two) and all(near(np.asarray(a), np.asarray(b)) for a, b in zip(one.values(), two.values()))
    if one is None or one.dtype == object or one.dtype.kind not in "f":
        return same_bits(one, two)
    narrow = one.dtype.itemsize == 2  # rounded after each node, or at the end alone
    one, two = one.astype(np.float64), two.astype(np.float64)
    scale = np.abs(one[np.isfinite(one)]).max(initial=1e-3)
    return one.shape == two.shape and np.allclose(one, two, rtol=2e-2 if narrow else 1e-4, atol=(1e-2 if narrow else 2e-4) * scale,
                                                  equal_nan=True)


@pytest.fixture(scope="module")
def ingot():
    return engine.Engine(str(LIBRARY))


@pytest.mark.parametrize("name", names() if os.environ.get("INGOT_TEST_DATA") else [])
def test_each_level_and_pass(ingot, name, monkeypatch):
    path, feed, types = open_case(name)
    monkeypatch.setenv("INGOT_LAYOUT", "plain")  # the order of a kernel's sums is its own: passes that change no bit keep the kernels

    def run(level, disabled=None):
        return ingot.run(path, feed, types, level, disabled)
    try:
        plain = run(0)
    except engine.Error as refused:
        if refused.status == 3:
            pytest.skip(f"not supported: {refused}")
        raise
    assert same_bits(run(1), plain), "level 1"
    assert near(run(2), plain), "level 2"
    if name.split(":")[1] in SLOW:
        return
    for left_out in EXACT:
        assert same_bits(run(1, left_out), plain), f"level 1 without {left_out}"
    for left_out in EXACT + FUSING:
        assert near(run(2, left_out), plain), f"level 2 without {left_out}"
    assert same_bits(run(2, ",".join(FUSING)), plain), "level 2 with what keeps bits alone"
    monkeypatch.delenv("INGOT_LAYOUT")
    for level in (0, 1, 2):
        assert near(run(level), plain), f"level {level} in the layouts that are chosen"


@pytest.mark.parametrize("name", names() if os.environ.get("INGOT_TEST_DATA") else [])
def test_inner_values_as_outputs(ingot, name):
    path, feed, types = open_case(name)
    if name.split(":")[1] in SLOW:
        pytest.skip("takes long")
    model = onnx.load(path)
    graph = model.graph
    own = [info.name for info in graph.output]
    inner = [output for node in graph.node for output in node.output if output and output not in own]
    if not inner or len(inner) > 600:
        pytest.skip("has no inner values, or very many")
    plain = {level: ingot.run(path, feed, types, level) for level in (1, 2)}
    for value in inner[:: max(1, len(inner) // 8)]:
        marked = onnx.ModelProto()
        marked.CopyFrom(model)
        marked.graph.output.add().name = value
        data = marked.SerializeToString()
        for level, expected in plain.items():
            assert same_bits(ingot.run(data, feed, types, level)[:len(own)], expected), f"{value} at level {level}"
