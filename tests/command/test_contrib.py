"""Operators that ONNX Runtime's tools write: models of one node, compared with what ONNX Runtime makes of them."""
import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from contrib import FLOAT, I32, I8, RANDOM, U8, Case, expected, f32, i32, i64, i8, model_of, run, scalar, u8


def products():
    a, b = f32(2, 3, 4, 5), f32(2, 3, 5, 6)
    yield Case("FusedMatMul", [a, b], {"alpha": 0.5})
    yield Case("FusedMatMul", [a.swapaxes(2, 3), b.swapaxes(2, 3)], {"transA": 1, "transB": 1}, note="both transposed")
    yield Case("FusedMatMul", [f32(4, 2, 3, 5), b], {"transBatchA": 1}, note="batch of A")
    yield Case("FusedMatMul", [a, f32(5, 2, 3, 6)], {"transBatchB": 1}, note="batch of B")
    yield Case("FusedMatMul", [f32(5), f32(5, 6)], {"transA": 1}, note="vector")
    yield Case("FusedMatMul", [f32(4, 5), f32(6, 5)], {"transB": 1}, declared={0: [None, 5]}, note="free rows")
    yield Case("TransposeMatMul", [f32(5, 4), f32(5, 6)], {"transA": 1, "alpha": 2.0})
    for activation in ("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Elu", "HardSigmoid", "Softplus", "Softsign"):
        more = {"activation_alpha": 0.3} if activation in ("LeakyRelu", "Elu", "HardSigmoid") else {}
        more |= {"activation_beta": 0.4} if activation == "HardSigmoid" else {}
        yield Case("FusedGemm", [f32(3, 4), f32(5, 4), f32(5)],
                   {"activation": activation, "transB": 1, "alpha": 0.7, "beta": 0.3, **more}, note=activation)


def activations():
    x = f32(3, 4, 8, scale=3)
    yield Case("Gelu", [x])
    yield Case("BiasGelu", [x, f32(8)])
    yield Case("FastGelu", [x])
    yield Case("FastGelu", [x, f32(8)], note="bias")
    yield Case("QuickGelu", [x])
    yield Case("QuickGelu", [x], {"alpha": 1.1}, note="alpha")


def normalizations():
    x, gamma, beta = f32(2, 3, 8), f32(8), f32(8)
    yield Case("SkipLayerNormalization", [x, f32(2, 3, 8), gamma, beta, f32(8)], {"epsilon": 1e-5})
    yield Case("SkipLayerNormalization", [x, f32(3, 8), gamma], outputs=(FLOAT, None, None, FLOAT), note="broadcast skip, sum")
    yield Case("SkipSimplifiedLayerNormalization", [x, f32(2, 3, 8), gamma, f32(8)], {"epsilon": 1e-5},
               outputs=(FLOAT, None, None, FLOAT))
    yield Case("SimplifiedLayerNormalization", [x, gamma], {"epsilon": 1e-5, "axis": -1}, domain="")
    yield Case("SimplifiedLayerNormalization", [x, f32(3, 8)], {"axis": 1}, domain="", note="two axes")
    yield Case("LayerNormalization", [x, gamma, beta], {"epsilon": 1e-6}, domain="", opset=12, note="before its opset")
    ids, segments = i32([[1, 4, 0], [2, 2, 6]]), i32([[0, 0, 1], [0, 1, 1]])
    tables = [f32(7, 8), f32(5, 8), f32(2, 8)]
    yield Case("EmbedLayerNormalization", [ids, segments, *tables, gamma, beta, i32([[1, 1, 0], [1, 1, 1]])],
               outputs=(FLOAT, I32))
    yield Case("EmbedLayerNormalization", [ids, None, *tables[:2], None, gamma, beta], {"epsilon": 1e-3},
               outputs=(FLOAT, I32), note="no segments")
    yield Case("EmbedLayerNormalization", [ids, segments, *tables, gamma, beta, None, i32([[4, 2, 0]])],
               outputs=(FLOAT, I32, FLOAT), note="position ids")
    quantized = [u8(7, 8), u8(5, 8), u8(2, 8), u8(8), u8(8)]
    scales = [scalar(s) for s in (0.02, 0.03, 0.01, 0.05, 0.04)]
    yield Case("QEmbedLayerNormalization",
               [ids, segments, *quantized, None, *scales, *[scalar(z, np.uint8) for z in (3, 100, 128, 7, 200)]],
               outputs=(FLOAT, I32), constant=tuple(range(2, 7)) + tuple(range(8, 18)), tolerance=1e-4)


def quantized_maps():
    q = (scalar(0.04), scalar(120, np.uint8))
    y = (scalar(0.07), scalar(131, np.uint8))
    s = (scalar(0.05), scalar(-3, np.int8))
    x = u8(2, 3, 6, 6)
    more = {"outputs": (U8,), "tolerance": 0}
    yield Case("QLinearAdd", [x, *q, u8(3, 1, 6), *y, scalar(0.09), scalar(100, np.uint8)], **more)
    yield Case("QLinearAdd", [i8(2, 5), *s, i8(2, 5), *s, scalar(0.11), scalar(4, np.int8)], outputs=(I8,), tolerance=0,
               note="signed")
    for note, a, b in (("rows", u8(40, 300), u8(300)), ("all", u8(40, 300), u8(40, 300)), ("channels", u8(9, 7, 1), u8(9, 7, 300))):
        yield Case("QLinearAdd", [a, scalar(0.0371), scalar(91, np.uint8), b, scalar(0.0643), scalar(133, np.uint8), scalar(0.0917),
                                  scalar(117, np.uint8)], **more, note=f"many roundings, {note}")
    yield Case("QLinearMul", [x, *q, u8(6), *y, scalar(0.09), scalar(100, np.uint8)], **more)
    yield Case("QLinearMul", [i8(2, 5), *s, i8(2, 5), *s, scalar(0.11), scalar(4, np.int8)], outputs=(I8,), tolerance=0,
               note="signed")
    for note, a, b in (("rows", u8(40, 300), u8(300)), ("all", u8(40, 300), u8(40, 300)), ("channels", u8(9, 7, 1), u8(9, 7, 300))):
        yield Case("QLinearMul", [a, scalar(0.0371), scalar(91, np.uint8), b, scalar(0.0643), scalar(133, np.uint8), scalar(0.2917),
                                  scalar(117, np.uint8)], **more, note=f"many roundings, {note}")
    yield Case("QLinearSigmoid", [x, *q, scalar(1 / 256), scalar(0, np.uint8)], **more)
    yield Case("QLinearLeakyRelu", [x, *q, *y], {"alpha": 0.2}, **more)
    for note, axis, opset, scale in (("", -1, 13, 1 / 256), ("inner axis", 1, 13, 0.0021), ("flattens", 1, 11, 0.0013)):
        yield Case("QLinearSoftmax", [u8(30, 20, 10), scalar(0.1), scalar(100, np.uint8), scalar(scale), scalar(3, np.uint8)],
                   {"axis": axis, "opset": opset}, **more, constant=(1, 2, 3, 4), note=note)
    yield Case("QLinearSoftmax", [i8(30, 40), scalar(0.03), scalar(5, np.int8), scalar(0.0017), scalar(-128, np.int8)],
               {"axis": -1, "opset": 13}, outputs=(I8,), tolerance=0, constant=(1, 2, 3, 4), note="signed")
    yield Case("QLinearSoftmax", [u8(400, 54, low=60, high=180), scalar(0.05), scalar(100, np.uint8), scalar(0.0004),
                                  scalar(0, np.uint8)], {"axis": -1, "opset": 13}, **more, constant=(1, 2, 3, 4), note="many roundings")
    images = u8(40, 50, 7, 9)
    yield Case("QLinearGlobalAveragePool", [images, *q, scalar(0.004), scalar(90, np.uint8)], **more)
    yield Case("QLinearGlobalAveragePool", [images, *q, scalar(0.004), scalar(90, np.uint8)], {"channels_last": 1}, **more,
               note="channels last")
    yield Case("QLinearAveragePool", [x, *q, *y], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]},
               outputs=(U8,), tolerance=1, constant=(1, 2, 3, 4))
    yield Case("QLinearAveragePool", [x, *q, *y], {"kernel_shape": [2, 2], "count_include_pad": 1, "pads": [1, 1, 0, 0]},
               outputs=(U8,), tolerance=1, constant=(1, 2, 3, 4), note="padding counts")
    parts = [x, *q, u8(2, 1, 6, 6), *y]
    yield Case("QLinearConcat", [scalar(0.06), scalar(125, np.uint8), *parts], {"axis": 1}, **more,
               constant=(0, 1, 3, 4, 6, 7))
    yield Case("QLinearWhere", [np.array([[True, False, True]]), u8(2, 3), *q, u8(2, 3), *y, scalar(0.05), scalar(9, np.uint8)],
               **more, constant=(2, 3, 5, 6, 7, 8))
    w = i8(4, 3, 3, 3)
    yield Case("QLinearConv", [u8(1, 6, 6, 3), *q, w, f32(4) ** 2 / 100 + 0.01, np.zeros(4, np.int8), *y],
               {"channels_last": 1, "kernel_shape": [3, 3]}, outputs=(U8,), tolerance=1, constant=(1, 2, 3, 4, 5, 6, 7))


def quantized_products():
    a, b = u8(2, 4, 8), i8(8, 6)
    columns = (f32(6) ** 2 / 100 + 0.01).astype(np.float32)
    yield Case("MatMulIntegerToFloat", [a, b, scalar(0.02), scalar(0.03), scalar(120, np.uint8), scalar(2, np.int8), f32(6)])
    yield Case("MatMulIntegerToFloat", [a, b, scalar(0.02), columns, scalar(120, np.uint8), i8(6)], note="per column")
    yield Case("MatMulIntegerToFloat", [a, b, scalar(0.02), scalar(0.03)], note="no zero points")
    yield Case("DynamicQuantizeMatMul", [f32(2, 4, 8), b, scalar(0.03), scalar(2, np.int8), f32(6)])
    yield Case("DynamicQuantizeMatMul", [f32(4, 8), u8(8, 6), columns, u8(6)], note="per column")
    for note, count in (("one scale", ()), ("scale per column", (16,))):
        scales = [np.full((1, *count), 0.004, np.float32), np.zeros((1, *count), np.int8)]
        yield Case("DynamicQuantizeLSTM", [f32(5, 2, 3), i8(1, 3, 16), i8(1, 4, 16), f32(1, 32), None, None, None, None,
                                           *scales, *scales], {"hidden_size": 4}, constant=(1, 2, 3, 8, 9, 10, 11),
                   outputs=(FLOAT, FLOAT, FLOAT), tolerance=1.5e-2, note=note)
    for note, more in (("states of many steps", {}), ("a sequence that ends early", {"lengths": True})):
        scales = [np.full((2, 128), 0.004, np.float32), np.zeros((2, 128), np.int8)]
        yield Case("DynamicQuantizeLSTM", [f32(40, 1, 12), i8(2, 12, 128), i8(2, 32, 128), f32(2, 256), i32([33]) if more else None,
                                           f32(2, 1, 32), f32(2, 1, 32), None, *scales, *scales],
                   {"hidden_size": 32, "direction": "bidirectional"}, constant=(1, 2, 3, 8, 9, 10, 11),
                   outputs=(FLOAT, FLOAT, FLOAT), tolerance=1e-4, note=note)
    for note, directions, layer, more in (("attention", 1, True, {}), ("without a layer", 1, False, {"direction": "reverse"}),
                                          ("both ways", 2, True, {"direction": "bidirectional"})):
        size = 5 if layer else 6
        yield Case("AttnLSTM", [f32(4, 2, 3), f32(directions, 16, 3 + size), f32(directions, 16, 4), f32(directions, 32), i32([4, 3]),
                                f32(directions, 2, 4), f32(directions, 2, 4), f32(directions, 12), f32(directions, 4, 7),
                                f32(directions, 6, 7), f32(directions, 7), f32(2, 8, 6), i32([8, 5]),
                                f32(directions, 10, 5) if layer else None],
                   {"hidden_size": 4, "activations": ["sigmoid", "tanh", "tanh"] * directions, **more},
                   outputs=(FLOAT, FLOAT, FLOAT), note=note)
    y = [scalar(0.5), scalar(100, np.uint8)]
    za, zb = scalar(120, np.uint8), scalar(3, np.int8)
    yield Case("QGemm", [u8(4, 8), scalar(0.02), za, i8(6, 8), scalar(0.03), zb, i32(RANDOM.integers(-999, 999, 6)), *y],
               {"transB": 1}, outputs=(U8,), tolerance=0, constant=(1, 2, 3, 4, 5, 6, 7, 8))
    yield Case("QGemm", [u8(300, 64), scalar(0.02), za, i8(64, 50), (f32(50) ** 2 / 100 + 0.01), np.zeros(50, np.int8),
                         i32(RANDOM.integers(-999, 999, 50)), scalar(0.571), scalar(121, np.uint8)],
               outputs=(U8,), tolerance=0, constant=(1, 2, 3, 4, 5, 6, 7, 8), note="many roundings")
    yield Case("QGemm", [u8(8, 4), scalar(0.02), za, i8(8, 6), columns, i8(6), None], {"transA": 1, "alpha": 0.5},
               note="floats out", constant=(1, 2, 3, 4, 5))
    for name, kind in (("symmetric", None), ("zero points", np.uint8), ("float zero points", np.float32)):
        for bits, block, k in ((4, 16, 40), (4, 32, 64), (8, 32, 48), (2, 16, 64)):
            blocks, n = -(-k // block), 5
            zeros = {None: None, np.uint8: u8(n, -(-blocks * bits // 8)), np.float32: f32(n, blocks, scale=3)}[kind]
            if kind == np.float32 and bits != 4:
                continue
            yield Case("MatMulNBits", [f32(3, k), u8(n, blocks, block * bits // 8), f32(n, blocks) / 10, zeros],
                       {"K": k, "N": n, "bits": bits, "block_size": block}, constant=(1, 2, 3), tolerance=1e-4,
                       note=f"{bits} bits, block {block}, {name}")
    yield Case("MatMulNBits", [f32(2, 3, 32), u8(5, 2, 8), f32(5, 2) / 10, None, None, f32(5)],
               {"K": 32, "N": 5, "bits": 4, "block_size": 16}, constant=(1, 2, 5), tolerance=1e-4, note="bias")


def blob(blocks, size, has_zero):
    """Random blocks as MatMulFpQ4 has them: a scale, perhaps a zero point, numbers of four bits."""
    parts = [np.concatenate([(f32(1) ** 2 + 0.01).view(np.uint8), u8(1, high=16) if has_zero else u8(0), u8(size // 2)])
             for _ in range(blocks)]
    return np.concatenate(parts)


def other_weights():
    for kind in (0, 1):
        k, n, block = 32, 6, 16
        yield Case("MatMulBnb4", [f32(2, 3, k), u8(n * k // 2), f32(n * k // block) ** 2],
                   {"K": k, "N": n, "block_size": block, "quant_type": kind}, constant=(1, 2), tolerance=1e-4, note=f"codes {kind}")
    for kind, size in ((0, 32), (1, 32)):
        yield Case("MatMulFpQ4", [f32(3, 2 * size), blob(2 * 5, size, kind == 1), i64([2 * size, 5])], {"blk_quant_type": kind},
                   constant=(1, 2), tolerance=1e-4, note=f"kind {kind}")
    indices = i64([[0, 3], [6, 1]])
    op = "GatherBlockQuantized"
    yield Case(op, [u8(7, 32), indices, f32(7, 2)], {"block_size": 32, "bits": 4}, constant=(0, 2), note="4 bits")
    yield Case(op, [u8(7, 32), indices, f32(7, 2), u8(7, 1)], {"block_size": 32, "bits": 4}, constant=(0, 2, 3),
               note="4 bits, zero points")
    yield Case(op, [u8(7, 64), indices, f32(7, 4), u8(7, 4)], {"block_size": 16, "bits": 8}, constant=(0, 2, 3), note="8 bits")


def quantization():
    x = f32(3, 8, scale=5)
    for kind, zero in ((np.uint8, 120), (np.int8, -3), (np.uint16, 30000), (np.int16, -77)):
        element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        yield Case("QuantizeLinear", [x, scalar(0.05), scalar(zero, kind)], outputs=(element,), tolerance=0, note=str(kind.__name__))
        values = RANDOM.integers(0, 100, (3, 8)).astype(kind)
        yield Case("DequantizeLinear", [values, scalar(0.05), scalar(zero, kind)], note=str(kind.__name__))
    yield Case("QuantizeLinear", [x, f32(8) ** 2 + 0.01, np.arange(8).astype(np.uint8)], {"axis": 1}, outputs=(U8,),
               tolerance=0, note="per axis")
    yield Case("DequantizeLinear", [i32(RANDOM.integers(-9999, 9999, (3, 8))), scalar(0.05)], note="int32")
    for kind, low in ((ml_dtypes.int4, -8), (ml_dtypes.uint4, 0)):
        codes = RANDOM.integers(low, low + 16, (3, 8)).astype(kind)
        yield Case("DequantizeLinear", [codes, f32(8) ** 2 + 0.01, RANDOM.integers(low, low + 16, 8).astype(kind)], {"axis": 1},
                   constant=(0, 1, 2), note=np.dtype(kind).name)


def attention():
    heads, size, length = 2, 4, 3
    hidden = heads * size
    q, k, v = f32(2, length, hidden), f32(2, 5, hidden), f32(2, 5, hidden)
    n = {"num_heads": heads}
    mha = "MultiHeadAttention"
    yield Case(mha, [q, k, v], n)
    yield Case(mha, [q, k, f32(2, 5, 12)], {**n, "scale": 0.3}, note="wider values")
    yield Case(mha, [q, k, v, f32(3 * hidden)], n, note="bias")
    yield Case(mha, [q, k, v, None, i32([2, 5])], n, note="lengths")
    yield Case(mha, [q, k, v, f32(3 * hidden), i32([[1, 1, 0, 0, 0], [1, 0, 1, 1, 1]])], n, note="mask of keys")
    yield Case(mha, [q, k, v, None, i32(RANDOM.integers(0, 2, (2, length, 5)))], {**n, "mask_filter_value": -50.0}, note="full mask")
    yield Case(mha, [q, k, v, None, i32([[0] * 5, [1] * 5])], n, tolerance=1e-3, note="nothing seen")
    yield Case(mha, [q, k, v, None, None, f32(1, heads, length, 5)], n, note="attention bias")
    yield Case(mha, [q, q, q], {**n, "unidirectional": 1}, note="causal")
    yield Case(mha, [q, f32(2, heads, 5, size), f32(2, heads, 5, size)], n, note="keys in heads")
    past = [f32(2, heads, 4, size), f32(2, heads, 4, size)]
    yield Case(mha, [q, q, q, None, None, None, *past], n, outputs=(FLOAT, FLOAT, FLOAT), note="past")
    yield Case(mha, [q, k, v], n, outputs=(FLOAT, None, None, FLOAT), note="products")
    yield Case(mha, [q, k, v, None, i32([2, 5]), f32(2, 1, length, 5)], {**n, "mask_filter_value": -5.0},
               outputs=(FLOAT, None, None, FLOAT), note="products with mask")
    x, w, b = f32(2, length, 6), f32(6, 3 * hidden), f32(3 * hidden)
    att = "Attention"
    yield Case(att, [x, w, b], n, constant=(1, 2))
    yield Case(att, [x, w, b, i32([2, 3])], n, constant=(1, 2), note="ends")
    yield Case(att, [x, w, b, i32([2, 3, 1, 0])], n, constant=(1, 2), note="ends and starts")
    yield Case(att, [x, w, b, i32([[1, 0, 1], [1, 1, 1]])], {**n, "unidirectional": 1}, constant=(1, 2), note="mask of keys, causal")
    yield Case(att, [x, w, b, i32(RANDOM.integers(0, 2, (2, 3, 3)))], n, constant=(1, 2), tolerance=1e-3, note="full mask")
    yield Case(att, [x, f32(6, 8 + 8 + 12), f32(28)], {**n, "qkv_hidden_sizes": [8, 8, 12]}, constant=(1, 2), note="sizes")
    yield Case(att, [x, w, b, None, f32(2, 2, heads, 4, size)], {**n, "unidirectional": 1}, constant=(1, 2),
               outputs=(FLOAT, FLOAT), note="past")
    yield Case(att, [x, w, b, i32([[1, 0, 1], [1, 1, 1]]), None, f32(2, heads, length, length)], n, constant=(1, 2),
               note="attention bias")
    yield Case("QAttention", [u8(2, length, 6), i8(6, 3 * hidden), b, scalar(0.02), scalar(0.03), i32([2, 3]),
                              scalar(120, np.uint8), scalar(0, np.int8)], n, constant=(1, 2, 3, 4, 6, 7), tolerance=1e-4)
    caches = [f32(10, 2), f32(10, 2)]
    rotary = "RotaryEmbedding"
    yield Case(rotary, [q, i64([3]), *caches], note="start")
    yield Case(rotary, [q, i64([[3, 4, 5], [0, 1, 9]]), *caches], {"interleaved": 1}, note="interleaved")
    yield Case(rotary, [f32(2, heads, length, size), i64([[3, 4, 5], [0, 1, 9]]), *caches], note="heads apart")
    yield Case(rotary, [f32(2, length, 16), i64([0]), f32(9, 2), f32(9, 2)], {"num_heads": 2, "rotary_embedding_dim": 4},
               note="part of a head")


def decoder_attention():
    op, n = "DecoderMaskedMultiHeadAttention", {"num_heads": 2}
    step = [f32(2, 1, 8), f32(2, 1, 8), f32(2, 1, 8)]
    cache = [f32(2, 2, 6, 4), f32(2, 2, 6, 4)]
    shared = {**n, "past_present_share_buffer": 1}
    outputs = (FLOAT, FLOAT, FLOAT)
    yield Case(op, [*step, None, None, *cache, i32([3])], shared, outputs=outputs, note="shared cache")
    yield Case(op, [*step, i32([[1, 1, 0, 1], [1, 1, 1, 1]]), None, *cache, i32([3]), None, None, f32(24)], shared,
               outputs=outputs, note="shared cache, mask, bias")
    yield Case(op, [f32(2, 1, 8), f32(2, 2, 5, 4), f32(2, 2, 5, 4)], n, note="cross")


def grouped_queries():
    heads, kv, size = 4, 2, 16
    n = {"num_heads": heads, "kv_num_heads": kv}
    q, k, v = f32(2, 3, heads * size), f32(2, 3, kv * size), f32(2, 3, kv * size)
    cache = [f32(2, kv, 6, size), f32(2, kv, 6, size)]
    caches = [f32(16, size // 2), f32(16, size // 2)]
    op, present = "GroupQueryAttention", {"outputs": (FLOAT, FLOAT, FLOAT), "tolerance": 1e-4}
    none = [None, None]
    yield Case(op, [q, k, v, *none, i32([2, 2]), i32(3)], n, **present, note="prompt")
    yield Case(op, [q, k, v, *none, i32([2, 2]), i32(3), *caches], {**n, "do_rotary": 1}, **present, note="prompt, rotary")
    yield Case(op, [q, k, v, *none, i32([2, 2]), i32(3)], {**n, "local_window_size": 2}, **present, note="window")
    yield Case(op, [q, k, v, *none, i32([2, 2]), i32(3)], {**n, "softcap": 2.0, "scale": 0.7}, **present, note="softcap")
    yield Case(op, [q, k, v, *none, i32([2, 2]), i32(3)], {**n, "smooth_softmax": 1}, **present, note="smooth")
    yield Case(op, [q, k, v, *none, i32([2, 2]), i32(3), *none, None, None, f32(heads)], n, **present, note="sinks")
    yield Case(op, [q, k, v, *none, i32([2, 2]), i32(3), *none, None, f32(2, heads, 3, 3)], n, **present, note="bias")
    yield Case(op, [f32(2, 3, (heads + 2 * kv) * size), None, None, *none, i32([2, 2]), i32(3)], n, **present, note="packed")
    scores = {"outputs": (FLOAT,) * 4, "tolerance": 1e-4}
    for which in (1, 2):
        yield Case(op, [q, k, v, *none, i32([2, 2]), i32(3)], {**n, "qk_output": which, "softcap": 2.0}, **scores,
                   note=f"scores, {which}")
    step = [f32(2, 1, heads * size), f32(2, 1, kv * size), f32(2, 1, kv * size)]
    yield Case(op, [*step, *cache, i32([6, 6]), i32(7)], {**n, "qk_output": 2}, **scores, note="step, scores")
    yield Case(op, [*step, *cache, i32([6, 6]), i32(7), *caches], {**n, "do_rotary": 1, "rotary_interleaved": 1}, **present,
               note="step, interleaved")
    yield Case(op, [*step, *cache, i32([6, 6]), i32(7)], {**n, "local_window_size": 3}, **present, note="step, window")
    yield Case(op, [*step, f32(2, kv, 12, size), f32(2, kv, 12, size), i32([6, 4]), i32(7), *caches], {**n, "do_rotary": 1},
               **present, note="step, longer cache")
    yield Case(op, [*[x[:1] for x in (q, k, v, *cache)], i32([8]), i32(9), *caches, i64([[6, 7, 8]])],
               {**n, "do_rotary": 1}, **present, note="several more, positions")


def basics():
    x = f32(3, 4, 5)
    yield Case("ExpandDims", [x, i32(1)])
    yield Case("ExpandDims", [x, i32([-1])], constant=(1,), note="from the end")
    yield Case("GatherND", [x, i32([[0, 1], [2, 3]])])
    yield Case("Pad", [f32(3, 4), i64([0, 1, 2, 0]), f32(1)], {"mode": "constant"})
    yield Case("Pad", [f32(3, 4), i64([0, 1, 2, 0])], {"mode": "reflect"}, constant=(1,), note="reflect")
    yield Case("Range", [scalar(1, np.int64), scalar(9, np.int64), scalar(3, np.int64)], outputs=(TensorProto.INT64,))
    yield Case("Range", [scalar(1.5), scalar(4)], note="step of one")
    yield Case("Trilu", [x, i64(1)], {"upper": 0})
    yield Case("Trilu", [x], note="upper")
    yield Case("Unique", [np.array([2, 1, 1, 3, 4, 3], np.float32)], outputs=(FLOAT, TensorProto.INT64, TensorProto.INT64))
    yield Case("GridSample", [f32(1, 2, 4, 4), f32(1, 3, 3, 2, scale=0.5)], {"mode": "bilinear", "padding_mode": "border"})
    yield Case("ConvTransposeWithDynamicPads", [f32(1, 2, 4, 4), f32(2, 3, 3, 3), i64([1, 1, 1, 1]), f32(3)],
               {"strides": [2, 2], "output_padding": [1, 1]})
    yield Case("SampleOp", [x])


def others():
    yield Case("CDist", [f32(4, 3), f32(5, 3)], {"metric": "euclidean"}, tolerance=1e-4)
    yield Case("CDist", [f32(4, 3), f32(5, 3)], {"metric": "sqeuclidean"}, tolerance=1e-4, note="squares")
    yield Case("Inverse", [f32(2, 4, 4) + 4 * np.eye(4, dtype=np.float32)], tolerance=1e-4)
    yield Case("DynamicTimeWarping", [np.abs(f32(6, 9))], outputs=(I32,))
    yield Case("DynamicTimeWarping", [RANDOM.integers(0, 3, (1, 7, 5)).astype(np.float32)], outputs=(I32,), note="ties")
    yield Case("UnfoldTensor", [f32(2, 9, 3)], {"dim": 1, "size": 4, "step": 2})
    for n, x in enumerate((i32([3, -7]), np.array([2 ** 40, 5], np.uint64), f32(5))):
        yield Case("MurmurHash3", [x], {"positive": n % 2, "seed": 42 * n}, outputs=(TensorProto.UINT32 if n % 2 else I32,),
                   tolerance=0, note=x.dtype.name)
    ids = i64([[1, 2, 3, 1, 2], [4, 4, 4, 4, 4]])
    yield Case("NGramRepeatBlock", [ids, f32(2, 6)], {"ngram_size": 3})
    yield Case("NGramRepeatBlock", [ids, f32(2, 6)], {"ngram_size": 1}, note="single")
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.6, 1.3, 0.9], [0.5, 0.5, 0.1, 0.4]], np.float32)
    for mode in ("bilinear", "nearest"):
        yield Case("CropAndResize", [f32(2, 3, 5, 6), boxes, i32([0, 1, 1]), i32([4, 3])],
                   {"mode": mode, "extrapolation_value": -7.5}, constant=(3,), note=mode)
    yield Case("CropAndResize", [f32(2, 3, 5, 6), boxes, i32([0, 1, 1]), i32([1, 1])], note="one cell")
    mask = i32(RANDOM.integers(0, 3, (1, 1, 6, 7)) > 0)
    yield Case("MaxpoolWithMask", [f32(1, 2, 6, 7), mask.astype(np.int32)], {"kernel_shape": [2, 3], "pads": [1, 1, 0, 1]})
    words = i32([[1, 2, 3, 4], [1, 2, 0, 0], [1, 0, 0, 0], [1, 0, 2, 0]])
    yield Case("WordConvEmbedding", [words, f32(4, 1, 2, 3), f32(4), f32(5, 3)])
    wanted = (TensorProto.INT64, TensorProto.INT64)
    source = i64([1, 5, 3, 4, 2, 3, 4])
    for n in range(6):
        start = int(RANDOM.integers(0, 8))
        predicted = np.append(source[start:], 9)
        if n % 2 and len(predicted) > 2:
            predicted[len(predicted) // 2] = 3
        yield Case("BifurcationDetector", [source, i64([1, 5][: 1 + n % 2]), i64(start), predicted], outputs=wanted,
                   note=f"prediction {n}")
    for n, current in enumerate(([1, 5], [3, 4], [2, 3, 4], [9], [4, 4])):
        yield Case("BifurcationDetector", [source, i64(current), i64(0)], outputs=wanted, note=f"suffix {n}")


def convolutions():
    x, w, b = f32(2, 4, 7, 6), f32(6, 2, 3, 3), f32(6)
    for activation, more in (("Relu", {}), ("LeakyRelu", {"activation_params": [0.2]}), ("Clip", {"activation_params": [-1.0, 2.0]}),
                             ("HardSigmoid", {"activation_params": [0.3, 0.4]}), ("Sigmoid", {}), ("Tanh", {})):
        yield Case("FusedConv", [x, w, b], {"activation": activation, "group": 2, "pads": [1, 1, 1, 1], **more}, constant=(1, 2),
                   note=activation)
    yield Case("FusedConv", [x, w, b, f32(2, 6, 3, 2)], {"activation": "Relu", "group": 2, "strides": [2, 2]}, constant=(1, 2),
               note="sum")


def layouts():
    yield Case("NhwcMaxPool", [u8(1, 5, 6, 3)], {"kernel_shape": [2, 3]}, outputs=(U8,), tolerance=0)


ALL = [*products(), *activations(), *normalizations(), *quantized_maps(), *quantized_products(), *other_weights(), *quantization(),
       *attention(), *decoder_attention(), *grouped_queries(), *basics(), *others(), *convolutions(),
       *layouts()]


@pytest.mark.parametrize("case", ALL, ids=str)
def test_values_are_those_of_onnx_runtime(ingot, tmp_path, case):
    model = model_of(case)
    feeds = {f"i{n}": x for n, x in enumerate(case.inputs) if x is not None and n not in case.constant}
    wanted = expected(model, feeds)
    found = run(ingot, model, feeds, tmp_path)
    assert sorted(found) == sorted(wanted)
    for name, value in wanted.items():
        assert found[name].dtype == value.dtype and found[name].shape == value.shape, name
        np.testing.assert_allclose(found[name].astype(np.float64), value.astype(np.float64), rtol=case.tolerance,
                                   atol=case.tolerance, err_msg=name)
