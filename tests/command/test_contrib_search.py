"""GreedySearch and BeamSearch: small decoders in models of one node, compared with what ONNX Runtime finds."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from contrib import expected, run

INT32, FLOAT = TensorProto.INT32, TensorProto.FLOAT
VOCABULARY, HEADS, SIZE, LONGEST = 23, 2, 4, 32
HIDDEN = HEADS * SIZE


class Graph:
    """A graph that grows node by node; weights are drawn."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []

    def constant(self, value):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weights(self, *shape, scale=1.0):
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def add(self, op, *inputs, outputs=1, domain="", **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def rename(self, name, output):
        self.nodes.append(helper.make_node("Identity", [name], [output]))

    def finish(self, name, inputs, outputs):
        infos = [[helper.make_tensor_value_info(n, kind, shape) for n, kind, shape in values] for values in (inputs, outputs)]
        return helper.make_graph(self.nodes, name, *infos, self.initializers)


def gpt_decoder(seed, layers=2):
    g = Graph(seed)
    x = g.add("Add", g.add("Gather", g.weights(VOCABULARY, HIDDEN), "input_ids"),
              g.add("Gather", g.weights(LONGEST, HIDDEN, scale=0.5), "position_ids"))
    past = ["batch", HEADS, "past", SIZE]
    for i in range(layers):
        y, present = g.add("Attention", x, g.weights(HIDDEN, 3 * HIDDEN), g.weights(3 * HIDDEN), "attention_mask", f"past_{i}",
                           outputs=2, domain="com.microsoft", num_heads=HEADS, unidirectional=1)
        g.rename(present, f"present_{i}")
        x = g.add("Tanh", g.add("Add", x, g.add("MatMul", y, g.weights(HIDDEN, HIDDEN))))
    g.rename(g.add("MatMul", x, g.weights(HIDDEN, VOCABULARY)), "logits")
    return g.finish(
        "decoder",
        [("input_ids", INT32, ["batch", "length"]), ("position_ids", INT32, ["batch", "length"]),
         ("attention_mask", INT32, ["batch", "all"])] + [(f"past_{i}", FLOAT, [2, *past]) for i in range(layers)],
        [("logits", FLOAT, ["batch", "length", VOCABULARY])] +
        [(f"present_{i}", FLOAT, [2, "batch", HEADS, "all", SIZE]) for i in range(layers)])


def heads_of(g, x):
    return g.add("Transpose", g.add("Reshape", x, g.constant(np.array([0, 0, HEADS, SIZE]))), perm=[0, 2, 1, 3])


def attend(g, query, key, value, mask=None):
    """Attention of heads; mask: what is added to scores."""
    scores = g.add("MatMul", query, g.add("Transpose", key, perm=[0, 1, 3, 2]))
    if mask:
        scores = g.add("Add", scores, mask)
    y = g.add("MatMul", g.add("Softmax", scores, axis=-1), value)
    return g.add("Reshape", g.add("Transpose", y, perm=[0, 2, 1, 3]), g.constant(np.array([0, 0, HIDDEN])))


def embed(g, table, ids):
    return g.add("Gather", table, ids)


def cross_mask(g):
    seen = g.add("Cast", "encoder_attention_mask", to=FLOAT)
    hidden = g.add("Mul", g.add("Sub", seen, g.constant(np.float32(1))), g.constant(np.float32(1e4)))
    return g.add("Unsqueeze", hidden, g.constant(np.array([1, 2])))


def t5_layer(g, x, weights, past, cross, mask):
    """A step of the decoder over one token; returns it and the keys and values so far."""
    wq, wk, wv, wo, uq, uo = weights
    key, value = (heads_of(g, g.add("MatMul", x, w)) for w in (wk, wv))
    if past:
        key, value = (g.add("Concat", old, new, axis=2) for old, new in zip(past, (key, value)))
    x = g.add("Add", x, g.add("MatMul", attend(g, heads_of(g, g.add("MatMul", x, wq)), key, value), wo))
    y = attend(g, heads_of(g, g.add("MatMul", x, uq)), *cross, mask)
    return g.add("Tanh", g.add("Add", x, g.add("MatMul", y, uo))), (key, value)


def state(kind, length, part):
    return [f"{kind}_{name}_{part}_0" for name in ("key", "value")], ["batch", HEADS, length, SIZE]


def t5_graphs(seed, starts, hidden):
    """Encoder and decoder of one layer. starts: the encoder makes the first step of the decoder too (the older form)."""
    def decoder_weights(g):
        g.random = np.random.default_rng(seed)
        return (g.weights(VOCABULARY, HIDDEN), [g.weights(HIDDEN, HIDDEN) for _ in range(6)], g.weights(HIDDEN, VOCABULARY))
    g = Graph(seed)
    table, layer, last = decoder_weights(g)
    x = g.add("Tanh", embed(g, g.weights(VOCABULARY, HIDDEN), "encoder_input_ids"))
    outputs = []
    cross_names, cross_shape = state("present", "source", "cross")
    cross = [heads_of(g, g.add("MatMul", x, g.weights(HIDDEN, HIDDEN))) for _ in cross_names]
    inputs = [("encoder_input_ids", INT32, ["batch", "source"]), ("encoder_attention_mask", INT32, ["batch", "source"])]
    self_names, self_shape = state("present", "all", "self")
    if starts:
        y, new = t5_layer(g, embed(g, table, "decoder_input_ids"), layer, None, cross, cross_mask(g))
        g.rename(g.add("MatMul", y, last), "logits")
        g.rename(x, "encoder_hidden_states")
        inputs.append(("decoder_input_ids", INT32, ["batch", 1]))
        outputs += [("logits", FLOAT, ["batch", 1, VOCABULARY]), ("encoder_hidden_states", FLOAT, ["batch", "source", HIDDEN])]
        for value, name in zip(new, self_names):
            g.rename(value, name)
            outputs.append((name, FLOAT, ["batch", HEADS, 1, SIZE]))
    for value, name in zip(cross, cross_names):
        g.rename(value, name)
        outputs.append((name, FLOAT, cross_shape))
    encoder = g.finish("encoder", inputs, outputs)
    g = Graph(seed)
    table, layer, last = decoder_weights(g)
    past, past_shape = state("past", "past", "self")
    old_cross, _ = state("past", "source", "cross")
    x = embed(g, table, "input_ids")
    if hidden: # only its shape is used: ONNX Runtime leaves what is in it open
        size = g.add("Cast", g.add("ReduceProd", g.add("Shape", "encoder_hidden_states"), keepdims=0), to=FLOAT)
        x = g.add("Add", x, g.add("Div", size, g.constant(np.float32(1e9))))
    y, new = t5_layer(g, x, layer, past, old_cross, cross_mask(g))
    g.rename(g.add("MatMul", y, last), "logits")
    for value, name in zip(new, self_names):
        g.rename(value, name)
    inputs = [("input_ids", INT32, ["batch", 1]), ("encoder_attention_mask", INT32, ["batch", "source"])]
    inputs += [("encoder_hidden_states", FLOAT, ["batch", "source", HIDDEN])] if hidden else []
    inputs += [(n, FLOAT, past_shape) for n in past] + [(n, FLOAT, cross_shape) for n in old_cross]
    outputs = [("logits", FLOAT, ["batch", 1, VOCABULARY])] + [(n, FLOAT, self_shape) for n in self_names]
    return encoder, g.finish("decoder", inputs, outputs)


def model_of(op, inputs, outputs, attributes):
    """A model of the one node; inputs: name and array, or None for one left out."""
    names = [name if value is not None else "" for name, value in inputs]
    node = helper.make_node(op, names, [name for name, _ in outputs], name="N", domain="com.microsoft", **attributes)
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
             for name, value in inputs if value is not None]
    graph = helper.make_graph([node], "search", infos, [helper.make_tensor_value_info(n, k, None) for n, k in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
                             ir_version=8)


def i32(value):
    return np.array(value, np.int32)


def f32(value):
    return np.array(value, np.float32)


def compare(ingot, tmp_path, model, inputs):
    feeds = {name: value for name, value in inputs if value is not None}
    wanted, found = expected(model, feeds), run(ingot, model, feeds, tmp_path)
    assert sorted(found) == sorted(wanted)
    for name, value in wanted.items():
        assert found[name].dtype == value.dtype and found[name].shape == value.shape, name
        if value.dtype.kind == "i":
            np.testing.assert_array_equal(found[name], value, name)
        else:
            np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-4, err_msg=name)


PROMPT = i32([[5, 7, 1, 3], [0, 0, 9, 2], [0, 4, 4, 11]])  # 0 is padding, to the left
TOKENS = {"eos_token_id": 6, "pad_token_id": 0}


def random_mask(seed, *shape):
    mask = (np.random.default_rng(seed).random(shape) > 0.3).astype(np.int32)
    mask[..., 1:4] = 1
    return mask


GREEDY = {
    "plain": {},
    "least length": {"min_length": i32(9)},
    "repetition penalty": {"repetition_penalty": f32(1.7)},
    "vocabulary mask": {"vocab_mask": random_mask(1, VOCABULARY)},
    "prefix mask": {"prefix_vocab_mask": random_mask(2, 3, VOCABULARY)},
    "attention mask": {"attention_mask": i32([[1, 1, 0, 1], [0, 1, 1, 1], [0, 1, 1, 1]])},
    "no n-gram twice": {"no_repeat_ngram_size": 2},
    "first decoder": {"init_decoder": True},
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", GREEDY)
def test_greedy_search_finds_what_onnx_runtime_finds(ingot, tmp_path, case, seed):
    given = dict(GREEDY[case])
    attributes = {"decoder": gpt_decoder(seed), **TOKENS}
    if given.pop("init_decoder", False):
        attributes["init_decoder"] = gpt_decoder(seed)
    if "no_repeat_ngram_size" in given:
        attributes["no_repeat_ngram_size"] = given.pop("no_repeat_ngram_size")
    order = ("min_length", "repetition_penalty", "vocab_mask", "prefix_vocab_mask", "attention_mask")
    inputs = [("input_ids", PROMPT), ("max_length", i32(16)), *[(name, given.get(name)) for name in order]]
    compare(ingot, tmp_path, model_of("GreedySearch", inputs, [("sequences", INT32)], attributes), inputs)


BEAMS = {
    "plain": {},
    "one beam": {"num_beams": i32(1), "num_return_sequences": i32(1)},
    "early stop": {"early_stopping": 1},
    "least length": {"min_length": i32(10)},
    "length penalty": {"length_penalty": f32(2.5)},
    "repetition penalty": {"repetition_penalty": f32(1.7)},
    "vocabulary mask": {"vocab_mask": random_mask(1, VOCABULARY)},
    "prefix mask": {"prefix_vocab_mask": random_mask(2, 3, VOCABULARY)},
    "attention mask": {"attention_mask": i32([[1, 1, 0, 1], [0, 1, 1, 1], [0, 1, 1, 1]])},
    "no n-gram twice": {"no_repeat_ngram_size": 2},
    "vocabulary size": {"vocab_size": VOCABULARY},
}
ORDER = ("min_length", "num_beams", "num_return_sequences", "length_penalty", "repetition_penalty", "vocab_mask",
         "prefix_vocab_mask", "attention_mask")
OUTPUTS = [("sequences", INT32), ("sequences_scores", FLOAT), ("scores", FLOAT)]


def beam_inputs(case, attributes, prompt, max_length):
    given = {"min_length": i32(1), "num_beams": i32(4), "num_return_sequences": i32(3), "length_penalty": f32(1), **BEAMS[case]}
    for name in ("early_stopping", "no_repeat_ngram_size", "vocab_size"):
        if name in given:
            attributes[name] = given.pop(name)
    return [("input_ids", prompt), ("max_length", i32(max_length)), *[(name, given.get(name)) for name in ORDER]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", BEAMS)
def test_beam_search_over_a_decoder_finds_what_onnx_runtime_finds(ingot, tmp_path, case, seed):
    attributes = {"decoder": gpt_decoder(seed), "model_type": 0, **TOKENS}
    inputs = beam_inputs(case, attributes, PROMPT, 16)
    outputs = OUTPUTS[:2] if seed else OUTPUTS
    compare(ingot, tmp_path, model_of("BeamSearch", inputs, outputs, attributes), inputs)


@pytest.mark.parametrize("form", ["starting encoder", "starting encoder, hidden states", "encoder"])
@pytest.mark.parametrize("case", BEAMS)
def test_beam_search_over_encoder_and_decoder_finds_what_onnx_runtime_finds(ingot, tmp_path, case, form):
    encoder, decoder = t5_graphs(11, form != "encoder", "hidden" in form)
    attributes = {"encoder": encoder, "decoder": decoder, "model_type": 1, "decoder_start_token_id": 2, **TOKENS}
    inputs = beam_inputs(case, attributes, PROMPT, 12)
    compare(ingot, tmp_path, model_of("BeamSearch", inputs, OUTPUTS[:2], attributes), inputs)


def refusal(ingot, tmp_path, model, inputs, code=1):
    onnx.save(model, tmp_path / "model.onnx")
    words = []
    for name, value in inputs:
        if value is not None:
            np.save(tmp_path / f"{name}.npy", value)
            words += ["--input", f"{name}={tmp_path / name}.npy"]
    return ingot("run", tmp_path / "model.onnx", *words, code=code).stderr


@pytest.mark.parametrize("name, value, words", [
    ("max_length", i32(4), "max_length"),
    ("num_beams", i32(0), "num_beams"),
    ("num_return_sequences", i32(9), "9 sequences"),
    ("vocab_mask", np.ones(5, np.int32), "vocab_mask"),
    ("attention_mask", np.ones((1, 4), np.int32), "attention_mask"),
    ("repetition_penalty", f32(0), "repetition_penalty"),
])
def test_what_a_search_cannot_be_asked_for_is_refused_by_name(ingot, tmp_path, name, value, words):
    inputs = [(n, value if n == name else v) for n, v in beam_inputs("plain", {}, PROMPT, 16)]
    model = model_of("BeamSearch", inputs, OUTPUTS, {"decoder": gpt_decoder(0), **TOKENS})
    message = refusal(ingot, tmp_path, model, inputs)
    assert "'N'" in message and words in message


def test_buffers_that_past_and_present_share_are_refused(ingot, tmp_path):
    decoder = gpt_decoder(0)
    decoder.input.append(helper.make_tensor_value_info("past_sequence_length", INT32, [1]))
    inputs = beam_inputs("plain", {}, PROMPT, 16)
    message = refusal(ingot, tmp_path, model_of("BeamSearch", inputs, OUTPUTS, {"decoder": decoder, **TOKENS}), inputs)
    assert "'decoder'" in message and "share" in message


def test_a_search_without_its_decoder_is_refused(ingot, tmp_path):
    inputs = beam_inputs("plain", {}, PROMPT, 16)
    message = refusal(ingot, tmp_path, model_of("BeamSearch", inputs, OUTPUTS, TOKENS), inputs)
    assert "decoder" in message
