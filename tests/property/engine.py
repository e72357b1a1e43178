"""Runs a model in this process by libingot.so, through the public C API (ingot/ingot.h).

Values are numpy arrays (ml_dtypes for the types that numpy lacks, object for strings), lists for sequences, dicts for maps,
None for an optional that holds nothing.
"""
import ctypes
import os
import pathlib

import ml_dtypes
import numpy as np
from onnx import TensorProto

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = os.environ.get("INGOT_LIBRARY", str(ROOT / "build" / "src" / "libingot.so"))

STRING = TensorProto.STRING
DTYPES = {  # element type: how numpy holds it
    TensorProto.FLOAT: np.float32, TensorProto.UINT8: np.uint8, TensorProto.INT8: np.int8,
    TensorProto.UINT16: np.uint16, TensorProto.INT16: np.int16, TensorProto.INT32: np.int32,
    TensorProto.INT64: np.int64, TensorProto.STRING: np.object_, TensorProto.BOOL: np.bool_,
    TensorProto.FLOAT16: np.float16, TensorProto.DOUBLE: np.float64, TensorProto.UINT32: np.uint32,
    TensorProto.UINT64: np.uint64, TensorProto.COMPLEX64: np.complex64, TensorProto.COMPLEX128: np.complex128,
    TensorProto.BFLOAT16: ml_dtypes.bfloat16, TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    TensorProto.FLOAT8E4M3FNUZ: ml_dtypes.float8_e4m3fnuz, TensorProto.FLOAT8E5M2: ml_dtypes.float8_e5m2,
    TensorProto.FLOAT8E5M2FNUZ: ml_dtypes.float8_e5m2fnuz, TensorProto.UINT4: ml_dtypes.uint4,
    TensorProto.INT4: ml_dtypes.int4, TensorProto.FLOAT4E2M1: ml_dtypes.float4_e2m1fn,
    TensorProto.FLOAT8E8M0: ml_dtypes.float8_e8m0fnu, TensorProto.UINT2: ml_dtypes.uint2, TensorProto.INT2: ml_dtypes.int2,
}
DTYPES = {element: np.dtype(dtype) for element, dtype in DTYPES.items()}
ELEMENTS = {dtype: element for element, dtype in DTYPES.items()}
PACKED_BITS = {TensorProto.UINT4: 4, TensorProto.INT4: 4, TensorProto.FLOAT4E2M1: 4, TensorProto.UINT2: 2,
               TensorProto.INT2: 2}

TENSOR, SEQUENCE, MAP, OPTIONAL = 1, 2, 3, 4  # ingot_kind
INTERNAL = 10  # ingot_status


class Error(Exception):
    """A status other than INGOT_OK, with its message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class ErrorStruct(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 1020)]


class SessionOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("device", ctypes.c_char_p),
                ("precision", ctypes.c_char_p), ("memory_limit", ctypes.c_size_t), ("opt_level", ctypes.c_int),
                ("disabled_passes", ctypes.c_char_p), ("warmup_shapes", ctypes.c_void_p),
                ("warmup_shape_count", ctypes.c_size_t), ("max_contexts", ctypes.c_size_t),
                ("shape_cache_size", ctypes.c_size_t), ("cancel", ctypes.c_void_p),
                ("thread_pool", ctypes.c_void_p)]


class ModelOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data_folder", ctypes.c_char_p), ("no_mmap", ctypes.c_bool),
                ("memory_limit", ctypes.c_size_t)]


class ValueInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_void_p), ("has_default", ctypes.c_bool)]


P, SIZE, INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
SIGNATURES = {  # function: result, arguments
    "ingot_model_open": (INT, ctypes.c_char_p, P, P, P),
    "ingot_model_open_memory": (INT, P, SIZE, P, P, P),
    "ingot_model_options_init": (None, P),
    "ingot_model_release": (None, P),
    "ingot_session_options_init": (None, P),
    "ingot_session_create": (INT, P, P, P, P),
    "ingot_session_release": (None, P),
    "ingot_session_output_count": (SIZE, P),
    "ingot_session_output": (ctypes.POINTER(ValueInfo), P, SIZE),
    "ingot_session_run": (INT, P, P, P, P, SIZE, P, P, SIZE, P),
    "ingot_value_create_tensor": (INT, INT, INT, P, P, SIZE, P, P),
    "ingot_value_create_strings": (INT, INT, P, P, P, P, P),
    "ingot_value_create_sequence": (INT, P, SIZE, INT, P, P),
    "ingot_value_create_map": (INT, P, P, P, P),
    "ingot_value_create_optional": (INT, P, P, P),
    "ingot_value_release": (None, P),
    "ingot_value_kind": (INT, P), "ingot_value_element": (INT, P), "ingot_value_rank": (INT, P),
    "ingot_value_dims": (ctypes.POINTER(ctypes.c_int64), P),
    "ingot_value_count": (SIZE, P), "ingot_value_bytes": (SIZE, P), "ingot_value_data": (P, P),
    "ingot_value_string": (P, P, SIZE, P),
    "ingot_value_item_count": (SIZE, P), "ingot_value_item": (P, P, SIZE),
    "ingot_value_map_keys": (P, P), "ingot_value_map_values": (P, P), "ingot_value_optional_item": (P, P),
}


def load(path=LIBRARY):
    library = ctypes.CDLL(path)
    for name, (result, *arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def pack(array, bits):
    """The bytes of elements under eight bits, the first in the low bits."""
    per_byte = 8 // bits
    codes = np.zeros(-(-array.size // per_byte) * per_byte, np.uint8)
    codes[:array.size] = array.reshape(-1).view(np.uint8) & (1 << bits) - 1
    shifts = np.arange(per_byte, dtype=np.uint8) * bits
    return np.bitwise_or.reduce(codes.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8)


def unpack(data, count, bits, dtype):
    per_byte = 8 // bits
    shifts = np.arange(per_byte, dtype=np.uint8) * bits
    codes = (data[:, None] >> shifts & (1 << bits) - 1).reshape(-1)[:count].astype(np.uint8)
    if dtype in (DTYPES[TensorProto.INT4], DTYPES[TensorProto.INT2]):
        codes = np.where(codes >> bits - 1, codes | 256 - (1 << bits), codes).astype(np.uint8)
    return codes.view(dtype)


class Engine:
    def __init__(self, path=LIBRARY):
        self.library = load(path)

    def call(self, name, *arguments):
        error = ErrorStruct()
        status = getattr(self.library, name)(*arguments, ctypes.byref(error))
        if status:
            raise Error(status, error.message.decode("utf-8"))  # not UTF-8: a fault of its own

    def create(self, name, *arguments):
        handle = P()
        self.call(name, *arguments, ctypes.byref(handle))
        return handle

    # ---- Values ----

    def tensor(self, array):
        array = np.asarray(array)
        if array.dtype.kind in "USO" and array.dtype != object:
            array = array.astype(object)
        element = ELEMENTS[array.dtype]
        dims = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
        if element == STRING:
            texts = [text if isinstance(text, bytes) else str(text).encode("utf-8") for text in array.reshape(-1)]
            pointers = (ctypes.c_char_p * max(1, len(texts)))(*texts)
            lengths = (SIZE * max(1, len(texts)))(*map(len, texts))
            return self.create("ingot_value_create_strings", array.ndim, dims, pointers, lengths)
        value = self.create("ingot_value_create_tensor", element, array.ndim, dims, None, 0)
        bits = PACKED_BITS.get(element)
        data = pack(np.ascontiguousarray(array), bits).tobytes() if bits else array.tobytes()
        if data:
            if self.library.ingot_value_bytes(value) != len(data):
                raise AssertionError(f"ingot_value_bytes gives {self.library.ingot_value_bytes(value)}, not {len(data)}")
            ctypes.memmove(self.library.ingot_value_data(value), data, len(data))
        return value

    def value(self, content, kind):
        """The value of this onnx.TypeProto."""
        which = kind.WhichOneof("value")
        if which == "optional_type":
            item = None if content is None else self.value(content, kind.optional_type.elem_type)
            return self.create("ingot_value_create_optional", item)
        if which == "sequence_type":
            item_type = kind.sequence_type.elem_type
            items = (P * max(1, len(content)))(*(self.value(item, item_type) for item in content))
            element = item_type.tensor_type.elem_type
            return self.create("ingot_value_create_sequence", items, len(content), element)
        if which == "map_type":
            keys = np.array(list(content), DTYPES[kind.map_type.key_type])
            values = np.array(list(content.values()), DTYPES[kind.map_type.value_type.tensor_type.elem_type])
            return self.create("ingot_value_create_map", self.tensor(keys), self.tensor(values))
        return self.tensor(content)

    def content(self, value):
        """What a value holds, as numpy and Python have it."""
        library = self.library
        if not value:
            return None
        kind = library.ingot_value_kind(value)
        if kind == SEQUENCE:
            return [self.content(library.ingot_value_item(value, index))
                    for index in range(library.ingot_value_item_count(value))]
        if kind == OPTIONAL:
            return self.content(library.ingot_value_optional_item(value))
        if kind == MAP:
            keys = self.content(library.ingot_value_map_keys(value)).tolist()
            return dict(zip(keys, self.content(library.ingot_value_map_values(value))))
        if kind != TENSOR:
            return None
        rank = library.ingot_value_rank(value)
        dims = tuple(library.ingot_value_dims(value)[axis] for axis in range(rank))
        element, count = library.ingot_value_element(value), library.ingot_value_count(value)
        dtype = DTYPES[element]
        if element == STRING:
            texts = np.empty(count, object)
            for index in range(count):
                length = SIZE()
                start = library.ingot_value_string(value, index, ctypes.byref(length))
                texts[index] = ctypes.string_at(start, length.value).decode("utf-8", "surrogateescape")
            return texts.reshape(dims)
        size, data = library.ingot_value_bytes(value), library.ingot_value_data(value)
        raw = np.frombuffer((ctypes.c_char * size).from_address(data) if size else b"", np.uint8).copy()
        if element in PACKED_BITS:
            return unpack(raw, count, PACKED_BITS[element], dtype).reshape(dims)
        return raw.view(dtype).reshape(dims)

    # ---- Running ----

    def open(self, model):
        """A model from its bytes (which must stay) or its path."""
        if isinstance(model, (str, pathlib.Path)):
            return self.create("ingot_model_open", str(model).encode(), None)
        return self.create("ingot_model_open_memory", ctypes.cast(ctypes.c_char_p(model), P), len(model), None)

    def run(self, model, inputs, types, level=2, disabled=None, threads=1, memory_limit=0):
        """The outputs, in the model's order. model: bytes or a path. inputs: name to content, types: name to TypeProto."""
        library, made = self.library, []
        handle = session = None
        try:
            handle = self.open(model)
            options = SessionOptions()
            library.ingot_session_options_init(ctypes.byref(options))
            options.opt_level, options.threads = level, threads
            options.disabled_passes = disabled.encode() if disabled else None
            options.memory_limit = memory_limit
            session = self.create("ingot_session_create", handle, ctypes.byref(options))
            for name, content in inputs.items():
                made.append(self.value(content, types[name]))
            names = (ctypes.c_char_p * max(1, len(inputs)))(*(name.encode() for name in inputs))
            values = (P * max(1, len(inputs)))(*made)
            count = library.ingot_session_output_count(session)
            output_names = (ctypes.c_char_p * count)(
                *(library.ingot_session_output(session, index).contents.name for index in range(count)))
            outputs = (P * count)()
            self.call("ingot_session_run", session, None, names, values, len(inputs), output_names, outputs, count)
            made.extend(P(output) for output in outputs)
            return [self.content(output) for output in outputs]
        finally:
            for value in made:
                library.ingot_value_release(value)
            library.ingot_session_release(session)
            library.ingot_model_release(handle)
