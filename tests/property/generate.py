"""Draws a case of an operator: its form, the opset version of the model, the level, and by its family's strategy the node."""
import ctypes
import functools
import importlib
import random

import numpy as np

import engine
from draft import Draft, Unfit, schema_of, span, tensor_type

FAMILIES = ("elementwise", "reducing", "moving", "indexing", "windows", "products", "quantizing", "recurring", "sequences",
            "bodies", "signals", "learning", "texts")
DOMAINS = {"ai.onnx": 28, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1}  # and their greatest version
INT64_MIN, INT64_MAX = span(engine.TensorProto.INT64)


class OperatorInfo(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_char_p), ("name", ctypes.c_char_p), ("since", ctypes.c_int), ("summary", ctypes.c_char_p),
                ("types", ctypes.c_char * 256), ("backends", ctypes.c_char_p)]


@functools.cache
def forms():
    """(domain, name): versions since which a form of it holds, as the library lists them."""
    library = engine.load()
    library.ingot_operator.restype = ctypes.c_bool
    library.ingot_operator.argtypes = (ctypes.c_size_t, ctypes.c_void_p)
    found, info, index = {}, OperatorInfo(), 0
    while library.ingot_operator(index, ctypes.byref(info)):
        found.setdefault((info.domain.decode(), info.name.decode()), []).append(info.since)
        index += 1
    known = {key: [since for since in versions if schema_of(*key, since)] for key, versions in found.items()}
    return {key: known[key] or versions for key, versions in found.items()}  # forms that the standard never had stay out


@functools.cache
def strategies():
    table = {}
    for family in FAMILIES:
        table.update(importlib.import_module(f"strategies.{family}").STRATEGIES)
    return table


def operators():
    """Operators that there are both a form and a strategy for, in an order that does not change."""
    return sorted(key for key in forms() if key[1] in strategies() and (key[0] in DOMAINS or key[1] == "FusedConv"))


def without_strategy():
    return sorted(key for key in forms() if key[0] in DOMAINS and key[1] not in strategies() and not key[1].startswith("Random"))


def draw(seed, domain, name, number):
    """A draft, the model's opset version and the optimization level; no draft where the draws do not make a case."""
    for attempt in range(8):
        lot = random.Random(f"{seed}/{domain}/{name}/{number}/{attempt}")
        since = sorted(forms()[domain, name])
        at = len(since) - 1 if lot.random() < 0.4 else lot.randrange(len(since))
        last = since[at + 1] - 1 if at + 1 < len(since) else max(since[at], DOMAINS.get(domain, 1))
        if schema_of(domain, name, since[0]) is None:
            last = 9 if domain == "ai.onnx" else 1  # Crop and its like ended with opset 10
        opset = since[at] if lot.random() < 0.6 else lot.randint(since[at], last)
        schema = schema_of(domain, name, opset)
        if schema is not None and schema.deprecated:
            opset = since[at]
        draft = Draft(lot.getrandbits(64), domain, name, opset)
        try:
            strategies()[name](draft)
        except Unfit:
            continue
        if lot.random() < 0.06:
            spoil(draft)
        return draft, opset, lot.choice([0, 2])
    return None, 0, 0


def spoil(draft):
    """Makes a case that may break the standard: all that is asked of it is that nothing breaks."""
    draft.valid = False
    tensors = [index for index, entry in enumerate(draft.inputs) if isinstance(entry.content, np.ndarray)]
    for _ in range(draft.integer(1, 2)):
        which = draft.integer(0, 6)
        if which <= 2 and draft.attributes:
            spoil_attribute(draft, draft.choice(sorted(draft.attributes)))
        elif which == 3 and draft.inputs:
            draft.inputs.pop(draft.integer(0, len(draft.inputs) - 1))
        elif tensors:
            index = draft.choice(tensors)
            if index < len(draft.inputs) and isinstance(draft.inputs[index].content, np.ndarray):
                spoil_input(draft, draft.inputs[index], which)


def spoil_attribute(draft, name):
    value = draft.attributes[name]
    extreme = draft.choice([INT64_MIN, INT64_MAX, -1, 0, 1 << 31, -(1 << 31), 1 << 62, 3, 17])
    if isinstance(value, list) and value and isinstance(value[0], int):
        value = list(value)
        draw = draft.integer(0, 2)
        if draw == 0:
            value[draft.integer(0, len(value) - 1)] = extreme
        elif draw == 1:
            value.pop()
        else:
            value.append(extreme)
        draft.attributes[name] = value
    elif isinstance(value, int):
        draft.attributes[name] = extreme
    elif isinstance(value, float):
        draft.attributes[name] = draft.choice([float("nan"), float("inf"), -1.0, 0.0, 1e38])
    elif isinstance(value, str):
        draft.attributes[name] = draft.choice(["", "no", "x" * 300, "ä"])
    else:
        del draft.attributes[name]


def spoil_input(draft, entry, which):
    content, dtype = entry.content, entry.content.dtype
    if which == 4 and dtype.kind in "iu" and content.size:
        content = content.copy()
        content.reshape(-1)[draft.integer(0, content.size - 1)] = draft.choice(
            [edge for edge in (np.iinfo(dtype).min, np.iinfo(dtype).max, 100 if dtype.itemsize > 1 else 7)])
    elif which == 5 and content.ndim:
        axis = draft.integer(0, content.ndim - 1)
        content = np.concatenate([content, content], axis) if draft.chance(0.5) else np.take(content, [0] * min(
            1, content.shape[axis]), axis)
    else:
        content = content[None] if draft.chance(0.5) else content.reshape(-1)
    entry.content = content
    entry.type = tensor_type(engine.ELEMENTS[content.dtype])
