"""The exceptions of onnxruntime.capi.onnxruntime_pybind11_state. Each carries Ingot's message."""
from __future__ import annotations

from typing import Dict, Tuple, Type

from .. import _errors


class _OrtError(_errors.IngotError):
    code: Tuple[int, str] = (1, "FAIL")

    @classmethod
    def of(cls, message: str) -> "_OrtError":
        number, word = cls.code
        return cls(f"[ONNXRuntimeError] : {number} : {word} : {message}")


class Fail(_OrtError):
    """A run or a load failed, or was ended."""


class InvalidArgument(_OrtError):
    """A name, type or shape does not fit the model, or an option has no such value."""

    code = (2, "INVALID_ARGUMENT")


class NoSuchFile(_OrtError):
    """There is no such model file."""

    code = (3, "NO_SUCHFILE")


class NoModel(_OrtError):
    """Never raised here."""

    code = (4, "NO_MODEL")


class EngineError(_OrtError):
    """Never raised here."""

    code = (5, "ENGINE_ERROR")


class RuntimeException(_OrtError):
    """Memory ran out, or a fault of Ingot itself."""

    code = (6, "RUNTIME_EXCEPTION")


class InvalidProtobuf(_OrtError):
    """The bytes are no ONNX model."""

    code = (7, "INVALID_PROTOBUF")


class ModelLoaded(_OrtError):
    """Never raised here."""

    code = (8, "MODEL_LOADED")


class NotImplemented(_OrtError):
    """The model or option is valid but not supported by this build."""

    code = (9, "NOT_IMPLEMENTED")


class InvalidGraph(_OrtError):
    """The model breaks the ONNX standard."""

    code = (10, "INVALID_GRAPH")


class EPFail(_OrtError):
    """Never raised here."""

    code = (11, "EP_FAIL")


class ModelLoadCanceled(_OrtError):
    """Loading was ended by its cancellation flag."""

    code = (12, "MODEL_LOAD_CANCELED")


class ModelRequiresCompilation(_OrtError):
    """Never raised here."""

    code = (13, "MODEL_REQUIRES_COMPILATION")


class NotFound(_OrtError):
    """Never raised here."""

    code = (14, "NOT_FOUND")


_LOAD: Dict[Type[BaseException], Type[_OrtError]] = {
    _errors.NotFound: NoSuchFile, _errors.FileError: NoSuchFile, _errors.InvalidModel: InvalidGraph,
    _errors.Unsupported: NotImplemented, _errors.OutOfMemory: RuntimeException, _errors.Cancelled: ModelLoadCanceled,
    _errors.InternalError: RuntimeException, _errors.InvalidArgument: InvalidArgument,
}
_RUN: Dict[Type[BaseException], Type[_OrtError]] = {
    _errors.NotFound: InvalidArgument, _errors.InvalidInput: InvalidArgument, _errors.InvalidArgument: InvalidArgument,
    _errors.Unsupported: NotImplemented, _errors.OutOfMemory: RuntimeException, _errors.InternalError: RuntimeException,
}


def load_error(error: _errors.IngotError) -> _OrtError:
    """The exception for a load that failed."""
    return _LOAD.get(type(error), Fail).of(str(error))


def run_error(error: _errors.IngotError) -> _OrtError:
    """The exception for a run that failed."""
    return _RUN.get(type(error), Fail).of(str(error))
