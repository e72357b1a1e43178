"""ingot bench: the figures and their names, which other programs read."""
import json

import numpy as np
import pytest

TIMES = ["load_ms", "first_ms", "min_ms", "mean_ms", "p50_ms", "p90_ms", "p99_ms", "p999_ms", "max_ms"]


@pytest.fixture
def bench(ingot, float_model):
    return lambda *words: ingot("bench", float_model, "--seconds", ".1", "--threads", 1, *words)


def test_json(bench):
    result = json.loads(bench("--json").stdout)
    assert all(result[name] > 0 for name in TIMES)
    assert result["min_ms"] <= result["p50_ms"] <= result["p90_ms"] <= result["p99_ms"] <= result["p999_ms"] <= result["max_ms"]
    assert result["runs"] >= 10 and 1 < result["rss_mb"] < 2000
    # the runs fill the time asked for, and no more than that
    assert result["runs"] * result["mean_ms"] == pytest.approx(100, rel=0.5)
    assert result["throughput"] * result["mean_ms"] == pytest.approx(1000, rel=0.1)


def test_text(bench):
    text = bench("--batch", 3).stdout
    for word in ("x  float[3,4]", "load", "first run", "p50", "p99", "peak memory"):
        assert word in text


def test_no_time_at_all_still_runs_ten_times(ingot, float_model):
    assert json.loads(ingot("bench", float_model, "--seconds", 0, "--json").stdout)["runs"] >= 10


def test_inputs_and_outputs(bench, tmp_path):
    array = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(tmp_path / "x.npy", array)
    bench("--input", f"x={tmp_path}/x.npy", "--output-dir", tmp_path / "out", "--json")
    assert np.array_equal(np.load(tmp_path / "out" / "out_x.npy"), array)


def test_peak(ingot):
    result = json.loads(ingot("bench", "--peak", "--seconds", "1", "--threads", 2, "--json").stdout)
    peaks = {(peak["name"], peak["threads"]): peak for peak in result["peaks"]}
    names = {name for name, _ in peaks}
    assert {"f32_scalar", "memory_read", "memory_copy"} <= names
    assert {(name, threads) for name in names for threads in (1, 2)} == set(peaks)
    for (name, threads), peak in peaks.items():
        assert peak["rate"] > 0
        if name.startswith("memory"):
            assert peak["clock"] == 0 and peak["rate"] > 1e8
        else:
            assert 1e8 < peak["clock"] < 1e10
            assert peak["per_cycle"] == pytest.approx(peak["rate"] / peak["clock"] / threads, rel=1e-4)


def test_peak_of_vectors_is_far_above_that_of_numbers(ingot):
    """No bound on the figure itself: the machine may be busy. A build for finding faults is slow in a way of its own."""
    peaks = json.loads(ingot("bench", "--peak", "--seconds", "1", "--threads", 1, "--json").stdout)["peaks"]
    rates = {peak["name"]: peak["rate"] for peak in peaks}
    if "f32_avx512" in rates:
        assert rates["f32_avx512"] > 4 * rates["f32_scalar"]


def test_peak_takes_no_model(ingot, float_model):
    assert "no MODEL" in ingot("bench", "--peak", float_model, code=2).stderr
    assert "missing" in ingot("bench", code=2).stderr
