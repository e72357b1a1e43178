#!/usr/bin/env python3
"""Peak memory of models against what they need at least, and against ONNX Runtime: one line a model.

usage: memory.py [--ingot PATH] [--threads 1] [--shape NAME=1x128 ...] [--no-peer] MODEL.onnx ...
needs: pip install numpy onnx onnxruntime    (onnxruntime only for the column of the peer)

need   MiB of weights, the arena's lower bound (all that is alive at once) and of inputs and outputs
bar    1.15 times that and 16 MiB: what the process may take at its peak
peak   what `ingot bench` takes at its peak, loading included; ort: the same of ONNX Runtime, in Python
arena  bytes of the arena over its lower bound
Ends with 1 where a peak passes its bar or the peer's.
"""
import argparse
import json
import re
import subprocess
import sys

import numpy
import onnx

MIB = 1 << 20


def value_bytes(value, shapes):
    tensor = value.type.tensor_type
    if not tensor.elem_type:
        return 0
    dims = shapes.get(value.name) or [d.dim_value or 1 for d in tensor.shape.dim]
    return int(numpy.prod(dims)) * onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize


def weight_bytes(graph):
    nested = [a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    own = sum(int(numpy.prod(t.dims)) * onnx.helper.tensor_dtype_to_np_dtype(t.data_type).itemsize for t in graph.initializer)
    return own + sum(weight_bytes(g) for g in nested)


def peer(path, threads):
    """Runs one model in ONNX Runtime; prints the process's peak in MiB."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    shapes = json.loads(sys.stdin.read())
    random = numpy.random.default_rng(0)
    inputs = {}
    for value in session.get_inputs():
        dims = shapes.get(value.name) or [d if isinstance(d, int) else 1 for d in value.shape]
        kind = {"tensor(float)": "f4", "tensor(int64)": "i8", "tensor(int32)": "i4", "tensor(bool)": "?"}[value.type]
        inputs[value.name] = random.standard_normal(dims).astype(kind) if kind == "f4" else numpy.ones(dims, kind)
    for _ in range(3):
        session.run(None, inputs)
    print(int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]) / 1024)


def measure(path, arguments, shapes):
    model = onnx.load(path, load_external_data=False)
    inputs = {i.name for i in model.graph.input} - {t.name for t in model.graph.initializer}
    given = {name: dims for name, dims in shapes.items() if name in inputs}
    words = [w for name, dims in given.items() for w in ("--shape", f"{name}={'x'.join(map(str, dims))}")]
    command = [arguments.ingot, "bench", path, "--threads", str(arguments.threads), "--seconds", "0.1", "--json", *words]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    ends = sum(value_bytes(v, given) for v in [*model.graph.input, *model.graph.output] if v.name in inputs or v in model.graph.output)
    need = (weight_bytes(model.graph) + result["bound_arena_bytes"] + ends) / MIB
    other = float("inf")
    if not arguments.no_peer:
        command = [sys.executable, __file__, "--peer", path, "--threads", str(arguments.threads)]
        other = float(subprocess.run(command, check=True, capture_output=True, text=True, input=json.dumps(given)).stdout)
    return need, result["rss_mb"], other, result["peak_arena_bytes"] / max(1, result["bound_arena_bytes"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", default="build/ingot")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    if arguments.peer:
        return peer(arguments.peer, arguments.threads)
    shapes = {name: [int(d) for d in dims.split("x")] for name, dims in (s.split("=") for s in arguments.shape)}
    failed = False
    print(f"{'model':24}{'need':>9}{'bar':>9}{'peak':>9}{'ort':>9}{'arena':>8}")
    for path in arguments.models:
        need, peak, other, arena = measure(path, arguments, shapes)
        bar = 1.15 * need + 16
        bad = peak > bar or peak >= other
        failed |= bad
        name = path.rsplit("/", 1)[-1].removesuffix(".onnx")
        print(f"{name:24}{need:9.1f}{bar:9.1f}{peak:9.1f}{other:9.1f}{arena:8.3f}{'  over' if bad else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
