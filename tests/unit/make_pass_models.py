#!/usr/bin/env python3
"""Writes pass_models.h: small models in ONNX's text form, as the bytes that the onnx package makes of them, with inputs and
the outputs that onnxruntime gives for them without optimizing.

Example: python3 tests/unit/make_pass_models.py > tests/unit/pass_models.h
"""
import numpy
import onnx.parser
import onnxruntime

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

# Models whose values are compared: one float input x, one float output y.
VALUES = {
    # Nodes that do nothing, one of each kind.
    "identities": """
g (float[2,3] x) => (float[2,3] y) <int64[2] s = {0, -1}, int64[1] zero = {0}, int64[1] end = {100}, int64[4] pads = {0, 0, 0, 0},
  float one = {1}, float none = {0}, int64[2] ones = {1, 1}> {
  a = Identity(x) b = Dropout(a) c = Cast <to = 1> (b) d = Transpose <perm = [0, 1]> (c) e = Reshape(d, s)
  f = Slice(e, zero, end) h = Pad(f, pads) i = Expand(h, ones) j = Tile(i, ones) k = Concat <axis = 0> (j)
  l = Mul(k, one) m = Div(l, one) n = Sub(m, none) o = Mul(one, n) p = Max(o) q = Clip(p) y = Relu(q)
}
""",
    # 0 + -0 is 0, seen through the reciprocal; a constant that raises the rank; a Slice backwards; a free size made fixed.
    "no_identities": """
g (float[1,N] x) => (float[1,1,1,3] y) <float none = {0}, float[1,1,1,1] one = {1}, int64[1] last = {-1}, int64[1] low = {-100},
  int64[1] axis = {1}, int64[1] back = {-1}, int64[2] s = {1, 3}> {
  a = Neg(x) z = Sub(a, a) b = Neg(z) c = Add(b, none) d = Slice(x, last, low, axis, back) e = Add(c, d) f = Reshape(e, s)
  y = Mul(f, one)
}
""",
    # Shapes of fixed sizes: nothing but the Reshape stays.
    "shapes": """
g (float[2,3,4] x) => (float[4,6] y) <int64 two = {2}, int64[1] zero = {0}, int64[1] rest = {-1}> {
  s = Shape(x) t = Gather(s, two) u = Unsqueeze(t, zero) w = Concat <axis = 0> (u, rest) y = Reshape(x, w)
}
""",
    # Free sizes kept in place, and one worked out: the shape needs no arithmetic in a run. Exchanged they stay as they are.
    "dynamic_shape": """
g (float[N,M,4] x) => (float[N,M,2,2] y) <int64[2] one = {0, 1}, int64[2] rest = {2, 2}> {
  s = Shape(x) t = Gather(s, one) u = Concat <axis = 0> (t, rest) y = Reshape(x, u)
}
""",
    "dynamic_shape_exchanged": """
g (float[N,M,4] x) => (float[M,N,4] y) <int64[3] order = {1, 0, 2}> { s = Shape(x) t = Gather(s, order) y = Reshape(x, t) }
""",
    # The sum of two constants, seen through a view.
    "constants": """
g (float[2,2] x) => (float[2,2] y) <float[4] a = {1, 2, 3, 4}, float[4] b = {10, 20, 30, 40}, int64[2] s = {2, 2}> {
  c = Add(a, b) d = Reshape(c, s) e = Transpose(d) y = Mul(x, e)
}
""",
    # Twice the same: constants by another name, nodes, and what follows from them.
    "twins": """
g (float[2,2] x) => (float[2,2] y) <float[2] a = {1, 2}, float[2] b = {1, 2}, float[2] c = {2, 1}> {
  d = Mul(x, a) e = Mul(x, b) f = Mul(x, c) h = Softmax <axis = 0> (d) i = Softmax <axis = 0> (e) j = Softmax <axis = 1> (e)
  k = Sum(h, i, j) y = Add(k, f)
}
""",
    # Chains of views and of Transpose; one that only moves a size of 1.
    "views": """
g (float[2,3,4] x) => (float[8,3] y) <int64[3] s = {4, 3, 2}, int64[1] one = {1}, int64[2] t = {8, 3}> {
  a = Unsqueeze(x, one) b = Squeeze(a, one) c = Reshape(b, s) d = Flatten <axis = 1> (c)
  e = Reshape(d, s) f = Transpose <perm = [1, 2, 0]> (e) h = Transpose <perm = [1, 2, 0]> (f) i = Unsqueeze(h, one)
  j = Transpose <perm = [1, 0, 2, 3]> (i) y = Reshape(j, t)
}
""",
    # Queries and keys of an encoder that takes its tokens first: one Transpose stays before each product.
    "transposes_around_a_product": """
g (float[N,3,4] x) => (float[N,2,3,2] y) <float[4,8] w = {1, 2, 3, 4, 5, 6, 7, 8, 0.5, -1, 2, -3, 4, -5, 6, -7, 8, 1, 2, -4, 3, 2, 1, 0,
  -1, 4, 2, 5, 3, 1, 2, 6}, float[8] b = {1, 2, 3, 4, 5, 6, 7, 8}, int64[4] split = {3, -1, 2, 4}, int64[1] first = {0}, int64[1] four = {-2},
  int64 zero = {0}, int64 one = {1}, int64[3] heads = {3, -1, 2}, int64[4] apart = {-1, 2, 3, 2}> {
  c = Transpose <perm = [1, 0, 2]> (x) d = MatMul(c, w) e = Add(b, d) f = Reshape(e, split) h = Unsqueeze(f, first)
  i = Transpose <perm = [3, 1, 2, 0, 4]> (h) j = Squeeze(i, four) k = Gather(j, zero) l = Gather(j, one)
  m = Reshape(k, heads) n = Transpose <perm = [1, 0, 2]> (m) o = Reshape(n, apart)
  p = Reshape(l, heads) q = Transpose <perm = [1, 0, 2]> (p) r = Reshape(q, apart) y = Sub(o, r)
}
""",
    # What follows attention there.
    "transposes_around_a_gemm": """
g (float[N,2,3,2] x) => (float[N,3,5] y) <float[5,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 0.5, -1, 2, -3, 4, -5, 6, -7, 8, 1, 2, -4},
  float[5] b = {1, -2, 3, -4, 5}, int64[2] rows = {-1, 4}, int64[3] apart = {3, -1, 5}> {
  c = Transpose <perm = [2, 0, 1, 3]> (x) d = Reshape(c, rows) e = Gemm <transB = 1> (d, w, b) f = Reshape(e, apart)
  y = Transpose <perm = [1, 0, 2]> (f)
}
""",
    # Another Transpose does not come, or moves what is summed over, or somebody else reads what it gives.
    "transposes_that_stay": """
g (float[2,3,4] x) => (float[3,2,4] y) <float[4,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 0.5, -1, 2, -3, 4, -5, 6, -7}> {
  c = Transpose <perm = [1, 0, 2]> (x) d = MatMul(c, w) e = Transpose <perm = [0, 2, 1]> (d) f = Relu(e) h = Transpose <perm = [0, 2, 1]> (f)
  i = MatMul(h, w) j = Add(i, c) y = Relu(j)
}
""",
    # A shape put together from sizes of which others are products.
    "product_of_sizes": """
g (float[N,6,4] x) => (float[N,2,4,3] y) <int64[3] heads = {-1, 3, 4}, int64[1] zero = {0}, int64[3] rest = {2, 4, 3}> {
  a = Reshape(x, heads) b = Transpose <perm = [0, 2, 1]> (a) s = Shape(x) n = Gather(s, zero) t = Concat <axis = 0> (n, rest)
  y = Reshape(b, t)
}
""",
    "conv_batch_norm": """
g (float[1,2,5,5] x) => (float[1,4,4,4] y) <float[4,1,2,2] w = {1, 2, 3, 4, -1, -2, -3, -4, 0.5, 0.25, 0, 1, 2, 2, 2, 1},
  float[4] b = {1, 2, 3, 4}, float[4] scale = {1, 0.5, -2, 3}, float[4] bias = {0, 1, -1, 2}, float[4] mean = {0.5, -0.5, 1, 2},
  float[4] var = {1, 2, 0.25, 0.01}> {
  c = Conv <group = 2> (x, w, b) y = BatchNormalization <epsilon = 0.001> (c, scale, bias, mean, var)
}
""",
    # Every second pixel from each start: by Slices one after the other, and by one for both axes.
    "phases": """
g (float[1,1,4,6] x) => (float[1,2,3,2] y) <float[2,4,2,2] w =
  {-2.5, 1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5, -0.5, -2.5, 1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0,
   1.5, -0.5, -2.5, 1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5},
  int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}, int64[1] end = {100}, int64[1] last = {-1},
  int64[2] middle = {0, 1}, int64[2] ends = {100, 100}, int64[2] axes = {2, -1}, int64[2] steps = {2, 2}, float[2] b = {1, -2}> {
  top = Slice(x, zero, end, two, two) bottom = Slice(x, one, end, two, two)
  c = Slice(top, zero, end, last, two) d = Slice(bottom, one, end, three, two) e = Slice(bottom, zero, end, three, two)
  f = Slice(x, middle, ends, axes, steps) h = Concat <axis = 1> (d, c, e, f)
  y = Conv <pads = [1, 0, 1, 2], strides = [1, 2]> (h, w, b)
}
""",
    # One phase twice, and none of another.
    "no_phases": """
g (float[1,1,4,6] x) => (float[1,2,1,2] y) <float[2,4,2,2] w =
  {-2.5, 1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5, -0.5, -2.5, 1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0,
   1.5, -0.5, -2.5, 1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5},
  int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}, int64[1] end = {100}, int64[1] last = {-1},
  int64[2] middle = {0, 1}, int64[2] ends = {100, 100}, int64[2] axes = {2, -1}, int64[2] steps = {2, 2}> {
  top = Slice(x, zero, end, two, two) bottom = Slice(x, one, end, two, two)
  c = Slice(top, zero, end, last, two) d = Slice(bottom, one, end, three, two) f = Slice(x, middle, ends, axes, steps)
  h = Concat <axis = 1> (d, c, c, f) y = Conv(h, w)
}
""",
    "phases_depth": """
g (float[1,1,4,6] x) => (float[1,2,2,3] y) <float[2,4,1,1] w = {1, 2, 3, 4, -1, 0.5, -2, 3}> {
  d = SpaceToDepth <blocksize = 2> (x) y = Conv(d, w)
}
""",
    "conv_transpose_batch_norm": """
g (float[1,4,2] x) => (float[1,4,3] y) <float[4,2,2] w = {1, 2, 3, 4, -1, -2, -3, -4, 0.5, 0.25, 0, 1, 2, 2, 2, 1},
  float[4] scale = {1, 0.5, -2, 3}, float[4] bias = {0, 1, -1, 2}, float[4] mean = {0.5, -0.5, 1, 2}, float[4] var = {1, 2, 0.25, 0.01}> {
  c = ConvTranspose <group = 2> (x, w) y = BatchNormalization (c, scale, bias, mean, var)
}
""",
    "gemm_batch_norm": """
g (float[3,2] x) => (float[3,3] y) <float[2,3] w = {1, 2, 3, 4, 5, 6}, float[1,3] b = {1, -1, 2}, float[3] scale = {1, 0.5, -2},
  float[3] bias = {0, 1, -1}, float[3] mean = {0.5, -0.5, 1}, float[3] var = {1, 2, 0.25}> {
  c = Gemm <alpha = 0.5, beta = 2.0> (x, w, b) y = BatchNormalization (c, scale, bias, mean, var)
}
""",
    "gemm_transposed_batch_norm": """
g (float[3,2] x) => (float[3,3] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}, float[3] scale = {1, 0.5, -2},
  float[3] bias = {0, 1, -1}, float[3] mean = {0.5, -0.5, 1}, float[3] var = {1, 2, 0.25}> {
  c = Gemm <transB = 1> (x, w) y = BatchNormalization (c, scale, bias, mean, var)
}
""",
    "matmul_batch_norm": """
g (float[3,2] x) => (float[3,3] y) <float[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] scale = {1, 0.5, -2},
  float[3] bias = {0, 1, -1}, float[3] mean = {0.5, -0.5, 1}, float[3] var = {1, 2, 0.25}> {
  c = MatMul(x, w) y = BatchNormalization (c, scale, bias, mean, var)
}
""",
    "conv_arithmetic": """
g (float[2,1,3,3] x) => (float[2,2,2,2] y) <float[2,1,2,2] w = {1, 2, 3, 4, -1, -2, -3, -4}, float[2,1,1] a = {2, 3},
  float[1,2,1,1] b = {10, 20}, float c = {4}, float[1] d = {1}> {
  e = Conv(x, w) f = Mul(a, e) h = Add(f, b) i = Div(h, c) y = Sub(i, d)
}
""",
    # A vector belongs to the last axis, though there are as many channels.
    "conv_last_axis": """
g (float[1,1,3,3] x) => (float[1,2,2,2] y) <float[2,1,2,2] w = {1, 2, 3, 4, -1, -2, -3, -4}, float[2] a = {2, 3}> {
  c = Conv(x, w) y = Mul(c, a)
}
""",
    "layer_norm": """
g (float[N,3,4] x) => (float[N,3,4] y) <float[4] scale = {1, 2, 3, 4}, float[4] bias = {0.1, 0.2, 0.3, 0.4}, float two = {2},
  float epsilon = {0.00001}> {
  m = ReduceMean <axes = [-1]> (x) d = Sub(x, m) e = Sub(x, m) p = Pow(e, two) v = ReduceMean <axes = [2]> (p) a = Add(v, epsilon)
  r = Sqrt(a) q = Div(d, r) s = Mul(q, scale) y = Add(s, bias)
}
""",
    "layer_norm_plain": """
g (float[2,3,4] x) => (float[2,3,4] y) <float[1] epsilon = {0.00001}> {
  m = ReduceMean <axes = [1, 2]> (x) d = Sub(x, m) p = Mul(d, d) v = ReduceMean <axes = [-2, -1]> (p) a = Add(epsilon, v)
  r = Sqrt(a) y = Div(d, r)
}
""",
    # Over the first axes; and over one axis, but the squares over another.
    "layer_norm_other_axis": """
g (float[2,3,4] x) => (float[2,3,4] y) <float two = {2}, float epsilon = {0.00001}> {
  m = ReduceMean <axes = [1]> (x) d = Sub(x, m) p = Pow(d, two) v = ReduceMean <axes = [1]> (p) a = Add(v, epsilon)
  r = Sqrt(a) y = Div(d, r)
}
""",
    "layer_norm_mixed_axes": """
g (float[2,3,4] x) => (float[2,3,4] y) <float two = {2}, float epsilon = {0.00001}> {
  m = ReduceMean <axes = [2]> (x) d = Sub(x, m) p = Pow(d, two) v = ReduceMean <axes = [1, 2]> (p) a = Add(v, epsilon)
  r = Sqrt(a) y = Div(d, r)
}
""",
    # The scale has as many elements as an axis that is not normalized.
    "layer_norm_wide_scale": """
g (float[2,3,4] x) => (float[2,3,4] y) <float[3,1] scale = {1, 2, 3}, float two = {2}, float epsilon = {0.00001}> {
  m = ReduceMean <axes = [2]> (x) d = Sub(x, m) p = Pow(d, two) v = ReduceMean <axes = [2]> (p) a = Add(v, epsilon)
  r = Sqrt(a) q = Div(d, r) y = Mul(q, scale)
}
""",
    "gelu_half_last": """
g (float[2,3] x) => (float[2,3] y) <float r = {1.4142135381698608}, float one = {1}, float half = {0.5}> {
  a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)
}
""",
    "gelu_half_first": """
g (float[2,3] x) => (float[2,3] y) <float r = {0.7071067690849304}, float one = {1}, float half = {0.5}> {
  a = Mul(x, r) b = Erf(a) c = Add(one, b) d = Mul(half, x) y = Mul(d, c)
}
""",
    "gelu_half_inside": """
g (float[2,3] x) => (float[2,3] y) <float r = {1.4142135381698608}, float one = {1}, float half = {0.5}> {
  a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(half, c) y = Mul(x, d)
}
""",
    "gelu_tanh": """
g (float[2,3] x) => (float[2,3] y) <float three = {3}, float f = {0.04471499845385551}, float s = {0.7978845834732056},
  float one = {1}, float half = {0.5}> {
  a = Pow(x, three) b = Mul(a, f) c = Add(x, b) d = Mul(c, s) e = Tanh(d) h = Add(e, one) i = Mul(x, half) y = Mul(i, h)
}
""",
    # One number is off; and the factor is another value.
    "gelu_off": """
g (float[2,3] x) => (float[2,3] y) <float r = {1.4142}, float one = {1}, float half = {0.5}> {
  a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)
}
""",
    "gelu_other_factor": """
g (float[2,3] x) => (float[2,3] y) <float r = {1.4142135381698608}, float one = {1}, float half = {0.5}> {
  z = Neg(x) a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(z, c) y = Mul(d, half)
}
""",
    # The number is multiplied in first, the cube spelled out.
    "gelu_cube_in_pieces": """
g (float[2,3] x) => (float[2,3] y) <float half = {0.5}, float one = {1}, float k = {0.7978845834732056}, float c = {0.044714998453855515}> {
  a = Mul(c, x) b = Mul(x, a) d = Mul(x, b) e = Add(x, d) f = Mul(k, e) h = Tanh(f) i = Add(one, h) j = Mul(half, i) y = Mul(x, j)
}
""",
    # Rows picked by a product, with indices outside of the table.
    "one_hot": """
g (float[2,4] x) => (float[2,4,2] y) <float two = {2}, int64[1] last = {-1}, int32[3] range = {0, 1, 2},
  float[3,2] table = {1, -2, 3, 4, 5, 6}> {
  a = Mul(x, two) b = Cast <to = 6> (a) c = Unsqueeze(b, last) d = Equal(c, range) e = Cast <to = 1> (d) y = MatMul(e, table)
}
""",
    "one_hot_expanded": """
g (float[2,4] x) => (float[2,4,2] y) <int64[3] shape = {2, 4, 3}, int64[1] last = {-1}, int32[1,1,3] range = {0, 1, 2},
  float[3,2] table = {1, -2, 3, 4, 5, 6}> {
  a = Cast <to = 6> (x) b = Unsqueeze(a, last) c = Expand(b, shape) d = Equal(range, c) e = Cast <to = 1> (d) y = MatMul(e, table)
}
""",
    "one_hot_from_one": """
g (float[2,4] x) => (float[2,4,2] y) <int64[1] last = {-1}, int32[3] range = {1, 2, 3}, float[3,2] table = {1, -2, 3, 4, 5, 6}> {
  a = Cast <to = 6> (x) b = Unsqueeze(a, last) c = Equal(b, range) d = Cast <to = 1> (c) y = MatMul(d, table)
}
""",
    "hard_swish_clip": """
g (float[2,3] x) => (float[2,3] y) <float three = {3}, float zero = {0}, float six = {6}> {
  a = Add(x, three) b = Clip(a, zero, six) c = Mul(x, b) y = Div(c, six)
}
""",
    "hard_swish_gate": """
g (float[2,3] x) => (float[2,3] y) { a = HardSigmoid <alpha = 0.1666666716337204, beta = 0.5> (x) y = Mul(x, a) }
""",
    "hard_swish_off": """
g (float[2,3] x) => (float[2,3] y) { a = HardSigmoid (x) y = Mul(x, a) }
""",
    "swish": """
g (float[2,3] x) => (float[2,3] y) { a = Sigmoid (x) y = Mul(a, x) }
""",
    # Slopes that differ by channel alone, and factors that differ by column alone.
    "repeated": """
g (float[1,2,2,3] x) => (float[1,2,2,3] y) <float[2,2,3] slope = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 2, 2, 2, 2, 2, 2},
  float[2,2,3] factor = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}> { a = PRelu(x, slope) y = Mul(factor, a) }
""",
    # The constant alone makes the result as large as it is.
    "repeated_spreading": """
g (float[1,3] x) => (float[2,3] y) <float[2,3] factor = {1, 2, 3, 1, 2, 3}> { y = Mul(x, factor) }
""",
    # The condition is constant; the branch not taken is wrong.
    "if_constant": """
g (float[2] x) => (float[2] y) <bool yes = {1}, float[2] w = {1, 2}, int64 far = {7}> {
  t = Neg(x)
  y = If (yes) <
    then_branch = a () => (float[2] r) { s = Add(t, w) r = Add(s, x) },
    else_branch = b () => (float[2] r) { s = Gather(w, far) r = Add(s, x) }
  >
}
""",
}

# Models that are looked at only.
SHAPES = {
    "captures": """
g (bool c, float[2] x) => (float[2] y, float[2] z) <float[2] w = {1, 2}, float[2] v = {3, 4}> {
  t = Neg(x)
  y = If (c) <
    then_branch = a () => (float[2] r) { s = Add(t, w) r = Add(s, x) },
    else_branch = b () => (float[2] r) {
      r = If (c) <
        then_branch = d () => (float[2] q) { q = Sub(x, w) },
        else_branch = e () => (float[2] q) { f = Add(v, w) q = Sub(f, t) }
      >
    }
  >
  z = If (c) <
    then_branch = h () => (float[2] r) { u = Neg(t) r = Neg(x) },
    else_branch = i () => (float[2] r) { r = Neg(t) }
  >
}
""",
    "division_by_zero": """
g (int32[1] x) => (int32[1] y) <int32[1] a = {1}, int32[1] b = {0}> { c = Div(a, b) y = Add(x, c) }
""",
    "giant": """
g (float[1] x) => (float[N] y) <int64[1] size = {4000000000}> { c = ConstantOfShape(size) y = Add(x, c) }
""",
    # What is between the ends is computed wide; the cast of the model itself rounds, and so does what a comparison sees.
    "half": """
g (float16[1,1,4,4] x) => (float16[1,1,2,2] y, bool[1,1,4,4] z, float[1,1,4,4] u)
  <float16[1,1,1,1] w = {2}, float16 one = {1}> {
  a = Conv(x, w) b = Relu(a) c = Sigmoid(b)
  y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b) z = Less(c, one) u = Cast <to = 1> (c)
}
""",
    "half_moved_only": """
g (float16[2,3] x) => (float16[3,2] y, float16[2,3] z) {
  y = Transpose <perm = [1, 0]> (x) a = Cast <to = 1> (x) b = Neg(a) c = Cast <to = 10> (b) z = Identity(c)
}
""",
    "unread_outputs": """
g (float[1,1,4] x) => (float[1,1,2] y) { y, i = MaxPool <kernel_shape = [2], strides = [2]> (x) z = Neg(x) }
""",
    # The layer's output has two readers.
    "shared": """
g (float[1,1,3,3] x) => (float[1,2,2,2] z, float[1,2,2,2] y) <float[2,1,2,2] w = {1, 2, 3, 4, -1, -2, -3, -4}, float k = {3}> {
  c = Conv(x, w) y = Mul(c, k) z = Relu(c)
}
""",
    # Codes are moved, not floats; quantizing what was dequantized goes, as does the Relu, which cuts off what quantizing does.
    "quantized_moves": """
g (float[2,3] x) => (float[6] y) <float s = {0.1}, uint8 z = {128}, float r = {0.2}, uint8 none = {0}, int64[1] shape = {6}> {
  a = QuantizeLinear(x, s, z) b = DequantizeLinear(a, s, z) c = Transpose <perm = [1, 0]> (b) d = QuantizeLinear(c, s, z)
  e = DequantizeLinear(d, s, z) f = Neg(e) h = Relu(f) i = Reshape(h, shape) j = QuantizeLinear(i, r, none)
  y = DequantizeLinear(j, r, none)
}
""",
    # Weights are dequantized here where their product stays float.
    "quantized_weights": """
g (float[2,3] x) => (float[2,2] y) <int8[3,2] w = {1, 2, 3, 4, 5, 6}, float s = {0.5}> { a = DequantizeLinear(w, s) y = MatMul(x, a) }
""",
    "quantized_sums": """
g (float[2,3] x) => (float[2,3] y) <float s = {0.1}, uint8 z = {128}, float r = {0.2}> {
  a = QuantizeLinear(x, s, z) b = DequantizeLinear(a, s, z) c = Softmax <axis = 0> (b) d = QuantizeLinear(c, r, z)
  e = DequantizeLinear(d, r, z) f = Add(e, b) h = QuantizeLinear(f, s, z) i = DequantizeLinear(h, s, z) j = Mul(i, i)
  k = QuantizeLinear(j, r, z) l = DequantizeLinear(k, r, z) y = Neg(l)
}
""",
    "quantized_parts": """
g (float[2,3] x) => (float[4,3] y) <float s = {0.1}, uint8 z = {128}, float r = {0.2}, uint8 none = {0}> {
  a = QuantizeLinear(x, s, z) b = DequantizeLinear(a, s, z) c = Neg(b) d = QuantizeLinear(c, r, none) e = DequantizeLinear(d, r, none)
  f = Concat <axis = 0> (b, e) h = QuantizeLinear(f, s, z) y = DequantizeLinear(h, s, z)
}
""",
    "quantized_products": """
g (float[2,3] x) => (float[2,2] y) <float s = {0.1}, uint8 z = {128}, int8[3,2] w = {1, 2, 3, 4, 5, 6}, float[2] ws = {0.02, 0.03},
  int8[2] wz = {0, 0}, int8[2,2] v = {1, 2, 3, 4}, float vs = {0.04}, int32[2] bias = {7, -8}, float bs = {0.004}> {
  a = QuantizeLinear(x, s, z) b = DequantizeLinear(a, s, z) c = DequantizeLinear <axis = 1> (w, ws, wz) d = MatMul(b, c)
  e = QuantizeLinear(d, s, z) f = DequantizeLinear(e, s, z) h = DequantizeLinear(v, vs) i = DequantizeLinear(bias, bs)
  y = Gemm(f, h, i)
}
""",
    "exposed": """
g (float[1,1,3,3] x) => (float[1,2,2,2] c, float[1,2,2,2] y) <float[2,1,2,2] w = {1, 2, 3, 4, -1, -2, -3, -4},
  float[2] scale = {1, 0.5}, float[2] bias = {0, 1}, float[2] mean = {0.5, -0.5}, float[2] var = {1, 2}> {
  c = Conv(x, w) y = BatchNormalization (c, scale, bias, mean, var)
}
""",
}


def print_bytes(name, data):
    print(f"static const unsigned char {name}_model[] = {{")
    for i in range(0, len(data), 20):
        print("    " + " ".join(f"{byte}," for byte in data[i : i + 20]))
    print("};")


def print_floats(name, array):
    print(f"static const float {name}[] = {{")
    flat = [float(number) for number in array.flatten()]
    for i in range(0, len(flat), 6):
        print("    " + " ".join(f"{number.hex()}f," for number in flat[i : i + 6]))
    print("};")


def main():
    print("/* Written by make_pass_models.py. */\n#ifndef PASS_MODELS_H\n#define PASS_MODELS_H\n")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for name, text in VALUES.items():
        model = onnx.parser.parse_model(HEAD + text)
        dims = [dim.dim_value or 3 for dim in model.graph.input[0].type.tensor_type.shape.dim]
        x = numpy.random.default_rng(len(name)).normal(0, 2, dims).astype(numpy.float32)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        (y,) = session.run(None, {"x": x})
        print_bytes(name, model.SerializeToString())
        print_floats(f"{name}_x", x)
        print_floats(f"{name}_y", y)
        print()
    for name, text in SHAPES.items():
        print_bytes(name, onnx.parser.parse_model(HEAD + text).SerializeToString())
        print()
    print("#endif")


if __name__ == "__main__":
    main()
