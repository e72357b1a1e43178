"""Exceptions and options, where code for onnxruntime looks for them."""
from .._errors import (
    EngineError,
    EPFail,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoadCanceled,
    ModelLoaded,
    ModelRequiresCompilation,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    RuntimeException,
)
from .._options import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    OrtAllocatorType,
    OrtArenaCfg,
    OrtMemoryInfo,
    OrtMemType,
    OrtSparseFormat,
    RunOptions,
    SessionOptions,
)
from .._session import InferenceSession, ModelMetadata, NodeArg
from .._session import IOBinding as SessionIOBinding
from .._values import OrtDevice, OrtValue, SparseTensor

__all__ = [
    "EPFail", "EngineError", "ExecutionMode", "ExecutionOrder", "Fail", "GraphOptimizationLevel", "InferenceSession",
    "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "ModelLoadCanceled", "ModelLoaded", "ModelMetadata",
    "ModelRequiresCompilation", "NoModel", "NoSuchFile", "NodeArg", "NotFound", "NotImplemented", "OrtAllocatorType",
    "OrtArenaCfg", "OrtDevice", "OrtMemType", "OrtMemoryInfo", "OrtSparseFormat", "OrtValue", "RunOptions",
    "RuntimeException", "SessionIOBinding", "SessionOptions", "SparseTensor",
]
