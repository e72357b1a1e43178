#!/usr/bin/env python3
"""Writes library_models.h: small models in ONNX's text form, as bytes, that together use every way in which the library runs a
graph. Weights that the text does not give are random.

Example: python3 tests/unit/make_library_models.py > tests/unit/library_models.h
"""
import numpy
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.parser

HEAD = '<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3, "my" : 1]>\n'

MODELS = {
    # What test_api.c works with.
    "add": "g (float[N,3] x, float[N,3] y) => (float[N,3] sum, float[N,3] twice) { sum = Add(x, y) twice = Add(sum, sum) }",
    "defaults": "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {10, 20}> { y = Add(x, w) }",
    "pass_on": "g (float[N] x) => (float[N] same, float[2] fixed) <float[2] w = {7, 8}> { same = Identity(x) fixed = Identity(w) }",
    "twice": "g (int64 n, float[2] x) => (float[2] y) <bool yes = {1}> {"
             " y = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] v) => (bool d, float[2] u)"
             " { d = Identity(c) u = Add(v, v) }> }",
    "mixed_types": "g (int64[N] i, string[N] s, bool[1] b) => (int64[N] i2, string[N] s2, bool[1] b2)"
                   " { i2 = Add(i, i) s2 = StringConcat(s, s) b2 = Not(b) }",
    "large": "g (float[N,N] x) => (float[N,N] y) { a = MatMul(x, x) y = MatMul(a, x) }",

    "branches": "g (float[2] x, bool c) => (float[2] y) { y = If (c) <"
                " then_branch = t () => (float[2] r) { a = Add(x, x) r = Mul(a, x) }, else_branch = e () => (float[2] r) { r = Neg(x) }> }",

    # One for each family of operators.
    "elementwise": """
g (float[N,4] x) => (float[N,4] y, bool[N,4] z) <float[4] w = {1, -2, 3, 0.5}, float low = {-1}, float high = {6}> {
  a = Add(x, w) b = Sigmoid(a) c = Mul(a, b) d = Clip(c, low, high) e = Tanh(d) f = Erf(e) h = Sub(f, x) y = Relu(h)
  z = Less(x, w)
}
""",
    "conv": """
g (float[B,3,H,W] x) => (float[B,5] y) {
  a = Conv <pads = [1, 1, 1, 1]> (x, w1, b1) b = Relu(a)
  c = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)
  d = Conv <group = 8, pads = [1, 1, 1, 1]> (c, w2) e = BatchNormalization(d, b1, b1, b1, one)
  f = Add(e, c) h = ConvTranspose <strides = [2, 2]> (f, w3) i = LeakyRelu(h)
  j = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (i) k = GlobalAveragePool(j) l = Flatten(k)
  m = Gemm(l, w4) y = Softmax(m)
}
""",
    "attention": """
g (float[B,S,16] x) => (float[B,S,16] y) <int64[4] heads = {0, 0, 2, 8}, int64[1] last = {16}, float scale = {0.35},
  float half = {0.5}, float one = {1}, float root = {1.41421356}, int64 zero = {0}, int64 first = {1}, int64[1] front = {0}> {
  q0 = MatMul(x, wq) q1 = Add(q0, bias) q2 = Reshape(q1, heads) q = Transpose <perm = [0, 2, 1, 3]> (q2)
  k0 = MatMul(x, wk) k2 = Reshape(k0, heads) k = Transpose <perm = [0, 2, 3, 1]> (k2)
  s0 = MatMul(q, k) s1 = Mul(s0, scale) s = Softmax <axis = -1> (s1) t0 = MatMul(s, q) t1 = Transpose <perm = [0, 2, 1, 3]> (t0)
  shape = Shape(x) n0 = Gather(shape, zero) n1 = Gather(shape, first) m0 = Unsqueeze(n0, front) m1 = Unsqueeze(n1, front)
  back = Concat <axis = 0> (m0, m1, last) t = Reshape(t1, back) u = Add(t, x)
  v = LayerNormalization(u, bias, bias)
  g0 = Div(v, root) g1 = Erf(g0) g2 = Add(g1, one) g3 = Mul(v, g2) y = Mul(g3, half)
}
""",
    "recurrent": """
g (float[S,B,4] x) => (float[S,2,B,3] y, float[2,B,3] h, float[S,2,B,3] z) {
  y, h = LSTM <hidden_size = 3, direction = "bidirectional"> (x, wl, rl)
  z = GRU <hidden_size = 3, direction = "bidirectional"> (x, wg, rg)
}
""",
    "control": """
g (float[N,2] x, int64 n, bool c) => (float[M,2] y, float[n,2] all, float[2] total, float[N,2] sums) <bool yes = {1},
  float one = {1}, float[2] zeros = {0, 0}> {
  y = If (c) <
    then_branch = t () => (float[N,2] r) { a = Add(x, one) r = Mul(a, x) },
    else_branch = e () => (float[K,2] r) { r = Concat <axis = 0> (x, x) }
  >
  m = ReduceMax <keepdims = 0> (x)
  last, all = Loop (n, yes, zeros) <
    body = b (int64 i, bool go, float[2] v) => (bool on, float[2] w, float[2] s) {
      on = Identity(go) f = Cast <to = 1> (i) p = Add(v, f)
      w = If (c) < then_branch = bt () => (float[2] q) { q = Add(p, m) }, else_branch = be () => (float[2] q) { q = Neg(p) } >
      s = Mul(w, one)
    }
  >
  total, sums = Scan <num_scan_inputs = 1, body = sc (float[2] v, float[2] i) => (float[2] w, float[2] o)
    { w = Add(v, i) o = Relu(w) }> (last, x)
}
""",
    "sizes": """
g (float[N] x, int64 n) => (int64[R,K] places, float[L] kept, float[U] once, int64[T] counted, float[V,3] top, float[A,N] tiled)
  <float zero = {0}, int64 start = {0}, int64 step = {1}, int64[1] three = {3}, int64[1] axis = {0}, int64[2] size = {2, 1}> {
  big = Greater(x, zero) places = NonZero(big) kept = Compress(x, big) once, first = Unique <sorted = 1> (x)
  counted = Range(start, n, step) t, i = TopK(x, three) row = Unsqueeze(t, axis) rows = Unsqueeze(n, axis) e = Concat <axis = 0> (rows, step2)
  top = Expand(row, e) y = Unsqueeze(x, axis) tiled = Tile(y, size)
}
""",
    "strings": """
g (string[N] s, int64[N] i) => (string[N] t, string[N] u, int64[N] j) {
  a = Cast <to = 8> (i) t = StringConcat(s, a)
  u = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2, 3], values_strings = ["one", "two", "three"], default_string = "a longer word than others"> (i)
  j = ai.onnx.ml.LabelEncoder <keys_strings = ["one", "two", "three"], values_int64s = [1, 2, 3], default_int64 = -1> (u)
}
""",
    "sequences": """
g (float[N,2] x, seq(float[K,2]) given) => (seq(float[M,2]) parts, float[L,2] joined, int64 count, seq(float[K,2]) longer) <int64 at = {1}> {
  s = SplitToSequence <axis = 0> (x) parts = SequenceErase(s, at) y = SequenceAt(s, at)
  t = SequenceConstruct(x, x) r = SequenceInsert(t, x) joined = ConcatFromSequence <axis = 0> (r)
  longer = SequenceInsert(given, x) count = SequenceLength(longer)
}
""",
    "optionals": """
g (float[N] x) => (bool has, float[N] y, optional(float[N]) o) { o = Optional(x) has = OptionalHasElement(o) y = OptionalGetElement(o) }
""",
    "classifier": """
g (float[N,3] x) => (int64[N] label, seq(map(int64, float)) scores) {
  label, p = ai.onnx.ml.LinearClassifier <classlabels_ints = [4, 5], coefficients = [1.0, 2.0, 3.0, -1.0, -2.0, -3.0],
    intercepts = [0.5, -0.5], post_transform = "SOFTMAX"> (x)
  scores = ai.onnx.ml.ZipMap <classlabels_int64s = [4, 5]> (p)
}
""",
    "function": """
g (float[N] x) => (float[N] y) { a = my.scaled <by = 3.0> (x) b = my.scaled <by = 0.5> (a) y = Relu(b) }
<domain: "my", opset_import: ["" : 21]>
scaled <by> (v) => (w) { f = Constant <value_float: float = @by> () w = Mul(v, f) }
""",
    "quantized": """
g (float[N,8] x) => (float[N,4] y, float[N,4] z) <float s = {0.05}, uint8 zp = {128}, float sw = {0.02}, int8 zw = {0}> {
  q, qs, qz = DynamicQuantizeLinear(x) m = MatMulInteger(q, wq, qz) f = Cast <to = 1> (m) ss = Mul(qs, sw) y = Mul(f, ss)
  a = QuantizeLinear(x, s, zp) b = DequantizeLinear(a, s, zp) c = DequantizeLinear(wq, sw, zw) z = MatMul(b, c)
}
""",
    "shapes": """
g (float[1,2,H,W] x) => (float[1,2,P,Q] y, float[1,2] z) <float[4] scales = {1, 1, 2, 2}, int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1},
  int64[2] axes = {2, 3}, int64[1] from = {1}, int64[1] to = {100}, int64[1] axis = {2}, int64[1] place = {0}, float nought = {0}> {
  a = Resize <mode = "linear"> (x, , scales) b = Pad(a, pads) c = Slice(b, from, to, axis) d = CumSum(c, axis0)
  e = Greater(d, nought) f = Where(e, d, c) h = Gather <axis = 2> (f, place) i = Add(h, f) y = Concat <axis = 2> (i, h)
  z = ReduceMean <keepdims = 0> (y, axes)
}
""",
}

WEIGHTS = {
    "conv": {"w1": (8, 3, 3, 3), "b1": (8,), "one": (8,), "w2": (8, 1, 3, 3), "w3": (8, 6, 2, 2), "w4": (6, 5)},
    "attention": {"wq": (16, 16), "wk": (16, 16), "bias": (16,)},
    "recurrent": {"wl": (2, 12, 4), "rl": (2, 12, 3), "wg": (2, 9, 4), "rg": (2, 9, 3)},
}
OTHERS = {
    "sizes": {"step2": numpy.array([3], numpy.int64)},
    "quantized": {"wq": numpy.arange(-16, 16, dtype=numpy.int8).reshape(8, 4)},
    "shapes": {"axis0": numpy.array(3, numpy.int64)},
}


def make(name):
    model = onnx.parser.parse_model(HEAD + MODELS[name])
    random = numpy.random.default_rng(len(name))
    arrays = {key: numpy.abs(random.normal(0, 0.5, shape)).astype(numpy.float32) for key, shape in WEIGHTS.get(name, {}).items()}
    for key, array in {**arrays, **OTHERS.get(name, {})}.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, key))
    return model


def make_sparse():
    """A sparse initializer, which the text form does not have."""
    model = onnx.parser.parse_model(HEAD + "g (float[N,2] x) => (float[N,3] y) { y = MatMul(x, w) }")
    values = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], [2.0, 3.0])
    indices = onnx.helper.make_tensor("", onnx.TensorProto.INT64, [2], [1, 5])
    model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, indices, [2, 3]))
    return model


def main():
    print("/* Written by make_library_models.py. */\n#ifndef LIBRARY_MODELS_H\n#define LIBRARY_MODELS_H\n\n#include <stddef.h>\n")
    models = {name: make(name) for name in MODELS} | {"sparse": make_sparse()}
    for name, model in models.items():
        if "scaled" not in str(model):
            onnx.checker.check_model(model)
        data = model.SerializeToString()
        print(f"static const unsigned char {name}_model[] = {{")
        for i in range(0, len(data), 20):
            print("    " + " ".join(f"{byte}," for byte in data[i : i + 20]))
        print("};\n")
    print("static const struct library_model {\n    const char *name;\n    const unsigned char *data;\n    size_t size;\n} library_models[] = {")
    for name in models:
        print(f'    {{"{name}", {name}_model, sizeof {name}_model}},')
    print("};\n#define LIBRARY_MODEL_COUNT (sizeof library_models / sizeof *library_models)\n\n#endif")


if __name__ == "__main__":
    main()
