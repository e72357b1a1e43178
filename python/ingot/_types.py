"""Types of inputs and outputs, as a model declares or infers them."""
from __future__ import annotations

import dataclasses
from typing import Any, Optional, Tuple, Union

import numpy as np

from . import _arrays, _core

KINDS = ("none", "tensor", "sequence", "map", "optional", "sparse_tensor")  # index: ingot_kind
ONNX_WORDS = {"sequence": "seq", "optional": "optional"}

Size = Union[int, str, None]


@dataclasses.dataclass(frozen=True)
class ValueInfo:
    """An input or output of a model.

    name: its name. type: as ONNX spells it, such as "tensor(float)" or "seq(map(int64,tensor(float)))". kind: "tensor",
    "sequence", "map", "optional", "sparse_tensor" or "none". element: of a tensor, "float16". shape: of a tensor, a tuple of
    numbers, names of free sizes, and None where the model gives no name; None where not even the rank is known. dtype: of
    the arrays that hold a tensor. has_default: an input that may be left out of a run.
    """

    name: str
    type: str
    kind: str
    element: str
    shape: Optional[Tuple[Size, ...]]
    dtype: Optional[np.dtype[Any]]
    has_default: bool


def type_text(described: Any) -> str:
    """The ONNX spelling of what ingot._core says of a type."""
    if described is None:
        return "none"
    kind, element, _, item = described
    name = _core.ELEMENT_NAMES[element]
    if KINDS[kind] in ONNX_WORDS:
        return f"{ONNX_WORDS[KINDS[kind]]}({type_text(item)})"
    if KINDS[kind] == "map":
        return f"map({name},{type_text(item)})"
    return f"{KINDS[kind]}({name})" if kind else "none"


def value_info(port: Any) -> ValueInfo:
    """A ValueInfo from what ingot._core says of an input or output."""
    name, described, has_default = port
    kind, element, shape, _ = described
    return ValueInfo(name, type_text(described), KINDS[kind], _core.ELEMENT_NAMES[element], shape,
                     _arrays.DTYPES.get(element) if KINDS[kind] == "tensor" else None, has_default)
