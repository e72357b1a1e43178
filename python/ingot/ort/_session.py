"""InferenceSession and IOBinding."""
from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._errors import IngotError
from .._session import executor, open_model
from .._types import ValueInfo, value_info
from ._errors import NotImplemented, load_error, run_error
from ._options import DATA_FOLDER, RunOptions, SessionOptions
from ._profiling import Profiler
from ._values import OrtValue, element_type, from_result, require_cpu, to_feed

PROVIDERS = ["CPUExecutionProvider"]

Provider = Union[str, Tuple[str, Dict[Any, Any]]]


class NodeArg:
    """An input or output: name, type such as "tensor(float)", shape as a list of numbers, names, and None."""

    __slots__ = ("name", "type", "shape")

    def __init__(self, info: ValueInfo) -> None:
        self.name = info.name
        self.type = info.type
        self.shape: List[Union[int, str, None]] = list(info.shape or ())

    def __repr__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata:
    """What the model file says of itself."""

    def __init__(self, said: Dict[str, Any]) -> None:
        self.producer_name: str = said["producer_name"]
        self.graph_name: str = said["graph_name"]
        self.domain: str = said["domain"]
        self.description: str = said["description"]
        self.graph_description: str = said["graph_description"]
        self.version: int = said["version"]
        self.custom_metadata_map: Dict[str, str] = said["metadata"]


def check_providers(providers: Optional[Sequence[Provider]], options: Optional[Sequence[Dict[Any, Any]]]
                    ) -> Dict[str, Dict[str, str]]:
    """Names and options of those asked for that there are, the CPU always; a warning names the others."""
    if providers is None:
        providers = []
    if options and len(options) != len(providers):
        raise ValueError("'providers' and 'provider_options' should be the same length if both are given.")
    chosen: Dict[str, Dict[str, str]] = {}
    for i, provider in enumerate(providers):
        name, given = (provider, options[i] if options else {}) if isinstance(provider, str) else provider
        if not isinstance(name, str) or not isinstance(given, dict):
            raise ValueError("'providers' values must be names, or tuples of a name and a dict of options")
        if name in PROVIDERS:
            chosen.setdefault(name, {str(key): str(value) for key, value in given.items()})
        else:
            warnings.warn(f"Specified provider '{name}' is not in available provider names. Available providers: "
                          f"'{', '.join(PROVIDERS)}'", UserWarning, stacklevel=4)
    for name in PROVIDERS:
        chosen.setdefault(name, {})
    return chosen


def warmup_shapes(inputs: Sequence[ValueInfo], sizes: Dict[str, int]) -> List[Tuple[str, Tuple[int, ...]]]:
    """Shapes of the inputs whose free sizes are all known by name."""
    shapes = []
    for info in inputs:
        shape = [sizes.get(size, -1) if isinstance(size, str) else size for size in info.shape or ()]
        if any(isinstance(size, str) for size in info.shape or ()) and all(size is not None and size >= 0 for size in shape):
            shapes.append((info.name, tuple(size for size in shape if size is not None)))
    return shapes


class InferenceSession:
    """A model made ready to run, with ONNX Runtime's interface.

    path_or_bytes: a path, or the bytes of a model. sess_options: a SessionOptions. providers: names, or tuples of a name and
    options; those that there are not are skipped with a warning. provider_options: a dict for each name.

    Raises NoSuchFile, InvalidGraph, NotImplemented, InvalidArgument, Fail, each with the library's message.
    """

    def __init__(self, path_or_bytes: Union[str, bytes, "os.PathLike[str]"], sess_options: Optional[SessionOptions] = None,
                 providers: Optional[Sequence[Provider]] = None, provider_options: Optional[Sequence[Dict[Any, Any]]] = None,
                 **kwargs: Any) -> None:
        if not isinstance(path_or_bytes, (str, bytes, os.PathLike)):
            raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
        self._sess_options = sess_options if sess_options is not None else SessionOptions()
        asked = list(providers or []) or self._sess_options._providers
        self._providers = check_providers(asked, provider_options)
        try:
            self._model, self._model_path = open_model(path_or_bytes, self._sess_options._entries.get(DATA_FOLDER))
            inputs = [value_info(port) for port in self._model.inputs()]
            warmup = warmup_shapes(inputs, self._sess_options._sizes)
            self._sess = _core.Session(self._model, warmup=warmup, **self._sess_options._ingot_options())
        except IngotError as error:
            raise load_error(error) from None
        infos = [value_info(port) for port in self._sess.inputs()]
        self._inputs_meta = [NodeArg(info) for info in infos if not info.has_default]
        self._overridable_initializers = [NodeArg(info) for info in infos if info.has_default]
        self._outputs_meta = [NodeArg(value_info(port)) for port in self._sess.outputs()]
        self._profiler = Profiler(self._sess, self._sess_options.profile_file_prefix) if self._sess_options.enable_profiling else None
        self._has_sparse_output = any(arg.type.startswith("sparse") for arg in self._outputs_meta)

    # ---- Running ----

    def run(self, output_names: Optional[Sequence[str]], input_feed: Dict[str, Any],
            run_options: Optional[RunOptions] = None) -> List[Any]:
        """Run; returns the outputs named, all of them where output_names is None or empty.

        input_feed: arrays by input name; what ingot.Session takes is fine too. Results are arrays, lists for sequences, dicts
        for maps, SparseTensor.

        Raises ValueError where an input is missing, InvalidArgument where a name, type or shape does not fit, Fail where the
        run was ended by run_options.
        """
        cancel = None if run_options is None else run_options._cancel
        try:
            if self._profiler is None:
                results = self._sess.run(output_names or None, input_feed, cancel)
            else:
                results = self._profiler.run(output_names, input_feed, cancel)
        except IngotError as error:
            raise self._explain(error, input_feed) from None
        except TypeError as error:
            raise self._refuse(error, input_feed) from None
        return [from_result(value) for value in results] if self._has_sparse_output else results

    def _explain(self, error: IngotError, feeds: Any) -> Exception:
        missing = [arg.name for arg in self._inputs_meta if arg.name not in feeds and not arg.type.startswith("optional")]
        if missing:
            return ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feeds)}).")
        return run_error(error)

    def _refuse(self, error: TypeError, feeds: Any) -> Exception:
        """What a run raises for objects that are no inputs: TypeError for the feed itself, RuntimeError for one of its values."""
        return RuntimeError(str(error)) if isinstance(feeds, dict) else error

    def _run_values(self, output_names: Optional[Sequence[str]], feeds: Dict[str, Any], run_options: Optional[RunOptions],
                    targets: Optional[Dict[str, Any]]) -> List[OrtValue]:
        try:
            values = self._sess.run(output_names or None, feeds, None if run_options is None else run_options._cancel,
                                    targets, False)
        except IngotError as error:
            raise self._explain(error, feeds) from None
        return [OrtValue(value) for value in values]

    def run_with_ort_values(self, output_names: Optional[Sequence[str]], input_dict_ort_values: Dict[str, OrtValue],
                            run_options: Optional[RunOptions] = None) -> List[OrtValue]:
        """The same with OrtValue in and out."""
        feeds = {name: to_feed(value) for name, value in input_dict_ort_values.items()}
        return self._run_values(output_names, feeds, run_options, None)

    def run_with_iobinding(self, iobinding: "IOBinding", run_options: Optional[RunOptions] = None) -> None:
        """Run with what is bound; results are the binding's get_outputs()."""
        iobinding._results = self._run_values(list(iobinding._outputs), iobinding._inputs, run_options,
                                              {name: value for name, value in iobinding._outputs.items() if value is not None})

    def run_with_ortvaluevector(self, run_options: Optional[RunOptions], feed_names: Sequence[str], feeds: Sequence[OrtValue],
                                fetch_names: Sequence[str], fetches: List[OrtValue], fetch_devices: Sequence[Any]) -> None:
        """Run with lists of OrtValue; fetches is filled."""
        named = {name: to_feed(value) for name, value in zip(feed_names, feeds)}
        fetches[:] = self._run_values(list(fetch_names), named, run_options, None)

    def run_async(self, output_names: Optional[Sequence[str]], input_feed: Dict[str, Any],
                  callback: Callable[[List[Any], Any, str], None], user_data: Any,
                  run_options: Optional[RunOptions] = None) -> None:
        """Run in another thread, which then calls callback(results, user_data, error): error is "" where all went well."""
        def work() -> None:
            results: List[Any] = []
            message = ""
            try:
                results = self.run(output_names, input_feed, run_options)
            except Exception as error:  # it is the callback's to handle
                message = str(error) or type(error).__name__
            callback(results, user_data, message)
        executor().submit(work)

    # ---- What it is ----

    def get_inputs(self) -> List[NodeArg]:
        """Inputs that a run must be given."""
        return self._inputs_meta

    def get_outputs(self) -> List[NodeArg]:
        """Outputs, in the model's order."""
        return self._outputs_meta

    def get_overridable_initializers(self) -> List[NodeArg]:
        """Inputs with a default."""
        return self._overridable_initializers

    def get_modelmeta(self) -> ModelMetadata:
        """What the model file says of itself."""
        return ModelMetadata(self._model.describe())

    def get_session_options(self) -> SessionOptions:
        """The options that the session was made with."""
        return self._sess_options

    def get_providers(self) -> List[str]:
        """["CPUExecutionProvider"]."""
        return list(self._providers)

    def get_provider_options(self) -> Dict[str, Dict[str, str]]:
        """The options of each provider, as they were given."""
        return self._providers

    def set_providers(self, providers: Optional[Sequence[Provider]] = None,
                      provider_options: Optional[Sequence[Dict[Any, Any]]] = None) -> None:
        """Choose again; the session itself stays as it is, for there is one provider."""
        self._providers = check_providers(providers, provider_options)

    def disable_fallback(self) -> None:
        """Accepted: there is nothing to fall back from."""

    def enable_fallback(self) -> None:
        """Accepted: there is nothing to fall back from."""

    def end_profiling(self) -> str:
        """Write what runs of run() took since the session was made, if SessionOptions.enable_profiling was set, as a list of
        trace events in JSON; returns the name of the file, "" without a profile."""
        if self._profiler is None:
            return ""
        path, self._profiler = self._profiler.end(), None
        return path

    def get_profiling_start_time_ns(self) -> int:
        """When the profile began, by time.perf_counter_ns; 0 without one."""
        return 0 if self._profiler is None else self._profiler.start_ns

    def get_tuning_results(self) -> List[Any]:
        """[]: there is nothing to tune by hand."""
        return []

    def set_tuning_results(self, results: Any, *, error_on_invalid: bool = False) -> None:
        """Accepted without effect."""

    def set_ep_dynamic_options(self, options: Dict[str, str]) -> None:
        """Accepted without effect."""

    def get_provider_graph_assignment_info(self) -> List[Any]:
        """Not supported: raises NotImplemented. ingot.inspect shows what runs where."""
        raise NotImplemented.of("the assignment of nodes is not told this way: see ingot.inspect")

    def io_binding(self) -> "IOBinding":
        """Bindings for run_with_iobinding."""
        return IOBinding(self)


class IOBinding:
    """Inputs and outputs bound to memory, for InferenceSession.run_with_iobinding."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: Dict[str, Any] = {}
        self._outputs: Dict[str, Any] = {}
        self._results: List[OrtValue] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """Read an array; row-major ones where they lie."""
        self._inputs[name] = arr_on_cpu

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """Read memory at an address, which must live as long as it is bound."""
        require_cpu(device_type)
        self._inputs[name] = _at(element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Read an OrtValue."""
        self._inputs[name] = to_feed(ortvalue)

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Optional[Sequence[int]] = None, buffer_ptr: Optional[int] = None) -> None:
        """Ask for an output: in new memory, or at an address, which must live as long as it is bound."""
        require_cpu(device_type)
        if buffer_ptr is None:
            self._outputs[name] = None
        elif element_type is None or shape is None:
            raise ValueError("`element_type` and `shape` are to be specified if `buffer_ptr` is given")
        else:
            self._outputs[name] = _at(element_type, shape, buffer_ptr)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Write an output to an OrtValue's memory."""
        self._outputs[name] = to_feed(ortvalue)

    def synchronize_inputs(self) -> None:
        """Nothing to wait for on a CPU."""

    def synchronize_outputs(self) -> None:
        """Nothing to wait for on a CPU."""

    def get_outputs(self) -> List[OrtValue]:
        """The outputs bound, in the order of binding, after a run."""
        return self._results

    def get_outputs_as_ortvaluevector(self) -> List[OrtValue]:
        """The same."""
        return self._results

    def copy_outputs_to_cpu(self) -> List[Any]:
        """The outputs as arrays."""
        return [np.copy(value.numpy()) if value.is_tensor() else value.numpy() for value in self._results]

    def clear_binding_inputs(self) -> None:
        """Forget the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forget the outputs."""
        self._outputs.clear()
        self._results = []


def _at(given: Any, shape: Sequence[int], address: int) -> _core.Value:
    return _core.Value.at(element_type(given), tuple(int(size) for size in shape), address)
