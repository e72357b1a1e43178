"""What the command does, as functions: bench, profile, inspect, ops."""
from __future__ import annotations

import dataclasses
import os
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _core, _report
from ._errors import InvalidArgument
from ._session import Binding, ModelSource, Session, load
from ._types import ValueInfo

LEAST_RUNS = 10
REAL_KINDS = "fV"  # of dtypes whose random elements lie between 0 and 1; others are 0 or 1


# ---- bench ----

@dataclasses.dataclass(frozen=True)
class BenchResult:
    """What bench measured; times in ms. Shows as a table in a notebook."""

    load_ms: float
    first_ms: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    min_ms: float
    max_ms: float
    mean_ms: float
    runs: int
    throughput: float
    rss_mb: float
    arena_bytes: int
    packed_bytes: int

    def _rows(self) -> List[Tuple[str, str]]:
        return [("load", f"{self.load_ms:.3f} ms"), ("first run", f"{self.first_ms:.3f} ms"),
                ("p50", f"{self.p50_ms:.3f} ms"), ("p90", f"{self.p90_ms:.3f} ms"), ("p99", f"{self.p99_ms:.3f} ms"),
                ("p99.9", f"{self.p999_ms:.3f} ms"),
                ("min, mean", f"{self.min_ms:.3f} ms, {self.mean_ms:.3f} ms over {self.runs} runs"),
                ("throughput", f"{self.throughput:.2f} runs/s"), ("peak memory", f"{self.rss_mb:.1f} MiB")]

    def __str__(self) -> str:
        return _report.text_table(self._rows())

    def _repr_html_(self) -> str:
        return _report.table(self._rows())


def random_input(info: ValueInfo, batch: int, generator: np.random.Generator) -> Any:
    """A tensor for an input: the first free size is batch, other free ones are 1."""
    if info.kind != "tensor" or info.dtype is None or info.element == "string" or info.shape is None:
        raise InvalidArgument(f"input {info.name!r} is {info.type}, which cannot be made of random numbers: give it")
    shape, used = [], False
    for size in info.shape:
        shape.append(size if isinstance(size, int) else 1 if used else batch)
        used = used or not isinstance(size, int)
    real = info.dtype.kind in REAL_KINDS and "int" not in info.element
    values = generator.random(shape) if real else generator.integers(0, 2, shape)
    return np.asarray(values).astype(info.dtype)


def _peak_memory() -> float:
    """The most memory that the process has held at once, in MiB; 0 where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def _measure(run: Any, seconds: float) -> Tuple[float, "np.ndarray[Any, np.dtype[np.int64]]"]:
    """ms of the first run, and ns of the runs back to back that follow it and a short stretch that is not counted."""
    start = time.perf_counter_ns()
    run()
    first = (time.perf_counter_ns() - start) / 1e6
    end = time.perf_counter_ns() + int(min(seconds, 1) * 0.3e9)
    while time.perf_counter_ns() < end:
        run()
    times: List[int] = []
    before = time.perf_counter_ns()
    end = before + int(seconds * 1e9)
    while before < end or len(times) < LEAST_RUNS:
        run()
        after = time.perf_counter_ns()
        times.append(after - before)
        before = after
    return first, np.asarray(times, np.int64)


def _bound(session: Session, feeds: Optional[Mapping[str, Any]], batch: int, seed: int) -> Binding:
    """A binding of all inputs: those given, random numbers for the others."""
    generator = np.random.default_rng(seed)
    binding = session.bind()
    given: Dict[str, Any] = dict(feeds or {})
    for info in session.inputs:
        if info.name not in given and not info.has_default:
            given[info.name] = random_input(info, batch, generator)
    for name, value in given.items():
        binding.input(name, value)
    return binding


def bench(model: Union[ModelSource, Session], feeds: Optional[Mapping[str, Any]] = None, *, seconds: float = 2.0,
          batch: int = 1, seed: int = 0, **options: Any) -> BenchResult:
    """Time loading and running a model, as `ingot bench` does.

    model: what ingot.load takes, or a session, whose load_ms is then 0. feeds: inputs by name; those left out are made of
    random numbers, batch being the first free size of each. seconds: how long to time runs. options: those of ingot.load.

    Raises what ingot.load and a run raise.
    """
    start = time.perf_counter_ns()
    session = model if isinstance(model, Session) else load(model, **options)
    load_ms = 0.0 if isinstance(model, Session) else (time.perf_counter_ns() - start) / 1e6
    binding = _bound(session, feeds, batch, seed)
    first, times = _measure(binding._context.run, seconds)
    statistics = session.statistics()
    percentiles = [float(value) / 1e6 for value in np.percentile(times, [50, 90, 99, 99.9])]
    return BenchResult(load_ms, first, percentiles[0], percentiles[1], percentiles[2], percentiles[3],
                       float(times.min()) / 1e6, float(times.max()) / 1e6, float(times.mean()) / 1e6, len(times),
                       len(times) / (float(times.sum()) / 1e9), _peak_memory(), statistics["arena_bytes"],
                       statistics["packed_bytes"])


# ---- profile ----

@dataclasses.dataclass(frozen=True)
class Profile:
    """Where the time of runs goes, region by region. Shows as a table with bars in a notebook.

    regions: a dict each, in the order of the plan, those of bodies after the main graph's: name, operators, tactic, backend,
    depth (how many bodies it lies in), calls, ms (of one run, on average, what ran in its bodies included), share (of all
    time of the main graph), gflops and gbytes (a second; 0 where not known).
    """

    runs: int
    regions: List[Dict[str, Any]]

    @property
    def total_ms(self) -> float:
        """The time of one run in regions of the main graph."""
        return float(sum(region["ms"] for region in self.regions if region["depth"] == 0))

    def _rows(self) -> List[Tuple[str, ...]]:
        slowest = sorted((region for region in self.regions if region["calls"]), key=lambda region: -float(region["ms"]))
        return [(f"{region['ms']:.4f}", f"{region['share']:.1%}", f"{region['gflops']:.1f}", f"{region['gbytes']:.1f}",
                 region["tactic"], f"{region['operators']}: {region['name']}") for region in slowest]

    def __str__(self) -> str:
        return _report.text_table([("ms", "share", "GFLOP/s", "GB/s", "tactic", "operators: last node"), *self._rows()])

    def svg(self) -> str:
        """The plan as a picture: its steps in order, and how long each took."""
        return _report.plan_svg([region for region in self.regions if region["calls"]], "ms", "{:.3f} ms")

    def _repr_html_(self) -> str:
        head = ("ms", "share", "GFLOP/s", "GB/s", "tactic", "operators: last node")
        return self.svg() + _report.table(self._rows(), head, f"{self.total_ms:.3f} ms a run, {self.runs} runs")


def profile(model: Union[ModelSource, Session], feeds: Optional[Mapping[str, Any]] = None, *, runs: int = 20,
            batch: int = 1, seed: int = 0, **options: Any) -> Profile:
    """Where the time of a model's runs goes.

    model: what ingot.load takes, or a session. feeds: inputs by name; those left out are made of random numbers, batch
    being the first free size of each. runs: how many are noted, after one that is not. options: those of ingot.load.

    Raises what ingot.load and a run raise, and ingot.InvalidArgument where runs is less than 1.
    """
    session = model if isinstance(model, Session) else load(model, **options)
    noted = _bound(session, feeds, batch, seed)._context.profile(runs)
    total = sum(region["ns"] for region in noted if region["depth"] == 0) or 1
    regions = []
    for region in noted:
        ns = region["ns"] or 1
        regions.append({**{key: region[key] for key in ("name", "operators", "tactic", "backend", "depth", "calls")},
                        "ms": region["ns"] / runs / 1e6, "share": region["ns"] / total, "gflops": region["flops"] / ns,
                        "gbytes": region["bytes"] / ns})
    return Profile(runs, regions)


# ---- inspect ----

@dataclasses.dataclass(frozen=True)
class Inspection:
    """What a model is and how it runs. Shows as tables and a picture of the plan in a notebook."""

    path: Optional[str]
    size: Optional[int]
    description: Dict[str, Any]
    inputs: Tuple[ValueInfo, ...]
    outputs: Tuple[ValueInfo, ...]
    statistics: Dict[str, Any]
    regions: List[Dict[str, Any]]

    def _model_rows(self) -> List[Tuple[str, str]]:
        said = self.description
        opsets = ", ".join(f"{domain} {version}" for domain, version in said["opsets"].items())
        rows = [("file", f"{self.path or 'from memory'}" + (f" ({self.size} bytes)" if self.size is not None else "")),
                ("IR version", str(said["ir_version"])), ("producer", said["producer"]), ("graph", said["graph_name"]),
                ("description", said["description"]), ("opsets", opsets),
                ("initializers", f"{said['initializers']}, {said['initializer_bytes']} bytes"),
                ("nodes after the passes", str(self.statistics["node_count"])),
                ("packed weights", f"{self.statistics['packed_bytes']} bytes")]
        return [row for row in rows if row[1]]

    def _region_rows(self) -> List[Tuple[str, str, str, str]]:
        return [(region["backend"], region["tactic"], f"{region['flops'] * 1e-6:.3f}" if region["flops"] else "",
                 f"{region['operators']}: {region['name']}") for region in self.regions]

    def __str__(self) -> str:
        parts = [_report.text_table(self._model_rows()), _report.text_table(_report.port_rows(self.inputs, self.outputs)),
                 _report.text_table(list(self.description["operators"].items())),
                 _report.text_table([("backend", "tactic", "MFLOP", "operators: last node"), *self._region_rows()])]
        return "\n\n".join(part for part in parts if part)

    def svg(self) -> str:
        """The plan as a picture: its steps in order, and how much each computes."""
        return _report.plan_svg([{**region, "mflop": region["flops"] * 1e-6} for region in self.regions], "mflop", "{:.1f}M")

    def _repr_html_(self) -> str:
        operators = _report.table(self.description["operators"].items(), ("operator", "nodes"))
        return "".join([_report.table(self._model_rows()), _report.ports_html("inputs and outputs", self.inputs, self.outputs),
                        operators, self.svg()])


def inspect(model: Union[ModelSource, Session], **options: Any) -> Inspection:
    """What a model is, and what runs where, as `ingot inspect` shows it.

    model: what ingot.load takes, or a session. options: those of ingot.load. Raises what ingot.load raises.
    """
    session = model if isinstance(model, Session) else load(model, **options)
    size = os.path.getsize(session.path) if session.path and os.path.exists(session.path) else None
    return Inspection(session.path, size, session.description, session.inputs, session.outputs, session.statistics(),
                      session.regions())


# ---- ops ----

class Operators(Sequence[Dict[str, Any]]):
    """Operator versions, a dict each: domain, name, since_version, summary, types, backends. A table in a notebook."""

    def __init__(self, lines: List[Dict[str, Any]]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: Any) -> Any:
        return self._lines[index]

    def _rows(self) -> List[Tuple[Any, ...]]:
        return [(line["domain"], line["name"], line["since_version"], line["summary"]) for line in self._lines]

    def __str__(self) -> str:
        return _report.text_table(self._rows())

    def _repr_html_(self) -> str:
        return _report.table(self._rows(), ("domain", "operator", "since version", "what it does"))


def operators() -> Operators:
    """The operator versions that this build runs."""
    return Operators(_core.operators())


def register_library(path: Union[str, "os.PathLike[str]"]) -> None:
    """Load a shared library of custom operators, written for ingot/custom_op.h, for every model that is loaded from now on.

    Raises ingot.NotFound where there is no such file, and ingot.InvalidArgument or ingot.Unsupported where it is refused.
    """
    _core.register_library(os.fsencode(path))


# ---- doctor ----

SEVERITIES = ("note", "warning", "fault")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that a diagnosis found: its severity ("fault", "warning", "note"), rule, what, the first place, advice, places."""

    severity: str
    rule: str
    what: str
    where: str
    advice: str
    count: int


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What doctor found, faults first, and C source with a custom operator to fill in for each that is not supported."""

    findings: Tuple[Finding, ...]
    stub: str

    def _rows(self) -> List[Tuple[Any, ...]]:
        return [(f.severity, f.rule, f.what, f"{f.where} (of {f.count})" if f.count > 1 else f.where, f.advice) for f in self.findings]

    def __str__(self) -> str:
        return _report.text_table(self._rows()) if self.findings else "nothing found"

    def _repr_html_(self) -> str:
        return _report.table(self._rows(), ("", "rule", "what", "where", "advice"))


def doctor(path: Union[str, "os.PathLike[str]"]) -> Diagnosis:
    """What is wrong or slow with the model at path, and what to do: as `ingot doctor`.

    A model that cannot run is a finding ("fault"), not an exception. Raises ingot.NotFound where there is no such file.
    """
    found, stub = _core.diagnose(os.fsencode(path))
    return Diagnosis(tuple(Finding(**{**line, "severity": SEVERITIES[line["severity"]]}) for line in found), stub)
