"""What other implementations answer: onnx.reference, the same in wider floats, ONNX Runtime."""
import contextlib
import io
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from engine import DTYPES, ELEMENTS

try:
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
except ImportError:
    onnxruntime = None

WIDER = {TensorProto.FLOAT16: TensorProto.FLOAT, TensorProto.BFLOAT16: TensorProto.FLOAT,
         TensorProto.FLOAT: TensorProto.DOUBLE}
NUMPY_OWN = {element for element, dtype in DTYPES.items() if dtype.isbuiltin == 1}
STAND_IN = {TensorProto.INT4: TensorProto.INT8, TensorProto.UINT4: TensorProto.UINT8, TensorProto.INT2: TensorProto.INT8,
            TensorProto.UINT2: TensorProto.UINT8}  # others travel as float


def reference(model, feed):
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return ReferenceEvaluator(model).run(None, feed)


def node_answer(name, version, inputs, outputs=1, domain="", **attributes):
    """What the reference gives for one node of another form; for the numpy formulas of old forms."""
    names = [f"x{index}" if content is not None else "" for index, content in enumerate(inputs)]
    infos = [onnx.ValueInfoProto(name=f"y{index}") for index in range(outputs)]
    feed = {key: content for key, content in zip(names, inputs) if key}
    graph = helper.make_graph(
        [helper.make_node(name, names, [info.name for info in infos], domain=domain, **attributes)], "other",
        [helper.make_tensor_value_info(key, ELEMENTS[content.dtype], None) for key, content in feed.items()], infos)
    return reference(helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, version)], ir_version=10), feed)


def widened(content, table):
    element = ELEMENTS.get(getattr(content, "dtype", None))
    return content.astype(DTYPES[table[element]]) if element in table else content


def wide_reference(model, feed, outputs, integers=False):
    """The reference on inputs of wider floats, rounded to the types of outputs once, at the end; None where it does not fit.
    integers: they are made floats too."""
    table = {**WIDER, TensorProto.INT32: TensorProto.DOUBLE, TensorProto.INT64: TensorProto.DOUBLE} if integers else WIDER
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    kinds = [info.type.tensor_type for info in wide.graph.input]
    changed = False
    for kind in kinds:
        if kind.elem_type in table:
            kind.elem_type = table[kind.elem_type]
            changed = True
    for index, tensor in enumerate(wide.graph.initializer):
        if tensor.data_type in table:
            wide.graph.initializer[index].CopyFrom(
                numpy_helper.from_array(widened(numpy_helper.to_array(tensor), table), tensor.name))
            changed = True
    if not changed:
        return None
    results = reference(wide, {name: widened(content, table) for name, content in feed.items()})
    narrow = []
    for result, output in zip(results, outputs):
        dtype = getattr(output, "dtype", None)
        with np.errstate(all="ignore"):
            same = dtype is None or dtype == object or getattr(result, "dtype", None) == dtype
            narrow.append(result if same else np.asarray(result).astype(dtype))
    return narrow


def runtime(model, feed, threads=1):
    """ONNX Runtime's answer; types that its Python values lack go through Cast nodes. None where it is not installed."""
    if onnxruntime is None:
        return None
    dressed = onnx.ModelProto()
    dressed.CopyFrom(model)
    graph, given, casts = dressed.graph, {}, []
    for info in graph.input:
        element = info.type.tensor_type.elem_type if info.type.HasField("tensor_type") else 0
        content = feed[info.name]
        if element and element not in NUMPY_OWN:
            stand_in = STAND_IN.get(element, TensorProto.FLOAT)
            casts.append(helper.make_node("Cast", ["outer_" + info.name], [info.name], to=element))
            info.name, info.type.tensor_type.elem_type = "outer_" + info.name, stand_in
            content = content.astype(DTYPES[stand_in])
        given[info.name] = content
    if casts:
        nodes = list(graph.node)
        del graph.node[:]
        graph.node.extend(casts + nodes)
    with contextlib.suppress(Exception):
        dressed = onnx.shape_inference.infer_shapes(dressed)
        graph = dressed.graph
    odd = {}
    for info in list(graph.output):
        element = info.type.tensor_type.elem_type if info.type.HasField("tensor_type") else 0
        if element and element not in NUMPY_OWN:
            stand_in = STAND_IN.get(element, TensorProto.FLOAT)
            graph.node.append(helper.make_node("Cast", [info.name], ["outer_" + info.name], to=stand_in))
            odd["outer_" + info.name] = element
            info.name, info.type.tensor_type.elem_type = "outer_" + info.name, stand_in
        elif info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(dressed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(None, given)
    return [result.astype(DTYPES[odd[info.name]]) if info.name in odd else result
            for info, result in zip(session.get_outputs(), results)]
