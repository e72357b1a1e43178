"""Operators that move elements as they are: shapes, slices, joins, tiles, pads."""
import numpy as np
from onnx import TensorProto

from draft import FLOATS, INTEGERS, Unfit, span
from engine import DTYPES


def concat(draft):
    draft.exact = True
    shape = draft.shape(1, 4)
    axis = draft.axis(len(shape), draft.version >= 11)
    if draft.version >= 4 or draft.chance(0.7):
        draft.attributes["axis"] = axis
    else:
        axis = 1
        if len(shape) < 2:
            raise Unfit
    for _ in range(draft.integer(1, 4)):
        part = list(shape)
        part[axis] = draft.dim()
        draft.draw("T", part)
    if "axis" not in draft.attributes:
        draft.expected = lambda *contents: [np.concatenate(contents, 1)]


def split(draft):
    draft.exact = True
    shape = draft.shape(1, 4, smallest=1)
    axis = draft.axis(len(shape), draft.version >= 11) if draft.chance(0.7) else 0
    if axis or draft.chance(0.5):
        draft.attributes["axis"] = axis
    count = draft.integer(1, 4)
    draft.outputs = count
    parts = [draft.integer(0, 4) for _ in range(count)]
    if draft.chance(0.5):
        shape[axis] = sum(parts)
        content = draft.draw("T", shape)
        if draft.version >= 13:
            draft.ints(parts)
        elif draft.version >= 2 or draft.chance(0.5):
            draft.attributes["split"] = parts
        else:
            if draft.element("T") in FLOATS:
                draft.add(np.array(parts, content.dtype))
            else:
                draft.attributes["split"] = parts
    else:
        size = draft.integer(1, 3)
        shape[axis] = size * count
        if draft.version >= 18:
            draft.attributes["num_outputs"] = count
            if size > 1:
                shape[axis] -= draft.choice([0, 1 if (size * count - 1) > size * (count - 1) else 0])
        draft.draw("T", shape)
        parts = [size] * count
        parts[-1] = shape[axis] - size * (count - 1)
    borders = np.cumsum(parts)[:-1]
    draft.expected = lambda x, *_: np.split(x, borders, axis)


def slice_(draft):
    draft.exact = True
    shape = draft.shape(1, 4)
    axes = draft.axes(len(shape), negative=draft.version >= 10, least=1)
    starts, ends, steps = [], [], []
    for axis in axes:
        size = shape[axis]
        starts.append(draft.integer(-size - 2, size + 2))
        ends.append(draft.choice([draft.integer(-size - 2, size + 2), 1 << 31, (1 << 63) - 1, -(1 << 31)]))
        steps.append(draft.choice([1, 1, 2, 3, -1, -2, -5]))
    draft.draw("T", shape)
    with_axes = draft.chance(0.8)
    if not with_axes:
        axes = list(range(len(axes)))
    if draft.version < 10:
        steps = [1] * len(axes)
        draft.attributes.update(starts=starts, ends=ends)
        if with_axes:
            draft.attributes["axes"] = axes
    else:
        dtype = DTYPES[draft.element("Tind")]
        limit = np.iinfo(dtype)
        starts, ends = ([min(max(value, int(limit.min)), int(limit.max)) for value in values] for values in (starts, ends))
        draft.add(np.array(starts, dtype))
        draft.add(np.array(ends, dtype))
        if with_axes:
            draft.add(np.array(axes, dtype))
        elif draft.chance(0.5):
            draft.skip()
        if draft.chance(0.7) and len(draft.inputs) == 4:
            draft.add(np.array(steps, dtype))
        else:
            steps = [1] * len(axes)
    draft.expected = lambda x, *_: [sliced(x, axes, starts, ends, steps)]


def sliced(x, axes, starts, ends, steps):
    cuts = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps):
        size = x.shape[axis]
        start, end = (value + size if value < 0 else value for value in (start, end))
        if step > 0:
            cuts[axis] = slice(min(max(start, 0), size), min(max(end, 0), size), step)
        else:
            start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
            cuts[axis] = slice(start, None if end < 0 else end, step) if size and start > end else slice(0, 0)
    return x[tuple(cuts)]


def transpose(draft):
    draft.exact = True
    shape = draft.shape(0, 6)
    draft.draw("T", shape)
    if draft.chance(0.8):
        draft.attributes["perm"] = draft.random.sample(range(len(shape)), len(shape))


def reshape(draft):
    draft.exact = True
    shape = draft.shape(0, 4)
    total = int(np.prod(shape)) if shape else 1
    target, left = [], total
    while left > 1 and len(target) < 5 and draft.chance(0.8):
        divisors = [size for size in range(1, left + 1) if left % size == 0]
        target.append(draft.choice(divisors))
        left //= target[-1]
    if left != 1 or draft.chance(0.2):
        target.insert(draft.integer(0, len(target)), left)
    allow = "allowzero" in draft.schema.attributes and draft.chance(0.3)
    if total and draft.chance(0.4) and target:
        target[draft.integer(0, len(target) - 1)] = -1
    elif total and not allow and draft.chance(0.3):
        for axis in range(min(len(target), len(shape))):
            if target[axis] == shape[axis]:
                target[axis] = 0
    if not total:
        target = list(shape) if not allow else draft.random.sample(shape, len(shape))
    if allow:
        draft.attributes["allowzero"] = 1
    draft.draw("T", shape)
    if draft.version >= 5:
        draft.ints(target)
    else:
        draft.attributes["shape"] = target
    full = [shape[axis] if size == 0 and not allow else size for axis, size in enumerate(target)]
    draft.expected = lambda x, *_: [x.reshape(full)]


def flatten(draft):
    draft.exact = True
    shape = draft.shape(1, 5)
    draft.draw("T", shape)
    axis = 1
    if draft.chance(0.7):
        axis = draft.integer(0 if draft.version < 11 else -len(shape), len(shape))
        draft.attributes["axis"] = axis
    axis += len(shape) if axis < 0 else 0
    rows = int(np.prod(shape[:axis], dtype=np.int64))
    draft.expected = lambda x: [x.reshape(rows, int(np.prod(shape[axis:], dtype=np.int64)))]


def squeeze(draft):
    draft.exact = True
    shape = [1 if draft.chance(0.4) else size for size in draft.shape(0, 5)]
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    draft.draw("T", shape)
    axes = None
    if draft.chance(0.7):
        axes = draft.random.sample(ones, draft.integer(0, len(ones)))
        if not axes:
            axes = None
    if axes is not None:
        axes = [axis - len(shape) if draft.version >= 11 and draft.chance(0.3) else axis for axis in axes]
        if draft.version >= 13:
            draft.ints(axes)
        else:
            draft.attributes["axes"] = axes
    draft.expected = lambda x, *_: [np.squeeze(x, None if axes is None else tuple(axes))]


def unsqueeze(draft):
    draft.exact = True
    shape = draft.shape(0, 4)
    draft.draw("T", shape)
    count = draft.integer(1, 3)
    rank = len(shape) + count
    axes = draft.random.sample(range(rank), count)
    if draft.version < 11:
        axes.sort()
    axes = [axis - rank if draft.version >= 11 and draft.chance(0.3) else axis for axis in axes]
    if draft.version >= 13:
        draft.ints(axes)
    else:
        draft.attributes["axes"] = axes
    draft.expected = lambda x, *_: [np.expand_dims(x, tuple(axes))]


def expand(draft):
    draft.exact = True
    one, two = draft.broadcasts(2)
    draft.draw("T", one)
    draft.ints(two)
    draft.expected = lambda x, *_: [np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(two))).copy()]


def tile(draft):
    draft.exact = True
    shape = draft.shape(1, 4, 300)
    content = draft.draw("T", shape)
    if draft.version < 6:
        axis, count = draft.axis(len(shape), False), draft.integer(1, 4)
        draft.add(np.array([count], content.dtype))
        draft.add(np.array([axis], content.dtype))
        repeats = [count if at == axis else 1 for at in range(len(shape))]
    else:
        repeats = [draft.integer(0, 3) if draft.chance(0.3) else draft.integer(1, 3) for _ in shape]
        draft.ints(repeats)
    draft.expected = lambda x, *_: [np.tile(x, repeats)]


def pad(draft):
    shape = draft.shape(1, 4)
    draft.exact = True
    modes = ["constant", "constant", "reflect", "edge"] + (["wrap"] if draft.version >= 19 else [])
    mode = draft.choice(modes)
    if mode != "constant" or draft.chance(0.4):
        draft.attributes["mode"] = mode
    least = -1 if draft.chance(0.2) and mode == "constant" else 0
    rank = len(shape)
    axes = list(range(rank))
    with_axes = draft.version >= 18 and draft.chance(0.4)
    if with_axes:
        axes = draft.random.sample(range(rank), draft.integer(1, rank))
    before, after = [], []
    for axis in axes:
        size = shape[axis]
        most = 3 if mode == "constant" else max(0, size - 1) if mode == "reflect" else 3 if size else 0
        if mode == "wrap":
            most = min(most, size)
        before.append(draft.integer(max(least, -(size // 2)), most))
        after.append(draft.integer(max(least, -(size // 2)), most))
    element = draft.element("T", avoid=(TensorProto.FLOAT8E8M0,))  # it has no 0 to pad with
    draft.draw("T", shape)
    value = draft.data(element, [], "any")
    given = draft.chance(0.6)
    if draft.version < 11:
        draft.attributes["paddings" if draft.version < 2 else "pads"] = before + after
        given = given and np.isfinite(float(value))
        if given:
            value = np.float32(float(value))
            draft.attributes["value"] = float(value)
    else:
        draft.ints(before + after)
        if given:
            draft.add(value)
        elif with_axes or draft.chance(0.3):
            draft.skip()
        if with_axes:
            draft.add(np.array(axes, DTYPES[draft.element("Tind")]))
    draft.expected = lambda x, *_: [padded(x, axes, before, after, mode, value if given else None)]


def padded(x, axes, before, after, mode, value):
    for axis, first, last in zip(axes, before, after):
        cut = [slice(None)] * x.ndim
        cut[axis] = slice(max(0, -first), x.shape[axis] - max(0, -last))
        widths = [(0, 0)] * x.ndim
        widths[axis] = (max(0, first), max(0, last))
        if mode != "constant":
            x = np.pad(x, widths, mode)[tuple(cut)]
            continue
        x = x[tuple(cut)]
        shape = [size + sum(width) for size, width in zip(x.shape, widths)]
        fill = np.full(shape, "" if x.dtype == object else 0, x.dtype)
        if value is not None:
            fill[...] = np.asarray(value).astype(x.dtype)
        inner = [slice(width[0], width[0] + size) for size, width in zip(x.shape, widths)]
        fill[tuple(inner)] = x
        x = fill
    return x


def blocks(draft):
    draft.exact = True
    size = draft.integer(1, 3)
    n, c, h, w = draft.dim(), draft.integer(1, 3), draft.integer(1, 4), draft.integer(1, 4)
    draft.attributes["blocksize"] = size
    if draft.name == "DepthToSpace":
        draft.draw(draft.schema.inputs[0].type_str, [n, c * size * size, h, w])
        if "mode" in draft.schema.attributes:
            draft.maybe("mode", draft.choice(["DCR", "CRD"]))
        mode = draft.attributes.get("mode", "DCR")
        draft.expected = lambda x: [(x.reshape(n, size, size, c, h, w).transpose(0, 3, 4, 1, 5, 2) if mode == "DCR" else x.reshape(
            n, c, size, size, h, w).transpose(0, 1, 4, 2, 5, 3)).reshape(n, c, h * size, w * size)]
    else:
        draft.draw(draft.schema.inputs[0].type_str, [n, c, h * size, w * size])
        if "mode" in draft.schema.attributes:
            draft.maybe("mode", draft.choice(["DCR", "CRD"]))
        if draft.attributes.get("mode", "DCR") == "DCR":
            draft.expected = lambda x: [x.reshape(n, c, h, size, w, size).transpose(0, 3, 5, 1, 2, 4).reshape(
                n, c * size * size, h, w)]


def center_crop_pad(draft):
    draft.exact = True
    draft.element("T", avoid=(TensorProto.STRING,))  # what pads strings the text does not say
    shape = draft.shape(1, 4)
    axes = None
    if draft.chance(0.6):
        axes = draft.axes(len(shape), least=1)
        draft.attributes["axes"] = axes
    draft.draw("T", shape)
    draft.add(np.array([draft.integer(1, 9) for _ in (axes or shape)], DTYPES[draft.element("Tind")]))


def crop(draft):
    draft.exact = True
    n, c, h, w = draft.dim(), draft.dim(1), draft.integer(3, 8), draft.integer(3, 8)
    draft.add(draft.data(draft.choice([TensorProto.FLOAT, TensorProto.DOUBLE]), [n, c, h, w]))
    left, top = draft.integer(0, w - 1), draft.integer(0, h - 1)
    if draft.chance(0.5):
        high, wide = draft.integer(1, h - top), draft.integer(1, w - left)
        draft.attributes.update(border=[left, top, 0, 0], scale=[high, wide])
        draft.expected = lambda x: [x[:, :, top:top + high, left:left + wide]]
    else:
        right, bottom = draft.integer(0, w - 1 - left), draft.integer(0, h - 1 - top)
        draft.attributes["border"] = [left, top, right, bottom]
        draft.expected = lambda x: [x[:, :, top:h - bottom, left:w - right]]


def shape_(draft):
    content = draft.draw("T", draft.shape(0, 6))
    if draft.version >= 15:
        draft.maybe("start", draft.integer(-7, 7))
        draft.maybe("end", draft.integer(-7, 7))
    start, end = draft.attributes.get("start", 0), draft.attributes.get("end", content.ndim)
    start, end = (min(max(value + content.ndim if value < 0 else value, 0), content.ndim) for value in (start, end))
    draft.expected = lambda x: [np.array(x.shape[start:end], np.int64)]


def size(draft):
    draft.draw("T", draft.shape(0, 6))


def trilu(draft):
    draft.exact = True
    draft.draw("T", draft.shape(2, 4))
    if draft.chance(0.6):
        draft.add(np.array(draft.choice([draft.integer(-5, 5), 100, -100]), np.int64))
    draft.maybe("upper", draft.integer(0, 1))
    upper = draft.attributes.get("upper", 1)

    def cut(x, k=None):
        rows, columns = np.indices(x.shape[-2:])
        keep = columns - rows >= int(k or 0) if upper else columns - rows <= int(k or 0)
        return [np.where(keep, x, np.array("" if x.dtype == object else 0, x.dtype))]
    draft.expected = cut


def reverse_sequence(draft):
    draft.exact = True
    shape = draft.shape(2, 4, smallest=1)
    batch = draft.integer(0, 1)
    if draft.chance(0.5) or batch == 0:
        draft.attributes.update(batch_axis=batch, time_axis=1 - batch)
    draft.draw("T", shape)
    draft.ints([draft.integer(1, shape[1 - batch]) for _ in range(shape[batch])])


def eye_like(draft):
    draft.exact = True
    draft.add(draft.data(draft.element("T1"), draft.shape(2, 2), "finite"))
    draft.maybe("dtype", int(draft.element("T2")))
    draft.maybe("k", draft.choice([draft.integer(-5, 5), 100]))

    def eye(x):
        dtype = DTYPES[draft.attributes["dtype"]] if "dtype" in draft.attributes else x.dtype
        return [np.eye(*x.shape, draft.attributes.get("k", 0)).astype(dtype)]
    draft.expected = eye


def constant_of_shape(draft):
    draft.exact = True
    draft.ints(draft.shape(0, 5))
    if draft.chance(0.7):
        from onnx import numpy_helper
        content = draft.data(draft.element("T2"), [1])
        draft.attributes["value"] = numpy_helper.from_array(content, "v")
        draft.expected = lambda x: [np.full(tuple(x), content[0], content.dtype)]


def constant(draft):
    from onnx import numpy_helper
    draft.exact = True
    element = draft.element("T")
    if element == TensorProto.STRING or draft.chance(0.5) and draft.version >= 12:
        if draft.version < 12:
            raise Unfit
        name = draft.choice(["value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings"])
        kind = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "s": TensorProto.STRING}[name[6]]
        content = draft.data(kind, [draft.integer(1, 5)] if name.endswith("s") else [])
        values = content.reshape(-1).tolist()
        draft.attributes[name] = values if name.endswith("s") else values[0]
    else:
        content = draft.data(element, draft.shape())
        draft.attributes["value"] = numpy_helper.from_array(content, "v")
    draft.expected = lambda: [content]


def range_(draft):
    element = draft.element("T")
    draft.elementwise = True
    if element in INTEGERS:
        start, limit, delta = draft.integer(-20, 20), draft.integer(-20, 20), draft.choice([1, 2, 3, -1, -2, 7])
        if draft.chance(0.1):
            start = span(element)[1] - 5
            limit, delta = span(element)[1], draft.choice([1, 2])
        if span(element)[0] == 0:
            start, limit, delta = abs(start), abs(limit), abs(delta)
    else:
        start, limit = draft.random.uniform(-9, 9), draft.random.uniform(-9, 9)
        delta = draft.choice([0.25, 0.5, 1, -0.5, 0.3, -0.7])
    for value in (start, limit, delta):
        draft.add(np.array(value).astype(DTYPES[element]))
    draft.magnitude = 20 if element in FLOATS else None
    draft.elementwise = False


STRATEGIES = {
    "Concat": concat, "Split": split, "Slice": slice_, "Transpose": transpose, "Reshape": reshape, "Flatten": flatten,
    "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Expand": expand, "Tile": tile, "Pad": pad, "DepthToSpace": blocks,
    "SpaceToDepth": blocks, "CenterCropPad": center_crop_pad, "Crop": crop, "Shape": shape_, "Size": size, "Trilu": trilu,
    "ReverseSequence": reverse_sequence, "EyeLike": eye_like, "ConstantOfShape": constant_of_shape, "Constant": constant,
    "Range": range_,
}
