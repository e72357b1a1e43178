"""Operators that work element by element."""
import math
from fractions import Fraction

import numpy as np
from onnx import TensorProto

from draft import COMPLEX, FLOATS, INTEGERS, SIGNED, SMALL_FLOATS, Unfit, span
from engine import DTYPES, ELEMENTS
from peers import node_answer

HALVES = {TensorProto.FLOAT16, TensorProto.BFLOAT16}

UNARY = {  # name: attributes with how to draw them
    "Abs": {}, "Acos": {}, "Acosh": {}, "Asin": {}, "Asinh": {}, "Atan": {}, "Atanh": {}, "Ceil": {}, "Cos": {}, "Cosh": {},
    "Celu": {"alpha": (0.5, 2)}, "Elu": {"alpha": (-1, 3)}, "Erf": {}, "Exp": {}, "Floor": {},
    "Gelu": {"approximate": ("none", "tanh")}, "HardSigmoid": {"alpha": (0, 1), "beta": (-1, 1)}, "HardSwish": {},
    "IsInf": {"detect_negative": (0, 1), "detect_positive": (0, 1)}, "IsNaN": {}, "LeakyRelu": {"alpha": (-1, 2)}, "Log": {},
    "Mish": {}, "Neg": {}, "Not": {}, "BitwiseNot": {}, "Reciprocal": {}, "Relu": {}, "Round": {},
    "Selu": {"alpha": (-1, 3), "gamma": (0.5, 2)}, "Shrink": {"lambd": (0, 2), "bias": (-1, 1)}, "Sigmoid": {}, "Sign": {},
    "Sin": {}, "Sinh": {}, "Softplus": {}, "Softsign": {}, "Sqrt": {}, "Swish": {"alpha": (-1, 3)}, "Tan": {}, "Tanh": {},
    "ThresholdedRelu": {"alpha": (-1, 2)}, "Identity": {},
}
EXACT_UNARY = {"Abs", "Ceil", "Floor", "IsInf", "IsNaN", "Neg", "Not", "BitwiseNot", "Relu", "Round", "Sign", "Identity"}
FLAGS = {"detect_negative", "detect_positive"}


def variable(draft, index=0):
    return draft.schema.inputs[index].type_str


def unary(draft):
    draft.elementwise = True
    draft.exact = "value" if draft.name == "Relu" else draft.name in EXACT_UNARY
    draft.draw(variable(draft), draft.shape())
    for name, domain in UNARY[draft.name].items():
        if name not in draft.schema.attributes:
            continue
        if isinstance(domain[0], str) or name in FLAGS:
            draft.maybe(name, draft.choice(domain))
        else:
            draft.maybe(name, float(np.float32(draft.random.uniform(*domain))))
    if "consumed_inputs" in draft.schema.attributes:
        draft.maybe("consumed_inputs", [0], 0.2)
    element = draft.element(variable(draft))
    if draft.name == "Erf" and element in INTEGERS:
        draft.slack = 1  # the text does not say how an integer is rounded
    elif draft.name == "Shrink" and element in INTEGERS:
        draft.expected = lambda x: [shrink(x, **draft.attributes)]
    elif draft.name in FORMULAS and element in FLOATS:
        with_defaults = {"approximate": "none", "alpha": 1.6732, "gamma": 1.0507, **draft.attributes}
        if draft.name != "Selu" or draft.version < 6:
            draft.expected = lambda x: [FORMULAS[draft.name](x.astype(np.float64), with_defaults).astype(x.dtype)]


def erf(x):
    return np.array([math.erf(value) for value in x.reshape(-1)]).reshape(x.shape)


def shrink(x, lambd=0.5, bias=0.0):
    lambd, bias = Fraction(float(np.float32(lambd))), Fraction(float(np.float32(bias)))
    values = [math.trunc(item + bias) if item < -lambd else math.trunc(item - bias) if item > lambd else 0
              for item in map(int, x.reshape(-1))]
    low, high = span(ELEMENTS[x.dtype])
    if any(not low <= value <= high for value in values):
        raise NotImplementedError("the text does not say what becomes of what does not fit")
    return np.array(values, x.dtype).reshape(x.shape)


def gelu(x, attributes):
    if attributes["approximate"] == "none":
        return 0.5 * x * (1 + erf(x / math.sqrt(2)))
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def selu(x, attributes):
    alpha, gamma = (float(np.float32(attributes[name])) for name in ("alpha", "gamma"))
    return gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


FORMULAS = {  # where the reference works in floats, or with the defaults of a newer form
    "Erf": lambda x, _: erf(x),
    "HardSwish": lambda x, _: x * np.clip(x / 6 + 0.5, 0, 1),
    "Gelu": gelu,
    "Selu": selu,
    "Softsign": lambda x, _: x / (1 + np.abs(x)),
}


def aligned(other, rank, axis):
    """The second input of an old form, laid out so that numpy broadcasts it: its dimensions begin at axis."""
    if axis is None:
        axis = rank - other.ndim
    return other.reshape(other.shape + (1,) * (rank - axis - other.ndim))


def binary(draft):
    draft.elementwise = True
    draft.exact = draft.name != "Pow"
    element = draft.element(variable(draft))
    style = "any"
    if draft.name in ("Div", "Mod") and element in INTEGERS:
        style = "positive"
    legacy = "broadcast" in draft.schema.attributes
    if legacy:
        shapes = old_broadcast(draft)
    elif draft.name == "PRelu" and draft.version < 7:
        shapes = [draft.shape(2, 4)]
        shapes.append(draft.choice([[1], shapes[0][1:2]]))
        if shapes[0][1] != 1 and 0 in shapes[0]:
            raise Unfit
    elif draft.name == "PRelu":
        shapes = draft.broadcasts(2, one_way=True)
    else:
        shapes = draft.broadcasts(2)
    one = draft.data(element, shapes[0])
    second = draft.element(variable(draft, 1)) if variable(draft, 1) != variable(draft) else element
    two = draft.data(second, shapes[1], style)
    if draft.name == "Pow":
        one, two = powers(draft, element, second, one, two)
    elif draft.name == "Mod" and element in SIGNED and draft.chance(0.5):
        two = np.where(draft.data(TensorProto.BOOL, two.shape), two, -two).astype(two.dtype)
    elif draft.name == "BitShift":
        two = (two % DTYPES[element].type(DTYPES[element].itemsize * 8)).astype(two.dtype)
        draft.attributes["direction"] = draft.choice(["LEFT", "RIGHT"])
    if draft.name == "Mod":
        fmod = element in FLOATS or draft.chance(0.5)
        if fmod or draft.chance(0.5):
            draft.attributes["fmod"] = int(fmod)
        if fmod:
            draft.exact = element not in HALVES
    draft.add(one)
    draft.add(two)
    if legacy:
        draft.expected = lambda x, y: node_answer(draft.name, 14 if draft.name in ("Add", "Sub", "Mul", "Div") else 13,
                                                  [x, aligned(y, x.ndim, draft.attributes.get("axis"))]
                                                  if draft.attributes.get("broadcast") else [x, y])
    elif draft.name == "PRelu":
        if draft.version < 7:
            draft.expected = lambda x, slope: [np.where(x < 0, slope.reshape([-1] + [1] * (x.ndim - 2)) * x, x).astype(x.dtype)]
            return
        draft.expected = lambda x, slope: [np.where(x < 0, slope * x, x).astype(x.dtype)]
    elif draft.name in ("Add", "Sub", "Mul", "Div") and element in INTEGERS:
        draft.expected = lambda x, y: integer_arithmetic(draft.name, x, y)


def integer_arithmetic(name, x, y):
    """Towards zero, and what does not fit wraps."""
    if name != "Div":
        with np.errstate(all="ignore"):
            return [{"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[name](x, y)]
    x, y = np.broadcast_arrays(x, y)
    quotients = [abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x.reshape(-1), y.reshape(-1))]
    greatest = np.iinfo(x.dtype).max
    return [np.array([q if q <= greatest else -q for q in quotients], x.dtype).reshape(x.shape)]


def powers(draft, element, second, one, two):
    """Base and exponent whose power the base's type holds, where it is an integer."""
    def clipped(content, low, high):
        return np.array([min(max(int(item), low), high) for item in content.reshape(-1)], content.dtype).reshape(content.shape)

    if element in INTEGERS and second in INTEGERS:
        draft.exact = True
        return clipped(one, -5 if element in SIGNED else 0, 5), clipped(two, 0, 4)
    if element in INTEGERS:
        whole = np.abs(np.round(draft.data(TensorProto.FLOAT, two.shape, "unit") * 3))
        return clipped(one, 0, 6), np.asarray(whole).astype(two.dtype)
    return one, two


def old_broadcast(draft):
    """Shapes of a form before opset 7: equal, or the second a run of the first's dimensions from axis on."""
    shape = draft.shape()
    if not draft.chance(0.6):
        return [shape, shape]
    draft.attributes["broadcast"] = 1
    if not shape or draft.chance(0.2):
        if draft.chance(0.5):
            return [shape, []]
    length = draft.integer(0, len(shape))
    start = draft.integer(0, len(shape) - length)
    part = shape[start:start + length]
    if start + length != len(shape) or draft.chance(0.5):
        if not length:
            return [shape, []]
        draft.attributes["axis"] = start
    return [shape, part]


def variadic(draft):
    draft.elementwise = True
    element = draft.element(variable(draft))
    count = draft.choice([1, 2, 2, 3, 5])
    shape = draft.shape()
    shapes = [shape] * count if draft.version < 8 else draft.broadcasts(count)
    contents = [draft.draw(variable(draft), each, "any" if draft.name in ("Max", "Min") else "finite") for each in shapes]
    draft.magnitude = float(sum(np.abs(content.astype(np.float64)).max() if content.size else 0 for content in contents))
    draft.elementwise = draft.name in ("Max", "Min")
    draft.exact = "value" if draft.name in ("Max", "Min") else False
    if draft.name == "Mean":
        draft.expected = lambda *contents: [(sum(content.astype(np.float64) for content in contents) / count).astype(contents[0].dtype)]


def where(draft):
    draft.exact = True
    shapes = draft.broadcasts(3)
    draft.add(draft.data(TensorProto.BOOL, shapes[0]))
    draft.draw("T", shapes[1])
    draft.draw("T", shapes[2])


def clip(draft):
    draft.exact = "value"
    element = draft.element("T")
    draft.add(draft.data(element, draft.shape()))
    bounds = sorted(draft.data(element, [2], "finite").astype(np.float64 if element in FLOATS else object))
    if draft.chance(0.1):
        bounds.reverse()  # then every element becomes the maximum, from 11 on
        if draft.version < 11:
            bounds.reverse()
    if draft.version < 11:
        for name, bound in zip(("min", "max"), bounds):
            draft.maybe(name, float(bound))
        low = draft.attributes.get("min", -np.inf)
        high = draft.attributes.get("max", np.inf)
        low = np.maximum(np.float32(low), float(np.finfo(np.float32).min)) if "min" not in draft.attributes else low
        high = np.minimum(np.float32(high), float(np.finfo(np.float32).max)) if "max" not in draft.attributes else high
        if draft.version < 6:  # whose text knows no default bounds
            low, high = draft.attributes.get("min", -np.inf), draft.attributes.get("max", np.inf)
        draft.expected = lambda x: [np.clip(x, np.asarray(low).astype(x.dtype), np.asarray(high).astype(x.dtype))]
        if draft.version >= 6 and ("min" not in draft.attributes or "max" not in draft.attributes):
            draft.expected = None
        return
    for bound in bounds:
        if draft.chance(0.7):
            draft.add(np.array(bound).astype(DTYPES[element]).reshape([]))
        else:
            draft.skip()


def cast(draft):
    draft.exact = True
    source = draft.element("T1")
    target = draft.element("T2")
    shape = draft.shape()
    if (source == TensorProto.BFLOAT16 or source in SMALL_FLOATS) and target == TensorProto.STRING:
        raise Unfit  # the text does not say how many digits it has
    if source == TensorProto.STRING and target != TensorProto.STRING:
        texts = ["0", "1", "-1", "3.5", "1e3", "NaN", "INF", "-INF", "+7", "1e-5", "127"]
        if target in INTEGERS or target == TensorProto.BOOL:
            texts = ["0", "1", "2", "7"] if target not in SIGNED else ["0", "1", "-1", "7", "-2"]
            texts = [text for text in texts if target not in INTEGERS or span(target)[0] <= int(text) <= span(target)[1]]
        count = int(np.prod(shape))
        content = np.array([draft.choice(texts) for _ in range(count)] + [""], object)[:count].reshape(shape)
    else:
        content = draft.data(source, shape, "unit" if source == TensorProto.FLOAT16 and target == TensorProto.STRING else "any")
        if target in INTEGERS and source not in INTEGERS and source != TensorProto.BOOL:
            content = within(draft, source, target, shape)
    draft.add(content)
    if draft.name == "CastLike":
        draft.add(draft.data(target, draft.shape(0, 2)))
        draft.expected = lambda x, _: node_answer("Cast", max(draft.version, 19), [x], to=int(target), **draft.attributes)
    else:
        draft.attributes["to"] = int(target)
        if draft.version < 6:
            draft.attributes["to"] = TensorProto.DataType.Name(target)
            draft.expected = lambda x: node_answer("Cast", 13, [x], to=int(target))
    if "saturate" in draft.schema.attributes:
        draft.maybe("saturate", draft.integer(0, 1), 0.3)
    if target == TensorProto.FLOAT8E8M0:  # of negative values the text says nothing
        content = draft.inputs[0].content
        if source in FLOATS:
            draft.inputs[0].content = np.where(content != content, content, np.abs(content)).astype(content.dtype)
            if (draft.inputs[0].content == 0).any():
                raise Unfit
        elif source != TensorProto.FLOAT8E8M0:
            raise Unfit
    if "round_mode" in draft.schema.attributes and target == TensorProto.FLOAT8E8M0:
        draft.maybe("round_mode", draft.choice(["up", "down", "nearest"]))


def within(draft, source, target, shape):
    """Floats that the integer type holds: the text leaves the others open."""
    if source in COMPLEX:
        raise Unfit
    low, high = span(target)
    values = draft.data(TensorProto.DOUBLE, shape, "finite") * draft.choice([1, 10])
    values = np.clip(values, max(low, -200), min(high, 200))
    if source == TensorProto.FLOAT4E2M1:
        values = np.clip(values, max(low, -4), min(high, 4))
    if source == TensorProto.FLOAT8E8M0:
        values = np.ones_like(values)
    values = np.asarray(values).astype(np.float32).astype(DTYPES[source])
    wide = values.astype(np.float64)
    return np.where((wide >= low) & (wide <= high), values, np.zeros_like(values) if source != TensorProto.FLOAT8E8M0 else
                    np.ones_like(values)).astype(DTYPES[source]).reshape(shape)


def affine(draft):
    draft.elementwise = True
    draft.inputs.clear()
    shape = draft.shape()
    draft.add(draft.data(draft.choice([TensorProto.FLOAT, TensorProto.DOUBLE]), shape, "finite"))
    alpha, beta = 1.0, 0.0
    if draft.maybe("alpha", 1.5):
        alpha = 1.5
    if draft.maybe("beta", -0.25):
        beta = -0.25
    draft.expected = lambda x: [(x * x.dtype.type(alpha) + x.dtype.type(beta)).astype(x.dtype)]


def image_scaler(draft):
    draft.elementwise = True
    shape = [draft.dim(), draft.integer(1, 4), draft.dim(), draft.dim()]
    draft.add(draft.data(draft.choice([TensorProto.FLOAT, TensorProto.DOUBLE]), shape, "finite"))
    bias = [draft.choice([0.0, 0.5, -2.0]) for _ in range(shape[1])]
    draft.attributes["bias"] = bias
    scale = 1.0
    if draft.maybe("scale", 2.5):
        scale = 2.5
    draft.expected = lambda x: [(x * x.dtype.type(scale) + np.array(bias, x.dtype)[None, :, None, None]).astype(x.dtype)]


def dropout(draft):
    draft.exact = True
    draft.element("T")
    draft.outputs = draft.integer(1, 2)
    draft.draw("T", draft.shape())
    if draft.version < 7:
        draft.attributes["is_test"] = 1
    if draft.version < 12:
        draft.maybe("ratio", 0.25)
    else:
        draft.maybe("seed", 7)
        if draft.chance(0.6):
            draft.add(draft.data(draft.element("T1"), [], "unit").astype(DTYPES[draft.element("T1")]) * 0 + DTYPES[
                draft.element("T1")].type(0.5))
            if draft.chance(0.4):
                draft.add(np.array(False))
    if draft.version < 10 and draft.outputs == 2:
        draft.outputs = 1
    draft.expected = lambda x, *_: [x] if draft.outputs == 1 else [x, np.ones(x.shape, bool)]


STRATEGIES = {
    **dict.fromkeys(UNARY, unary),
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Pow", "Mod", "PRelu", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
                     "And", "Or", "Xor", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"), binary),
    **dict.fromkeys(("Max", "Min", "Mean", "Sum"), variadic),
    "Where": where, "Clip": clip, "Cast": cast, "CastLike": cast, "Affine": affine, "ImageScaler": image_scaler,
    "Dropout": dropout,
}
