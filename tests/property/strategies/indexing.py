"""Operators that pick, scatter, sort or count elements."""
import numpy as np
from onnx import TensorProto

from draft import FLOATS, INTEGERS, Unfit
from engine import DTYPES


def indices(draft, shape, size, dtype=None, negative=True):
    """Places in a dimension of this size."""
    if size == 0 and int(np.prod(shape)):
        raise Unfit
    low = -size if negative and draft.chance(0.5) else 0
    dtype = dtype or DTYPES[draft.element("Tind")]
    return draft.numpy.integers(low, max(size, low + 1), shape).astype(dtype).reshape(shape)


def gather(draft):
    draft.exact = True
    shape = draft.shape(1, 4)
    axis = draft.axis(len(shape), draft.version >= 11) if draft.chance(0.8) else 0
    draft.draw("T", shape)
    draft.add(indices(draft, draft.shape(0, 3, 60), shape[axis], negative=draft.version >= 11))
    if axis or draft.chance(0.5):
        draft.attributes["axis"] = axis
    draft.expected = lambda x, i: [np.take(x, i.astype(np.int64), axis)]


def gather_elements(draft):
    draft.exact = True
    shape = draft.shape(1, 4)
    axis = draft.axis(len(shape)) if draft.chance(0.8) else 0
    other = [min(size, draft.integer(0, max(size, 1))) if at != axis % len(shape) else draft.dim(0, 9)
             for at, size in enumerate(shape)]
    draft.draw("T", shape)
    draft.add(indices(draft, other, shape[axis]))
    if axis or draft.chance(0.5):
        draft.attributes["axis"] = axis

    def pick(x, i):
        places = list(np.indices(i.shape))
        places[axis] = i.astype(np.int64)
        return [x[tuple(places)]]
    draft.expected = pick


def gather_nd(draft):
    draft.exact = True
    shape = draft.shape(1, 5)
    batch = draft.integer(0, len(shape) - 1) if draft.version >= 12 else 0
    depth = draft.integer(1, len(shape) - batch)
    outer = shape[:batch] + draft.shape(0, 2, 30)
    parts = [indices(draft, outer, shape[batch + at], np.int64, draft.version >= 12) for at in range(depth)]
    draft.draw("T", shape)
    draft.add(np.stack(parts, -1))
    if batch:
        draft.attributes["batch_dims"] = batch

    def pick(x, i):
        lead = np.indices(i.shape[:-1])[:batch]
        return [x[tuple(lead) + tuple(np.moveaxis(i, -1, 0))]]
    draft.expected = pick


REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def reduction_of(draft, element):
    if "reduction" not in draft.schema.attributes or draft.chance(0.4):
        return None
    names = ["none", "add", "mul"] + (["max", "min"] if draft.version >= 18 else [])
    if element == TensorProto.STRING or element not in FLOATS | INTEGERS:
        names = ["none"]
    draft.attributes["reduction"] = draft.choice(names)
    return REDUCTIONS.get(draft.attributes["reduction"])


def scatter_elements(draft):
    shape = draft.shape(1, 4, 300)
    axis = draft.axis(len(shape), draft.version >= 11) if draft.chance(0.8) else 0
    element = draft.element("T")
    other = [min(size, draft.integer(0, max(size, 1))) if at != axis % len(shape) else draft.dim(0, size) if size else 0
             for at, size in enumerate(shape)]
    draft.draw("T", shape, "finite")
    combine = reduction_of(draft, element)
    draft.exact = combine not in (np.add, np.multiply)
    draft.exact = "value" if draft.exact else False
    draft.loose = 4
    places = indices(draft, other, shape[axis], negative=draft.version >= 11)
    if combine is None:  # each place once
        order = np.argsort(draft.numpy.random([size if at == axis % len(shape) else other[at] for at, size in enumerate(shape)]),
                           axis)
        places = np.take(order, range(other[axis]), axis).astype(places.dtype)
    draft.add(places)
    draft.draw("T", other, "finite")
    if axis or draft.chance(0.5):
        draft.attributes["axis"] = axis

    def scattered(x, i, updates):
        result = x.copy()
        for at in np.ndindex(i.shape):
            place = list(at)
            place[axis] = int(i[at])
            place = tuple(place)
            with np.errstate(all="ignore"):
                result[place] = updates[at] if combine is None else combine(result[place], updates[at])
        return [result]
    if element in FLOATS - {TensorProto.DOUBLE} and combine in (np.add, np.multiply):
        draft.expected = lambda x, i, u: [scattered(x.astype(np.float64), i, u.astype(np.float64))[0].astype(x.dtype)]
    else:
        draft.expected = scattered
    draft.magnitude = 300.0 if combine is np.add else None


def scatter_nd(draft):
    shape = draft.shape(1, 4, 300)
    depth = draft.integer(1, len(shape))
    element = draft.element("T")
    total = int(np.prod(shape[:depth]))
    draft.draw("T", shape, "finite")
    combine = reduction_of(draft, element)
    draft.exact = "value" if combine not in (np.add, np.multiply) else False
    draft.loose = 4
    outer = draft.shape(1, 2, 20)
    count = int(np.prod(outer))
    if combine is None:
        if count > total:
            outer = [min(total, 3)]
            count = outer[0]
        flat = draft.numpy.permutation(total)[:count]
    elif total:
        flat = draft.numpy.integers(0, total, count)
    else:
        raise Unfit
    parts = np.stack(np.unravel_index(flat, shape[:depth]), -1).reshape(outer + [depth]).astype(np.int64) if count else np.zeros(
        outer + [depth], np.int64)
    if draft.chance(0.3) and draft.version >= 13:
        parts = np.where(draft.numpy.random(parts.shape) < 0.5, parts, parts - np.array(shape[:depth]))
    draft.add(parts)
    draft.draw("T", outer + shape[depth:], "finite")

    def scattered(x, i, updates):
        result = x.copy()
        for at in np.ndindex(i.shape[:-1]):
            place = tuple(i[at])
            with np.errstate(all="ignore"):
                result[place] = updates[at] if combine is None else combine(result[place], updates[at])
        return [result]
    if element in FLOATS - {TensorProto.DOUBLE} and combine in (np.add, np.multiply):
        draft.expected = lambda x, i, u: [scattered(x.astype(np.float64), i, u.astype(np.float64))[0].astype(x.dtype)]
    else:
        draft.expected = scattered
    draft.magnitude = 300.0 if combine is np.add else None


def compress(draft):
    draft.exact = True
    shape = draft.shape(1, 4)
    axis = draft.axis(len(shape), draft.version >= 11) if draft.chance(0.6) else None
    size = int(np.prod(shape)) if axis is None else shape[axis]
    draft.draw("T", shape)
    draft.add(draft.data(TensorProto.BOOL, [draft.integer(0, min(size, 40)) if draft.chance(0.5) else size]))
    if axis is not None:
        draft.attributes["axis"] = axis
    draft.expected = lambda x, condition: [np.compress(condition, x, axis)]


def nonzero(draft):
    element = draft.element("T")
    if element == TensorProto.STRING:
        raise Unfit  # the text does not say which strings are zero
    content = draft.data(element, draft.shape(0, 5), "finite")
    if draft.chance(0.7):
        content = np.where(draft.numpy.random(content.shape) < 0.5, content, np.zeros_like(content))
    content = draft.add(np.asarray(content))
    if content.ndim == 0:
        draft.expected = lambda x: [np.zeros((0, int(x.astype(bool))), np.int64)]
    else:
        draft.expected = lambda x: [np.array(np.nonzero(x.astype(bool)), np.int64).reshape(x.ndim, -1) if x.size else np.zeros(
            (x.ndim, 0), np.int64)]


def one_hot(draft):
    draft.exact = True
    shape = draft.shape(0, 3, 60)
    depth = draft.integer(1, 8)
    dtype = DTYPES[draft.element("T1")]
    places = draft.numpy.integers(0 if dtype.kind == "u" else -depth - 3, depth + 3, shape)
    draft.add(places.astype(dtype).reshape(shape))
    draft.add(np.array([depth] if draft.chance(0.5) else depth).astype(DTYPES[draft.element("T2")]))
    draft.add(draft.data(draft.element("T3"), [2]))
    axis = -1
    if draft.chance(0.7):
        axis = draft.integer(-len(shape) - 1, len(shape))
        draft.attributes["axis"] = axis

    def hot(i, _, values):
        i = i.astype(np.int64)
        if draft.version < 11:
            i = np.where(i < 0, depth, i)
        i = np.where((i < -depth) | (i >= depth), depth, np.where(i < 0, i + depth, i))
        on = np.moveaxis(np.arange(depth) == i[..., None], -1, axis)
        return [np.where(on, values[1], values[0]).astype(values.dtype)]
    draft.expected = hot


def topk(draft):
    shape = draft.shape(1, 4)
    axis = draft.axis(len(shape), draft.version >= 11) if draft.chance(0.7) else -1
    size = shape[axis]
    count = draft.integer(0 if draft.version >= 10 else 1, size) if size else 0
    if draft.version < 10 and not size:
        raise Unfit
    element = draft.element("T")
    content = draft.data(element, shape, "finite")
    if draft.chance(0.5) and element in FLOATS:
        content = np.round(content.astype(np.float32)).astype(content.dtype)
    draft.add(content)
    if draft.version < 10:
        draft.attributes["k"] = count
    else:
        draft.ints([count])
    if axis != -1 or draft.chance(0.5):
        draft.attributes["axis"] = axis
    largest = 1
    if draft.version >= 11:
        largest = draft.integer(0, 1)
        draft.attributes["largest"] = largest
        draft.maybe("sorted", 1)
    draft.outputs = 2
    draft.exact = "value"

    def top(x, *_):
        keys = x.astype(np.float64) if x.dtype.kind not in "iu" else x
        if largest:  # ties go to the lower index
            order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
        else:
            order = np.argsort(keys, axis, kind="stable")
        order = np.take(order, range(count), axis)
        return [np.take_along_axis(x, order, axis), order.astype(np.int64)]
    draft.expected = top


def unique(draft):
    draft.exact = True
    shape = draft.shape(1, 3, 60)
    axis = draft.axis(len(shape)) if draft.chance(0.5) else None
    element = draft.element(draft.schema.inputs[0].type_str)
    if 0 in shape:
        raise Unfit
    content = draft.data(element, shape, "small")
    if element in FLOATS:
        content = (np.round(content.astype(np.float32)) + 0.0).astype(content.dtype)
    elif element in INTEGERS and draft.chance(0.7):
        content = (content % 3).astype(content.dtype)
    draft.add(content)
    if axis is not None:
        draft.attributes["axis"] = axis
    draft.maybe("sorted", draft.integer(0, 1))
    draft.outputs = draft.choice([1, 4, [True, False, True, True], [True, True], [True, False, True]])

    def found(x):
        flat = x.reshape(-1) if axis is None else x
        at = 0 if axis is None else axis
        values, first, inverse, counts = np.unique(flat, True, True, True, at)
        inverse = inverse.reshape(-1)
        order = np.arange(len(first)) if draft.attributes.get("sorted", 1) else np.argsort(first)
        place = np.argsort(order)
        answers = [np.take(values, order, at), first[order], place[inverse], counts[order]]
        wanted = [True] * draft.outputs if isinstance(draft.outputs, int) else draft.outputs
        return [answer if index == 0 else answer.astype(np.int64)
                for index, answer in enumerate(answers[:len(wanted)]) if wanted[index]]
    draft.expected = found


def nms(draft):
    batches, classes, boxes = draft.integer(1, 3), draft.integer(1, 3), draft.integer(0, 8)
    corners = draft.numpy.uniform(0, 10, [batches, boxes, 4]).astype(np.float32)
    center = draft.maybe("center_point_box", draft.integer(0, 1)) and draft.attributes["center_point_box"]
    if not center and draft.chance(0.6):
        corners = np.concatenate([np.minimum(corners[..., :2], corners[..., 2:]), np.maximum(corners[..., :2], corners[..., 2:])],
                                 -1)
    draft.add(corners)
    draft.add(draft.numpy.uniform(0, 1, [batches, classes, boxes]).astype(np.float32))
    for value in (np.array([draft.integer(0, 5)], np.int64), np.array([draft.random.uniform(0, 1)], np.float32),
                  np.array([draft.random.uniform(0, 1)], np.float32)):
        if draft.chance(0.7):
            draft.add(value)
        else:
            draft.skip()
    draft.expected = lambda b, s, limit=None, overlap=None, least=None: [suppressed(b, s, limit, overlap, least, center)]


def suppressed(boxes, scores, limit, overlap, least, center):
    limit = int(limit[0]) if limit is not None else 0
    overlap = float(overlap[0]) if overlap is not None else 0.0
    chosen = []
    if center:
        half = boxes[..., 2:] / np.float32(2)
        boxes = np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], -1)
    low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    for batch in range(scores.shape[0]):
        for category in range(scores.shape[1]):
            kept = []
            order = np.argsort(-scores[batch, category], kind="stable")
            for at in order:
                if len(kept) >= limit or least is not None and not scores[batch, category, at] > float(least[0]):
                    continue
                for other in kept:
                    sides = np.minimum(high[batch, at], high[batch, other]) - np.maximum(low[batch, at], low[batch, other])
                    inner = np.prod(np.maximum(sides, 0))
                    areas = np.prod(high[batch, [at, other]] - low[batch, [at, other]], -1).sum()
                    if areas - inner > 0 and inner / (areas - inner) > overlap:
                        break
                else:
                    kept.append(at)
            chosen += [[batch, category, at] for at in kept]
    return np.array(chosen, np.int64).reshape(-1, 3)


STRATEGIES = {
    "Gather": gather, "GatherElements": gather_elements, "GatherND": gather_nd, "Scatter": scatter_elements,
    "ScatterElements": scatter_elements, "ScatterND": scatter_nd, "Compress": compress, "NonZero": nonzero, "OneHot": one_hot,
    "TopK": topk, "Unique": unique, "NonMaxSuppression": nms,
}
