"""Ingot runs ONNX models, fast.

    import ingot
    session = ingot.load("model.onnx")
    result = session(x)                              # in the order of the model's inputs
    results = session.run({"x": x})                  # by name; a dict of all outputs

ingot.ort has the names of onnxruntime: `import ingot.ort as onnxruntime`.
"""
from ._core import Cancel
from ._core import version as _version
from ._errors import (
    Busy,
    Cancelled,
    FileError,
    IngotError,
    InternalError,
    InvalidArgument,
    InvalidInput,
    InvalidModel,
    NotFound,
    OutOfMemory,
    Unsupported,
)
from ._custom import op
from ._session import Binding, Session, load
from ._tools import (
    BenchResult,
    Diagnosis,
    Finding,
    Inspection,
    Operators,
    Profile,
    bench,
    doctor,
    inspect,
    operators,
    profile,
    register_library,
)
from ._types import ValueInfo

__version__ = _version()

__all__ = [
    "BenchResult", "Binding", "Busy", "Cancel", "Cancelled", "Diagnosis", "FileError", "Finding", "IngotError", "Inspection", "InternalError",
    "InvalidArgument", "InvalidInput", "InvalidModel", "NotFound", "Operators", "OutOfMemory", "Profile", "Session", "Unsupported",
    "ValueInfo", "bench", "doctor", "inspect", "load", "op", "operators", "profile",
    "register_library",
]
