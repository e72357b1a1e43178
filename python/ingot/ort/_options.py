"""Options and enumerations of ONNX Runtime, and what each does here."""
from __future__ import annotations

import enum
import os
from typing import Any, Dict, List, Optional, Sequence, Union

from .. import _core
from .._errors import IngotError
from ._errors import InvalidArgument, NotImplemented, load_error


class _Enum(enum.IntEnum):
    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class GraphOptimizationLevel(_Enum):
    """ORT_DISABLE_ALL leaves the graph as it is, ORT_ENABLE_BASIC keeps every bit, all others run every pass."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(_Enum):
    """Accepted; steps run one after another, each on all threads."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(_Enum):
    """Accepted without effect."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class OrtAllocatorType(_Enum):
    """Accepted without effect."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(_Enum):
    """Accepted without effect."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtSparseFormat(_Enum):
    """Formats of sparse tensors."""

    ORT_SPARSE_UNDEFINED = 0
    ORT_SPARSE_COO = 1
    ORT_SPARSE_CSRC = 2
    ORT_SPARSE_BLOCK_SPARSE = 4


# Fields of SessionOptions that are accepted but change nothing here, and why. The library knows: `ingot doctor` tells it too.
_FIELDS = ("enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "execution_mode", "execution_order",
           "inter_op_num_threads", "log_severity_level", "log_verbosity_level", "logid", "optimized_model_filepath",
           "use_deterministic_compute", "use_per_session_threads")
WITHOUT_MEANING: Dict[str, str] = {
    name: effect for name, (has_effect, effect) in _core.ort_options().items() if not has_effect and name in _FIELDS}

DATA_FOLDER = "session.model_external_initializers_file_folder_path"


class SessionOptions:
    """Options of a session; see WITHOUT_MEANING for those that are accepted but change nothing here.

    intra_op_num_threads: participants of one run, 0: as many as the machine allows.
    graph_optimization_level: see GraphOptimizationLevel.
    """

    __slots__ = (*_FIELDS, "enable_profiling", "profile_file_prefix", "intra_op_num_threads", "_level", "_entries", "_sizes", "_cancel", "_providers")

    def __init__(self) -> None:
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.inter_op_num_threads = 0
        self.intra_op_num_threads = 0
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.optimized_model_filepath = ""
        self.profile_file_prefix = "onnxruntime_profile_"
        self.use_deterministic_compute = False
        self.use_per_session_threads = True
        self._level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self._entries: Dict[str, str] = {}
        self._sizes: Dict[str, int] = {}
        self._cancel = _core.Cancel()
        self._providers: List[Any] = []

    @property
    def graph_optimization_level(self) -> GraphOptimizationLevel:
        """Which passes run; see GraphOptimizationLevel."""
        return self._level

    @graph_optimization_level.setter
    def graph_optimization_level(self, level: Union[GraphOptimizationLevel, int]) -> None:
        self._level = GraphOptimizationLevel(level)

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keep an entry. The folder of external data is read from session.model_external_initializers_file_folder_path."""
        self._entries[str(key)] = str(value)

    def get_session_config_entry(self, key: str) -> str:
        """An entry that was added; RuntimeError where none was."""
        try:
            return self._entries[key]
        except KeyError:
            raise RuntimeError(f"SessionOptions does not have configuration with key: {key}") from None

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """A size that the free dimension of this name will have: memory is laid out for it when the session is made."""
        self._sizes[name] = int(size)

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Accepted without effect."""

    def add_provider(self, name: str, options: Optional[Dict[str, str]] = None) -> None:
        """Ask for a provider, as the argument providers does."""
        self._providers.append((name, options or {}))

    def add_provider_for_devices(self, devices: Sequence[Any], options: Dict[str, str]) -> None:
        """Accepted without effect: there are no devices to choose from."""

    def has_providers(self) -> bool:
        """Whether add_provider was called."""
        return bool(self._providers)

    def set_provider_selection_policy(self, policy: Any) -> None:
        """Accepted without effect."""

    def set_provider_selection_policy_delegate(self, delegate: Any) -> None:
        """Accepted without effect."""

    def set_load_cancellation_flag(self, flag: bool) -> None:
        """End a load, and every run of the session, when flag is true; any thread may call this."""
        if flag:
            self._cancel.cancel()
        else:
            self._cancel.reset()

    def add_initializer(self, name: str, value: Any) -> None:
        """Not supported: raises NotImplemented. Give the value as an input, or write it into the model."""
        raise NotImplemented.of(f"initializer {name!r} cannot be replaced: make it an input of the model and feed it")

    def add_external_initializers(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Not supported: raises NotImplemented."""
        raise NotImplemented.of(f"initializers {list(names)} cannot be given from memory: put their files beside the model")

    def add_external_initializers_from_files_in_memory(self, names: Sequence[str], buffers: Sequence[Any],
                                                       sizes: Sequence[int]) -> None:
        """Not supported: raises NotImplemented."""
        raise NotImplemented.of(f"files {list(names)} cannot be given from memory: put them beside the model")

    def register_custom_ops_library(self, path: str) -> None:
        """Load a library of custom operators, written for ingot/custom_op.h.

        Raises NoSuchFile, and Fail for other libraries, such as those that speak ONNX Runtime's own C API.
        """
        try:
            _core.register_library(os.fsencode(path))
        except IngotError as error:
            raise load_error(error) from None

    def _ingot_options(self) -> Dict[str, Any]:
        levels = {GraphOptimizationLevel.ORT_DISABLE_ALL: 0, GraphOptimizationLevel.ORT_ENABLE_BASIC: 1}
        return {"threads": self.intra_op_num_threads, "opt_level": levels.get(self._level, 2), "cancel": self._cancel}


class RunOptions:
    """Options of a run. terminate ends the run soon, from any thread; the others are accepted without effect."""

    __slots__ = ("log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches", "_terminate",
                 "_cancel", "_entries")

    def __init__(self) -> None:
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self._terminate = False
        self._cancel = _core.Cancel()
        self._entries: Dict[str, str] = {}

    @property
    def terminate(self) -> bool:
        """True ends the run that was given these options; it raises Fail."""
        return self._terminate

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._terminate = bool(value)
        if value:
            self._cancel.cancel()
        else:
            self._cancel.reset()

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Keep an entry; it changes nothing here."""
        self._entries[str(key)] = str(value)

    def get_run_config_entry(self, key: str) -> str:
        """An entry that was added; RuntimeError where none was."""
        try:
            return self._entries[key]
        except KeyError:
            raise RuntimeError(f"RunOptions does not have configuration with key: {key}") from None

    def add_active_adapter(self, adapter: Any) -> None:
        """Not supported: raises NotImplemented."""
        raise NotImplemented.of("LoRA adapters are not supported: merge them into the model")


class OrtArenaCfg:
    """Accepted without effect: memory is planned before a run."""

    def __init__(self, *args: Any) -> None:
        given = args[0] if args and isinstance(args[0], dict) else {}
        self.max_mem = given.get("max_mem", 0)
        self.arena_extend_strategy = given.get("arena_extend_strategy", -1)
        self.initial_chunk_size_bytes = given.get("initial_chunk_size_bytes", -1)
        self.max_dead_bytes_per_chunk = given.get("max_dead_bytes_per_chunk", -1)
        self.initial_growth_chunk_size_bytes = given.get("initial_growth_chunk_size_bytes", -1)
        self.max_power_of_two_extend_bytes = given.get("max_power_of_two_extend_bytes", -1)


class OrtMemoryInfo:
    """Accepted without effect, but for its own values."""

    def __init__(self, name: str, allocator_type: OrtAllocatorType, device_id: int, mem_type: OrtMemType) -> None:
        if name not in ("Cpu", "CPU", "cpu"):
            raise InvalidArgument.of(f"memory {name!r} is not supported: this build runs on 'Cpu'")
        self.name = name
        self.allocator_type = allocator_type
        self.device_id = device_id
        self.mem_type = mem_type
