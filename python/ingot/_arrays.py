"""Arrays of what numpy lacks, and of what is not an array yet. ingot._core calls these; plain arrays never come here.

Element types that numpy lacks are ml_dtypes' where that package is installed. Without it their bits come as unsigned integers
of the same width, and types under a byte as small integers (their values, or the bits of float4e2m1).
"""
from __future__ import annotations

from typing import Any

import numpy as np

STRING, UINT4, INT4, FLOAT4, UINT2, INT2 = 8, 21, 22, 23, 25, 26  # onnx.TensorProto.DataType
PACKED_BITS = {UINT4: 4, INT4: 4, FLOAT4: 4, UINT2: 2, INT2: 2}
SIGNED = {INT4, INT2}

NUMPY_NAMES = {  # element: numpy's name
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
}
ML_NAMES = {  # element: ml_dtypes' name
    16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4",
    22: "int4", 23: "float4_e2m1fn", 24: "float8_e8m0fnu", 25: "uint2", 26: "int2",
}
PLAIN_NAMES = {  # element: what its bits, or its values where it is packed, come as without ml_dtypes
    16: "uint16", 17: "uint8", 18: "uint8", 19: "uint8", 20: "uint8", 21: "uint8", 22: "int8", 23: "uint8", 24: "uint8",
    25: "uint8", 26: "int8",
}


def _dtypes() -> dict[int, np.dtype[Any]]:
    names = dict(NUMPY_NAMES)
    try:
        import ml_dtypes
    except ImportError:
        return {element: np.dtype(name) for element, name in {**names, **PLAIN_NAMES}.items()}
    known = {element: np.dtype(name) for element, name in names.items()}
    for element, name in ML_NAMES.items():
        known[element] = np.dtype(getattr(ml_dtypes, name, PLAIN_NAMES[element]))
    return known


DTYPES = _dtypes()  # element: dtype of the arrays that hold it
DTYPES[STRING] = np.dtype(object)
ELEMENTS: dict[str, int] = {dtype.name: element for element, dtype in reversed(list(DTYPES.items()))}
for _element, _name in ML_NAMES.items():  # by name, so that arrays of ml_dtypes are known before it is imported here
    ELEMENTS.setdefault(_name, _element)


def element_of(dtype: np.dtype[Any]) -> int:
    """The element type of arrays of a dtype; TypeError where no tensor can hold them."""
    if dtype.kind in "OUST":
        return STRING
    try:
        return ELEMENTS[dtype.name]
    except KeyError:
        raise TypeError(f"no tensor can hold an array of dtype {dtype}") from None


def pack(values: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Elements of a byte each, of which the low bits count, packed; the first in the low bits."""
    flat = values.view(np.uint8).ravel() & ((1 << bits) - 1)
    per_byte = 8 // bits
    padded = np.zeros(-(-flat.size // per_byte) * per_byte, np.uint8)
    padded[:flat.size] = flat
    packed = np.zeros(padded.size // per_byte, np.uint8)
    for i in range(per_byte):
        packed |= padded[i::per_byte] << (bits * i)
    return packed


def unpack(packed: np.ndarray[Any, Any], bits: int, signed: bool, count: int) -> np.ndarray[Any, Any]:
    """The reverse: a byte an element, as int8 with the sign extended, or as uint8."""
    mask, per_byte = (1 << bits) - 1, 8 // bits
    values = np.empty(packed.size * per_byte, np.uint8)
    for i in range(per_byte):
        values[i::per_byte] = (packed >> (bits * i)) & mask
    values = values[:count]
    if not signed:
        return values
    sign = np.uint8(1 << (bits - 1))
    return ((values ^ sign) - sign).view(np.int8)


def _from_strings(array: np.ndarray[Any, Any]) -> tuple[Any, int, tuple[int, ...]]:
    return array.ravel().tolist(), STRING, array.shape


def tensor(value: Any, wanted: int) -> tuple[Any, int, tuple[int, ...]]:
    """A value whose memory a run cannot use as it is: (array of its memory or list of strings, element type, shape).

    wanted: the element type that the model declares, 0 where it does not. Lists and numbers become that type.
    """
    array = value
    if not isinstance(array, np.ndarray):
        dtype = None if hasattr(value, "dtype") or wanted in (0, STRING) else DTYPES.get(wanted)
        array = np.asarray(value, dtype)
        if array.dtype.kind == "O" and wanted != STRING:
            raise TypeError(f"{type(value).__name__} is no array, number, string, or nested list of one shape of them")
    if array.dtype.kind == "O" and array.size and not isinstance(array.flat[0], (str, bytes)):
        raise TypeError("an array of Python objects must hold str or bytes")
    element = element_of(array.dtype)
    if element == STRING:
        return _from_strings(array)
    if wanted in PACKED_BITS and array.dtype.name in (PLAIN_NAMES[wanted], ML_NAMES[wanted]):
        element = wanted
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    shape = array.shape
    array = np.ascontiguousarray(array)
    if element in PACKED_BITS:
        return pack(array, PACKED_BITS[element]), element, shape
    if element not in NUMPY_NAMES:
        array = array.view(PLAIN_NAMES[element])
    return array, element, shape


def beyond_numpy(raw: Any, element: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The array for a tensor whose type numpy lacks; raw exports its bits. Shares memory unless the type is packed."""
    bits = np.asarray(raw)
    if element in PACKED_BITS:
        count = int(np.prod(shape, dtype=np.int64))
        bits = unpack(bits, PACKED_BITS[element], element in SIGNED, count).reshape(shape)
        dtype = DTYPES[element]
        if dtype.kind in "iu":
            return bits
        if dtype.itemsize == 1 and element not in SIGNED:
            return bits.view(dtype) if element == FLOAT4 else bits.astype(dtype)
        return bits.astype(dtype)
    return bits.view(DTYPES[element])


def strings(items: list[str], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array of str objects."""
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def mapping(keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any], _shape: tuple[int, ...]) -> dict[Any, Any]:
    """A map as a dict of Python objects."""
    return dict(zip(keys.tolist(), values.tolist()))


def map_parts(value: dict[Any, Any], _element: int) -> list[Any]:
    """Keys and values of a dict as arrays: numbers become int64 and float32 where they are Python's own."""
    keys = list(value.keys())
    values = list(value.values())
    key_array = np.asarray(keys, object if keys and isinstance(keys[0], (str, bytes)) else np.int64)
    if values and isinstance(values[0], (str, bytes)):
        return [key_array, np.asarray(values, object)]
    value_array = np.asarray(values)
    return [key_array, value_array.astype(np.float32) if value_array.dtype == np.float64 else value_array]


def sparse_parts(value: Any, _element: int) -> list[Any]:
    """Values, indices and shape of a sparse tensor, or of the tuple (shape, values, indices)."""
    if isinstance(value, tuple):
        shape, values, indices = value
    elif hasattr(value, "sparse_parts"):
        shape, values, indices = value.sparse_parts()
    else:
        raise TypeError(f"a sparse tensor is needed, not {type(value).__name__}: "
                        "give (shape, values, indices), or ingot.ort.SparseTensor")
    return [np.asarray(values), np.asarray(indices, np.int64), np.asarray(shape, np.int64)]


def sparse(values: np.ndarray[Any, Any], indices: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Any:
    """A sparse tensor as (shape, values, indices)."""
    return shape, values, indices
