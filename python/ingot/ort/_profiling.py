"""Profiles of InferenceSession: every step of every run, in a file that trace viewers show."""
from __future__ import annotations

import json
import os
import threading
import time
from typing import Any, Dict, List, Optional, Sequence

from .. import _core
from .._session import copy_of

EVENTS_OF_A_RUN = 100_000  # steps that are noted one by one
EVENTS = 1_000_000  # of all runs together, as many as ONNX Runtime keeps


class Profiler:
    """Runs a session in one context, one run after another, and keeps what each step took."""

    def __init__(self, session: _core.Session, prefix: str) -> None:
        self._session = session
        self._outputs = [name for name, _, _ in session.outputs()]
        self._fed: List[str] = []
        self._context = _core.Context(session)
        self._context.note_events(EVENTS_OF_A_RUN)
        self._lock = threading.Lock()
        self._prefix = prefix
        self._events: List[Dict[str, Any]] = []
        self.start_ns = time.perf_counter_ns()

    def run(self, names: Optional[Sequence[str]], feeds: Dict[str, Any], cancel: Optional[_core.Cancel]) -> List[Any]:
        """Run as the session does, and note it."""
        with self._lock:
            for name in self._fed:
                if feeds.get(name) is None:
                    self._context = _core.Context(self._session)
                    self._context.note_events(EVENTS_OF_A_RUN)
                    break
            given = {name: value for name, value in feeds.items() if value is not None}
            for name, value in given.items():
                self._context.bind_input(name, value)
            self._fed = list(given)
            begin = time.perf_counter_ns()
            self._context.run(cancel)
            self._note(begin, time.perf_counter_ns())
            return [copy_of(self._context.output(name).to_object()) for name in names or self._outputs]

    def _event(self, kind: str, name: str, begin_ns: int, end_ns: int, arguments: Dict[str, str]) -> None:
        self._events.append({"cat": kind, "pid": os.getpid(), "tid": threading.get_native_id(), "ph": "X", "name": name,
                             "ts": (begin_ns - self.start_ns) // 1000, "dur": (end_ns - begin_ns) // 1000,
                             "args": arguments})

    def _note(self, begin: int, end: int) -> None:
        if len(self._events) >= EVENTS:
            return
        self._event("Session", "model_run", begin, end, {})
        for name, operators, backend, begin_ns, end_ns in self._context.events():
            self._event("Node", f"{name}_kernel_time", begin + begin_ns, begin + end_ns,
                        {"op_name": operators, "provider": f"{backend.upper()}ExecutionProvider", "node_name": name})

    def end(self) -> str:
        """Write the file, in the current folder unless the prefix says where; returns its name."""
        with self._lock:
            path = f"{self._prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}_{os.getpid()}.json"
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self._events, file)
            self._events = []
            return path
