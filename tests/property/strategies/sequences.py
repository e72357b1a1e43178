"""Sequences and optionals."""
import numpy as np
from onnx import TensorProto, helper

from draft import tensor_type
from engine import DTYPES


def sequence_type(element):
    return helper.make_sequence_type_proto(tensor_type(element))


def items_element(draft):
    return draft.choice([element for element in DTYPES if element <= TensorProto.COMPLEX128])


def items(draft, element, least=0, same=None):
    return [draft.data(element, same or draft.shape(0, 3, 40)) for _ in range(draft.integer(least, 4))]


def position(draft, count, extra=0):
    dtype = draft.choice([np.int32, np.int64])
    return np.array(draft.integer(-count, count - 1 + extra), dtype)


def sequence(draft, least=0, same=None):
    element = items_element(draft)
    return draft.add_value(items(draft, element, least, same), sequence_type(element)), element


def sequence_at(draft):
    content, _ = sequence(draft, 1)
    draft.add(position(draft, len(content)))
    draft.exact = True
    draft.expected = lambda s, i: [s[int(i)]]


def sequence_length(draft):
    sequence(draft)
    draft.expected = lambda s: [np.array(len(s), np.int64)]


def sequence_erase(draft):
    content, _ = sequence(draft, 1)
    draft.exact = True
    if draft.chance(0.7):
        draft.add(position(draft, len(content)))

    def erased(s, i=np.array(-1)):
        s = list(s)
        del s[int(i)]
        return [s]
    draft.expected = erased


def sequence_insert(draft):
    content, element = sequence(draft)
    draft.exact = True
    draft.add(draft.data(element, draft.shape(0, 3, 40)))
    if draft.chance(0.7):
        draft.add(position(draft, len(content), 1))

    def inserted(s, x, i=None):
        s = list(s)
        s.insert(len(s) if i is None else int(i), x)
        return [s]
    draft.expected = inserted


def sequence_construct(draft):
    draft.exact = True
    for _ in range(draft.integer(1, 4)):
        draft.draw("T", draft.shape(0, 3, 40))
    draft.expected = lambda *contents: [list(contents)]


def sequence_empty(draft):
    draft.maybe("dtype", int(items_element(draft)))
    draft.expected = lambda: [[]]


def concat_from_sequence(draft):
    shape = draft.shape(1, 3, 40)
    stack = draft.chance(0.4)
    element = items_element(draft)
    draft.exact = True
    rank = len(shape) + (1 if stack else 0)
    axis = draft.integer(-rank, rank - 1)
    draft.attributes["axis"] = axis
    if stack or draft.chance(0.3):
        draft.attributes["new_axis"] = int(stack)
    parts = []
    for _ in range(draft.integer(1, 4)):
        part = list(shape)
        if not stack:
            part[axis] = draft.dim()
        parts.append(draft.data(element, part))
    draft.add_value(parts, sequence_type(element))
    draft.expected = lambda s: [np.stack(s, axis) if stack else np.concatenate(s, axis)]


def split_to_sequence(draft):
    shape = draft.shape(1, 3, smallest=1)
    axis = draft.axis(len(shape))
    draft.exact = True
    if not draft.maybe("axis", axis, 0.7):
        axis = 0
    draft.draw("T", shape)
    keep = draft.maybe("keepdims", draft.integer(0, 1), 0.5) and not draft.attributes["keepdims"]
    size = shape[axis]
    kind = draft.choice(["none", "scalar", "vector"])
    sizes = [1] * size
    dtype = draft.choice([np.int32, np.int64])
    if kind == "scalar":
        step = draft.integer(1, 4)
        draft.add(np.array(step, dtype))
        sizes = [min(step, size - at) for at in range(0, size, step)]
    elif kind == "vector":
        sizes = []
        while sum(sizes) < size:
            sizes.append(draft.integer(0, size - sum(sizes)))
        draft.add(np.array(sizes, dtype))

    def split(x, *_):
        parts = np.split(x, np.cumsum(sizes)[:-1], axis)
        return [[np.squeeze(part, axis) for part in parts] if kind == "none" and keep else parts]
    draft.expected = split


def optional_type(draft):
    element = items_element(draft)
    if draft.chance(0.4):
        return helper.make_optional_type_proto(sequence_type(element)), items(draft, element)
    return helper.make_optional_type_proto(tensor_type(element)), draft.data(element, draft.shape(0, 3, 40))


def optional(draft):
    kind, content = optional_type(draft)
    draft.exact = True
    if draft.chance(0.7):
        draft.add_value(content, kind.optional_type.elem_type)
        draft.expected = lambda x: [x]
    else:
        draft.attributes["type"] = kind.optional_type.elem_type
        draft.expected = lambda: [None]


def optional_get(draft):
    kind, content = optional_type(draft)
    draft.exact = True
    if draft.version >= 18 and draft.chance(0.4):
        kind = kind.optional_type.elem_type
    draft.add_value(content, kind)
    draft.expected = lambda x: [x]


def optional_has(draft):
    kind, content = optional_type(draft)
    if draft.version >= 18 and draft.chance(0.2):
        if draft.chance(0.5):
            draft.skip()
        draft.expected = lambda *_: [np.array(False)]
        return
    if draft.version >= 18 and draft.chance(0.3):
        kind = kind.optional_type.elem_type
    elif draft.chance(0.4):
        content = None
    draft.add_value(content, kind)
    draft.expected = lambda x: [np.array(x is not None)]


STRATEGIES = {
    "SequenceAt": sequence_at, "SequenceLength": sequence_length, "SequenceErase": sequence_erase,
    "SequenceInsert": sequence_insert, "SequenceConstruct": sequence_construct, "SequenceEmpty": sequence_empty,
    "ConcatFromSequence": concat_from_sequence, "SplitToSequence": split_to_sequence, "Optional": optional,
    "OptionalGetElement": optional_get, "OptionalHasElement": optional_has,
}
