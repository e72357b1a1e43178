"""Real models and hard cases, with their right answers: the folder that INGOT_TEST_DATA names holds them.

Models and cases are left out while `ingot ops` lacks an operator of theirs; what must be refused is never left out.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import onnx
import pytest
from conftest import INGOT, call

DATA = pathlib.Path(os.environ.get("INGOT_TEST_DATA", ""))

pytestmark = pytest.mark.skipif(not os.environ.get("INGOT_TEST_DATA"), reason="INGOT_TEST_DATA is not set")
unless_slow = pytest.mark.skipif(os.path.exists(INGOT) and b"__asan_init" in pathlib.Path(INGOT).read_bytes(),
                                 reason="takes too long with sanitizers")


@pytest.fixture(scope="module")
def operators():
    listed = json.loads(call("ops", "--json").stdout)["operators"]
    return {(operator["domain"], operator["name"]) for operator in listed}


def nodes_of(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs]:
                yield from nodes_of(body)


def can_run(path, operators):
    """True where every operator is in the table or a function of the model."""
    model = onnx.load(path, load_external_data=False)
    own = {(function.domain, function.name) for function in model.functions}
    nodes = [*nodes_of(model.graph), *(node for function in model.functions for node in function.node)]
    return all((node.domain, node.op_type) in own or (node.domain or "ai.onnx", node.op_type) in operators for node in nodes)


def run_script(path, *words, timeout):
    """The closing line of one of the shared scripts that drive the command; it must tell of no failure."""
    done = subprocess.run([sys.executable, path, "--ingot", INGOT, *words], capture_output=True, text=True, timeout=timeout,
                          check=False)
    closing = done.stdout.strip().splitlines()[-1]
    assert re.match(r"\d+ passed, 0 failed", closing), done.stdout[-6000:] + done.stderr[-2000:]
    return closing


@unless_slow
def test_models_give_the_known_answers():
    run_script(DATA / "models" / "check_expected.py", timeout=1500)


def test_cases(operators):
    chosen = []
    for path in sorted((DATA / "cases").glob("*/case.json")):
        kind = json.loads(path.read_text())["kind"]
        if kind == "refuse_load" or can_run(path.parent / "model.onnx", operators):
            chosen.append(path.parent.name)
    assert len(chosen) > 100
    run_script(DATA / "cases" / "run.py", *chosen, timeout=1500)


@unless_slow
def test_models_of_the_exporters(operators):
    folders = [path.parent for path in sorted((DATA / "exporters").glob("*/model.onnx")) if can_run(path, operators)]
    assert folders
    done = subprocess.run([INGOT, "verify", "--jobs", "2", *folders], capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == f"{len(folders)} passed, 0 failed"
