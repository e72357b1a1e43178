"""Operators of ONNX Runtime's that it does not run on a CPU, compared with numpy, from its page; and those that are refused."""
import math
import pathlib

import numpy as np
import onnx
import pytest
from onnx import helper

from contrib import FLOAT, FLOAT16, I32, U8, Case, f32, i32, i64, i8, model_of, run, scalar, u8


def gelu(x):
    return np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x.ravel()]).reshape(x.shape)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sdpa(q, k, v, heads):
    """Attention of [batch, length, heads * size] without masks, and keys and values by heads."""
    q, k, v = (x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3) for x in (q, k, v))
    y = softmax(q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3])) @ v
    return y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1), k, v


def conv(x, w):
    """[N, C, H, W] without padding."""
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w)


def group_norm(x, scale, bias, groups, channels_last=True, silu=False):
    y = np.moveaxis(x, -1, 1) if channels_last else x
    parts = y.reshape(y.shape[0], groups, -1)
    parts = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    shape = (1, -1) + (1,) * (y.ndim - 2)
    y = parts.reshape(y.shape) * scale.reshape(shape) + bias.reshape(shape)
    y = y / (1 + np.exp(-y)) if silu else y
    return np.moveaxis(y, 1, -1) if channels_last else y


def relative_buckets(queries, keys, buckets, furthest, both_ways):
    distance = np.arange(keys)[None] - np.arange(queries)[:, None]
    base = 0
    if both_ways:
        buckets //= 2
        base = (distance > 0) * buckets
        distance = np.abs(distance)
    else:
        distance = -np.minimum(distance, 0)
    exact = buckets // 2
    far = exact + (np.log(np.maximum(distance, 1) / exact) / np.log(furthest / exact) * (buckets - exact)).astype(int)
    return base + np.where(distance < exact, distance, np.minimum(far, buckets - 1))


def numpy_cases():
    x, b = f32(2, 3, 8), f32(8)
    yield Case("BiasDropout", [x, b, f32(2, 3, 8)]), lambda x, b, r: [x + b + r]
    yield Case("BiasAdd", [x, b, f32(2, 3, 8)]), lambda x, b, s: [x + b + s]
    yield Case("BiasSplitGelu", [x, b]), lambda x, b: [(x + b)[..., :4] * gelu((x + b)[..., 4:])]
    yield Case("BiasSoftmax", [x, f32(1, 3, 8)], {"axis": 2, "is_inner_broadcast": 0}), lambda x, b: [softmax(x + b)]
    image, scale = f32(2, 4, 5, 6), f32(6)
    yield (Case("GroupNorm", [image, scale, f32(6)], {"groups": 3, "activation": 1}),
           lambda x, s, b: [group_norm(x, s, b, 3, silu=True)])
    yield (Case("GroupNorm", [image, f32(4), f32(4)], {"groups": 2, "activation": 0, "channels_last": 0}, note="channels first"),
           lambda x, s, b: [group_norm(x, s, b, 2, channels_last=False)])
    yield (Case("SkipGroupNorm", [image, scale, f32(6), f32(2, 6), f32(6)], {"groups": 2, "activation": 0}, outputs=(FLOAT, FLOAT)),
           lambda x, s, b, skip, bias: [group_norm(x + skip[:, None, None] + bias, s, b, 2), x + skip[:, None, None] + bias])
    yield (Case("NhwcConv", [image, f32(3, 6, 2, 2), f32(3)], constant=(1, 2)),
           lambda x, w, b: [np.moveaxis(conv(np.moveaxis(x, 3, 1), w), 1, 3) + b])
    yield (Case("NhwcFusedConv", [image, f32(3, 6, 2, 2), f32(3), f32(2, 3, 4, 3)], {"activation": "Relu"}, constant=(1, 2)),
           lambda x, w, b, z: [np.maximum(np.moveaxis(conv(np.moveaxis(x, 3, 1), w), 1, 3) + b + z, 0)])
    packed = f32(2, 3, 2, 3, 4)
    yield (Case("MultiHeadAttention", [packed], {"num_heads": 2}, note="packed"),
           lambda p: [sdpa(*(p[:, :, :, i].reshape(2, 3, 8) for i in range(3)), 2)[0]])
    yield (Case("MultiHeadAttention", [f32(2, 5, 8), f32(2, 3, 2, 2, 4)], {"num_heads": 2}, note="packed keys"),
           lambda q, p: [sdpa(q, *(p[:, :, :, i].reshape(2, 3, 8) for i in range(2)), 2)[0]])
    yield (Case("FusedMatMulActivation", [f32(3, 4), f32(4, 5)], {"activation": "Relu", "alpha": 0.5}),
           lambda a, b: [np.maximum(a @ b * 0.5, 0)])
    yield Case("ReduceSumInteger", [i8(2, 3, 4)], {"axes": [1], "keepdims": 0}, outputs=(I32,)), lambda x: [x.astype(np.int32).sum(1)]
    yield Case("TorchEmbedding", [f32(7, 4), i64([[1, 6], [0, 3]])]), lambda w, i: [w[i]]
    signal = f32(3, 8)
    yield (Case("Rfft", [signal], {"signal_ndim": 1}),
           lambda x: [np.stack([np.fft.rfft(x).real, np.fft.rfft(x).imag], -1)])
    yield (Case("Irfft", [np.stack([np.fft.rfft(signal).real, np.fft.rfft(signal).imag], -1).astype(np.float32)],
                {"signal_ndim": 1}), lambda y: [np.fft.irfft(y[..., 0] + 1j * y[..., 1])])
    half = lambda *shape: f32(*shape).astype(np.float16)
    yield (Case("GemmaRotaryEmbedding", [f32(2, 3, 4), half(2, 2, 3, 4), half(2, 2, 3, 4), half(2, 2, 3, 4), half(2, 2, 3, 4)],
                outputs=(FLOAT16, FLOAT16), tolerance=1e-2),
           lambda a, q, r, k, s: [q * np.cos(a)[:, None] + r * np.sin(a)[:, None], k * np.cos(a)[:, None] + s * np.sin(a)[:, None]])
    for both_ways in (0, 1):
        yield (Case("RelativePositionBias", [f32(8, 2), i64(40), i64(40)], {"max_distance": 16, "is_bidirectional": both_ways},
                    note=f"both ways {both_ways}"),
               lambda t, q, k, w=both_ways: [t[relative_buckets(40, 40, 8, 16, w)].transpose(2, 0, 1)[None]])
    def gated(q, qb, rel, w, b, a):
        h = (q + qb).reshape(2, 3, 2, 4).transpose(0, 2, 1, 3) @ w + b
        gate = 1 / (1 + np.exp(-h.reshape(2, 2, 3, 2, -1).sum(-1)))
        return [(gate[..., :1] * (gate[..., 1:] * a - 1) + 2) * rel]
    yield (Case("GatedRelativePositionBias", [f32(2, 3, 8), f32(8), f32(1, 2, 3, 3), f32(4, 6), f32(6), f32(1, 2, 1, 1)],
                {"num_heads": 2}), gated)
    tokens = f32(2, 3, 4)
    yield (Case("RemovePadding", [tokens, i32([2, 3])], outputs=(FLOAT, I32, I32, I32)),
           lambda x, n: [np.concatenate([x[0, :2], x[1]]), [[0, 1, 3], [4, 5, 2]], [0, 2, 5], [3]])
    yield (Case("RestorePadding", [f32(5, 4), i32([[0, 1, 3], [4, 5, 2]])]),
           lambda x, o: [np.concatenate([x[:2], np.zeros((1, 4)), x[2:]]).reshape(2, 3, 4)])
    def reduce_mean(x, _, zero, scale, to):
        return [np.clip(np.rint((x.astype(np.float64) - zero).mean(1) * 0.04 / scale) + to, 0, 255)]
    yield (Case("QLinearReduceMean", [u8(2, 5, 4), scalar(0.04), scalar(120, np.uint8), scalar(0.03), scalar(100, np.uint8)],
                {"axes": [1], "keepdims": 0}, outputs=(U8,), tolerance=1), reduce_mean)
    def decode(x, w, b, past, length):
        q, k, v = np.split(x @ w + b, 3, -1)
        keys, values = (np.concatenate([past[i][:, :, :2].transpose(0, 2, 1, 3).reshape(2, 2, 8), n], 1) for i, n in ((0, k), (1, v)))
        y, keys, values = sdpa(q, keys, values, 2)
        present = past.copy()
        present[0][:, :, :3], present[1][:, :, :3] = keys, values
        return [y, present]
    yield (Case("DecoderMaskedSelfAttention", [f32(2, 1, 6), f32(6, 24), f32(24), None, f32(2, 2, 2, 5, 4), None, i32([2])],
                {"num_heads": 2, "past_present_share_buffer": 1}, outputs=(FLOAT, FLOAT)), decode)
    yield (Case("GatherBlockQuantized", [u8(3, 2), i64([5, -1]), f32(3, 1)], {"block_size": 16, "bits": 4}, constant=(0, 2),
                note="indices outside"),
           lambda d, i, s: [np.stack([np.zeros(4), (np.stack([d[2] & 15, d[2] >> 4], -1).ravel() - 8.0) * s[2]])])
    def codes(values):
        return [np.clip(np.rint(values), 0, 255)]
    operands = [u8(3, 7, high=32), scalar(0.5), None, u8(3, 7, high=32), scalar(0.25), None, scalar(0.5)]
    yield (Case("QLinearAdd", operands, outputs=(U8,), tolerance=0, note="zero points left out"),
           lambda a, s, b, t, u: codes((a * s + b * t) / u))
    yield (Case("QLinearMul", operands, outputs=(U8,), tolerance=0, note="zero points left out"),
           lambda a, s, b, t, u: codes(a * s * b * t / u))


NUMPY = list(numpy_cases())


@pytest.mark.parametrize("case, reference", NUMPY, ids=[str(case) for case, _ in NUMPY])
def test_values_are_those_of_the_page(ingot, tmp_path, case, reference):
    feeds = {f"i{n}": x for n, x in enumerate(case.inputs) if x is not None and n not in case.constant}
    found = run(ingot, model_of(case), feeds, tmp_path)
    wanted = reference(*[x.astype(np.float64) if x.dtype.kind == "f" else x for x in case.inputs if x is not None])
    for n, value in enumerate(wanted):
        assert found[f"o{n}"].shape == np.shape(value)
        np.testing.assert_allclose(found[f"o{n}"].astype(np.float64), value, rtol=case.tolerance, atol=case.tolerance)


REFUSED = ["MoE", "PackedAttention", "PackedMultiHeadAttention", "QMoE", "Sampling",
           "SparseAttention", "WhisperBeamSearch", "EPContext", "Snpe"]


@pytest.mark.parametrize("op", REFUSED)
def test_what_is_left_out_is_refused_by_name(ingot, tmp_path, op):
    model = model_of(Case(op, [f32(2)]))
    onnx.save(model, tmp_path / "model.onnx")
    message = ingot("inspect", tmp_path / "model.onnx", code=1).stderr
    assert "'N'" in message and op in message and "not supported" in message


@pytest.mark.parametrize("part", ["k_scale", "sliding_window_cache", "query_seqlens"])
def test_parts_of_group_query_attention_are_refused_by_name(ingot, tmp_path, part):
    inputs = [f32(1, 1, 16), f32(1, 1, 8), f32(1, 1, 8), f32(1, 1, 4, 8), f32(1, 1, 4, 8), i32([0]), i32([1])] + [None] * 10
    if part == "k_scale":
        inputs[12] = f32(1)
    if part == "query_seqlens":
        inputs[16] = i32([1])
    more = {"sliding_window_cache": 1, "local_window_size": 4} if part == "sliding_window_cache" else {}
    model = model_of(Case("GroupQueryAttention", inputs, {"num_heads": 2, "kv_num_heads": 1, **more}, constant=(6,),
                          outputs=(FLOAT, FLOAT, FLOAT)))
    onnx.save(model, tmp_path / "model.onnx")
    message = ingot("inspect", tmp_path / "model.onnx", code=1).stderr
    assert part in message and "not support" in message
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "ops.md"
    assert any("GroupQueryAttention" in line and part in line for line in page.read_text().split("Not taken")[1].splitlines())


def test_other_domains_are_refused_by_name(ingot, tmp_path):
    model = model_of(Case("ATen", [f32(2)], domain="org.pytorch.aten"))
    model.opset_import.append(helper.make_opsetid("org.pytorch.aten", 1))
    onnx.save(model, tmp_path / "model.onnx")
    message = ingot("inspect", tmp_path / "model.onnx", code=1).stderr
    assert "ATen" in message and "org.pytorch.aten" in message
