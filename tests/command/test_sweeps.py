"""The same answers on every level of instructions, and the same bits on every number of threads."""
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import INGOT, call

DATA = pathlib.Path(os.environ.get("INGOT_TEST_DATA", ""))
MODELS = ["mnist", "dnsmos", "gru_control", "headpose_fsanet", "robot_policy", "silero_vad_v6", "ultraface_320", "xgboost_classifier"]
FIXED_SIZES = ["mnist", "face_landmark", "fastestdet", "headpose_fsanet", "robot_policy", "squeezenet_fp16", "ultraface_320"]
THREADS = [1, 2, 3, 7]

pytestmark = [
    pytest.mark.skipif(not os.environ.get("INGOT_TEST_DATA"), reason="INGOT_TEST_DATA is not set"),
    pytest.mark.skipif(os.path.exists(INGOT) and b"__asan_init" in pathlib.Path(INGOT).read_bytes(),
                       reason="takes too long with sanitizers"),
]


@pytest.mark.parametrize("level", ["scalar", "avx2", "avx512"])
def test_every_level_of_instructions_gives_the_known_answers(level):
    done = subprocess.run([sys.executable, DATA / "models" / "check_expected.py", "--ingot", INGOT, *MODELS],
                          env={**os.environ, "INGOT_CPU": level}, capture_output=True, text=True, timeout=300, check=False)
    closing = done.stdout.strip().splitlines()[-1]
    assert closing.endswith(" passed, 0 failed") and not closing.startswith("0 "), done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("model", FIXED_SIZES)
def test_every_number_of_threads_gives_the_same_bits(model, tmp_path):
    path = DATA / "models" / f"{model}.onnx"
    results = []
    for threads in THREADS:
        folder = tmp_path / str(threads)
        call("run", path, "--input", "random:1", "--threads", threads, "--output-dir", folder)
        results.append({file.name: file.read_bytes() for file in sorted(folder.iterdir())})
    assert results[0]
    assert all(result == results[0] for result in results)
