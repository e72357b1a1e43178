#!/usr/bin/env python3
"""Time Ingot beside ONNX Runtime and OpenVINO and write the table of docs/performance.md.

usage: compare.py [--ingot build/ingot] [--engines ort,openvino,ingot] [--threads 1,2] [--rounds 5] [--seconds 2]
                  [--batch 1] [--size NAME=N ...] [--inputs DIR] [--json FILE] MODEL.onnx ...
needs: pip install numpy onnx onnxruntime openvino

Every measurement is a process of its own, so that loading, the first run and the peak of memory are honest. The engines take
turns, round after round: a shared machine is noisy, and only what was measured side by side may be compared. A time is the median
of the rounds; a ratio is the median of the rounds' ratios. Inputs are drawn from a fixed seed; their first free size is the
batch, others are --size's, else 128; or, where there is DIR/MODEL.npz, they are its arrays called in:NAME. An engine that fails on a model is left out there, with the reason on standard error.
"""
import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

OTHER_SIZE = 128  # of free sizes that --size does not give
SETTLING = 0.3  # of a second: runs that are not counted, after the first


# ---- Inputs ----

def sizes_of(shape, batch, sizes):
    for axis, size in enumerate(shape.dim):
        if size.HasField("dim_value") and size.dim_value > 0:
            yield size.dim_value
        else:
            yield sizes.get(size.dim_param, batch if axis == 0 else OTHER_SIZE)


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def recorded_inputs(path, folder):
    """None where none are recorded."""
    import numpy as np
    record = os.path.join(folder, name_of(path) + ".npz")
    if not os.path.exists(record):
        return None
    return {name.removeprefix("in:"): value for name, value in np.load(record).items() if name.startswith("in:")}


def make_inputs(path, batch, sizes):
    import numpy as np
    import onnx
    graph = onnx.load(path, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    random = np.random.default_rng(0)
    inputs = {}
    for value in graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        dims = list(sizes_of(tensor.shape, batch, sizes))
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if dtype.kind == "f":
            inputs[value.name] = random.standard_normal(dims).astype(dtype)
        elif "mask" in value.name:
            inputs[value.name] = np.ones(dims, dtype)
        elif "type" in value.name:
            inputs[value.name] = np.zeros(dims, dtype)
        else:
            inputs[value.name] = random.integers(1, 1000, dims).astype(dtype)
    return inputs


# ---- One measurement ----

def time_runs(run, seconds):
    start = time.perf_counter()
    run()
    result = {"first_ms": (time.perf_counter() - start) * 1e3}
    end = time.perf_counter() + SETTLING * min(seconds, 1)
    while time.perf_counter() < end:
        run()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 10:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    return result | {"p50_ms": times[len(times) // 2], "p99_ms": times[int(len(times) * 0.99)]}


def time_onnxruntime(path, inputs, threads, seconds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    load = (time.perf_counter() - start) * 1e3
    outputs = [output.name for output in session.get_outputs()]
    result = time_runs(lambda: session.run(None, inputs), seconds) | {"load_ms": load}
    return result, dict(zip(outputs, session.run(None, inputs))), onnxruntime.__version__


def time_openvino(path, inputs, threads, seconds):
    import openvino
    core = openvino.Core()
    start = time.perf_counter()
    model = core.read_model(path)
    model.reshape({name: openvino.PartialShape(list(value.shape)) for name, value in inputs.items()})
    compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads,
                                                 "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    load = (time.perf_counter() - start) * 1e3
    result = time_runs(lambda: request.infer(inputs), seconds) | {"load_ms": load}
    outputs = {next(iter(port.get_names())): request.get_output_tensor(index).data.copy()
               for index, port in enumerate(compiled.outputs)}
    return result, outputs, openvino.__version__


PEERS = {"ort": time_onnxruntime, "openvino": time_openvino}
TITLES = {"ort": "ONNX Runtime", "openvino": "OpenVINO", "ingot": "Ingot"}


def numbers(outputs):
    import numpy as np
    return {re.sub("[/:]", "_", name): value for name, value in outputs.items()
            if isinstance(value, np.ndarray) and value.dtype.kind in "fiub"}


def work(engine, path, folder, threads, seconds):
    """In a process of its own: measures a peer."""
    import numpy as np
    inputs = dict(np.load(f"{folder}/inputs.npz"))
    result, outputs, version = PEERS[engine](path, inputs, threads, seconds)
    with open("/proc/self/status", encoding="utf-8") as status:
        result["rss_mb"] = int(re.search(r"VmHWM:\s*(\d+)", status.read())[1]) / 1024
    np.savez(f"{folder}/{engine}.npz", **numbers(outputs))
    print("\nRESULT " + json.dumps(result | {"version": version}))


def measure_peer(engine, path, folder, threads, seconds):
    done = subprocess.run([sys.executable, __file__, "--work", engine, path, folder, "--threads", str(threads), "--seconds",
                           str(seconds)], capture_output=True, text=True, check=False)
    found = re.search(r"^RESULT (.*)$", done.stdout, re.M)
    if not found:
        raise RuntimeError(((done.stderr or done.stdout).strip().splitlines() or ["no output"])[-1])
    return json.loads(found[1])


def measure_ingot(binary, path, inputs, folder, threads, seconds):
    import numpy as np
    command = [binary, "bench", path, "--threads", str(threads), "--seconds", str(seconds), "--json", "--output-dir",
               f"{folder}/outputs"]
    for index, (name, value) in enumerate(inputs.items()):
        np.save(f"{folder}/{index}.npy", value)
        command += ["--input", f"{name}={folder}/{index}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    outputs = {name[:-4]: np.load(f"{folder}/outputs/{name}") for name in os.listdir(f"{folder}/outputs")
               if name.endswith(".npy")}
    np.savez(f"{folder}/ingot.npz", **numbers(outputs))
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    return json.loads(done.stdout) | {"version": version}


def difference(folder, engine):
    """The largest difference from ONNX Runtime's outputs, as a part of their largest value; None without them."""
    import numpy as np
    if engine == "ort" or not os.path.exists(f"{folder}/ort.npz"):
        return None
    truth, found, worst = np.load(f"{folder}/ort.npz"), np.load(f"{folder}/{engine}.npz"), 0.0
    for name in truth.files:
        a, b = truth[name].astype("f8"), found[name].astype("f8")
        finite = np.isfinite(a)
        if a.shape != b.shape or not np.array_equal(finite, np.isfinite(b)):
            return float("inf")
        if finite.any():
            worst = max(worst, float(np.abs(a - b)[finite].max() / max(np.abs(a[finite]).max(), 1e-12)))
    return worst


# ---- All of them ----

def best_peer(figures):
    return min((engine for engine in figures if engine != "ingot"), key=lambda engine: figures[engine]["p50_ms"], default=None)


def compare(path, threads, arguments):
    """Figures of each engine, and how many times faster Ingot is than the better peer; engines that failed are left out."""
    import numpy as np
    inputs = arguments.inputs and recorded_inputs(path, arguments.inputs)
    inputs = inputs or make_inputs(path, arguments.batch, arguments.sizes)
    rounds = {engine: [] for engine in arguments.engines}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/inputs.npz", **inputs)
        for _ in range(arguments.rounds):
            for engine in list(rounds):
                try:
                    found = measure_ingot(arguments.ingot, path, inputs, folder, threads, arguments.seconds) \
                        if engine == "ingot" else measure_peer(engine, path, folder, threads, arguments.seconds)
                    rounds[engine].append(found | {"error": difference(folder, engine)})
                except RuntimeError as error:
                    print(f"{path}: {TITLES[engine]}: {error}", file=sys.stderr)
                    del rounds[engine]
    figures = {}
    for engine, found in rounds.items():
        figures[engine] = {name: statistics.median(one[name] for one in found)
                           for name in ("load_ms", "first_ms", "p50_ms", "p99_ms", "rss_mb")}
        figures[engine] |= {"version": found[0]["version"], "error": found[-1]["error"]}
    best, ratio = best_peer(figures), None
    if best and "ingot" in figures:
        ratio = statistics.median(a["p50_ms"] / b["p50_ms"] for a, b in zip(rounds[best], rounds["ingot"]))
    return {"model": name_of(path), "threads": threads, "batch": arguments.batch,
            "engines": figures, "faster": ratio}


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*:\s*(.*)", file.read())
    return found[1] if found else platform.machine()


def cells_of(row, engines):
    """Of a row of the table. Of load and memory, and of p99 / p50, the first number is ONNX Runtime's, or the better peer's."""
    figures = row["engines"]
    own, best = figures.get("ingot"), best_peer(figures)
    cells = [row["model"], str(row["threads"])]
    cells += [f"{figures[engine]['p50_ms']:.3f}" if engine in figures else "–" for engine in engines]
    if not own:
        return cells + ["–"] * 6
    tails = [f"{figures[engine]['p99_ms'] / figures[engine]['p50_ms']:.2f}" for engine in (best, "ingot") if engine]
    both = [figures[engine] for engine in ("ort", "ingot") if engine in figures]
    return cells + [f"{row['faster']:.2f}" if row["faster"] else "–", f"{own['first_ms']:.3f}", " / ".join(tails),
                    " / ".join(f"{one['load_ms']:.0f}" for one in both), " / ".join(f"{one['rss_mb']:.0f}" for one in both),
                    "–" if own["error"] is None else f"{own['error']:.0e}"]


def write_table(rows, arguments):
    versions = {engine: figures["version"] for row in rows for engine, figures in row["engines"].items()}
    print(f"{datetime.date.today()}, {processor()}, {len(os.sched_getaffinity(0))} cores; "
          + ", ".join(f"{TITLES[engine]} {version}" for engine, version in versions.items())
          + f"; batch {arguments.batch}, median of {arguments.rounds} rounds of {arguments.seconds:g} s\n")
    engines = [engine for engine in arguments.engines if engine in versions]
    print("| model | threads | " + " | ".join(f"{TITLES[engine]}, ms" for engine in engines)
          + " | faster | first run, ms | p99 / p50 | load, ms | memory, MiB | error |")
    print("|---|" + "---:|" * (len(engines) + 7))
    for row in rows:
        print("| " + " | ".join(cells_of(row, engines)) + " |")
    for threads in sorted({row["threads"] for row in rows}):
        ratios = [row["faster"] for row in rows if row["faster"] and row["threads"] == threads]
        if ratios:
            print(f"\n{threads} thread{'s'[:threads > 1]}: faster than the better peer by the factor "
                  f"{statistics.geometric_mean(ratios):.2f} in the geometric mean, {min(ratios):.2f} at the least.")


def size_of(text):
    name, _, number = text.partition("=")
    return name, int(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", default="build/ingot")
    parser.add_argument("--engines", default="ort,openvino,ingot", type=lambda text: text.split(","))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--size", dest="sizes", action="append", type=size_of, default=[])
    parser.add_argument("--inputs")
    parser.add_argument("--json")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    if arguments.work:
        work(*arguments.work, int(arguments.threads), arguments.seconds)
        return 0
    if not arguments.models:
        parser.error("MODEL.onnx is missing")
    arguments.sizes = dict(arguments.sizes)
    rows = [compare(path, int(threads), arguments)
            for path in arguments.models for threads in arguments.threads.split(",")]
    write_table(rows, arguments)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
