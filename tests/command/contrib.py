"""Models of one operator that ONNX Runtime's tools write; what ONNX Runtime makes of a model, and what Ingot does."""
import dataclasses
import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

FLOAT, FLOAT16, U8, I8, I32 = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.UINT8, TensorProto.INT8,
                               TensorProto.INT32)

RANDOM = np.random.default_rng(20240817)


@dataclasses.dataclass
class Case:
    """inputs: arrays, None for one left out. constant: the positions that are initializers. declared: shapes of the graph's inputs
    where they differ from the arrays'. outputs: wanted ones, None for one left out."""
    op: str
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    constant: tuple = ()
    outputs: tuple = (TensorProto.FLOAT,)
    domain: str = "com.microsoft"
    declared: dict = dataclasses.field(default_factory=dict)
    opset: int = 17
    tolerance: float = 2e-5
    note: str = ""

    def __str__(self):
        return f"{self.op}-{self.note}" if self.note else self.op


def f32(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def u8(*shape, low=0, high=256):
    return RANDOM.integers(low, high, shape).astype(np.uint8)


def i8(*shape):
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


def i32(values):
    return np.array(values, np.int32)


def i64(values):
    return np.array(values, np.int64)


def scalar(value, kind=np.float32):
    return np.array(value, kind)


def model_of(case):
    names = [f"i{n}" if x is not None else "" for n, x in enumerate(case.inputs)]
    outputs = [f"o{n}" if kind is not None else "" for n, kind in enumerate(case.outputs)]
    node = helper.make_node(case.op, names, outputs, name="N", domain=case.domain, **case.attributes)
    infos, initializers = [], []
    for n, x in enumerate(case.inputs):
        if x is None:
            continue
        if n in case.constant:
            initializers.append(numpy_helper.from_array(x, names[n]))
        else:
            infos.append(helper.make_tensor_value_info(names[n], helper.np_dtype_to_tensor_dtype(x.dtype),
                                                       case.declared.get(n, x.shape)))
    results = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(outputs, case.outputs) if name]
    graph = helper.make_graph([node], "graph", infos, results, initializers)
    opsets = [helper.make_opsetid("", case.opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def expected(model, feeds):
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    except Exception as error:  # pylint: disable=broad-except
        pytest.fail(f"ONNX Runtime refuses the case: {error}")


def run(ingot, model, feeds, folder):
    onnx.save(model, folder / "model.onnx")
    words = []
    for name, value in feeds.items():
        np.save(folder / f"{name}.npy", value)
        words += ["--input", f"{name}={folder / name}.npy"]
    ingot("run", folder / "model.onnx", *words, "--output-dir", folder / "out")
    return {path.stem: np.load(path) for path in pathlib.Path(folder / "out").iterdir()}
