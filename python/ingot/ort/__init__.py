"""The names of onnxruntime, on Ingot: `import ingot.ort as onnxruntime`.

What each name does here: docs/python.md of Ingot.
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional

from .. import _core
from . import capi
from ._errors import NotImplemented as _NotImplemented
from ._options import (
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
from ._session import PROVIDERS as _PROVIDERS
from ._session import InferenceSession, IOBinding, ModelMetadata, NodeArg
from ._values import OrtDevice, OrtValue, SparseTensor, copy_tensors

API_VERSION = "1.32.0"  # of onnxruntime, whose names these are
__version__ = f"{API_VERSION}+ingot.{_core.version()}"
__author__ = "Ingot"
version = __version__
package_name = "onnxruntime"
cuda_version = ""

SessionIOBinding = IOBinding


def get_available_providers() -> List[str]:
    """["CPUExecutionProvider"]."""
    return list(_PROVIDERS)


def get_all_providers() -> List[str]:
    """["CPUExecutionProvider"]."""
    return list(_PROVIDERS)


def get_device() -> str:
    """"CPU"."""
    return "CPU"


def get_build_info() -> str:
    """Which library this is, and the processor features in use."""
    return f"Ingot {_core.version()}, {_core.describe_cpu()}"


def get_version_string() -> str:
    """The version of onnxruntime's interface that this follows, and Ingot's."""
    return __version__


def has_collective_ops() -> bool:
    """False."""
    return False


def get_ep_devices() -> List[Any]:
    """[]: devices are not listed this way."""
    return []


def set_default_logger_severity(severity: int) -> None:
    """Accepted: the library never prints."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Accepted: the library never prints."""


def set_default_logger_callback(*args: Any, **kwargs: Any) -> None:
    """Accepted: the library never prints."""


def enable_telemetry_events() -> None:
    """Accepted: there is no telemetry."""


def disable_telemetry_events() -> None:
    """Accepted: there is no telemetry."""


def set_seed(seed: int) -> None:
    """Accepted without effect: random operators take their seed from the model."""


def set_global_thread_pool_sizes(intra_op_num_threads: int, inter_op_num_threads: int) -> None:
    """Accepted without effect: the one pool is as large as the machine allows, and SessionOptions says how much of it."""


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: Optional[str] = None) -> None:
    """Accepted: there is nothing to load before."""


def print_debug_info() -> None:
    """Print what get_build_info tells."""
    print(get_build_info())


def create_and_register_allocator(mem_info: OrtMemoryInfo, arena_cfg: OrtArenaCfg) -> None:
    """Accepted without effect: memory is planned before a run."""


def create_and_register_allocator_v2(provider_type: str, mem_info: OrtMemoryInfo, options: Dict[str, str],
                                     arena_cfg: OrtArenaCfg) -> None:
    """Accepted without effect: memory is planned before a run."""


def register_execution_provider_library(name: str, path: str) -> None:
    """Not supported: raises NotImplemented. Such a library speaks ONNX Runtime's own C API."""
    raise _NotImplemented.of(f"{path}: execution providers that are built for ONNX Runtime cannot be loaded")


def unregister_execution_provider_library(name: str) -> None:
    """Not supported: raises NotImplemented, for none can be registered."""
    raise _NotImplemented.of(f"no execution provider library {name!r} is registered")


__all__ = [
    "ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata", "NodeArg",
    "OrtAllocatorType", "OrtArenaCfg", "OrtDevice", "OrtMemType", "OrtMemoryInfo", "OrtSparseFormat", "OrtValue",
    "RunOptions", "SessionIOBinding", "SessionOptions", "SparseTensor", "capi", "copy_tensors",
    "create_and_register_allocator", "create_and_register_allocator_v2", "cuda_version", "disable_telemetry_events",
    "enable_telemetry_events", "get_all_providers", "get_available_providers", "get_build_info", "get_device",
    "get_ep_devices", "get_version_string", "has_collective_ops", "package_name", "preload_dlls", "print_debug_info",
    "register_execution_provider_library", "set_default_logger_callback", "set_default_logger_severity",
    "set_default_logger_verbosity", "set_global_thread_pool_sizes", "set_seed", "unregister_execution_provider_library",
    "version",
]
