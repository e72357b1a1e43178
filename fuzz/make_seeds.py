#!/usr/bin/env python3
"""Writes seeds for the fuzz targets: pieces of models with nothing left of them but their operators, and small values.

usage: make_seeds.py OUT_DIR [MODEL.onnx ...]

OUT_DIR/model gets pieces of a few nodes each: every name is replaced by a number, text and metadata are dropped, weights become
inputs, only short lists of integers stay. OUT_DIR/run gets the same for fuzz_run's mode of whole models, OUT_DIR/value
messages of values of all kinds. libFuzzer's -merge=1 picks from them what reaches new code.
"""
import hashlib
import os
import sys

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

MOST_NODES = 6
MOST_BYTES = 3000
KEPT_ELEMENTS = 16


def write(folder, data, name=None):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name or hashlib.sha1(data).hexdigest()[:16]), "wb") as file:
        file.write(data)


class Renamer(dict):
    def __missing__(self, name):
        self[name] = f"v{len(self)}" if name else ""
        return self[name]


def strip_tensor(tensor, names):
    """The tensor without its name, where it is short; else None."""
    if tensor.external_data or tensor.data_type == TensorProto.STRING or np.prod(tensor.dims) > KEPT_ELEMENTS:
        return None
    array = numpy_helper.to_array(tensor)
    if array.size > 1 and array.dtype.kind not in "iub":
        return None
    return numpy_helper.from_array(array, names[tensor.name])


def strip_graph(graph, names):
    """A body: all names replaced, no text, no declared values in between."""
    del graph.value_info[:]
    graph.name, graph.doc_string = "b", ""
    kept = [strip_tensor(tensor, names) for tensor in graph.initializer]
    del graph.initializer[:]
    graph.initializer.extend(tensor for tensor in kept if tensor is not None)
    for info in [*graph.input, *graph.output]:
        info.name, info.doc_string = names[info.name], ""
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = names["dim " + dim.dim_param]
    for node in graph.node:
        strip_node(node, names)


def strip_node(node, names):
    node.name, node.doc_string = "", ""
    node.input[:] = [names[name] for name in node.input]
    node.output[:] = [names[name] for name in node.output]
    for attribute in node.attribute:
        attribute.doc_string = ""
        if attribute.type == onnx.AttributeProto.GRAPH:
            strip_graph(attribute.g, names)
        elif attribute.type == onnx.AttributeProto.STRINGS:
            attribute.strings[:] = [b"s%d" % i for i in range(min(4, len(attribute.strings)))]
        elif attribute.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS):
            values = attribute.ints if attribute.type == onnx.AttributeProto.INTS else attribute.floats
            del values[KEPT_ELEMENTS:]
        elif attribute.type == onnx.AttributeProto.TENSOR:
            attribute.t.name = ""
            if attribute.t.ByteSize() > 256:
                attribute.t.CopyFrom(numpy_helper.from_array(np.zeros(2, np.float32)))


def type_of(name, types, weights):
    if name in weights:
        tensor = weights[name]
        return helper.make_tensor_type_proto(tensor.data_type, [min(dim, 8) for dim in tensor.dims])
    return types.get(name) or helper.make_tensor_type_proto(TensorProto.FLOAT, None)


def cut(model, nodes, types, weights):
    """A model of these nodes alone."""
    names = Renamer()
    made = {name for node in nodes for name in node.output}
    read = [name for node in nodes for name in node.input if name and name not in made]
    inputs, initializers = [], []
    for name in dict.fromkeys(read):
        tensor = strip_tensor(weights[name], names) if name in weights else None
        if tensor is not None:
            initializers.append(tensor)
        else:
            inputs.append(onnx.ValueInfoProto(name=names[name], type=type_of(name, types, weights)))
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    for node in copies:
        strip_node(node, names)
    used = {name for node in nodes for name in node.input}
    outputs = [onnx.ValueInfoProto(name=names[name]) for node in nodes for name in node.output if name and name not in used]
    graph = helper.make_graph(copies, "g", inputs, outputs[:8], initializers)
    for value in graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = names["dim " + dim.dim_param]
    piece = helper.make_model(graph, opset_imports=model.opset_import, ir_version=max(model.ir_version, 4), producer_name="")
    own = {(node.domain, node.op_type) for node in nodes}
    for function in model.functions:
        if (function.domain, function.name) in own:
            piece.functions.append(function)
    return piece


def write_pieces(path, out):
    model = onnx.load(path, load_external_data=False)
    try:
        inferred = onnx.shape_inference.infer_shapes(model)
    except Exception:  # what cannot be inferred is cut all the same
        inferred = model
    graph = model.graph
    types = {info.name: info.type for info in [*inferred.graph.value_info, *graph.input, *graph.output]}
    weights = {tensor.name: tensor for tensor in graph.initializer}
    seen = set()
    for start in range(0, len(graph.node), MOST_NODES // 2):
        nodes = graph.node[start:start + MOST_NODES]
        kind = tuple(sorted({node.op_type for node in nodes}))
        if kind in seen:
            continue
        seen.add(kind)
        data = cut(model, nodes, types, weights).SerializeToString()
        if len(data) <= MOST_BYTES:
            write(os.path.join(out, "model"), data)
            write(os.path.join(out, "run"), b"\x05" + data)


# What the pieces of real models seldom have, in ONNX's text form.
SPECIAL = [
    """<ir_version: 8, opset_import: ["" : 17, "my" : 1], producer_name: "p", producer_version: "1", doc_string: "d", metadata_props: ["k" : "v"]>
g (float[N,2] x, seq(float[N]) s, optional(float[M]) o, seq(map(int64, float)) m) => (float[N,2] y, seq(float[N]) t) {
  a = my.f <by = 2.0> (x) y = my.f(a) t = Identity(s) }
<domain: "my", opset_import: ["" : 17, "my" : 1]>
f <by: float = 3.0> (v) => (w) { c = Constant <value_float: float = @by> () u = my.h <axis = 1> (v) w = Mul(u, c) }
<domain: "my", opset_import: ["" : 17]>
h <axis> (v) => (w) { w = Softmax <axis: int = @axis> (v) }""",
    """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { c = HardSwish(x) d = Celu(c) y = LayerNormalization(d, x, x) }""",
    """<ir_version: 10, opset_import: ["" : 21]>
g (bool c, float[2] x) => (float[2] y) <float[2] w = {1, 2}, int8[2] i8 = {1, 2}, uint8[2] u8 = {1, 2}, double[1] d = {1.5}, string[2] st = {"a", "b"},
  float16[2] h = {1, 2}, bfloat16[2] bf = {1, 2}, uint64[1] u64 = {3}, int4[3] i4 = {1, 2, 3}> {
  y = If (c) <then_branch = t () => (float[2] r) { q = Add(x, w) r = Add(q, w) },
              else_branch = e () => (float[2] r) { z = Constant <value = float[2] {1, 2}> () r = Mul(z, x) }> }""",
    """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> {
  a = Constant <value_floats = [1.0, 2.0]> () b = Constant <value_ints = [1, 2]> () c = Constant <value_strings = ["a", "b"]> ()
  d = Constant <value_int = 3> () e = Constant <value_string = "s"> () f = Cast <to = 1> (b) h = Add(a, f) i = Add(h, w) y = Add(i, x) }""",
]


def sparse_tensor(indices):
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])
    return helper.make_sparse_tensor(values, helper.make_tensor("i", TensorProto.INT64, *indices), [2, 2])


def special_models():
    for text in SPECIAL:
        yield onnx.parser.parse_model(text)
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,2] x) => (float[2,2] y) '
    for indices in (([2], [1, 3]), ([2, 2], [0, 1, 1, 0])):
        model = onnx.parser.parse_model(head + "{ y = Add(x, w) }")
        model.graph.sparse_initializer.append(sparse_tensor(indices))
        yield model
        model = onnx.parser.parse_model(head + "{ w = Constant() y = Add(x, w) }")
        model.graph.node[0].attribute.append(helper.make_attribute("sparse_value", sparse_tensor(indices)))
        yield model
    for fields in ({"location": "data"}, {"location": "data", "offset": "16", "length": "16"}, {"location": "./data", "offset": "4090", "length": "16"},
                   {"location": "../data"}, {"location": "/data"}, {"location": "none"}, {"offset": "0"}, {"location": "data", "offset": "-1"}):
        model = onnx.parser.parse_model(head + "<float[2,2] w = {1, 2, 3, 4}> { y = Add(x, w) }")
        tensor = model.graph.initializer[0]
        del tensor.float_data[:]
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in fields.items():
            tensor.external_data.add(key=key, value=value)
        yield model


def write_special(out):
    """Seeds that always stay in the corpus: see minimize.sh."""
    for index, model in enumerate(special_models()):
        write(os.path.join(out, "model"), model.SerializeToString(), f"kept-{index}")
    for size in (0, 1):  # a field that nobody knows makes this the size of what fuzz_model opens as a file
        data = model.SerializeToString()
        while len(data) % 16 != size:
            data += b"\x90\x03\x01"
        write(os.path.join(out, "model"), data, f"kept-file-{size}")


def write_values(out):
    folder = os.path.join(out, "value")
    tensors = [numpy_helper.from_array(np.arange(6).reshape(2, 3).astype(dtype), "t")
               for dtype in ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16")]
    tensors += [helper.make_tensor("t", element, [4], [1, 0, 1, 1]) for element in range(16, 24) if element != 20]
    tensors += [helper.make_tensor("t", element, [2], [1, 2])
                for element in (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT64, TensorProto.DOUBLE)]
    tensors.append(helper.make_tensor("t", TensorProto.STRING, [2], [b"a", b"\xc3\xa9"]))
    for tensor in tensors:
        write(folder, b"\x00" + tensor.SerializeToString())
    values = helper.make_tensor("v", TensorProto.FLOAT, [2], [1, 2])
    for indices in (helper.make_tensor("i", TensorProto.INT64, [2], [1, 5]), helper.make_tensor("i", TensorProto.INT64, [2, 2], [0, 1, 1, 2])):
        write(folder, b"\x01" + helper.make_sparse_tensor(values, indices, [2, 3]).SerializeToString())
    numbers = helper.make_sequence("s", onnx.SequenceProto.TENSOR, [values, values])
    items = helper.make_map("m", TensorProto.INT64, [1, 2], numbers)
    words = helper.make_map("m", TensorProto.STRING, [b"a", b"b"], numbers)
    for one in (items, words):
        write(folder, b"\x02" + one.SerializeToString())
    write(folder, b"\x03" + numbers.SerializeToString())
    write(folder, b"\x04" + helper.make_sequence("s", onnx.SequenceProto.MAP, [items]).SerializeToString())
    write(folder, b"\x05" + helper.make_sequence("s", onnx.SequenceProto.SEQUENCE, [numbers]).SerializeToString())
    for kind, what in ((onnx.OptionalProto.TENSOR, values), (onnx.OptionalProto.UNDEFINED, None)):
        write(folder, b"\x06" + helper.make_optional("o", kind, what).SerializeToString())
    write(folder, b"\x07" + helper.make_optional("o", onnx.OptionalProto.SEQUENCE, numbers).SerializeToString())


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    write_values(sys.argv[1])
    write_special(sys.argv[1])
    for path in sys.argv[2:]:
        write_pieces(path, sys.argv[1])


if __name__ == "__main__":
    main()
