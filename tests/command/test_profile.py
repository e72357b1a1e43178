"""ingot profile: figures of regions, against what the model is known to do; the trace."""
import json

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from conftest import save_model, tensor_info

FIGURES = ["name", "operators", "backend", "tactic", "depth", "parent", "body", "calls", "ms", "share", "flops", "bytes",
           "roof", "limit"]


@pytest.fixture
def product(tmp_path):
    """y = relu(x w), x of N rows."""
    w = numpy_helper.from_array(np.ones((64, 32), np.float32), "w")
    return save_model(tmp_path / "product.onnx",
                      [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"], name="last")],
                      [tensor_info("x", TensorProto.FLOAT, ["N", 64])], [tensor_info("y", TensorProto.FLOAT, ["N", 32])], [w])


@pytest.fixture
def loop(tmp_path):
    """Five times v = sqrt(v) + 1."""
    one = numpy_helper.from_array(np.ones(1000, np.float32), "one")
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Sqrt", ["v"], ["s"]),
         helper.make_node("Add", ["s", "one"], ["w"])], "body",
        [tensor_info("i", TensorProto.INT64, []), tensor_info("go", TensorProto.BOOL, []),
         tensor_info("v", TensorProto.FLOAT, [1000])],
        [tensor_info("on", TensorProto.BOOL, []), tensor_info("w", TensorProto.FLOAT, [1000])], [one])
    five = numpy_helper.from_array(np.array(5, np.int64), "five")
    return save_model(tmp_path / "loop.onnx", [helper.make_node("Loop", ["five", "", "x"], ["y"], name="again", body=body)],
                      [tensor_info("x", TensorProto.FLOAT, [1000])], [tensor_info("y", TensorProto.FLOAT, [1000])], [five])


@pytest.fixture
def profile(ingot):
    return lambda model, *words: ingot("profile", model, "--seconds", ".1", "--threads", 1, *words)


@pytest.mark.parametrize("operator, gates", [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
@pytest.mark.parametrize("outputs", [["y"], ["", "y"]])
def test_a_recurrent_layer_counts_whatever_it_leaves_out(profile, tmp_path, operator, gates, outputs):
    w, r = (numpy_helper.from_array(np.zeros((1, gates * 8, width), np.float32), name) for name, width in (("w", 6), ("r", 8)))
    model = save_model(tmp_path / "layer.onnx", [helper.make_node(operator, ["x", "w", "r"], outputs, hidden_size=8)],
                       [tensor_info("x", TensorProto.FLOAT, [5, 3, 6])], [tensor_info("y", TensorProto.FLOAT, None)], [w, r])
    assert json.loads(profile(model, "--json").stdout)["regions"][0]["flops"] == 2 * 5 * 3 * gates * 8 * (6 + 8)


def test_json(profile, product):
    result = json.loads(profile(product, "--batch", 16, "--json").stdout)
    regions = [region for region in result["regions"] if region["operators"].startswith("MatMul")]
    assert len(regions) == 1 and sorted(regions[0]) == sorted(FIGURES + ["region"])
    assert regions[0]["flops"] == 2 * 16 * 64 * 32
    assert regions[0]["bytes"] >= 4 * (16 * 64 + 64 * 32 + 16 * 32)
    assert regions[0]["calls"] == 1 and regions[0]["depth"] == 0 and regions[0]["parent"] is None
    assert sum(region["share"] for region in result["regions"]) == pytest.approx(1)
    assert result["peak_flops"] > 1e8 and result["peak_bytes"] > 1e8 and result["threads"] == 1
    assert 0 < result["regions_ms"] < 10 * result["p50_ms"] and result["runs"] >= 3


def test_roof_is_what_the_nearer_limit_would_take(profile, product):
    result = json.loads(profile(product, "--batch", 64, "--json").stdout)
    for region in result["regions"]:
        arithmetic, memory = region["flops"] / result["peak_flops"], region["bytes"] / result["peak_bytes"]
        assert region["roof"] * region["ms"] == pytest.approx(1e3 * max(arithmetic, memory), rel=1e-4)
        assert region["limit"] == ("arithmetic" if arithmetic > memory else "memory")


def test_operators_are_the_sums_of_regions(profile, loop):
    result = json.loads(profile(loop, "--json").stdout)
    for operator in result["operators"]:
        regions = [r for r in result["regions"] if r["operators"] == operator["operators"]]
        assert operator["regions"] == len(regions) and operator["calls"] == sum(r["calls"] for r in regions)
        assert operator["ms"] == pytest.approx(sum(r["ms"] for r in regions))


def test_bodies_are_seen(profile, loop):
    regions = json.loads(profile(loop, "--json").stdout)["regions"]
    outer = next(region for region in regions if region["operators"] == "Loop")
    inner = [region for region in regions if region["depth"] == 1]
    assert outer["tactic"] == "control" and outer["calls"] == 1
    assert any("Sqrt" in region["operators"] for region in inner)
    assert all(r["calls"] == 5 and r["parent"] == outer["region"] and r["body"] == "body" for r in inner)


def test_text(profile, loop):
    text = profile(loop).stdout
    for word in ("the median of", "GFLOP/s FP32", "roof%", "Loop: again", "(in body of Loop)", "all"):
        assert word in text
    assert "more regions: --top" in profile(loop, "--top", 1).stdout


def test_trace_is_a_timeline_of_one_run(profile, loop, tmp_path):
    profile(loop, "--trace", tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    outer = next(event for event in spans if event["name"] == "Loop")
    inner = [event for event in spans if event["cat"] == "body"]
    assert len(inner) % 5 == 0 and len(inner) >= 5
    for event in inner:
        assert outer["ts"] <= event["ts"] and event["ts"] + event["dur"] <= outer["ts"] + outer["dur"] + 0.002
        assert {"node", "tactic", "flops", "bytes"} <= set(event["args"])
    assert any(event["ph"] == "M" and event["name"] == "thread_name" for event in events)


def test_a_trace_that_cannot_be_written_is_an_error(ingot, product, tmp_path):
    error = ingot("profile", product, "--seconds", 0, "--trace", tmp_path / "no" / "trace.json", code=1).stderr
    assert "trace.json" in error and "written" in error


def test_a_model_that_cannot_run_is_an_error(ingot, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    ingot("profile", tmp_path / "broken.onnx", code=1)
