"""The example program of the header's first comment."""
import os
import pathlib
import subprocess

import pytest
from conftest import INGOT

HELLO = pathlib.Path(INGOT).resolve().parent / "examples" / "hello"

pytestmark = pytest.mark.skipif(not HELLO.exists(), reason=f"{HELLO} is not built")


def hello(*words):
    return subprocess.run([HELLO, *map(os.fspath, words)], capture_output=True, text=True, timeout=60, check=False)


def test_runs_a_model_on_zeros(float_model):
    done = hello(float_model)
    assert (done.returncode, done.stdout, done.stderr) == (0, "out_x: float[1,4] 0 0 0 0\n", "")


def test_says_why_a_model_cannot_run(tmp_path):
    done = hello(tmp_path / "none.onnx")
    assert done.returncode == 1 and "none.onnx" in done.stderr


def test_needs_a_model():
    assert hello().returncode == 2
