#!/usr/bin/env python3
"""Check whole models that ONNX Runtime's tools wrote against ONNX Runtime.

usage: contrib_models.py --ingot PATH --models DIR [--work DIR] [--kinds KIND,...] [NAME ...]

DIR holds the performance models (bert_base.onnx ...). Each is written anew by one of ONNX Runtime's tools, and Ingot's values for
that file are held against ONNX Runtime's for the same file, on the same input:
  saved         optimized_model_filepath at the levels basic, extended and all: within 1e-4 of the greatest value (of 1 at least)
  transformers  onnxruntime.transformers.optimizer, FP32 (within 1e-4) and FP16 (within 1e-2 of the greatest value): bert_base,
                minilm_l6, gpt2_l6
  static        quantize_static, QDQ and QOperator, 8 bits, weights per channel: 99.9 % of the differences within two steps
  dynamic       quantize_dynamic, of bert_base and speech_bilstm: the same
A step is the scale of the quantizer that an output is dequantized from; where there is none, the range of ONNX Runtime's output / 255.
ONNX Runtime has two values for a quantized file, with its fusions (which count) and without; how far they are from each other is
printed. A rounding that falls the other way is a whole step, and deep networks make more of it.
One line a file: its worst difference, and the bound. Ends with `N passed, N failed`; 1 where one failed. Files are made in --work (kept
there if it is given), one at a time: some need 4 GB of memory. Needs: pip install numpy onnx onnxruntime transformers torch
"""
import argparse
import concurrent.futures
import dataclasses
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

SIZES = {"batch": 1, "seq": 128}
HEADS = {"bert_base": ("bert", 12, 768), "minilm_l6": ("bert", 12, 384), "gpt2_l6": ("gpt2", 12, 768)}
DYNAMIC = ("bert_base", "speech_bilstm")
QUANTIZED = ("static", "dynamic")
STEPS, SHARE = 2, 99.9
SLACK = 1.001  # two steps are not exactly twice a step in floats


@dataclasses.dataclass
class Case:
    kind: str
    name: str
    form: str
    bound: float  # of the difference: of scale, or in steps

    def file(self):
        return f"{self.name}.{self.kind}.{self.form}.onnx"


def cases(names, kinds):
    for name in names:
        if "saved" in kinds:
            yield from (Case("saved", name, level, 1e-4) for level in ("basic", "extended", "all"))
        if "transformers" in kinds and name in HEADS:
            yield from (Case("transformers", name, form, bound) for form, bound in (("fp32", 1e-4), ("fp16", 1e-2)))
        if "static" in kinds:
            yield from (Case("static", name, form, STEPS) for form in ("QDQ", "QOperator"))
        if "dynamic" in kinds and name in DYNAMIC:
            yield Case("dynamic", name, "int8", STEPS)


# ---- Inputs ----


def picture(rng, shape):
    """Smooth waves and a little noise: noise alone looks the same to a network, whatever the seed."""
    rows, columns = np.mgrid[0:shape[2], 0:shape[3]] / max(shape[2:])
    x = 0.3 * rng.standard_normal(shape)
    for image in x.reshape(-1, *shape[2:]):
        for _ in range(4):
            image += rng.standard_normal() * np.sin(2 * np.pi * (rng.uniform(0, 6) * rows + rng.uniform(0, 6) * columns + rng.uniform()))
        image += rng.standard_normal()
    return x


def feeds_of(model, seed):
    rng = np.random.default_rng(seed)
    constants = {tensor.name for tensor in model.graph.initializer}
    feeds = {}
    for value in model.graph.input:
        if value.name in constants:
            continue
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        shape = [d.dim_value or SIZES[d.dim_param] for d in value.type.tensor_type.shape.dim]
        if kind.kind == "f":
            x = picture(rng, shape) if len(shape) == 4 else rng.standard_normal(shape)
        elif "mask" in value.name:
            x = np.ones(shape)
        elif "type" in value.name:
            x = np.zeros(shape)
        else:
            x = rng.integers(1, 1000, shape)
        feeds[value.name] = x.astype(kind)
    return feeds


# ---- Making ----


def make_saved(source, target, case):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{case.form.upper()}")
    options.optimized_model_filepath = str(target)
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def make_transformers(source, target, case):
    from onnxruntime.transformers import optimizer
    kind, heads, hidden = HEADS[case.name]
    model = optimizer.optimize_model(str(source), model_type=kind, num_heads=heads, hidden_size=hidden)
    if case.form == "fp16":
        model.convert_float_to_float16()
    model.save_model_to_file(str(target))


def calibration(source):
    from onnxruntime.quantization import CalibrationDataReader

    class Reader(CalibrationDataReader):
        def __init__(self):
            model = onnx.load(source, load_external_data=False)
            self.batches = iter([feeds_of(model, seed) for seed in (0, 1)])

        def get_next(self):
            return next(self.batches, None)

    return Reader()


def make_static(source, target, case):
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        prepared = os.path.join(folder, "prepared.onnx")
        quant_pre_process(str(source), prepared, skip_symbolic_shape=True)
        quantize_static(prepared, str(target), calibration(source), quant_format=getattr(QuantFormat, case.form), per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


def make_dynamic(source, target, case):
    from onnxruntime.quantization import quantize_dynamic
    quantize_dynamic(str(source), str(target))


MAKERS = {"saved": make_saved, "transformers": make_transformers, "static": make_static, "dynamic": make_dynamic}


# ---- Running and comparing ----


def run_onnxruntime(path, feeds, level="ENABLE_ALL"):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_{level}")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds)))


def run_ingot(ingot, path, feeds, folder):
    words = [ingot, "run", str(path), "--output-dir", os.path.join(folder, "out")]
    for number, (name, value) in enumerate(feeds.items()):
        np.save(os.path.join(folder, f"{number}.npy"), value)
        words += ["--input", f"{name}={folder}/{number}.npy"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1200, check=False)
    if done.returncode:
        raise RuntimeError(f"ingot exits with {done.returncode}: {done.stderr.strip()[-400:]}")
    return {file.stem: np.load(file) for file in pathlib.Path(folder, "out").iterdir()}


def file_name(name):
    return name.replace("/", "_").replace(":", "_")


def step_of(model, output, value):
    """Scale of the quantizer whose codes become the output; else a 255th of its range."""
    node = next((node for node in model.graph.node if output in node.output), None)
    while node is not None and node.op_type in ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Identity"):
        node = next((other for other in model.graph.node if node.input[0] in other.output), None)
    if node is not None and node.op_type == "DequantizeLinear":
        scale = next((t for t in model.graph.initializer if t.name == node.input[1]), None)
        if scale is not None:
            return float(onnx.numpy_helper.to_array(scale).max())
    return float(value.max() - value.min()) / 255


def difference(case, model, found, wanted):
    """The worst over all outputs: of the greatest value, or in steps."""
    worst = 0.0
    for name, value in wanted.items():
        got = found[file_name(name)]
        if got.shape != value.shape or got.dtype != value.dtype:
            raise RuntimeError(f"{name} is {got.dtype}{list(got.shape)}, but should be {value.dtype}{list(value.shape)}")
        got, value = got.astype(np.float64), value.astype(np.float64)
        apart = np.abs(got - value)
        if not np.isfinite(apart).all():
            raise RuntimeError(f"{name} is not finite")
        if case.kind in QUANTIZED:
            worst = max(worst, float(np.percentile(apart, SHARE)) / step_of(model, name, value))
        else:
            worst = max(worst, float(apart.max()) / max(1.0, float(np.abs(value).max())))
    return worst


def check(case, models, work, ingot):
    source, target = models / f"{case.name}.onnx", work / case.file()
    if not target.exists():
        MAKERS[case.kind](source, target, case)
    model = onnx.load(target)
    feeds = feeds_of(model, 2)
    with tempfile.TemporaryDirectory(dir=work) as folder:
        found = run_ingot(ingot, target, feeds, folder)
    wanted = run_onnxruntime(target, feeds)
    apart = difference(case, model, found, wanted)
    if case.kind not in QUANTIZED:
        return apart, ""
    plain = run_onnxruntime(target, feeds, "DISABLE_ALL")
    own = difference(case, model, {file_name(name): value for name, value in plain.items()}, wanted)
    return apart, f"; ONNX Runtime's two forms: {own:.2g}"


def attempt(case, models, work, ingot):
    """In a process of its own, which gives its memory back."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            found, note = pool.submit(check, case, models, work, ingot).result()
        except Exception as error:  # pylint: disable=broad-except
            return False, str(error)
    unit = "steps" if case.kind in QUANTIZED else "of scale"
    return found <= case.bound * SLACK, f"{found:.2g} {unit}, at most {case.bound:g}{note}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--kinds", default=",".join(MAKERS))
    parser.add_argument("names", nargs="*")
    words = parser.parse_args()
    names = words.names or sorted(path.stem for path in words.models.glob("*.onnx"))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        work = words.work or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for case in cases(names, words.kinds.split(",")):
            good, text = attempt(case, words.models, work, os.path.abspath(words.ingot))
            passed, failed = passed + good, failed + (not good)
            print(f"{'pass' if good else 'FAIL'}  {case.name:20} {case.kind:13} {case.form:10} {text}", flush=True)
            if not words.work:
                (work / case.file()).unlink(missing_ok=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
