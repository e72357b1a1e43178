"""Archives of arrays."""
import subprocess
import zipfile

import numpy as np
import pytest
from conftest import INGOT
from onnx import TensorProto


@pytest.fixture
def two(identity):
    return identity(a=(TensorProto.FLOAT, ["N"]), b=(TensorProto.INT64, ["M"]))


A = np.linspace(0, 1, 1000, dtype=np.float32)
B = np.arange(7)


def outputs(ingot, model, tmp_path, *words):
    ingot("run", model, *words, "--output-dir", tmp_path / "out")
    return [np.load(tmp_path / "out" / f"out_{name}.npy") for name in "ab"]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("prefix", ["", "in:"])
def test_all_inputs_from_one_archive(ingot, two, tmp_path, save, prefix):
    save(tmp_path / "x.npz", **{prefix + "a": A, prefix + "b": B, "out:c": A})
    got = outputs(ingot, two, tmp_path, "--input", tmp_path / "x.npz")
    assert np.array_equal(got[0], A) and np.array_equal(got[1], B)


def test_one_input_from_an_archive(ingot, two, tmp_path):
    np.savez(tmp_path / "x.npz", a=A, b=B)
    np.save(tmp_path / "b.npy", B[:3])
    got = outputs(ingot, two, tmp_path, "--input", f"a={tmp_path}/x.npz", "--input", f"b={tmp_path}/b.npy")
    assert np.array_equal(got[0], A) and np.array_equal(got[1], B[:3])


def test_an_array_is_missing(ingot, two, tmp_path):
    np.savez(tmp_path / "x.npz", a=A)
    message = ingot("run", two, "--input", tmp_path / "x.npz", code=1).stderr
    assert "'b' int64[" in message and "'a'" not in message


def test_no_array_fits(ingot, two, tmp_path):
    np.savez(tmp_path / "x.npz", c=A)
    assert "x.npz" in ingot("run", two, "--input", tmp_path / "x.npz", code=1).stderr


def test_an_input_given_twice(ingot, two, tmp_path):
    np.savez(tmp_path / "x.npz", a=A, b=B)
    message = ingot("run", two, "--input", tmp_path / "x.npz", "--input", f"a={tmp_path}/x.npz", code=1).stderr
    assert "'a'" in message and "twice" in message


def test_an_archive_with_a_comment(ingot, two, tmp_path):
    np.savez_compressed(tmp_path / "x.npz", a=A, b=B)
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
        archive.comment = b"hello PK\x05\x06 there" * 100
    assert np.array_equal(outputs(ingot, two, tmp_path, "--input", tmp_path / "x.npz")[0], A)


def test_unknown_compression(ingot, two, tmp_path):
    np.save(tmp_path / "a.npy", A)
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.write(tmp_path / "a.npy", "a.npy")
    assert "method 12" in ingot("run", two, "--input", tmp_path / "x.npz", code=1).stderr


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_archives_are_refused(ingot, two, tmp_path, save):
    save(tmp_path / "good.npz", a=A, b=B)
    good = (tmp_path / "good.npz").read_bytes()
    path = tmp_path / "x.npz"
    refused = 0
    cuts = [good[:length] for length in range(0, len(good), max(1, len(good) // 12))]
    flips = [good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1:] for place in
             [*range(0, 60, 6), *range(len(good) - 150, len(good), 5)]]
    for content in cuts + flips:
        path.write_bytes(content)
        # a flipped bit may hit a time stamp or another field that nothing depends on
        done = subprocess.run([INGOT, "run", two, "--input", path], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode in (0, 1) and "Sanitizer" not in done.stderr
        assert done.returncode == 0 or done.stderr.count("\n") == 1
        refused += done.returncode
    assert refused >= len(cuts) + 10


def test_a_claimed_size_beyond_deflate_is_refused_before_memory_is_taken(ingot, two, tmp_path):
    np.savez_compressed(tmp_path / "x.npz", a=A)
    content = bytearray((tmp_path / "x.npz").read_bytes())
    entry = content.rfind(b"PK\x01\x02")
    content[entry + 24:entry + 28] = b"\xff\xff\xff\x7f"
    (tmp_path / "x.npz").write_bytes(content)
    assert "impossible size" in ingot("run", two, "--input", tmp_path / "x.npz", code=1).stderr
