"""Operators whose recorded cases leave something open: random draws, old forms, graphs that capture, strings."""
import numpy as np
import onnx
import pytest
from conftest import call, tensor_info
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT
PREVIEW = ("ai.onnx.preview", 1)
MICROSOFT = ("com.microsoft", 1)
RANDOM = np.random.default_rng(4)


@pytest.fixture
def run(tmp_path):
    """Runs nodes: inputs are arrays by name, outputs element types by name. Gives the outputs, or the message of a failure."""
    def make(nodes, inputs, outputs, opset=21, domains=(), words=(), code=0):
        infos = [tensor_info(name, helper.np_dtype_to_tensor_dtype(x.dtype) if x.dtype.kind != "U" else
                             TensorProto.STRING, [f"{name}{i}" for i in range(x.ndim)]) for name, x in inputs.items()]
        graph = helper.make_graph(nodes, "graph", infos, [tensor_info(n, e, None) for n, e in outputs.items()])
        imports = [helper.make_opsetid(*pair) for pair in (("", opset), *domains)]
        onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), tmp_path / "model.onnx")
        given = []
        for name, x in inputs.items():
            np.save(tmp_path / f"{name}.npy", x)
            given += ["--input", f"{name}={tmp_path / name}.npy"]
        done = call("run", tmp_path / "model.onnx", *given, "--output-dir", tmp_path / "out", *words, code=code)
        return [np.load(tmp_path / "out" / f"{name}.npy") for name in outputs] if code == 0 else done.stderr
    return make


def body(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", [tensor_info(n, FLOAT, None) for n in inputs],
                             [tensor_info(n, FLOAT, None) for n in outputs])


# ---- Random numbers ----

@pytest.mark.parametrize("element", [FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16])
def test_random_numbers_have_their_type_shape_and_moments(run, element):
    (x,) = run([helper.make_node("RandomNormal", [], ["y"], shape=[200, 300], dtype=element, mean=2.0, scale=3.0)], {},
               {"y": element})
    assert x.shape == (200, 300) and x.dtype == helper.tensor_dtype_to_np_dtype(element)
    assert abs(x.mean(dtype=float) - 2) < .06 and abs(x.std(dtype=float) - 3) < .06
    (x,) = run([helper.make_node("RandomUniform", [], ["y"], shape=[60000], dtype=element, low=-1.0, high=3.0)], {},
               {"y": element})
    assert -1 <= x.min() < -.99 and 2.99 < x.max() <= 3 and abs(x.mean(dtype=float) - 1) < .03


def test_a_seed_fixes_the_numbers_of_every_run(run):
    node = helper.make_node("RandomUniformLike", ["x"], ["y"], seed=3.0)
    free = helper.make_node("RandomUniformLike", ["x"], ["y"])
    x = {"x": np.zeros(50, np.float32)}
    assert np.array_equal(run([node], x, {"y": FLOAT}), run([node], x, {"y": FLOAT}, words=("--threads", 1)))
    assert not np.array_equal(run([free], x, {"y": FLOAT}), run([free], x, {"y": FLOAT}))


def test_classes_are_drawn_by_their_probabilities(run):
    with np.errstate(divide="ignore"):
        x = np.log(np.array([[1, 2, 7], [5, 5, 0]], np.float32))
    (y,) = run([helper.make_node("Multinomial", ["x"], ["y"], sample_size=20000, dtype=TensorProto.INT64)], {"x": x},
               {"y": TensorProto.INT64})
    shares = [np.bincount(row, minlength=3) / 20000 for row in y]
    assert np.allclose(shares, [[.1, .2, .7], [.5, .5, 0]], atol=.015) and shares[1][2] == 0
    p = np.full((100, 100), .3, np.float32)
    (y,) = run([helper.make_node("Bernoulli", ["p"], ["y"], dtype=TensorProto.INT8)], {"p": p}, {"y": TensorProto.INT8})
    assert set(np.unique(y)) == {0, 1} and abs(y.mean() - .3) < .03


def test_dropout_in_training_drops_and_scales(run):
    inputs = {"x": np.ones((100, 100), np.float32), "ratio": np.array(.25, np.float32), "training": np.array(True)}
    node = helper.make_node("Dropout", list(inputs), ["y", "mask"])
    y, mask = run([node], inputs, {"y": FLOAT, "mask": TensorProto.BOOL})
    assert abs(mask.mean() - .75) < .03 and np.allclose(y, mask / .75)
    inputs["ratio"] = np.array(1, np.float32)
    assert "'ratio' is 1" in run([node], inputs, {"y": FLOAT, "mask": TensorProto.BOOL}, code=1)


# ---- Graphs that are rewritten or run ----

@pytest.mark.parametrize("level", [0, 2])
def test_scan_of_version_8_goes_over_samples_of_their_own_lengths(run, level):
    step = body([helper.make_node("Add", ["s", "x"], ["t"]), helper.make_node("Add", ["t", "captured"], ["next"]),
                 helper.make_node("Mul", ["next", "x"], ["out"])], ["s", "x"], ["next", "out"])
    inputs = {"lengths": np.array([5, 2, 3]), "start": RANDOM.random((3, 2)).astype(np.float32),
              "data": RANDOM.random((3, 5, 2)).astype(np.float32), "c": np.array([.5, 1], np.float32)}
    ends, outs = run([helper.make_node("Neg", ["c"], ["captured"]),
                      helper.make_node("Scan", ["lengths", "start", "data"], ["end", "outs"], num_scan_inputs=1, body=step,
                                       directions=[1])], inputs, {"end": FLOAT, "outs": FLOAT}, opset=8,
                     words=("--opt-level", level))
    for sample, length in enumerate(inputs["lengths"]):
        state = inputs["start"][sample]
        for trip in range(length):
            x = inputs["data"][sample, length - 1 - trip]
            state = state + x - inputs["c"]
            assert np.allclose(outs[sample, trip], state * x)
        assert np.allclose(ends[sample], state)


@pytest.mark.parametrize("level", [0, 2])
def test_flex_attention_runs_graphs_that_capture(run, level):
    inputs = {"q": RANDOM.random((2, 4, 3, 8)), "k": RANDOM.random((2, 2, 5, 8)), "v": RANDOM.random((2, 2, 5, 6)),
              "b": RANDOM.random((3, 5)), "factor": np.array([2.0])}
    inputs = {name: x.astype(np.float32) for name, x in inputs.items()}
    node = helper.make_node("FlexAttention", ["q", "k", "v"], ["y"], domain="ai.onnx.preview",
                            score_mod=body([helper.make_node("Add", ["s", "bias"], ["t"])], ["s"], ["t"]),
                            prob_mod=body([helper.make_node("Mul", ["p", "factor"], ["t"])], ["p"], ["t"]))
    (y,) = run([helper.make_node("Neg", ["b"], ["bias"]), node], inputs, {"y": FLOAT}, domains=[PREVIEW],
               words=("--opt-level", level))
    keys, values = (np.repeat(inputs[name], 2, axis=1) for name in "kv")
    p = np.exp(inputs["q"] @ keys.swapaxes(-1, -2) / np.sqrt(8) - inputs["b"])
    assert np.allclose(y, 2 * p / p.sum(-1, keepdims=True) @ values, atol=1e-5)


def test_a_graph_of_flex_attention_with_two_inputs_is_refused(run):
    inputs = {name: np.ones((1, 1, 2, 4), np.float32) for name in "qkv"}
    node = helper.make_node("FlexAttention", ["q", "k", "v"], ["y"], name="Flex_0", domain="ai.onnx.preview",
                            score_mod=body([helper.make_node("Add", ["s", "u"], ["t"])], ["s", "u"], ["t"]))
    message = run([node], inputs, {"y": FLOAT}, domains=[PREVIEW], code=1)
    assert "Flex_0" in message and "score_mod" in message


def test_sequence_map_takes_items_of_any_length(run):
    nodes = [helper.make_node("SequenceConstruct", ["a", "b"], ["s"]),
             helper.make_node("SequenceMap", ["s"], ["t"], body=body([helper.make_node("Add", ["i", "c"], ["o"])], ["i"],
                                                                     ["o"])),
             helper.make_node("ConcatFromSequence", ["t"], ["y"], axis=0)]
    inputs = {"a": np.ones(2, np.float32), "b": np.zeros(3, np.float32), "c": np.array([5], np.float32)}
    assert run(nodes, inputs, {"y": FLOAT})[0].tolist() == [6, 6, 5, 5, 5]


# ---- Strings: the examples of ONNX Runtime's own tests of Tokenizer ----

@pytest.mark.parametrize("given, wanted, attributes", [
    (["abc", "ab"], [["\2", "a", "b", "c", "\3"], ["\2", "a", "b", "#", "\3"]], {"mark": 1, "separators": [""]}),
    (["Абсу中文", "Коñó"], [["\2", "Абс", "中文", "\3"], ["\2", "Ко", "ó", "\3"]],
     {"mark": 1, "separators": ["у", "ñ"]}),
    (["Абсу中文", "Коñó"], [["\2", "Абсу中", "\3"], ["\2", "#", "\3"]],
     {"mark": 1, "separators": ["文", "ó"], "mincharnum": 4}),
    (["Абсусусу中文"], [["中文"]], {"separators": ["Абсу", "су"]}),
    (["Абсу中文"], [["Аб", "中文"]], {"separators": ["су", "Абсу"]}),
    (["a1b22 c", "x"], [["a", "b", "c"], ["x", "#", "#"]], {"tokenexp": "[a-z]+"}),
])
def test_tokens(run, given, wanted, attributes):
    attributes = {"mark": 0, "mincharnum": 1, "pad_value": "#", **attributes}
    node = helper.make_node("Tokenizer", ["x"], ["y"], domain="com.microsoft", **attributes)
    (y,) = run([node], {"x": np.array(given)}, {"y": TensorProto.STRING}, domains=[MICROSOFT])
    assert y.tolist() == wanted


@pytest.mark.parametrize("locale, wanted", [("en_US", ["IŞIK", "ÉÀ"]), ("tr_TR", ["İŞIK", "ÉÀ"])])
def test_case_does_not_ask_the_system_for_its_locale(run, locale, wanted):
    node = helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action="UPPER", locale=locale)
    (y,) = run([node], {"x": np.array(["işık", "éà"])}, {"y": TensorProto.STRING})
    assert y.tolist() == wanted


@pytest.mark.parametrize("pattern", ["(", "(?=a)b", r"(a)\1", "a**", r"\h"])
def test_a_pattern_that_re2_does_not_know_is_refused_by_its_node(run, pattern):
    node = helper.make_node("RegexFullMatch", ["x"], ["y"], name="Match_0", pattern=pattern)
    message = run([node], {"x": np.array(["a"])}, {"y": TensorProto.BOOL}, code=1)
    assert "Match_0" in message and "pattern" in message


# ---- Long rows: ranked and suppressed in blocks ----

@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("count", [16, 45, 1000])
def test_top_of_long_rows_ranks_equal_numbers_by_index_and_nan_above_all(run, largest, count):
    x = RANDOM.integers(-40, 40, (3, count)).astype(np.float32)
    x[1, [5, count - 1]] = np.nan
    x[2, ::7] = -0.0
    node = helper.make_node("TopK", ["x", "k"], ["values", "places"], largest=largest)
    values, places = run([node], {"x": x, "k": np.array([9], np.int64)}, {"values": FLOAT, "places": TensorProto.INT64})
    key = np.where(np.isnan(x), np.inf, x.astype(float))
    order = np.argsort(-key if largest else key, axis=1, kind="stable")[:, :9]
    assert np.array_equal(places, order)
    assert np.array_equal(values, np.take_along_axis(x, order, 1), equal_nan=True)


def greedily(boxes, scores, most, threshold):
    def overlap(a, b):
        low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
        shared = np.prod(np.maximum(high - low, 0))
        return shared / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - shared)
    chosen = []
    for i in np.argsort(-scores, kind="stable"):
        if len(chosen) < most and all(overlap(boxes[i], boxes[k]) <= threshold for k in chosen):
            chosen.append(i)
    return chosen


@pytest.mark.parametrize("most", [10, 16, 400])
def test_suppression_of_many_boxes_keeps_the_best_of_those_that_overlap(run, most):
    corner = RANDOM.uniform(0, 20, (400, 2))
    boxes = np.concatenate([corner, corner + RANDOM.uniform(1, 3, (400, 2))], 1)
    scores = RANDOM.permutation(400)
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "threshold"], ["y"])
    (y,) = run([node], {"boxes": boxes[None].astype(np.float32), "scores": scores[None, None].astype(np.float32),
                        "most": np.array([most], np.int64), "threshold": np.array([.3], np.float32)},
               {"y": TensorProto.INT64})
    assert y[:, 2].tolist() == greedily(boxes, scores, most, .3)
