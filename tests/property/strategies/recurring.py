"""Recurrent networks and attention."""
import numpy as np
from onnx import TensorProto

from draft import Unfit
from strategies.reducing import wide

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
FUNCTIONS = {
    "Relu": lambda x, a, b: np.maximum(x, 0), "Tanh": lambda x, a, b: np.tanh(x), "Sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)),
    "Affine": lambda x, a, b: a * x + b, "LeakyRelu": lambda x, a, b: np.where(x >= 0, x, a * x),
    "ThresholdedRelu": lambda x, a, b: np.where(x >= a, x, 0), "ScaledTanh": lambda x, a, b: a * np.tanh(b * x),
    "HardSigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1), "Elu": lambda x, a, b: np.where(x >= 0, x, a * (np.exp(x) - 1)),
    "Softsign": lambda x, a, b: x / (1 + np.abs(x)), "Softplus": lambda x, a, b: np.logaddexp(0, x),
}
PARAMETERS = {"Affine": 2, "LeakyRelu": 1, "ThresholdedRelu": 1, "ScaledTanh": 2, "HardSigmoid": 2, "Elu": 1}


def recurrent(draft):
    gates, steps, batch = GATES[draft.name], draft.integer(1, 5), draft.integer(1, 3)
    width, hidden = draft.integer(1, 6), draft.integer(1, 6)
    direction = draft.choice(["forward", "forward", "reverse", "bidirectional"])
    if direction != "forward" or draft.chance(0.3):
        draft.attributes["direction"] = direction
    directions = 2 if direction == "bidirectional" else 1
    batch_first = "layout" in draft.schema.attributes and draft.chance(0.3)
    if batch_first:
        draft.attributes["layout"] = 1
    if draft.chance(0.8):
        draft.attributes["hidden_size"] = hidden
    draft.draw("T", [batch, steps, width] if batch_first else [steps, batch, width], "unit")
    draft.draw("T", [directions, gates * hidden, width], "unit")
    draft.draw("T", [directions, gates * hidden, hidden], "unit")
    state = [batch, directions, hidden] if batch_first else [directions, batch, hidden]
    if draft.chance(0.5):
        draft.draw("T", [directions, 2 * gates * hidden], "unit")
    else:
        draft.skip()
    if draft.chance(0.4):
        draft.add(draft.numpy.integers(0 if draft.chance(0.3) else 1, steps + 1, [batch]).astype(np.int32))
    else:
        draft.skip()
    for _ in range(2 if draft.name == "LSTM" else 1):
        if draft.chance(0.4):
            draft.draw("T", state, "unit")
        else:
            draft.skip()
    if draft.name == "LSTM":
        if draft.chance(0.3):
            draft.draw("T", [directions, 3 * hidden], "unit")
        draft.maybe("input_forget", draft.integer(0, 1), 0.3)
    if draft.name == "GRU" and "linear_before_reset" in draft.schema.attributes:
        draft.maybe("linear_before_reset", draft.integer(0, 1))
    if draft.chance(0.3):
        draft.attributes["clip"] = 0.7
    names = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}[draft.name] * directions
    pairs = [(0, 0)] * len(names)
    if draft.chance(0.4):
        names = [draft.choice(FUNCTIONS) for _ in names]
        draft.attributes["activations"] = names
        alphas, betas, pairs = [], [], []
        for name in names:
            count = PARAMETERS.get(name, 0)
            alpha, beta = 0.5, 0.25
            if count >= 1:
                alphas.append(alpha)
            if count == 2:
                betas.append(beta)
            pairs.append((alpha, beta))
        if alphas:
            draft.attributes["activation_alpha"] = alphas
        if betas:
            draft.attributes["activation_beta"] = betas
    draft.outputs = {"LSTM": draft.choice([1, 3, [True, False, True], [False, True, True]])}.get(
        draft.name, draft.choice([1, 2, [False, True]]))
    if draft.schema.min_output > 1:
        draft.outputs = draft.schema.min_output
    draft.loose = 20
    draft.expected = lambda *contents: run_network(draft, batch_first, direction, hidden, names, pairs, contents)


def run_network(draft, batch_first, direction, hidden, names, pairs, contents):
    x, w, r, b, lengths, h0, c0, p = list(contents) + [None] * (8 - len(contents))
    kind = x.dtype
    if draft.name != "LSTM":
        c0 = p = None
    x = wide(x)
    if batch_first:
        x = x.transpose(1, 0, 2)
        h0, c0 = (state.transpose(1, 0, 2) if state is not None else None for state in (h0, c0))
    steps, batch, _ = x.shape
    directions = w.shape[0]
    gates = GATES[draft.name]
    ys, hs, cs = [], [], []
    per = ACTIVATIONS[draft.name]
    for d in range(directions):
        backward = direction == "reverse" or d == 1
        functions = [lambda v, n=names[d * per + i], ab=pairs[d * per + i]: FUNCTIONS[n](v, *ab) for i in range(per)]
        wd, rd = wide(w[d]).reshape(gates, hidden, -1), wide(r[d]).reshape(gates, hidden, hidden)
        bias = wide(b[d]) if b is not None else np.zeros(2 * gates * hidden)
        wb, rb = bias[:gates * hidden].reshape(gates, hidden), bias[gates * hidden:].reshape(gates, hidden)
        peep = wide(p[d]).reshape(3, hidden) if p is not None else np.zeros((3, hidden))
        y = np.zeros((steps, batch, hidden))
        last_h, last_c = np.zeros((batch, hidden)), np.zeros((batch, hidden))
        for n in range(batch):
            length = steps if lengths is None else int(lengths[n])
            h = wide(h0[d, n]) if h0 is not None else np.zeros(hidden)
            c = wide(c0[d, n]) if c0 is not None else np.zeros(hidden)
            for t in range(length - 1, -1, -1) if backward else range(length):
                h, c = cell(draft, functions, x[t, n], wd, rd, wb, rb, peep, h, c)
                y[t, n] = h
            last_h[n], last_c[n] = h, c
        ys.append(y)
        hs.append(last_h)
        cs.append(last_c)
    y, h, c = np.stack(ys, 1), np.stack(hs), np.stack(cs)
    if batch_first:
        y, h, c = y.transpose(2, 0, 1, 3), h.transpose(1, 0, 2), c.transpose(1, 0, 2)
    answers = [y.astype(kind), h.astype(kind), c.astype(kind)]
    wanted = [True] * draft.outputs if isinstance(draft.outputs, int) else draft.outputs
    return [answer for answer, asked in zip(answers, wanted) if asked]


def cell(draft, functions, x, w, r, wb, rb, peep, h, c):
    limit = draft.attributes.get("clip")

    def clipped(v):
        return v if limit is None else np.clip(v, -np.float32(limit), np.float32(limit))
    if draft.name == "RNN":
        return functions[0](clipped(w[0] @ x + wb[0] + r[0] @ h + rb[0])), c
    f, g = functions[:2]
    if draft.name == "GRU":
        z = f(clipped(w[0] @ x + wb[0] + r[0] @ h + rb[0]))
        reset = f(clipped(w[1] @ x + wb[1] + r[1] @ h + rb[1]))
        if draft.attributes.get("linear_before_reset"):
            new = g(clipped(w[2] @ x + wb[2] + reset * (r[2] @ h + rb[2])))
        else:
            new = g(clipped(w[2] @ x + wb[2] + r[2] @ (reset * h) + rb[2]))
        return (1 - z) * new + z * h, c
    i, o, ft, ct = (w[k] @ x + wb[k] + r[k] @ h + rb[k] for k in range(4))  # gates in the order i, o, f, c
    i = f(clipped(i + peep[0] * c))
    ft = 1 - i if draft.attributes.get("input_forget") else f(clipped(ft + peep[2] * c))
    c = ft * c + i * g(clipped(ct))
    return f(clipped(o + peep[1] * c)) * functions[2](c), c


def attention(draft):
    batch, queries, keys = draft.integer(1, 3), draft.integer(1, 5), draft.integer(1, 6)
    kv_heads = draft.integer(1, 2)
    heads = kv_heads * draft.integer(1, 2)
    size, value_size = draft.integer(1, 5), draft.integer(1, 5)
    flat = draft.chance(0.4)
    if flat:
        draft.attributes.update(q_num_heads=heads, kv_num_heads=kv_heads)
        draft.draw("T1", [batch, queries, heads * size], "unit")
        draft.draw("T1", [batch, keys, kv_heads * size], "unit")
        draft.draw("T2", [batch, keys, kv_heads * value_size], "unit")
    else:
        draft.draw("T1", [batch, heads, queries, size], "unit")
        draft.draw("T1", [batch, kv_heads, keys, size], "unit")
        draft.draw("T2", [batch, kv_heads, keys, value_size], "unit")
    past = draft.integer(1, 3) if draft.chance(0.3) else 0
    total = keys + past
    if draft.chance(0.4):
        kind = draft.element("U")
        shape = draft.choice([[queries, total], [1, 1, queries, total], [batch, heads, queries, total], [batch, 1, queries, total]])
        content = draft.data(kind, shape, "unit")
        if kind == TensorProto.BOOL:
            content[..., 0] = True
        elif kind not in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16):
            raise Unfit
        draft.add(content)
    elif past:
        draft.skip()
    if past:
        draft.draw("T1", [batch, kv_heads, past, size], "unit")
        draft.draw("T2", [batch, kv_heads, past, value_size], "unit")
        draft.outputs = 3
    draft.maybe("is_causal", draft.integer(0, 1), 0.4)
    draft.maybe("scale", 0.5, 0.3)
    draft.maybe("softcap", 2.0, 0.3)
    if not past and draft.chance(0.2):
        draft.outputs = [True, False, False, True]
        draft.maybe("qk_matmul_output_mode", draft.integer(0, 3))
    draft.loose = 60
    if TensorProto.DOUBLE in (draft.element("T1"), draft.element("T2")):
        draft.loose = 1e7  # the reference takes roots and sums in floats


def rotary(draft):
    batch, steps, heads, half = draft.integer(1, 3), draft.integer(1, 5), draft.integer(1, 3), draft.integer(1, 4)
    size = 2 * half
    turned = size
    if draft.chance(0.3) and half > 1:
        turned = 2 * draft.integer(1, half)
        draft.attributes["rotary_embedding_dim"] = turned
    if draft.chance(0.5):
        draft.attributes["num_heads"] = heads
        draft.draw("T", [batch, steps, heads * size], "unit")
    else:
        draft.draw("T", [batch, heads, steps, size], "unit")
    if draft.chance(0.6):
        rows = draft.integer(steps, 9)
        for _ in range(2):
            draft.draw("T", [rows, turned // 2], "unit")
        draft.ints(draft.numpy.integers(0, rows, [batch, steps]))
    else:
        for _ in range(2):
            draft.draw("T", [batch, steps, turned // 2], "unit")
    draft.maybe("interleaved", draft.integer(0, 1))
    draft.loose = 4


STRATEGIES = {"RNN": recurrent, "GRU": recurrent, "LSTM": recurrent, "Attention": attention, "RotaryEmbedding": rotary}
