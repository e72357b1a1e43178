"""Operators that gather along axes: reductions, running sums, arg max, softmax, normalizations."""
import numpy as np
from onnx import TensorProto

from draft import FLOATS, INTEGERS, Unfit
from engine import DTYPES
from peers import node_answer

HALVES = {TensorProto.FLOAT16, TensorProto.BFLOAT16}


def wide(content):
    return content.astype(np.float64)


def greatest(content):
    """The greatest finite absolute value."""
    with np.errstate(all="ignore"):
        values = np.abs(wide(content))
        values = values[np.isfinite(values)]
    return float(values.max()) if values.size else 0.0


UNDEFINED_OF_NOTHING = ("ReduceMean", "ReduceLogSum", "ReduceLogSumExp")  # in integers


def reduce(draft):
    element = draft.element("T")
    shape = draft.shape(0, 4, 800)
    style = "any" if draft.name in ("ReduceMax", "ReduceMin", "ReduceSum") else "finite"
    if draft.name in ("ReduceLogSum", "ReduceProd"):
        style = "positive"
    content = draft.data(element, shape, style)
    if draft.name == "ReduceProd" and element in INTEGERS:
        content = np.where(draft.numpy.random(content.shape) < 0.8, np.ones_like(content), content % 3).astype(content.dtype)
    if draft.name == "ReduceProd" and element in FLOATS:
        content = (1 + draft.data(element, shape, "unit").astype(np.float32) / 4).astype(content.dtype)
    if element in INTEGERS and draft.name in ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceMean", "ReduceLogSum",
                                             "ReduceLogSumExp"):
        content = content % content.dtype.type(50)
    if element in INTEGERS and draft.name == "ReduceLogSum":
        content = content + content.dtype.type(1)
    content = draft.add(content)
    axes = None
    rank = len(shape)
    if draft.chance(0.75):
        axes = draft.axes(rank, negative=draft.version >= 11) if rank else []
    by_input = "axes" not in draft.schema.attributes
    empty = 0 in shape
    if by_input:
        draft.maybe("noop_with_empty_axes", draft.integer(0, 1))
        if axes is not None:
            draft.ints(axes)
        elif draft.chance(0.3):
            draft.skip()
    elif axes:
        draft.attributes["axes"] = axes
    draft.maybe("keepdims", draft.integer(0, 1))
    size = greatest(content)
    if draft.name in ("ReduceSum", "ReduceMean"):
        draft.magnitude = size * (max(1, content.size) if draft.name == "ReduceSum" else 1)
    draft.exact = "value" if draft.name in ("ReduceMax", "ReduceMin") else False
    if empty and (draft.version < 18 or element in INTEGERS and draft.name in UNDEFINED_OF_NOTHING):
        raise Unfit  # the text says what the reduction of nothing is since 18
    if element in INTEGERS and draft.name in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        draft.slack = 1  # the text does not say how the root or logarithm of an integer is rounded
    draft.expected = lambda x, *_: newest_reduce(draft, x, axes)


def newest_reduce(draft, x, axes):
    more = {name: value for name, value in draft.attributes.items() if name != "axes"}
    inputs = [x] + ([np.array(axes, np.int64)] if axes else [])
    if axes == [] and draft.attributes.get("noop_with_empty_axes"):
        inputs.append(np.array([], np.int64))
    if x.dtype != np.float64 and (x.dtype.kind not in "biu" or draft.slack):
        inputs[0] = wide(x)
    version = 20 if draft.name in ("ReduceMax", "ReduceMin") else 13 if draft.name == "ReduceSum" else 18
    with np.errstate(all="ignore"):
        return [np.asarray(node_answer(draft.name, version, inputs, **more)[0]).astype(x.dtype)]


def arg(draft):
    element = draft.element("T")
    shape = draft.shape(1, 4, smallest=1)
    content = draft.data(element, shape, "finite")
    if draft.chance(0.5) and element in FLOATS:
        content = np.round(content.astype(np.float32)).astype(content.dtype)  # ties
    draft.add(content)
    draft.maybe("axis", draft.axis(len(shape), draft.version >= 11))
    draft.maybe("keepdims", draft.integer(0, 1))
    if "select_last_index" in draft.schema.attributes:
        draft.maybe("select_last_index", draft.integer(0, 1))


def cumulative(draft):
    element = draft.element("T")
    shape = draft.shape(1, 4, 500)
    content = draft.data(element, shape, "finite")
    if draft.name == "CumProd":
        content = (np.clip(wide(content), -2, 2)).astype(content.dtype)
    draft.add(content)
    axis = draft.axis(len(shape))
    draft.add(np.array(axis, DTYPES[draft.element("T2")]))
    draft.maybe("exclusive", draft.integer(0, 1))
    draft.maybe("reverse", draft.integer(0, 1))
    if draft.name == "CumSum":
        draft.magnitude = greatest(content) * max(1, shape[axis])
    else:
        draft.elementwise, draft.loose = True, 4


def softmax(draft):
    shape = draft.shape(1, 4)
    draft.draw("T", shape, "any" if draft.chance(0.2) and draft.name != "Hardmax" else "finite")
    axis = -1 if draft.version >= 13 else 1
    if draft.chance(0.7):
        axis = draft.axis(len(shape), draft.version >= 11)
        draft.attributes["axis"] = axis
    if axis >= len(shape):
        raise Unfit
    draft.exact = draft.name == "Hardmax"
    if draft.name == "LogSoftmax":
        draft.loose = 4
    if draft.version < 13:
        draft.expected = lambda x: flat_softmax(draft, x, axis)
    elif draft.name == "LogSoftmax":
        draft.expected = lambda x: [log_softmax(x, axis)]
    elif draft.name == "Hardmax":
        draft.expected = lambda x: [hardmax(x, axis)]


def log_softmax(x, axis):
    if not x.size:
        return x
    with np.errstate(all="ignore"):
        shifted = wide(x) - wide(x).max(axis, keepdims=True)
        return (shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))).astype(x.dtype)


def hardmax(x, axis):
    result = np.zeros_like(x)
    if x.size:
        np.put_along_axis(result, np.expand_dims(np.argmax(wide(x), axis), axis), 1, axis)
    return result


def flat_softmax(draft, x, axis):
    """Forms before 13 see a matrix: dimensions before axis make its rows."""
    axis += x.ndim if axis < 0 else 0
    rows = int(np.prod(x.shape[:axis], dtype=np.int64))
    columns = int(np.prod(x.shape[axis:], dtype=np.int64))
    flat = x.reshape(rows, columns)
    if draft.name == "Hardmax":
        return [hardmax(flat, 1).reshape(x.shape)]
    if draft.name == "LogSoftmax":
        return [log_softmax(flat, 1).reshape(x.shape)]
    if not x.size:
        return [x]
    return [node_answer(draft.name, 13, [wide(flat)], axis=1)[0].astype(x.dtype).reshape(x.shape)]


def batch_norm(draft):
    element = draft.element("T")
    shape = draft.shape(2, 5, smallest=1) if draft.chance(0.95) else [draft.integer(1, 5)]
    if len(shape) == 1:
        shape = [draft.integer(1, 4), draft.integer(1, 4)]
    channels = shape[1]
    draft.draw("T", shape, "finite")
    second = draft.element("T1") if draft.version >= 15 else element
    third = draft.element("T2" if draft.version >= 15 else "U") if draft.version >= 14 else element
    for kind, style in ((second, "finite"), (second, "finite"), (third, "unit"), (third, "positive")):
        draft.add(draft.data(kind, [channels], style))
    draft.maybe("epsilon", 1e-3)
    draft.maybe("momentum", 0.75)
    draft.loose = 8
    if draft.version < 7:
        draft.attributes["is_test"] = 1
        if draft.version < 6:
            draft.attributes["consumed_inputs"] = [0, 0, 0, 1, 1]
    if draft.version < 9:
        draft.maybe("spatial", 1)
    if draft.version >= 14 and draft.chance(0.3):
        draft.attributes["training_mode"] = 1
        draft.outputs = 3
    draft.expected = lambda *contents: normalize_batch(draft, *contents)


def normalize_batch(draft, x, scale, bias, mean, variance):
    epsilon = float(np.float32(draft.attributes.get("epsilon", 1e-5)))
    momentum = float(np.float32(draft.attributes.get("momentum", 0.9)))
    outer = (1, -1) + (1,) * (x.ndim - 2)
    others = (0,) + tuple(range(2, x.ndim))
    used_mean, used_variance = wide(mean), wide(variance)
    if draft.attributes.get("training_mode"):
        used_mean, used_variance = wide(x).mean(others), wide(x).var(others)
    y = (wide(x) - used_mean.reshape(outer)) / np.sqrt(used_variance.reshape(outer) + epsilon)
    y = (y * wide(scale).reshape(outer) + wide(bias).reshape(outer)).astype(x.dtype)
    if draft.outputs == 1:
        return [y]
    return [y, (wide(mean) * momentum + used_mean * (1 - momentum)).astype(mean.dtype),
            (wide(variance) * momentum + used_variance * (1 - momentum)).astype(variance.dtype)]


def instance_norm(draft):
    shape = draft.shape(3, 5, smallest=1)
    draft.draw("T", shape, "finite")
    draft.draw("T", [shape[1]], "finite")
    draft.draw("T", [shape[1]], "finite")
    draft.maybe("epsilon", 1e-3)
    draft.loose = 20
    if draft.version < 6:
        draft.maybe("consumed_inputs", [0, 0, 0], 0.2)
    draft.expected = lambda x, scale, bias: node_answer("InstanceNormalization", 6, [x, scale, bias], epsilon=draft.attributes.get(
        "epsilon", 1e-5))


def staged_in_float(draft):
    """The first stage works in the stash type, float; Ingot keeps doubles there."""
    draft.loose = 1e7 if draft.element("T") == TensorProto.DOUBLE else 20


def group_norm(draft):
    groups = draft.integer(1, 4)
    shape = [draft.dim(1), groups * draft.integer(1, 3)] + draft.shape(0, 3, 100, 1)
    draft.draw("T", shape, "finite")
    draft.draw("T", [shape[1]], "finite")
    draft.draw("T", [shape[1]], "finite")
    draft.attributes["num_groups"] = groups
    draft.expected = lambda *contents: [normalize_groups(draft, groups, *contents)]
    if shape[1] == groups and 1 in (np.prod(shape[2:]),):
        raise Unfit  # the deviation of one element is nothing but rounding
    draft.maybe("epsilon", 1e-3)
    if "stash_type" in draft.schema.attributes:
        draft.maybe("stash_type", 1)
    staged_in_float(draft)


def normalize_groups(draft, groups, x, scale, bias):
    grouped = wide(x).reshape(x.shape[0], groups, -1)
    centered = grouped - grouped.mean(2, keepdims=True)
    epsilon = float(np.float32(draft.attributes.get("epsilon", 1e-5)))
    normal = (centered / np.sqrt((centered ** 2).mean(2, keepdims=True) + epsilon)).reshape(x.shape)
    outer = [1, -1] + [1] * (x.ndim - 2)
    return (normal * wide(scale).reshape(outer) + wide(bias).reshape(outer)).astype(x.dtype)


def layer_norm(draft):
    shape = draft.shape(1, 4, smallest=1)
    axis = draft.axis(len(shape))
    draft.draw("T", shape, "finite")
    draft.maybe("epsilon", 1e-3)
    if not draft.maybe("axis", axis):
        axis = -1
    if draft.name == "LayerNormalization":
        scale = draft.element("T")
        draft.add(draft.data(scale, shape[axis:], "finite"))
        if draft.chance(0.5):
            draft.add(draft.data(scale, shape[axis:], "finite"))
        draft.outputs = draft.choice([1, 1, 2, 3])
        if scale in HALVES:
            draft.outputs = 1
    else:
        draft.add(draft.data(draft.element("V"), shape[axis:], "finite"))
        draft.outputs = 1
    draft.maybe("stash_type", 1)
    staged_in_float(draft)


def lp_norm(draft):
    shape = draft.shape(1, 4, smallest=1)
    draft.draw("T", shape, "finite")
    draft.maybe("axis", draft.axis(len(shape)))
    draft.maybe("p", draft.integer(1, 2))
    draft.expected = lambda x: [over_norm(x, draft.attributes.get("axis", -1), draft.attributes.get("p", 2))]


def over_norm(x, axis, p):
    norm = np.linalg.norm(wide(x), p, axis, keepdims=True)
    return np.divide(wide(x), norm, out=np.zeros(x.shape), where=norm != 0).astype(x.dtype)


def mean_variance_norm(draft):
    shape = draft.shape(4, 4, smallest=1)
    draft.draw("T", shape, "finite")
    if draft.chance(0.6):
        draft.attributes["axes"] = draft.axes(4, negative=False, least=1)
    draft.loose = 20
    draft.expected = lambda x: [standardize(x, tuple(draft.attributes.get("axes", (0, 2, 3))))]


def standardize(x, axes):
    return ((wide(x) - wide(x).mean(axes, keepdims=True)) / (wide(x).std(axes, keepdims=True) + 1e-9)).astype(x.dtype)


def lrn(draft):
    shape = draft.shape(3, 5, smallest=1)
    draft.draw("T", shape, "finite")
    draft.attributes["size"] = draft.integer(1, 6)
    for name in ("alpha", "beta", "bias"):
        draft.maybe(name, round(draft.random.uniform(0.1, 2), 2))
    draft.loose = 4
    draft.expected = lambda x: [local_response(draft, x)]


def local_response(draft, x):
    attributes = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0, **draft.attributes}
    alpha, beta, bias = (float(np.float32(attributes[name])) for name in ("alpha", "beta", "bias"))
    size = attributes["size"]
    squares = np.zeros(x.shape)
    for channel in range(x.shape[1]):
        first = max(0, channel - (size - 1) // 2)
        last = min(x.shape[1] - 1, channel + size // 2)  # ceil((size - 1) / 2)
        squares[:, channel] = (wide(x[:, first:last + 1]) ** 2).sum(1)
    return (wide(x) / (bias + alpha / size * squares) ** beta).astype(x.dtype)


STRATEGIES = {
    **dict.fromkeys(["Reduce" + name for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum",
                                                  "SumSquare")], reduce),
    "ArgMax": arg, "ArgMin": arg, "CumSum": cumulative, "CumProd": cumulative, "Softmax": softmax, "LogSoftmax": softmax,
    "Hardmax": softmax, "BatchNormalization": batch_norm, "InstanceNormalization": instance_norm,
    "GroupNormalization": group_norm, "LayerNormalization": layer_norm, "RMSNormalization": layer_norm,
    "LpNormalization": lp_norm, "MeanVarianceNormalization": mean_variance_norm, "LRN": lrn,
}
