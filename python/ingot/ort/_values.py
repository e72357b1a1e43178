"""Values of ONNX Runtime: OrtValue, SparseTensor, OrtDevice."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _arrays, _core
from .._types import KINDS
from ._errors import InvalidArgument
from ._options import OrtSparseFormat

DEVICES = {"cpu": 0, "cuda": 1, "gpu": 1, "npu": 2}
TENSOR, SEQUENCE, MAP, OPTIONAL, SPARSE = range(1, len(KINDS))


def require_cpu(device: Optional[str]) -> None:
    """InvalidArgument for a device that this build does not run on."""
    if device is not None and str(device).lower() != "cpu":
        raise InvalidArgument.of(f"device {device!r} is not supported: this build runs on 'cpu'")


def element_type(given: Any) -> int:
    """A number of onnx.TensorProto.DataType, from that, a numpy dtype, or its name."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return int(given)
    return _arrays.element_of(np.dtype(given))


def type_of(value: _core.Value) -> str:
    """The type of a value as ONNX Runtime spells it."""
    name = _core.ELEMENT_NAMES[value.element]
    if value.kind == SEQUENCE:
        return f"seq({type_of(value.item(0)) if value.item_count else f'tensor({name})'})"
    return {TENSOR: f"tensor({name})", SPARSE: f"sparse_tensor({name})", MAP: f"map({name},tensor)"}.get(value.kind, "optional")


class OrtDevice:
    """A device. This build has one: cpu."""

    def __init__(self, device_type: int = 0, device_id: int = 0) -> None:
        self._type, self._id = device_type, device_id

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> "OrtDevice":
        """The device of a name, such as "cpu"; ValueError for a name that nobody has."""
        try:
            return OrtDevice(DEVICES[ort_device_name.lower()], device_id)
        except KeyError:
            raise ValueError(f"Unsupported device type: {ort_device_name}") from None

    @staticmethod
    def cpu() -> int:
        return 0

    @staticmethod
    def cuda() -> int:
        return 1

    @staticmethod
    def default_memory() -> int:
        return 0

    def device_id(self) -> int:
        """Which of the devices of this type."""
        return self._id

    def device_type(self) -> int:
        """0: cpu."""
        return self._type

    def device_vendor_id(self) -> int:
        """0: no vendor in particular."""
        return 0

    def device_mem_type(self) -> int:
        """0: the default."""
        return 0


class OrtValue:
    """A value in the library's hands: a tensor that shares the memory of an array, a sequence, a map, a sparse tensor."""

    def __init__(self, value: Any) -> None:
        self._value: _core.Value = value if isinstance(value, _core.Value) else _core.Value(value)

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Any, device_type: str = "cpu", device_id: int = 0, vendor_id: int = -1) -> "OrtValue":
        """A tensor that shares the memory of an array; of strings or of an array that is not row-major, a copy."""
        require_cpu(device_type)
        return OrtValue(_core.Value(np.asarray(numpy_obj)))

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data: Any, onnx_element_type: int) -> "OrtValue":
        """The same, its bits read as elements of another type of the same width, such as bfloat16 in uint16.

        Raises InvalidArgument where the widths differ.
        """
        array = np.ascontiguousarray(data)
        plain = _arrays.NUMPY_NAMES.get(onnx_element_type) or _arrays.PLAIN_NAMES.get(onnx_element_type)
        if plain is None or (onnx_element_type not in _arrays.PACKED_BITS and np.dtype(plain).itemsize != array.itemsize):
            raise InvalidArgument.of(f"elements of {array.dtype} have no bits for element type {onnx_element_type}")
        return cls(_core.Value(array.view(plain), onnx_element_type))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0,
                                     vendor_id: int = -1) -> "OrtValue":
        """A tensor of zeros; element_type is a numpy dtype or a number of onnx.TensorProto.DataType."""
        require_cpu(device_type)
        return OrtValue(_core.Value.zeros(_element_type(element_type), tuple(int(size) for size in shape)))

    @classmethod
    def ort_value_from_sparse_tensor(cls, sparse_tensor: "SparseTensor") -> "OrtValue":
        """A sparse tensor as a value."""
        return cls(_core.Value.sparse(*sparse_tensor.sparse_parts()))

    @classmethod
    def from_dlpack(cls, data: Any, is_bool_tensor: bool = False) -> "OrtValue":
        """A tensor that shares the memory of a DLPack object on the CPU, such as a torch tensor."""
        return cls(_core.Value(data))

    def as_sparse_tensor(self) -> "SparseTensor":
        """The sparse tensor that this holds; RuntimeError where it holds none."""
        if not self.is_sparse_tensor():
            raise RuntimeError("this OrtValue holds no sparse tensor")
        shape, values, indices = self._value.to_object()
        return SparseTensor(shape, values, indices)

    def data_ptr(self) -> int:
        """The address of the first element of a tensor."""
        return self._value.address

    def device_name(self) -> str:
        """"cpu"."""
        return "cpu"

    def shape(self) -> List[int]:
        """Sizes of a tensor."""
        return list(self._value.shape)

    def data_type(self) -> str:
        """Such as "tensor(float)"."""
        return type_of(self._value)

    def element_type(self) -> int:
        """A number of onnx.TensorProto.DataType."""
        return self._value.element

    def tensor_size_in_bytes(self) -> int:
        """Bytes of a tensor."""
        return self._value.nbytes

    def has_value(self) -> bool:
        """False for an optional that holds nothing."""
        return self._value.has_value

    def is_tensor(self) -> bool:
        """Whether this is a dense tensor."""
        return self._value.kind == TENSOR

    def is_sparse_tensor(self) -> bool:
        """Whether this is a sparse tensor."""
        return self._value.kind == SPARSE

    def is_tensor_sequence(self) -> bool:
        """Whether this is a sequence."""
        return self._value.kind == SEQUENCE

    def numpy(self) -> Any:
        """An array that shares the memory of a tensor (of strings a copy); of a sequence a list of them, of a map a dict."""
        return self._value.to_object()

    def update_inplace(self, data: Any) -> None:
        """Copy an array, or another value, of the same shape and type into this tensor's memory; ValueError else."""
        source = data.numpy() if isinstance(data, OrtValue) else np.asarray(data)
        target = self.numpy()
        if source.shape != target.shape or source.dtype != target.dtype:
            raise ValueError(f"{source.dtype}{list(source.shape)} does not fit into {target.dtype}{list(target.shape)}")
        if target.dtype == object or self._value.element in _arrays.PACKED_BITS:
            self._value = _core.Value(source.copy(), self._value.element)
        else:
            np.copyto(target, source)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, *, stream: Any = None) -> Any:
        return self.numpy().__dlpack__()

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)


_element_type = element_type


class _CooView:
    def __init__(self, indices: Any) -> None:
        self._indices = indices

    def indices(self) -> Any:
        return self._indices


class _CsrView:
    def __init__(self, inner: Any, outer: Any) -> None:
        self._inner, self._outer = inner, outer

    def inner(self) -> Any:
        return self._inner

    def outer(self) -> Any:
        return self._outer


class SparseTensor:
    """A sparse tensor: values, and where they stand in a tensor of zeros.

    shape: of the dense tensor. values: an array [n]. indices: row-major places [n] or coordinates [n, rank], ascending.
    """

    def __init__(self, shape: Any, values: Any, indices: Any, outer: Any = None) -> None:
        self._shape = np.asarray(shape, np.int64)
        self._values = np.asarray(values)
        self._indices = np.asarray(indices, np.int64)
        self._outer = None if outer is None else np.asarray(outer, np.int64)

    @classmethod
    def sparse_coo_from_numpy(cls, dense_shape: Any, values: Any, coo_indices: Any, ort_device: Optional[OrtDevice] = None
                              ) -> "SparseTensor":
        """From places [n] or coordinates [n, rank]."""
        return cls(dense_shape, values, coo_indices)

    @classmethod
    def sparse_csr_from_numpy(cls, dense_shape: Any, values: Any, inner_indices: Any, outer_indices: Any,
                              ort_device: Optional[OrtDevice] = None) -> "SparseTensor":
        """From columns [n] and where each row begins [rows + 1]."""
        return cls(dense_shape, values, inner_indices, outer_indices)

    def sparse_parts(self) -> Tuple[Any, Any, Any]:
        """Shape, values, and places or coordinates."""
        if self._outer is None:
            return self._shape, self._values, self._indices
        rows = np.repeat(np.arange(len(self._outer) - 1), np.diff(self._outer))
        return self._shape, self._values, rows * self._shape[-1] + self._indices

    def values(self) -> Any:
        """The values [n]."""
        return self._values

    def as_coo_view(self) -> _CooView:
        """indices() of a tensor in COO format; RuntimeError for others."""
        if self._outer is not None:
            raise RuntimeError("this sparse tensor is not in COO format")
        return _CooView(self._indices)

    def as_csrc_view(self) -> _CsrView:
        """inner() and outer() of a tensor in CSR format; RuntimeError for others."""
        if self._outer is None:
            raise RuntimeError("this sparse tensor is not in CSR format")
        return _CsrView(self._indices, self._outer)

    def to_cuda(self, ort_device: OrtDevice) -> "SparseTensor":
        """Not supported: raises InvalidArgument."""
        raise InvalidArgument.of("device 'cuda' is not supported: this build runs on 'cpu'")

    def format(self) -> OrtSparseFormat:
        """COO or CSRC."""
        return OrtSparseFormat.ORT_SPARSE_COO if self._outer is None else OrtSparseFormat.ORT_SPARSE_CSRC

    def dense_shape(self) -> Any:
        """Sizes of the dense tensor, as an int64 array."""
        return self._shape

    def data_type(self) -> str:
        """Such as "sparse_tensor(float)"."""
        return f"sparse_tensor({_core.ELEMENT_NAMES[_arrays.element_of(self._values.dtype)]})"

    def device_name(self) -> str:
        """"cpu"."""
        return "cpu"


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: Any = None) -> None:
    """Copy each tensor of src into the memory of the one in dst; ValueError where they do not fit."""
    if len(src) != len(dst):
        raise ValueError(f"{len(src)} tensors cannot be copied to {len(dst)}")
    for source, target in zip(src, dst):
        target.update_inplace(source)


Feed = Union[OrtValue, SparseTensor, Any]


def to_feed(value: Feed) -> Any:
    """What ingot._core takes for a value."""
    return value._value if isinstance(value, OrtValue) else value


def from_result(value: Any) -> Any:
    """What a run gives, as ONNX Runtime does: sparse tensors as SparseTensor."""
    if isinstance(value, tuple):
        return SparseTensor(*value)
    return value
