#!/usr/bin/env python3
"""Count ONNX's own operator cases that an engine passes.

usage: conformance.py --engine ingot|ort|openvino [--ingot PATH] [--list] DIR

DIR holds a folder a case: model.onnx, test_data_set_N/{input,output}_J.pb, tolerance.json. Ingot is run as `ingot verify`; the
others through their Python packages, 50 cases a process, so that a crash costs one case. A case passes where every output has the
right type and shape, and every value is within the tolerance (bfloat16: 2^-6 at least, as ONNX's own runner has it).
--list prints the cases that fail. Needs: pip install numpy onnx onnxruntime openvino ml_dtypes
"""
import argparse
import json
import os
import re
import subprocess
import sys

BATCH = 50


def read(path, kind):
    import onnx
    from onnx import numpy_helper
    with open(path, "rb") as file:
        data = file.read()
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def numbered(folder, stem):
    names = [name for name in os.listdir(folder) if re.fullmatch(stem + r"_\d+\.pb", name)]
    return [os.path.join(folder, name) for name in sorted(names, key=lambda name: int(re.findall(r"\d+", name)[-1]))]


def same(got, wanted, tolerance):
    import numpy as np
    if wanted is None or isinstance(wanted, list):
        items = got if isinstance(got, (list, tuple)) else None
        if wanted is None or items is None:
            return got is wanted
        return len(items) == len(wanted) and all(same(a, b, tolerance) for a, b in zip(items, wanted))
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape:
        return False
    if wanted.dtype.kind in "OUS":
        return bool((got.astype(str) == wanted.astype(str)).all())
    if got.dtype != wanted.dtype:
        return False
    if wanted.dtype.kind in "biu":
        return bool((got == wanted).all())
    relative = max(tolerance["rtol"], 2**-6 if wanted.dtype.name == "bfloat16" else 0)
    kind = np.complex128 if wanted.dtype.kind == "c" else np.float64
    return bool(np.allclose(got.astype(kind), wanted.astype(kind), relative, tolerance["atol"], equal_nan=True))


def session_ort(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def session_openvino(path):
    import openvino
    model = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return lambda feeds: [value.copy() for value in model(feeds).values()]


def passes(folder, engine):
    import onnx
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    held = {tensor.name for tensor in model.graph.initializer}
    path = os.path.join(folder, "tolerance.json")
    tolerance = {"rtol": 1e-3, "atol": 1e-7}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            tolerance = json.load(file)
    run = {"ort": session_ort, "openvino": session_openvino}[engine](os.path.join(folder, "model.onnx"))
    sets = sorted(name for name in os.listdir(folder) if name.startswith("test_data_set_"))
    for name in sets:
        place = os.path.join(folder, name)
        files = numbered(place, "input")
        inputs = list(model.graph.input)
        if len(files) < len(inputs):
            inputs = [value for value in inputs if value.name not in held]
        feeds = {v.name: read(f, v.type.WhichOneof("value")) for v, f in zip(inputs, files)}
        wanted = [read(f, v.type.WhichOneof("value")) for v, f in zip(model.graph.output, numbered(place, "output"))]
        got = run(feeds)
        if len(got) < len(wanted) or not all(same(a, b, tolerance) for a, b in zip(got, wanted)):
            return False
    return True


def work(engine, folders):
    for folder in folders:
        try:
            good = passes(folder, engine)
        except Exception:  # an engine's refusal, whatever its class
            good = False
        print(f"@{'ok' if good else 'no'} {folder}", flush=True)


def run_peer(engine, folders):
    """The set of folders that pass."""
    good, rest = set(), list(folders)
    while rest:
        batch = rest[:BATCH]
        done = subprocess.run([sys.executable, "-W", "ignore", __file__, "--engine", engine, "--work", *batch],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        seen = re.findall(r"^@(ok|no) (.*)$", done.stdout, re.M)
        good |= {folder for verdict, folder in seen if verdict == "ok"}
        rest = rest[min(len(seen) + (len(seen) < len(batch)), len(batch)):]  # the one that ended the process fails
    return good


def run_ingot(ingot, folders):
    done = subprocess.run([ingot, "verify", *folders], stdout=subprocess.PIPE, text=True, check=False)
    failed = {re.match(re.escape(folder) + "[/:]", line) and folder for line in done.stdout.splitlines() for folder in folders
              if line.startswith(folder)}
    return {folder for folder in folders if folder not in failed}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True, choices=["ingot", "ort", "openvino"])
    parser.add_argument("--ingot", default="build/ingot")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--work", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("dir", nargs="?", metavar="DIR")
    arguments = parser.parse_args()
    if arguments.work is not None:
        return work(arguments.engine, arguments.work)
    folders = sorted(os.path.join(arguments.dir, name) for name in os.listdir(arguments.dir))
    good = run_ingot(arguments.ingot, folders) if arguments.engine == "ingot" else run_peer(arguments.engine, folders)
    for folder in folders if arguments.list else []:
        if folder not in good:
            print(os.path.basename(folder))
    networks = {folder for folder in folders if os.path.basename(folder).startswith("light_")}
    print(f"{arguments.engine}: {len(good - networks)} of {len(set(folders) - networks)} cases, "
          f"{len(good & networks)} of {len(networks)} networks")


if __name__ == "__main__":
    main()
