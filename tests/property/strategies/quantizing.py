"""Quantization."""
import numpy as np
from onnx import TensorProto

from draft import INTEGERS, Unfit, span
from engine import DTYPES
from strategies.reducing import wide

HALVES = {TensorProto.FLOAT16, TensorProto.BFLOAT16}


def layout(draft, shape):
    """Shape of the scales; fills axis and block_size."""
    kind = draft.choice(["tensor", "tensor", "axis", "block"])
    if kind == "block" and ("block_size" not in draft.schema.attributes or not shape):
        kind = "axis"
    if kind == "axis" and (draft.version < 13 or not shape):
        kind = "tensor"
    if kind == "tensor":
        return kind, [], 0
    axis = draft.axis(len(shape))
    if kind == "axis":
        if draft.chance(0.7) or axis not in (1, 1 - len(shape)):
            draft.attributes["axis"] = axis
        return kind, [shape[axis]], axis
    draft.attributes["axis"] = axis
    block = draft.integer(1, 4)
    draft.attributes["block_size"] = block
    scales = list(shape)
    if draft.chance(0.3) and shape[axis] > block:
        block = shape[axis] // 2 + shape[axis] % 2
        draft.attributes["block_size"] = block
    scales[axis] = -(-shape[axis] // block)
    # The text: a block size B is valid where ceil(D / S) <= B <= ceil(D / (S - 1)) - 1.
    count = scales[axis]
    if count > 1 and not -(-shape[axis] // count) <= block <= -(-shape[axis] // (count - 1)) - 1:
        raise Unfit
    return kind, scales, axis


def spread(draft, content, shape, kind, axis):
    """Scales or zero points, one for each element."""
    content = np.asarray(content)
    if kind == "axis":
        return content.reshape([-1 if at == axis % len(shape) else 1 for at in range(len(shape))])
    if kind == "block":
        return np.repeat(content, draft.attributes["block_size"], axis).take(range(shape[axis]), axis)
    return content.reshape(())


def quantize(draft):
    shape = draft.shape(0, 4, smallest=1)
    kind, scales, axis = layout(draft, shape)
    newest = draft.version >= 19
    source = draft.element("T1")
    float_type = draft.element("T2") if draft.version >= 23 else source if newest else TensorProto.FLOAT
    variable = draft.schema.outputs[0].type_str
    target = draft.element(variable)
    if float_type not in {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16}:
        raise Unfit
    draft.add(draft.data(source, shape, "finite"))
    draft.add(np.exp2(draft.numpy.integers(-4, 3, scales).astype(np.float32)).astype(DTYPES[float_type]) if draft.chance(
        0.5) else draft.numpy.uniform(0.05, 2, scales).astype(DTYPES[float_type]).reshape(scales))
    with_zero = draft.chance(0.6)
    if draft.version < 21 and target != TensorProto.UINT8:
        with_zero = True
    zero = None
    if with_zero:
        zero = draft.data(target, [], "small")
        if target not in INTEGERS:
            zero = np.zeros([], DTYPES[target])
        elif span(target)[0] == 0:
            zero = np.asarray(np.minimum(zero.astype(np.int64), span(target)[1]).astype(zero.dtype))
        zero = draft.add(np.broadcast_to(zero, scales).copy())
    elif target != TensorProto.UINT8:
        draft.attributes["output_dtype"] = int(target)
    if "saturate" in draft.schema.attributes:
        draft.maybe("saturate", draft.integer(0, 1), 0.2)
    if draft.attributes.get("precision"):
        raise Unfit
    if target in INTEGERS:
        draft.slack = 0 if source == float_type == TensorProto.FLOAT else 1

        def formula(x, scale, zero=None):
            with np.errstate(all="ignore"):
                one, two = np.asarray(x), spread(draft, scale, shape, kind, axis)
                quotients = np.rint(wide(one.astype(two.dtype) / two))  # in the type of the scale, as the text says
                point = 0 if zero is None else spread(draft, zero, shape, kind, axis).astype(np.int64)
                low, high = span(target)
                return [np.asarray(np.clip(quotients + point, low, high)).astype(DTYPES[target]).reshape(x.shape)]
        draft.expected = formula
    elif source in HALVES or float_type in HALVES:
        raise Unfit  # in which precision x / scale is rounded before it becomes a float8 differs


def dequantize(draft):
    shape = draft.shape(0, 4, smallest=1)
    kind, scales, axis = layout(draft, shape)
    source = draft.element(draft.schema.inputs[0].type_str)
    float_type = TensorProto.FLOAT
    if draft.version >= 19:
        float_type = draft.element("T2")
    if float_type not in {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16}:
        raise Unfit
    x = draft.data(source, shape, "finite")
    draft.add(x)
    draft.add(draft.numpy.uniform(0.05, 2, scales).astype(DTYPES[float_type]).reshape(scales))
    if draft.chance(0.6):
        zero = np.zeros(scales, DTYPES[source])
        if source in INTEGERS and source != TensorProto.INT32:
            zero = draft.data(source, scales, "small")
        draft.add(zero)
    target = float_type
    if "output_dtype" in draft.schema.attributes and draft.chance(0.2):
        target = draft.choice([TensorProto.FLOAT, TensorProto.FLOAT16])
        draft.attributes["output_dtype"] = int(target)
    draft.loose = 2

    def formula(x, scale, zero=None):
        point = 0 if zero is None else wide(spread(draft, zero, shape, kind, axis))
        with np.errstate(all="ignore"):
            return [np.asarray((wide(x) - point) * wide(spread(draft, scale, shape, kind, axis))).astype(DTYPES[target]).reshape(
                x.shape)]
    draft.expected = formula
    draft.elementwise = True


def dynamic_quantize(draft):
    draft.add(draft.data(TensorProto.FLOAT, draft.shape(0, 4, smallest=1), "finite"))
    draft.outputs = 3
    draft.slack = 1


STRATEGIES = {"QuantizeLinear": quantize, "DequantizeLinear": dequantize, "DynamicQuantizeLinear": dynamic_quantize}
