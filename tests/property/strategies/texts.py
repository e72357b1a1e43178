"""Strings, losses, optimizers, and what has come with the newest opsets."""
import re

import numpy as np
from onnx import TensorProto

from draft import FLOATS, Unfit
from engine import DTYPES, PACKED_BITS
from strategies.learning import numbers
from strategies.reducing import greatest, wide


def string_concat(draft):
    one, two = draft.broadcasts(2)
    draft.add(draft.data(TensorProto.STRING, one))
    draft.add(draft.data(TensorProto.STRING, two))
    draft.exact = True

    def concat(x, y):
        result = np.empty(np.broadcast_shapes(x.shape, y.shape), object)
        result[...] = x + y if x.ndim or y.ndim else str(x) + str(y)
        return [result]
    draft.expected = concat


def string_normalizer(draft):
    count = draft.integer(1, 6)
    draft.add(draft.data(TensorProto.STRING, [count] if draft.chance(0.6) else [1, count]))
    stop = draft.random.sample(["a", "abc", "Monday", "TUESDAY", "b"], draft.integer(0, 3))
    if stop:
        draft.attributes["stopwords"] = stop
    action = draft.choice(["NONE", "LOWER", "UPPER"])
    draft.maybe("case_change_action", action, 0.8)
    sensitive = draft.maybe("is_case_sensitive", draft.integer(0, 1), 0.7) and draft.attributes["is_case_sensitive"]
    change = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}[draft.attributes.get("case_change_action", "NONE")]

    lowered = [word.lower() for word in stop]

    def normalize(x):
        words = [word for word in x.reshape(-1) if (word not in stop if sensitive else word.lower() not in lowered)]
        result = np.array([change(word) for word in words] or [""], object)
        return [result.reshape([-1] if x.ndim == 1 else [1, -1])]
    draft.expected = normalize
    if change is str.upper and "ß" in draft.inputs[0].content:
        raise Unfit  # the text does not say whether one character may become two


def string_split(draft):
    texts = ["", "a b", " a  b ", "a,b,,c", ",a,", "a, b, c", "日本 語", "no", "a,b,c,d"]
    shape = draft.shape(0, 2, 12, smallest=1)
    count = int(np.prod(shape))
    draft.add(np.array([draft.choice(texts) for _ in range(count)] + [""], object)[:count].reshape(shape))
    draft.maybe("delimiter", draft.choice([",", "", ", ", " "]))
    draft.maybe("maxsplit", draft.integer(1, 4))
    delimiter, most = draft.attributes.get("delimiter", ""), draft.attributes.get("maxsplit", -1)

    def split(x):
        parts = [str(text).split(delimiter or None, most) for text in x.reshape(-1)]
        longest = max(map(len, parts))
        flat = [part + [""] * (longest - len(part)) for part in parts]
        result = np.empty((len(parts), longest), object)
        for row, part in enumerate(flat):
            result[row] = part
        return [result.reshape(*x.shape, longest), np.array([len(part) for part in parts], np.int64).reshape(x.shape)]
    draft.outputs = 2
    draft.expected = split
    draft.exact = True


def regex(draft):
    pattern = draft.choice(["a.*", "[a-z]+", "", "(a|b)*c?", "\\d+", "[^0-9]*", "M\\w+y", ".", "x y|0", "日.", "(?i)monday", "-?\\d+\\.\\d"])
    draft.add(draft.data(TensorProto.STRING, draft.shape(0, 2, 20)))
    draft.attributes["pattern"] = pattern
    draft.expected = lambda x: [np.array([bool(re.fullmatch(pattern, text, re.A)) for text in x.reshape(-1)], bool).reshape(x.shape)]


def tf_idf(draft):
    words = draft.chance(0.5)
    pool = draft.random.sample(["a", "b", "abc", "éà", "日本", "x y"], 4) if words else draft.random.sample(range(9), 4)
    lengths = draft.integer(1, 3)
    grams, counts = [], []
    for length in range(1, lengths + 1):
        counts.append(len(grams))
        seen = {tuple(draft.choice(pool) for _ in range(length)) for _ in range(draft.integer(1, 3))}
        grams += [item for gram in sorted(seen) for item in gram]
    number = sum((end - start) // length for length, (start, end) in enumerate(zip(counts, counts[1:] + [len(grams)]), 1))
    draft.attributes.update(
        mode=draft.choice(["TF", "IDF", "TFIDF"]), max_skip_count=draft.integer(0, 3), min_gram_length=draft.integer(1, lengths),
        max_gram_length=lengths, ngram_counts=counts, ngram_indexes=draft.random.sample(range(number), number))
    draft.attributes["pool_strings" if words else "pool_int64s"] = grams
    draft.maybe("weights", numbers(draft, number))
    shape = [draft.integer(0, 8)] if draft.chance(0.5) else [draft.integer(1, 3), draft.integer(1, 8)]
    count = int(np.prod(shape))
    values = [draft.choice(pool) for _ in range(count)]
    dtype = object if words else draft.choice([np.int32, np.int64])
    draft.add(np.array(values + pool[:1], dtype)[:count].reshape(shape))


def loss(draft):
    classes = draft.integer(1, 5)
    n = draft.integer(1, 4)
    spatial = [draft.integer(1, 3) for _ in range(draft.choice([0, 0, 1, 2, 3]))]
    x = draft.draw("T", [n, classes, *spatial], "finite")
    target = draft.numpy.integers(0, classes, [n, *spatial]).astype(DTYPES[draft.element("Tind")])
    ignore = None
    if draft.chance(0.4):
        ignore = draft.choice([-1, -100, 0, classes])
        draft.attributes["ignore_index"] = ignore
        if ignore != 0 and draft.chance(0.7):
            target.reshape(-1)[0] = ignore
    draft.add(target)
    weighted = draft.chance(0.5)
    if weighted:
        draft.add(draft.data(draft.element("T"), [classes], "positive"))
    reduction = draft.choice(["mean", "sum", "none"])
    draft.maybe("reduction", reduction)
    reduction = draft.attributes.get("reduction", "mean")
    with_log = draft.name == "SoftmaxCrossEntropyLoss"
    draft.outputs = draft.integer(1, 2) if with_log else 1
    draft.magnitude = (greatest(x) + 10) * (target.size if reduction == "sum" else 1) * 3
    draft.loose = 4

    def formula(x, target, weight=None):
        log = wide(x)
        if with_log:
            log = log - log.max(1, keepdims=True)
            log = log - np.log(np.exp(log).sum(1, keepdims=True))
        ignored = target == ignore if ignore is not None else np.zeros(target.shape, bool)
        places = np.where(ignored, 0, target).astype(np.int64)
        picked = -np.take_along_axis(log, places[:, None], 1)[:, 0]
        weights = np.where(ignored, 0, wide(weight)[places] if weight is not None else 1.0)
        losses = np.where(ignored, 0, picked * weights)
        if reduction == "sum":
            losses = losses.sum()
        elif reduction == "mean":
            if weights.sum() == 0:
                raise NotImplementedError("0 / 0")
            losses = losses.sum() / weights.sum()
        answers = [np.asarray(losses).astype(x.dtype), log.astype(x.dtype)]
        return answers[:draft.outputs]
    draft.expected = formula
    if ignore is not None and (target == ignore).all():
        raise Unfit


def optimizer(draft):
    kind = draft.choice([np.float32, np.float64])
    draft.add(np.array(draft.random.uniform(0.01, 0.5), draft.choice([np.float32, np.float64])))
    draft.add(np.array(draft.integer(0, 5), np.int64))
    shapes = [draft.shape(0, 3, 40) for _ in range(draft.integer(1, 2))]
    sets = {"Adagrad": 3, "Momentum": 3, "Adam": 4}[draft.name]
    for part in range(sets):
        for shape in shapes:
            content = draft.data(TensorProto.FLOAT, shape, "positive" if part >= sets - 1 or draft.name == "Adagrad" and part == 2
                                 else "unit").astype(kind)
            draft.add(content)
    draft.outputs = (sets - 1) * len(shapes)
    if draft.name == "Momentum":
        draft.attributes.update(alpha=0.9, beta=0.8, norm_coefficient=0.01, mode=draft.choice(["standard", "nesterov"]))
    elif draft.name == "Adagrad":
        draft.maybe("decay_factor", 0.1)
        draft.maybe("epsilon", 1e-3)
        draft.maybe("norm_coefficient", 0.01)
    else:
        draft.maybe("alpha", 0.8)
        draft.maybe("beta", 0.7)
        draft.maybe("norm_coefficient", 0.01)
        draft.maybe("norm_coefficient_post", 0.01)
    draft.loose = 1e6 if kind == np.float64 else 8  # the reference's Adam gives floats
    draft.float_outputs = True


def tensor_scatter(draft):
    shape = draft.shape(2, 4, smallest=1)
    axis = draft.integer(1, len(shape) - 1)
    draft.exact = True
    if axis != len(shape) - 2 or draft.chance(0.5):
        draft.attributes["axis"] = axis if draft.chance(0.5) else axis - len(shape)
    update = list(shape)
    update[axis] = draft.integer(0 if draft.chance(0.1) else 1, shape[axis])
    draft.draw("T", shape)
    draft.draw("T", update)
    circular = draft.maybe("mode", draft.choice(["linear", "circular"])) and draft.attributes["mode"] == "circular"
    if draft.chance(0.7):
        most = shape[axis] - 1 if circular else shape[axis] - update[axis]
        draft.ints(draft.numpy.integers(0, most + 1, [shape[0]]))

    def scatter(past, update, indices=None):
        result = past.copy()
        for prefix in np.ndindex(*shape[:axis]):
            for step in range(update.shape[axis]):
                at = step + (0 if indices is None else int(indices[prefix[0]]))
                result[(*prefix, at % shape[axis] if circular else at)] = update[(*prefix, step)]
        return [result]
    draft.expected = scatter


def bit_cast(draft):
    source = draft.element("T1", avoid=(TensorProto.STRING, TensorProto.BOOL))
    target = draft.element("T2", avoid=(TensorProto.STRING, TensorProto.BOOL))
    sizes = [PACKED_BITS.get(element, 8 * DTYPES[element].itemsize) for element in (source, target)]
    if sizes[0] != sizes[1]:
        raise Unfit
    draft.attributes["to"] = int(target)
    draft.add(draft.data(source, draft.shape(0, 4)))
    draft.exact = True
    if source in PACKED_BITS:
        low = (1 << PACKED_BITS[source]) - 1

        def formula(x):
            codes = np.ascontiguousarray(x).view(np.uint8) & low
            if target in (TensorProto.INT4, TensorProto.INT2):
                codes = np.where(codes > low >> 1, codes | 255 - low, codes).astype(np.uint8)
            return [codes.view(DTYPES[target]).reshape(x.shape)]
        draft.expected = formula
    else:
        draft.expected = lambda x: [np.ascontiguousarray(x).view(DTYPES[target]).reshape(x.shape)]


def swiglu(draft):
    shape = draft.shape(0, 4)
    draft.draw("T", shape, "finite")
    draft.draw("T", shape, "finite")
    draft.maybe("alpha", 1.5)
    alpha = draft.attributes.get("alpha", 1.0)
    draft.elementwise = True
    draft.loose = 8 if draft.element("T") in (TensorProto.FLOAT16, TensorProto.BFLOAT16) else 2
    draft.expected = lambda a, b: [(wide(a) / (1 + np.exp(-alpha * wide(a))) * wide(b)).astype(a.dtype)]


def linear_attention(draft):
    batch, steps, kv, keys, values = (draft.integer(1, 3) for _ in range(5))
    heads = kv * draft.integer(1, 2)
    draft.attributes.update(q_num_heads=heads, kv_num_heads=kv)
    rule = draft.choice(["linear", "gated", "delta", "gated_delta"])
    draft.attributes["update_rule"] = rule
    if draft.element("S") != draft.element("T") or draft.element("T") not in FLOATS:
        raise Unfit  # the state of another type rounds in between
    draft.draw("T", [batch, steps, heads * keys], "unit")
    draft.draw("T", [batch, steps, kv * keys], "unit")
    draft.draw("T", [batch, steps, kv * values], "unit")
    if draft.chance(0.5):
        draft.draw("S", [batch, kv, keys, values], "unit")
    else:
        draft.skip()
    if "gated" in rule:
        draft.add(-np.abs(draft.data(draft.element("T"), [batch, steps, kv * keys if draft.chance(0.5) else kv], "unit")))
    else:
        draft.skip()
    if "delta" in rule:
        draft.draw("T", [batch, steps, kv], "unit")
    draft.maybe("scale", 0.5)
    draft.outputs = 2
    draft.loose = 60


def causal_conv(draft):
    batch, channels, length, k = draft.integer(1, 3), draft.integer(1, 4), draft.integer(1, 6), draft.integer(1, 4)
    draft.draw("T", [batch, channels, length], "unit")
    draft.draw("T", [channels, 1, k], "unit")
    if draft.chance(0.5):
        draft.draw("T", [channels], "unit")
    else:
        draft.skip()
    past = draft.chance(0.5)
    if past:
        draft.draw("T", [batch, channels, k - 1], "unit")
    draft.maybe("activation", draft.choice(["none", "silu", "swish"]))
    draft.outputs = 2
    draft.loose = 20


STRATEGIES = {
    "StringConcat": string_concat, "StringNormalizer": string_normalizer, "StringSplit": string_split, "RegexFullMatch": regex,
    "TfIdfVectorizer": tf_idf, "SoftmaxCrossEntropyLoss": loss, "NegativeLogLikelihoodLoss": loss, "Adagrad": optimizer,
    "Adam": optimizer, "Momentum": optimizer, "TensorScatter": tensor_scatter, "BitCast": bit_cast, "SwiGLU": swiglu,
    "LinearAttention": linear_attention, "CausalConvWithState": causal_conv,
}
