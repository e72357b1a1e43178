"""Models and sessions."""
from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import pickle
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _core
from ._errors import InvalidArgument
from ._types import ValueInfo, value_info

ModelSource = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Any]

RUNS_AT_ONCE = 16  # of run_async, all sessions together: as many as a session has contexts by default

_executor: Optional[concurrent.futures.ThreadPoolExecutor] = None
_executor_lock = threading.Lock()


def executor() -> concurrent.futures.ThreadPoolExecutor:
    """The threads that wait for asynchronous runs; made when the first of them starts, and anew after a fork."""
    global _executor
    with _executor_lock:
        if _executor is None:
            _executor = concurrent.futures.ThreadPoolExecutor(RUNS_AT_ONCE, thread_name_prefix="ingot")
        return _executor


def _forget_executor() -> None:
    global _executor, _executor_lock
    _executor = None
    _executor_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_executor)


def open_model(source: ModelSource, data_folder: Optional[str] = None, mmap: bool = True,
               memory_limit: int = 0) -> Tuple[_core.Model, Optional[str]]:
    """The model of a path, of bytes, or of an onnx.ModelProto, and its absolute path where it has one."""
    options: Dict[str, Any] = {"mmap": mmap, "memory_limit": memory_limit}
    if data_folder is not None:
        options["data_folder"] = os.fsencode(data_folder)
    if isinstance(source, (str, os.PathLike)):
        path = os.path.abspath(os.fspath(source))
        return _core.Model(path=os.fsencode(os.fspath(source)), **options), path
    if hasattr(source, "SerializeToString"):
        source = source.SerializeToString()
    elif isinstance(source, (bytearray, memoryview)):
        source = bytes(source)
    if not isinstance(source, bytes):
        raise TypeError(f"a model is a path, bytes or an onnx.ModelProto, not {type(source).__name__}")
    return _core.Model(data=source, **options), None


class Session:
    """A model made ready to run. Made by ingot.load.

    Any number of threads may run one session at once. A run lets go of the interpreter's lock. Sessions pickle by the path of
    their model and the options that they were loaded with.

    inputs, outputs: tuples of ingot.ValueInfo. metadata: the model's own key-value pairs. path: of the model file, or None
    where the model came from memory.
    """

    def __init__(self, source: ModelSource, options: Dict[str, Any]) -> None:
        self._options = options
        reading = {key: options[key] for key in ("data_folder", "mmap", "memory_limit") if key in options}
        self._model, self.path = open_model(source, **reading)
        making = {key: value for key, value in options.items() if key not in ("data_folder", "mmap")}
        warmup: Optional[Mapping[str, Sequence[int]]] = making.pop("warmup_shapes", None)
        if warmup is not None:
            making["warmup"] = [(name, tuple(int(size) for size in shape)) for name, shape in warmup.items()]
        passes = making.pop("disabled_passes", ())
        if passes:
            making["disabled_passes"] = ",".join(passes)
        self._core = _core.Session(self._model, **making)
        self.inputs: Tuple[ValueInfo, ...] = tuple(value_info(port) for port in self._core.inputs())
        self.outputs: Tuple[ValueInfo, ...] = tuple(value_info(port) for port in self._core.outputs())
        self._input_names = [info.name for info in self.inputs]
        self._output_names = [info.name for info in self.outputs]

    # ---- Running ----

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on inputs given in the model's order, or by name.

        Arrays are used where they lie: numpy arrays, anything with the array interface, DLPack (torch tensors) or the buffer
        protocol, if they are row-major; others are copied. Numbers and nested lists become the declared type.

        Returns the output, or a tuple of them where the model has several: numpy arrays that own their memory, lists for
        sequences, dicts for maps, None for an empty optional.

        Raises ingot.InvalidInput for a missing input or a wrong type or shape, ingot.NotFound for a name that the model does
        not have.
        """
        if len(args) > len(self._input_names):
            raise TypeError(f"the model has {len(self._input_names)} inputs, but {len(args)} were given")
        feeds = dict(zip(self._input_names, args))
        for name, value in kwargs.items():
            if name in feeds:
                raise TypeError(f"input {name!r} was given twice")
            feeds[name] = value
        results = self._core.run(None, feeds)
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, feeds: Mapping[str, Any], outputs: Optional[Sequence[str]] = None, *,
            out: Optional[Mapping[str, Any]] = None, cancel: Optional[_core.Cancel] = None) -> Dict[str, Any]:
        """Run on inputs by name; returns the outputs by name.

        feeds: as for a call. outputs: names of those wanted, None for all. out: arrays, by output name, whose memory a run
        writes without a copy; they must be row-major, writeable, and of the output's type and shape. cancel: an ingot.Cancel
        that another thread may raise.

        Raises what a call raises, and ingot.Cancelled.
        """
        names = self._output_names if outputs is None else list(outputs)
        given = feeds if isinstance(feeds, dict) else dict(feeds)
        targets = out if out is None or isinstance(out, dict) else dict(out)
        for name in targets or ():
            if name not in names:
                raise InvalidArgument(f"out has an array for {name!r}, which is none of the outputs that are run: {', '.join(names)}")
        return dict(zip(names, self._core.run(names, given, cancel, targets)))

    async def run_async(self, feeds: Mapping[str, Any], outputs: Optional[Sequence[str]] = None, *,
                        out: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        """The same as run, to be awaited. Cancelling the task that awaits it ends the run soon."""
        cancel = _core.Cancel()
        work = functools.partial(self.run, feeds, outputs, out=out, cancel=cancel)
        try:
            return await asyncio.get_running_loop().run_in_executor(executor(), work)
        except asyncio.CancelledError:
            cancel.cancel()
            raise

    def bind(self) -> "Binding":
        """A running stream with inputs and outputs that stay bound from run to run: the lowest latency."""
        return Binding(self)

    # ---- What it is ----

    @property
    def metadata(self) -> Dict[str, str]:
        """The key-value pairs of the model file."""
        return dict(self._model.describe()["metadata"])

    @property
    def description(self) -> Dict[str, Any]:
        """What the model file says of itself: ir_version, producer, graph_name, opsets, operators, and more."""
        return dict(self._model.describe())

    def statistics(self) -> Dict[str, Any]:
        """Where the time of loading went (ms), what the session holds (bytes), runs so far."""
        return dict(self._core.statistics())

    def regions(self) -> List[Dict[str, Any]]:
        """The steps of the plan: name, operators, backend, tactic, flops, packed_bytes of each."""
        return list(self._core.regions())

    def __repr__(self) -> str:
        return f"<ingot.Session {self.path or 'from memory'}: {', '.join(self._input_names)} -> {', '.join(self._output_names)}>"

    def _repr_html_(self) -> str:
        from ._report import ports_html
        return ports_html(self.path or "model from memory", self.inputs, self.outputs)

    def __reduce__(self) -> Tuple[Callable[..., "Session"], Tuple[Any, ...]]:
        if self.path is None:
            raise pickle.PicklingError("a session pickles by the path of its model, but this model came from memory: "
                                       "save it to a file and load that")
        return Session, (self.path, {key: value for key, value in self._options.items() if key != "cancel"})


class Binding:
    """One running stream of a session. Made by Session.bind. For one thread at a time: make one a thread.

    binding.input("x", array)     # the array's memory is read by every run from now on
    binding.output("y", array)    # and this memory is written
    binding.run()
    binding["y"]                  # the array bound; where none is, a new array
    """

    def __init__(self, session: Session) -> None:
        self._context = _core.Context(session._core)
        self._arrays: Dict[str, Any] = {}
        self.session = session

    def input(self, name: str, value: Any) -> "Binding":
        """Feed value to an input from now on. A row-major array is not copied: later changes of it are seen."""
        self._context.bind_input(name, value)
        return self

    def output(self, name: str, value: Any = None) -> "Binding":
        """Write an output to an array from now on; None: to memory of the binding.

        Raises TypeError where the memory cannot be used as it is. A shape that does not fit is refused by run.
        """
        self._context.bind_output(name, value)
        self._arrays[name] = value
        return self

    def run(self, cancel: Optional[_core.Cancel] = None) -> "Binding":
        """Run with what is bound. Raises what Session.run raises, and ingot.Busy where another thread runs it."""
        self._context.run(cancel)
        return self

    def __getitem__(self, name: str) -> Any:
        """An output of the last run: the array bound to it, else a copy."""
        bound = self._arrays.get(name)
        if bound is not None:
            return bound
        return copy_of(self._context.output(name).to_object())


def copy_of(value: Any) -> Any:
    """What an output holds, in memory of its own."""
    if isinstance(value, (list, tuple)):
        return type(value)(copy_of(item) for item in value)
    return value.copy() if hasattr(value, "copy") else value


def load(model: ModelSource, *, threads: int = 0, device: Optional[str] = None, precision: Optional[str] = None,
         memory_limit: int = 0, opt_level: int = 2, disabled_passes: Sequence[str] = (),
         warmup_shapes: Optional[Mapping[str, Sequence[int]]] = None, max_contexts: int = 0, shape_cache_size: int = 0,
         data_folder: Optional[str] = None, mmap: bool = True, cancel: Optional[_core.Cancel] = None) -> Session:
    """Load a model and make it ready to run.

    model: a path, the bytes of a model, or an onnx.ModelProto.
    threads: participants of one run, the caller included; 0: as many as the machine allows this process.
    device: "cpu". precision: "fp32".
    memory_limit: bytes for weights and values; 0: .8 of the machine or the cgroup.
    opt_level: 0 the graph as it is, 1 passes that keep every bit, 2 all passes.
    disabled_passes: names of passes to leave out.
    warmup_shapes: shapes by input name that memory is laid out for, so that the first run with them finds everything ready.
    max_contexts: runs at once, one more waits; 0: 16.
    shape_cache_size: input shapes whose layout is kept; 0: 32.
    data_folder: where external data lies; by default the folder of the model.
    mmap: False reads files instead of mapping them: slower and larger, safe where files may shrink.
    cancel: an ingot.Cancel that ends loading, and every run of the session.

    Raises ingot.NotFound where there is no such file, ingot.InvalidModel where the model breaks the standard, and
    ingot.Unsupported where it needs what this build cannot do; str() of the exception says where and what to do.
    """
    given = {"threads": threads, "device": device, "precision": precision, "memory_limit": memory_limit,
             "opt_level": opt_level, "disabled_passes": tuple(disabled_passes), "warmup_shapes": warmup_shapes,
             "max_contexts": max_contexts, "shape_cache_size": shape_cache_size, "data_folder": data_folder, "mmap": mmap,
             "cancel": cancel}
    return Session(model, given)
