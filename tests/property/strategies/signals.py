"""Transforms of signals and windows."""
import numpy as np
from onnx import TensorProto

from draft import FLOATS, Unfit
from engine import DTYPES
from strategies.reducing import greatest, wide


def as_complex(x):
    x = wide(x)
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0] + 0j


def as_pairs(z, dtype):
    return np.stack([z.real, z.imag], -1).astype(dtype)


def dft(draft):
    shape = draft.shape(1, 3, 200, smallest=1, largest=9)
    parts = draft.choice([1, 2])
    shape = [draft.integer(1, 3)] + shape + [parts]
    rank = len(shape)
    axis = draft.integer(1, rank - 2)
    length = shape[axis]
    inverse = draft.chance(0.4)
    onesided = draft.chance(0.3)
    if onesided and (not inverse and parts == 2 or inverse and draft.version < 20):
        onesided = False
    if onesided and inverse:
        raise Unfit  # in older texts there is none, in newer its input is a half spectrum
    x = draft.draw(draft.schema.inputs[0].type_str, shape, "finite")
    given = axis
    if draft.chance(0.4):
        length = draft.integer(1, 12)
        draft.add(np.array(length, draft.choice([np.int32, np.int64])))
    elif draft.version >= 20:
        draft.skip()
    if draft.version < 20:
        if axis != 1 or draft.chance(0.5):
            draft.attributes["axis"] = given
    else:
        if axis != rank - 2 or draft.chance(0.5):
            draft.add(np.array(given - rank if draft.chance(0.5) else given, np.int64))
    if inverse or draft.chance(0.3):
        draft.attributes["inverse"] = int(inverse)
    if onesided or draft.chance(0.3):
        draft.attributes["onesided"] = int(onesided)
    draft.magnitude = greatest(x) * max(1, length)
    draft.loose = 4

    def formula(x, *_):
        z = as_complex(x)
        z = np.fft.ifft(z, length, axis) if inverse else np.fft.fft(z, length, axis)
        if onesided:
            z = np.take(z, range(length // 2 + 1), axis)
        return [as_pairs(z, x.dtype)]
    draft.expected = formula


def stft(draft):
    batch, length = draft.integer(1, 3), draft.integer(4, 30)
    parts = draft.choice([1, 1, 2])
    frame = draft.integer(1, min(9, length))
    step = draft.integer(1, 5)
    x = draft.draw("T1", [batch, length, parts], "finite")
    kind = draft.choice([np.int32, np.int64])
    draft.drawn["T2"] = None
    draft.add(np.array(step, kind))
    with_window = draft.chance(0.6)
    if with_window:
        draft.draw("T1", [frame], "unit")
    else:
        draft.skip()
    if not with_window or draft.chance(0.5):
        draft.add(np.array(frame, kind))
    onesided = draft.attributes.get("onesided", 1)
    if draft.chance(0.6) or parts == 2:
        onesided = draft.integer(0, 1) if parts == 1 else 0
        draft.attributes["onesided"] = onesided
    draft.magnitude = greatest(x) * frame
    draft.loose = 4

    def formula(x, step, window=None, *_):
        z = as_complex(x)
        frames = [z[:, at:at + frame] * (1 if window is None else wide(window)) for at in range(0, length - frame + 1, int(step))]
        z = np.fft.fft(np.stack(frames, 1), frame, -1)
        if onesided:
            z = z[..., :frame // 2 + 1]
        return [as_pairs(z, x.dtype)]
    draft.expected = formula


def window_function(draft):
    size = draft.choice([1, 2, 3, draft.integer(1, 30)])
    draft.add(np.array(size, draft.choice([np.int32, np.int64])))
    target = draft.element("T2", among=FLOATS)
    if target != TensorProto.FLOAT or draft.chance(0.3):
        draft.attributes["output_datatype"] = int(target)
    periodic = draft.attributes.get("periodic", 1)
    if draft.chance(0.6):
        periodic = draft.integer(0, 1)
        draft.attributes["periodic"] = periodic
    if size == 1 and not periodic:
        raise Unfit  # 0 / 0
    weights = {"HannWindow": (0.5, 0.5, 0), "HammingWindow": (25 / 46, 21 / 46, 0), "BlackmanWindow": (0.42, 0.5, 0.08)}[draft.name]

    def formula(_):
        turn = 2 * np.pi * np.arange(size) / (size if periodic else size - 1)
        return [(weights[0] - weights[1] * np.cos(turn) + weights[2] * np.cos(2 * turn)).astype(DTYPES[target])]
    draft.expected = formula
    draft.loose = 4 if target != TensorProto.DOUBLE else 1e5


def mel(draft):
    kind = DTYPES[draft.element("T1")]
    for value in (draft.integer(1, 8), draft.choice([8, 16, 33]), draft.choice([8192, 16000])):
        draft.add(np.array(value, kind))
    edge = DTYPES[draft.element("T2")]
    if edge not in (np.float32, np.float64):
        raise Unfit  # edges of few bits
    draft.add(np.array(draft.choice([0.0, 100.0]), edge))
    draft.add(np.array(draft.choice([4000.0, 3000.0]), edge))
    target = draft.element("T3", among={TensorProto.FLOAT, TensorProto.DOUBLE})
    if target != TensorProto.FLOAT or draft.chance(0.3):
        draft.attributes["output_datatype"] = int(target)
    draft.loose = 1e3


STRATEGIES = {"DFT": dft, "STFT": stft, "HannWindow": window_function, "HammingWindow": window_function,
              "BlackmanWindow": window_function, "MelWeightMatrix": mel}
