"""How near an answer is to what is expected."""
import numpy as np

from engine import ELEMENTS, TensorProto

# Of an element, of the scale of what is summed up, and the floor under which differences do not count.
RELATIVE = {TensorProto.FLOAT: 4e-6, TensorProto.DOUBLE: 1e-12, TensorProto.FLOAT16: 2.1e-3, TensorProto.BFLOAT16: 1.7e-2,
            TensorProto.COMPLEX64: 1e-5, TensorProto.COMPLEX128: 1e-12}
FLOOR = {TensorProto.FLOAT: 1e-6, TensorProto.DOUBLE: 1e-12, TensorProto.FLOAT16: 1e-4, TensorProto.BFLOAT16: 1e-4,
         TensorProto.COMPLEX64: 1e-6, TensorProto.COMPLEX128: 1e-12}


def bits(array):
    """Bits, with one NaN for all."""
    array = np.array(array)
    with np.errstate(all="ignore"):
        array[np.asarray(array != array, bool)] = np.nan
    return np.ascontiguousarray(array).view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[array.dtype.itemsize])


def tensor_difference(found, expected, draft):
    """What is wrong with found, as text; None: nothing."""
    if found.dtype != expected.dtype:
        return f"type {found.dtype}, expected {expected.dtype}"
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if draft.unordered:
        found, expected = np.sort(found.reshape(-1)), np.sort(expected.reshape(-1))
    element = ELEMENTS[found.dtype]
    if element not in RELATIVE:
        if draft.slack and found.dtype.kind in "iu":
            wrong = np.abs(found.astype(object) - expected.astype(object)) > draft.slack
        else:
            wrong = found != expected
        if element not in (TensorProto.STRING,) and found.dtype.kind not in "biuO":
            wrong = wrong & ~((found != found) & (expected != expected))
    elif draft.exact == "value":
        wrong = (found != expected) & ~((found != found) & (expected != expected))
    elif draft.exact and element not in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        wrong = bits(found) != bits(expected)
    else:
        wide = np.complex128 if found.dtype.kind == "c" else np.float64
        with np.errstate(all="ignore"):
            one, two = found.astype(wide), expected.astype(wide)
            finite = np.isfinite(one) & np.isfinite(two)
            size = np.abs(np.where(np.isfinite(two), two, 0))
            if draft.elementwise:
                scale = size
            else:
                scale = draft.magnitude if draft.magnitude is not None else (size.max() if size.size else 0)
            limit = draft.loose * (RELATIVE[element] * np.maximum(scale, size) + FLOOR[element])
            near = np.where(finite, np.abs(one - two) <= limit, (one == two) | (np.isnan(one) & np.isnan(two)))
        wrong = ~near
    wrong = np.asarray(wrong, bool).reshape(found.shape)
    if not wrong.any():
        return None
    where = tuple(int(index) for index in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements, first at {list(where)}: {found[where]!r}, expected {expected[where]!r}"


def difference(found, expected, draft):
    if expected is None or found is None:
        return None if found is None and expected is None else f"{found!r}, expected {expected!r}"
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, list) or len(found) != len(expected):
            return f"{found!r}, expected a sequence of {len(expected)}"
        for one, two in zip(found, expected):
            text = difference(one, two, draft)
            if text:
                return text
        return None
    if isinstance(expected, dict):
        if not isinstance(found, dict) or list(found) != list(expected):
            return f"{found!r}, expected {expected!r}"
        return difference(np.array(list(found.values())), np.array(list(expected.values()), np.array(list(found.values())).dtype), draft)
    expected = np.asarray(expected)
    if draft.float_outputs and found.dtype.kind == "f" and expected.dtype.kind in "fiu":
        expected = expected.astype(found.dtype)
    if expected.dtype.kind in "US":
        expected = expected.astype(object)
    if expected.dtype == object and found.dtype == object:
        expected = np.array([item.decode() if isinstance(item, bytes) else str(item) for item in expected.reshape(-1)] + [""],
                            object)[:expected.size].reshape(expected.shape)
    return tensor_difference(found, expected, draft)


def outputs_difference(found, expected, draft):
    if len(found) != len(expected):
        return f"{len(found)} outputs, expected {len(expected)}"
    for index, (one, two) in enumerate(zip(found, expected)):
        text = difference(one, two, draft)
        if text:
            return f"output {index}: {text}"
    return None
