"""Operators that slide windows over images: convolutions, pools, resizing, sampling."""
import itertools

import numpy as np
from onnx import TensorProto

from draft import COMPLEX, FLOATS, Unfit
from engine import DTYPES
from peers import node_answer
from strategies.reducing import greatest

SIDES = [0, 0, 1, 1, 2]


def window(draft, dims, size_key="kernel_shape", dilate=True, ceil=False, paddings=True):
    """Kernel sizes; fills strides, dilations, pads."""
    rank = len(dims)
    kernel = [draft.integer(1, 3) for _ in dims]
    if size_key:
        draft.attributes[size_key] = kernel
    if draft.chance(0.6):
        draft.attributes["strides"] = [draft.integer(1, 3) for _ in dims]
    if dilate and draft.chance(0.3):
        draft.attributes["dilations"] = [draft.integer(1, 3) for _ in dims]
    extents = [(size - 1) * step + 1 for size, step in zip(kernel, draft.attributes.get("dilations", [1] * rank))]
    if paddings and draft.chance(0.25):
        draft.attributes["auto_pad"] = draft.choice(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
    if paddings and draft.chance(0.5) and draft.attributes.get("auto_pad", "NOTSET") == "NOTSET":
        draft.attributes["pads"] = [draft.integer(0, min(2, extent - 1)) for extent in extents] + [
            draft.integer(0, min(2, extent - 1)) for extent in extents]
    if ceil and draft.chance(0.4):
        draft.attributes["ceil_mode"] = draft.integer(0, 1)
    pads = draft.attributes.get("pads", [0] * (2 * rank))
    for axis in range(rank):
        if dims[axis] + pads[axis] + pads[axis + rank] < extents[axis] and not draft.attributes.get("auto_pad", "").startswith("S"):
            dims[axis] = extents[axis] + draft.integer(0, 2)
    return kernel


def image(draft, least=1, greatest_rank=3):
    return [draft.integer(1, 7) if draft.chance(0.9) else draft.integer(8, 20) for _ in range(draft.integer(least, greatest_rank))]


def conv(draft):
    dims = image(draft)
    kernel = window(draft, dims)
    if draft.chance(0.2):
        del draft.attributes["kernel_shape"]
    group = draft.choice([1, 1, 2, 3])
    if group > 1 or draft.chance(0.2):
        draft.attributes["group"] = group
    inner, outer = draft.integer(1, 5), draft.integer(1, 5)
    batch = draft.dim(0, 3)
    if draft.name == "ConvInteger":
        one, two = draft.element("T1"), draft.element("T2")
        draft.add(draft.data(one, [batch, inner * group, *dims]))
        draft.add(draft.data(two, [outer * group, inner, *kernel]))
        if draft.chance(0.6):
            draft.add(draft.data(one, []))
            if draft.chance(0.6):
                draft.add(draft.data(two, [] if draft.chance(0.5) else [1]))
        draft.exact = True
        draft.expected = lambda x, w, xz=None, wz=None: [np.asarray(convolve(
            draft, x.astype(np.int64) - (0 if xz is None else int(xz)), w.astype(np.int64) - (0 if wz is None else int(wz.reshape(())))
        )).astype(np.int32)]
        return
    if draft.name == "QLinearConv":
        return quantized_conv(draft, [batch, inner * group, *dims], [outer * group, inner, *kernel])
    variable = "T"
    x = draft.draw(variable, [batch, inner * group, *dims], "finite")
    w = draft.draw(variable, [outer * group, inner, *kernel], "finite")
    if draft.chance(0.5):
        draft.draw(variable, [outer * group], "finite")
    draft.magnitude = greatest(x) * greatest(w) * max(1, int(np.prod(kernel)) * inner) ** 0.5 + 10
    draft.expected = lambda x, w, b=None: [convolve(draft, x.astype(np.float64), w.astype(np.float64), b).astype(x.dtype)]


def paddings(draft, dims, extents, strides):
    rank = len(dims)
    auto = draft.attributes.get("auto_pad", "NOTSET")
    if auto == "NOTSET":
        pads = draft.attributes.get("pads", [0] * (2 * rank))
        return list(zip(pads[:rank], pads[rank:]))
    if auto == "VALID":
        return [(0, 0)] * rank
    result = []
    for size, extent, stride in zip(dims, extents, strides):
        total = max(0, (-(-size // stride) - 1) * stride + extent - size)
        result.append((total // 2, total - total // 2) if auto == "SAME_UPPER" else (total - total // 2, total // 2))
    return result


def convolve(draft, x, w, b=None):
    rank = x.ndim - 2
    group = draft.attributes.get("group", 1)
    strides = draft.attributes.get("strides", [1] * rank)
    dilations = draft.attributes.get("dilations", [1] * rank)
    extents = [(size - 1) * step + 1 for size, step in zip(w.shape[2:], dilations)]
    pads = paddings(draft, x.shape[2:], extents, strides)
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    outs = [(size - extent) // stride + 1 for size, extent, stride in zip(x.shape[2:], extents, strides)]
    if min(outs) < 0:
        raise ValueError("no room")
    inner = w.shape[1]
    result = np.zeros((x.shape[0], w.shape[0], *outs), x.dtype)
    per = w.shape[0] // group
    for place in np.ndindex(*w.shape[2:]):
        cut = tuple(slice(at * step, at * step + (out - 1) * stride + 1 if out else at * step, stride)
                    for at, step, out, stride in zip(place, dilations, outs, strides))
        part = x[(slice(None), slice(None), *cut)]
        for g in range(group):
            weights = w[(slice(g * per, (g + 1) * per), slice(None), *place)]
            result[:, g * per:(g + 1) * per] += np.einsum("nc...,oc->no...", part[:, g * inner:(g + 1) * inner], weights)
    if b is not None:
        result = result + b.astype(result.dtype).reshape([1, -1] + [1] * rank)
    return result


def quantized_conv(draft, x_shape, w_shape):
    one, two, three = (draft.element(variable) for variable in ("T1", "T2", "T3"))
    scales = [np.float32(draft.random.uniform(0.01, 0.2)) for _ in range(2)]
    per = draft.chance(0.4)
    w_scale = draft.numpy.uniform(0.01, 0.2, [w_shape[0]] if per else []).astype(np.float32)
    w_zero = np.broadcast_to(draft.data(two, [], "small"), w_scale.shape).copy()
    draft.add(draft.data(one, x_shape))
    draft.add(np.array(scales[0]))
    draft.add(draft.data(one, [], "small"))
    draft.add(draft.data(two, w_shape))
    draft.add(w_scale)
    draft.add(w_zero)
    draft.add(np.array(scales[1] * 20))
    draft.add(draft.data(three, [], "small"))
    if draft.chance(0.4):
        draft.add(draft.data(TensorProto.INT32, [w_shape[0]], "small"))
    draft.slack = 1

    def formula(x, xs, xz, w, ws, wz, ys, yz, b=None):
        outer = [-1] + [1] * (w.ndim - 1)
        sums = convolve(draft, x.astype(np.int64) - int(xz), w.astype(np.int64) - wz.astype(np.int64).reshape(outer if per else []), b)
        scale = (xs.astype(np.float64) * ws.astype(np.float64) / ys.astype(np.float64))
        scaled = np.rint(sums * (scale.reshape([1, -1] + [1] * (w.ndim - 2)) if per else scale)) + int(yz)
        limits = np.iinfo(yz.dtype)
        return [np.clip(scaled, limits.min, limits.max).astype(yz.dtype)]
    draft.expected = formula


def conv_transpose(draft):
    dims = image(draft, 1, 3)
    kernel = window(draft, dims, paddings=False)
    rank = len(dims)
    strides = draft.attributes.get("strides", [1] * rank)
    dilations = draft.attributes.get("dilations", [1] * rank)
    group = draft.choice([1, 1, 2, 3])
    if group > 1:
        draft.attributes["group"] = group
    inner, outer = draft.integer(1, 4), draft.integer(1, 4)
    extra = [0] * rank
    if draft.chance(0.3):
        extra = [draft.integer(0, max(stride, step) - 1) for stride, step in zip(strides, dilations)]
        draft.attributes["output_padding"] = extra
    full = [(size - 1) * stride + (k - 1) * step + 1 + more
            for size, stride, k, step, more in zip(dims, strides, kernel, dilations, extra)]
    pads = [0] * (2 * rank)
    mode = draft.choice(["none", "pads", "auto", "shape"])
    if mode == "pads":
        pads = [draft.integer(0, min(2, (size - 1) // 2)) for size in full] * 2
        draft.attributes["pads"] = pads
    elif mode == "auto":
        auto = draft.choice(["VALID", "NOTSET", "SAME_UPPER", "SAME_LOWER"])
        draft.attributes["auto_pad"] = auto
        if auto.startswith("SAME"):
            totals = [total - size * stride for total, size, stride in zip(full, dims, strides)]
            if min(totals) < 0:
                raise Unfit
            pads = split_paddings(totals, auto == "SAME_UPPER")
    elif mode == "shape":
        totals = [draft.integer(0, min(3, size - 1)) for size in full]
        draft.attributes["output_shape"] = [size - total for size, total in zip(full, totals)]
        if draft.chance(0.5):
            draft.attributes["auto_pad"] = draft.choice(["SAME_UPPER", "SAME_LOWER"])
        # The text: pads at the start take the greater half under SAME_LOWER and NOTSET is as the formula says.
        pads = split_paddings(totals, draft.attributes.get("auto_pad", "") == "SAME_UPPER")
    x = draft.draw("T", [draft.dim(0, 3), inner * group, *dims], "finite")
    w = draft.draw("T", [inner * group, outer, *kernel], "finite")
    if draft.chance(0.5):
        draft.draw("T", [outer * group], "finite")
    draft.magnitude = greatest(x) * greatest(w) * max(1, int(np.prod(kernel)) * inner) ** 0.5 + 10

    def formula(x, w, b=None):
        x, w = x.astype(np.float64), w.astype(np.float64)
        result = np.zeros((x.shape[0], outer * group, *full))
        for place in np.ndindex(*kernel):
            cut = tuple(slice(at * step, at * step + (size - 1) * stride + 1, stride)
                        for at, step, size, stride in zip(place, dilations, dims, strides))
            for g in range(group):
                weights = w[(slice(g * inner, (g + 1) * inner), slice(None), *place)]
                result[(slice(None), slice(g * outer, (g + 1) * outer), *cut)] += np.einsum(
                    "nc...,co->no...", x[:, g * inner:(g + 1) * inner], weights)
        cut = tuple(slice(pads[axis], full[axis] - pads[axis + rank]) for axis in range(rank))
        result = result[(slice(None), slice(None), *cut)]
        if b is not None:
            result = result + b.astype(np.float64).reshape([1, -1] + [1] * rank)
        return [result.astype(draft.inputs[0].content.dtype)]
    draft.expected = formula


def split_paddings(totals, upper):
    small = [total // 2 for total in totals]
    large = [total - half for total, half in zip(totals, small)]
    return small + large if upper else large + small


def pool(draft):
    dims = image(draft)
    dilate = "dilations" in draft.schema.attributes
    kernel = window(draft, dims, dilate=dilate, ceil="ceil_mode" in draft.schema.attributes)
    shape = [draft.dim(0, 3), draft.integer(1, 3), *dims]
    draft.draw("T", shape, "finite")
    if any(step > size for step, size in zip(draft.attributes.get("dilations", []), dims)):
        raise Unfit  # a window may lie in the padding alone
    if draft.name == "AveragePool":
        if "count_include_pad" in draft.schema.attributes:
            draft.maybe("count_include_pad", draft.integer(0, 1))
    elif draft.name == "LpPool":
        if draft.version < 2:
            draft.attributes["p"] = draft.choice([1.0, 2.0, 3.0])
        else:
            draft.maybe("p", draft.integer(1, 3))
    elif draft.name == "MaxPool":
        if draft.version >= 8:
            draft.outputs = draft.integer(1, 2)
            draft.maybe("storage_order", draft.integer(0, 1), 0.4)
        draft.exact = "value"
    draft.loose = 4
    draft.expected = lambda x: pooled(draft, x, kernel)


def pooled(draft, x, kernel):
    rank = x.ndim - 2
    strides = draft.attributes.get("strides", [1] * rank)
    dilations = draft.attributes.get("dilations", [1] * rank)
    extents = [(size - 1) * step + 1 for size, step in zip(kernel, dilations)]
    pads = paddings(draft, x.shape[2:], extents, strides)
    ceil = draft.attributes.get("ceil_mode", 0) and draft.attributes.get("auto_pad", "NOTSET") == "NOTSET"
    outs = []
    for size, pad, extent, stride in zip(x.shape[2:], pads, extents, strides):
        span = size + sum(pad) - extent
        out = -(-span // stride) + 1 if ceil else span // stride + 1
        if ceil and (out - 1) * stride >= size + pad[0]:
            out -= 1  # no window begins in the padding at the end
        outs.append(out)
    wide = x.astype(np.float64) if x.dtype.kind not in "iu" else x
    result = np.zeros((*x.shape[:2], *outs), np.float64 if wide.dtype == np.float64 else x.dtype)
    places = np.zeros(result.shape, np.int64)
    for at in np.ndindex(*outs):
        starts = [place * stride - pad[0] for place, stride, pad in zip(at, strides, pads)]
        axes = [[start + k * step for k in range(size) if 0 <= start + k * step < limit]
                for start, step, size, limit in zip(starts, dilations, kernel, x.shape[2:])]
        cells = list(itertools.product(*axes))
        where = (slice(None), slice(None), *at)
        if draft.name == "AveragePool":
            # Under ceil_mode the last window may pass the padding: what lies outside counts for nothing.
            bounds = [[start + k * step for k in range(size) if -pad[0] <= start + k * step < limit + pad[1]]
                      for start, step, size, limit, pad in zip(starts, dilations, kernel, x.shape[2:], pads)]
            count = np.prod([len(axis) for axis in bounds]) if draft.attributes.get("count_include_pad") else len(cells)
            result[where] = sum(wide[(slice(None), slice(None), *cell)] for cell in cells) / count
        elif draft.name == "LpPool":
            p = float(draft.attributes.get("p", 2))
            result[where] = sum(np.abs(wide[(slice(None), slice(None), *cell)]) ** p for cell in cells) ** (1 / p) if cells else 0
        elif not cells:  # all padding, which is less than any number
            result[where] = -np.inf if result.dtype.kind == "f" else np.iinfo(result.dtype).min
        else:
            stack = np.stack([wide[(slice(None), slice(None), *cell)] for cell in cells], -1)
            best = np.argmax(stack, -1)
            result[where] = stack.max(-1)
            order = "F" if draft.attributes.get("storage_order") else "C"
            flat = np.array([np.ravel_multi_index(cell, x.shape[2:], order=order) for cell in cells])
            base = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2]) * int(np.prod(x.shape[2:]))
            places[where] = flat[best] + base
    answers = [result.astype(x.dtype)]
    return answers + [places] if draft.outputs == 2 else answers


def global_pool(draft):
    shape = [draft.dim(0, 3), draft.dim(0, 4), *image(draft, 1, 4)]
    draft.draw("T", shape, "finite")
    axes = tuple(range(2, len(shape)))
    p = 2
    if draft.name == "GlobalLpPool":
        p = draft.choice([1, 2, 3])
        if p != 2 or draft.chance(0.5):
            draft.attributes["p"] = float(p) if draft.version < 2 else p
    if draft.name == "GlobalAveragePool":
        draft.expected = lambda x: [x.astype(np.float64).mean(axes, keepdims=True).astype(x.dtype)]
    elif draft.name == "GlobalMaxPool":
        draft.expected = lambda x: [x.max(axes, keepdims=True) if x.dtype.isbuiltin == 1 else x.astype(np.float32).max(
            axes, keepdims=True).astype(x.dtype)]
    else:
        draft.expected = lambda x: [((np.abs(x.astype(np.float64)) ** p).sum(axes, keepdims=True) ** (1 / p)).astype(x.dtype)]
    draft.loose = 4


def max_unpool(draft):
    dims = image(draft)
    kernel = [draft.integer(1, 3) for _ in dims]
    draft.attributes["kernel_shape"] = kernel
    strides = [draft.integer(1, 3) for _ in dims]
    draft.attributes["strides"] = strides
    full = [(size - 1) * stride + k for size, stride, k in zip(dims, strides, kernel)]
    shape = [draft.integer(1, 2), draft.integer(1, 2), *dims]
    draft.draw("T1", shape, "finite")
    target = shape[:2] + full
    total = int(np.prod(target))
    count = int(np.prod(shape))
    if count > total:
        raise Unfit
    draft.ints(draft.numpy.permutation(total)[:count].reshape(shape))
    draft.exact = True

    def formula(x, places, *_):
        result = np.zeros(total, x.dtype)
        result[places.reshape(-1)] = x.reshape(-1)
        return [result.reshape(target)]
    draft.expected = formula


def roi_align(draft):
    n, c = draft.integer(1, 2), draft.integer(1, 3)
    dims = [draft.integer(2, 8), draft.integer(2, 8)]
    draft.draw("T1", [n, c, *dims], "finite")
    count = draft.integer(0, 4)
    corners = np.sort(draft.numpy.uniform(0, 8, [count, 2, 2]), 1).reshape(count, 4)
    element = draft.element("T1")
    draft.add(corners.astype(DTYPES[element]))
    draft.ints(draft.numpy.integers(0, n, [count]))
    draft.maybe("output_height", draft.integer(1, 3))
    draft.maybe("output_width", draft.integer(1, 3))
    draft.maybe("sampling_ratio", draft.integer(0, 3))
    draft.maybe("spatial_scale", draft.choice([1.0, 0.5]))
    draft.maybe("mode", draft.choice(["avg", "max"]))
    if draft.version >= 16:
        draft.maybe("coordinate_transformation_mode", draft.choice(["half_pixel", "output_half_pixel"]))
    draft.loose = 30
    if element in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
        raise Unfit  # corners rounded to few bits land in other cells


def max_roi_pool(draft):
    n, c = draft.integer(1, 2), draft.integer(1, 3)
    dims = [draft.integer(3, 8), draft.integer(3, 8)]
    draft.draw("T", [n, c, *dims], "finite")
    count = draft.integer(0, 3)
    boxes = np.zeros((count, 5))
    boxes[:, 0] = draft.numpy.integers(0, n, count)
    boxes[:, 1:] = np.sort(draft.numpy.integers(0, 6, [count, 2, 2]), 1).reshape(count, 4)
    draft.add(boxes.astype(DTYPES[draft.element("T")]))
    draft.attributes["pooled_shape"] = [draft.integer(1, 3), draft.integer(1, 3)]
    draft.maybe("spatial_scale", draft.choice([1.0, 0.5]))
    draft.older = 1


def deform_conv(draft):
    dims = [draft.integer(2, 6), draft.integer(2, 6)]
    kernel = window(draft, dims)
    draft.attributes.pop("auto_pad", None)
    strides = draft.attributes.get("strides", [1, 1])
    dilations = draft.attributes.get("dilations", [1, 1])
    pads = draft.attributes.get("pads", [0, 0, 0, 0])
    outs = [(dims[axis] + pads[axis] + pads[axis + 2] - ((kernel[axis] - 1) * dilations[axis] + 1)) // strides[axis] + 1
            for axis in range(2)]
    if min(outs) < 1:
        raise Unfit
    group, offsets = draft.choice([1, 1, 2]), draft.choice([1, 1, 2])
    inner, outer, n = draft.integer(1, 2) * offsets, draft.integer(1, 3), draft.integer(1, 2)
    if inner * group % offsets:
        raise Unfit
    draft.attributes.update(group=group, offset_group=offsets)
    draft.draw("T", [n, inner * group, *dims], "unit")
    draft.draw("T", [outer * group, inner, *kernel], "unit")
    cells = int(np.prod(kernel))
    draft.draw("T", [n, offsets * cells * 2, *outs], "unit")
    if draft.chance(0.5):
        draft.draw("T", [outer * group], "unit")
    else:
        draft.skip()
    if draft.chance(0.5):
        draft.draw("T", [n, offsets * cells, *outs], "unit")
    draft.magnitude, draft.loose = 10, 10


def col2im(draft):
    dims = image(draft, 1, 3)
    kernel = window(draft, dims, size_key=None)
    draft.attributes.pop("auto_pad", None)
    draft.attributes.pop("kernel_shape", None)
    rank = len(dims)
    strides = draft.attributes.get("strides", [1] * rank)
    dilations = draft.attributes.get("dilations", [1] * rank)
    pads = draft.attributes.get("pads", [0] * (2 * rank))
    outs = [(dims[axis] + pads[axis] + pads[axis + rank] - ((kernel[axis] - 1) * dilations[axis] + 1)) // strides[axis] + 1
            for axis in range(rank)]
    if min(outs) < 1:
        raise Unfit
    draft.draw("T", [draft.integer(1, 2), draft.integer(1, 2) * int(np.prod(kernel)), int(np.prod(outs))], "finite")
    draft.ints(dims)
    draft.ints(kernel)
    draft.loose = 8


def resize(draft):
    shape = [draft.dim(1, 3), draft.dim(1, 3)] + [draft.integer(1, 6) for _ in range(draft.integer(1, 2))]
    if draft.name == "Upsample":
        return upsample(draft, shape)
    rank = len(shape)
    if draft.version == 10:
        draft.draw("T", shape, "finite")
        if draft.maybe("mode", draft.choice(["nearest", "linear"])) and draft.attributes["mode"] == "linear" and draft.element(
                "T") not in FLOATS:
            raise Unfit  # how results are rounded the text does not say
        scales = [1.0, 1.0] + [draft.choice([1.0, 2.0, 3.0, 0.5]) for _ in shape[2:]]
        draft.add(np.array(scales, np.float32))
        draft.loose = 8
        return
    mode = draft.choice(["nearest", "linear", "cubic"])
    draft.maybe("mode", mode)
    mode = draft.attributes.get("mode", "nearest")
    transforms = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    if draft.version >= 13:
        transforms.append("tf_crop_and_resize")
    if draft.version == 11:
        transforms.append("tf_half_pixel_for_nn")
    if draft.version >= 19:
        transforms.append("half_pixel_symmetric")
    draft.maybe("coordinate_transformation_mode", draft.choice(transforms))
    transform = draft.attributes.get("coordinate_transformation_mode")
    if mode == "nearest":
        draft.maybe("nearest_mode", draft.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    if mode == "cubic":
        draft.maybe("cubic_coeff_a", draft.choice([-0.5, -0.75]))
        draft.maybe("exclude_outside", draft.integer(0, 1))
    if draft.version >= 18 and mode != "nearest":
        draft.maybe("antialias", draft.integer(0, 1), 0.4)
    draft.draw("T1" if draft.version >= 11 else "T", shape, "finite")
    element = draft.element("T1")
    if element not in FLOATS and mode != "nearest":
        raise Unfit  # how results are rounded the text does not say
    axes = list(range(rank))
    if draft.version >= 18 and draft.chance(0.5):
        axes = sorted(draft.random.sample(range(rank), draft.integer(1, rank)))
        draft.attributes["axes"] = axes
    if transform == "tf_crop_and_resize":
        low = draft.numpy.uniform(0, 0.5, len(axes))
        high = draft.numpy.uniform(0.5, 1, len(axes))
        draft.add(np.concatenate([low, high]).astype(np.float32))
        draft.maybe("extrapolation_value", 1.5)
    else:
        draft.skip() if draft.version >= 13 else draft.add(np.zeros([0], np.float32))
    if draft.chance(0.5) and transform != "tf_crop_and_resize":
        draft.add(np.array([draft.choice([1.0, 2.0, 0.5, 1.5, 0.75, 3.0]) if axis > 1 else 1.0 for axis in axes], np.float32))
        if any(int(shape[axis] * scale) < 1 for axis, scale in zip(axes, draft.inputs[-1].content)):
            raise Unfit
    else:
        draft.skip() if draft.version >= 13 else draft.add(np.zeros([0], np.float32))
        draft.ints([draft.integer(1, 9) if axis > 1 else shape[axis] for axis in axes])
        if draft.version >= 18 and draft.chance(0.4):
            draft.attributes["keep_aspect_ratio_policy"] = draft.choice(["stretch", "not_larger", "not_smaller"])
    draft.loose = 1e7 if element == TensorProto.DOUBLE else 30  # the reference scales by floats
    if transform == "tf_half_pixel_for_nn":  # which the reference does not know
        if mode != "nearest":
            raise Unfit
        draft.expected = lambda x, roi, scales, sizes=None: [half_pixel_for_nn(draft, x, scales, sizes)]
        return
    if element in COMPLEX:
        part = np.float32 if element == TensorProto.COMPLEX64 else np.float64
        draft.expected = lambda x, *rest: [(node_answer("Resize", draft.version, [x.real.astype(part), *rest], **draft.attributes)[0] +
                                            1j * node_answer("Resize", draft.version, [x.imag.astype(part), *rest],
                                                             **draft.attributes)[0]).astype(x.dtype)]


def half_pixel_for_nn(draft, x, scales, sizes):
    round_to = {"round_prefer_floor": lambda at: np.ceil(at - 0.5), "round_prefer_ceil": lambda at: np.floor(at + 0.5),
                "floor": np.floor, "ceil": np.ceil}[draft.attributes.get("nearest_mode", "round_prefer_floor")]
    for axis, size in enumerate(x.shape):
        count = int(sizes[axis]) if sizes is not None else int(np.floor(size * scales[axis]))
        scale = count / size if sizes is not None else float(scales[axis])
        places = round_to((np.arange(count) + 0.5) / scale)
        x = np.take(x, np.clip(places, 0, size - 1).astype(np.int64), axis)
    return x


def upsample(draft, shape):
    draft.draw("T", shape, "finite")
    draft.maybe("mode", draft.choice(["nearest", "linear"] if draft.version >= 7 else ["nearest", "bilinear"]))
    scales = [1.0, 1.0] + [draft.choice([1.0, 2.0, 3.0]) for _ in shape[2:]]
    if draft.version < 7:
        if len(shape) != 4:
            raise Unfit
        draft.attributes.update(height_scale=scales[2], width_scale=scales[3])
    elif draft.version < 9:
        draft.attributes["scales"] = scales
    else:
        draft.add(np.array(scales, np.float32))
    if draft.attributes.get("mode", "nearest") == "nearest":
        def nearest(x, *_):
            for axis, scale in enumerate(scales):
                x = np.repeat(x, int(scale), axis)
            return [x]
        draft.expected = nearest
    else:
        if draft.element("T") not in FLOATS:
            raise Unfit
        draft.loose = 8


def grid_sample(draft):
    rank = 2 if draft.version < 20 else draft.choice([2, 2, 3])
    shape = [draft.integer(1, 2), draft.integer(1, 2)] + [draft.integer(1, 6) for _ in range(rank)]
    modes = ["bilinear", "nearest", "bicubic"] if draft.version < 20 else ["linear", "nearest", "cubic"]
    if rank == 3:
        modes = modes[:2]
    draft.maybe("mode", draft.choice(modes))
    draft.maybe("padding_mode", draft.choice(["zeros", "border", "reflection"]))
    draft.maybe("align_corners", draft.integer(0, 1))
    element = draft.element("T1")
    if element not in FLOATS and draft.attributes.get("mode") != "nearest" or element == TensorProto.STRING:
        raise Unfit  # how results are rounded, and what a string's zero is, the text does not say
    draft.draw("T1", shape, "finite")
    outs = [draft.integer(1, 4) for _ in range(rank)]
    kind = draft.element("T2")
    if kind in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
        raise Unfit  # coordinates of few bits
    draft.add(draft.numpy.uniform(-1.3, 1.3, [shape[0], *outs, rank]).astype(DTYPES[kind]))
    draft.loose = 1e7 if element == TensorProto.DOUBLE else 100  # the reference works in floats
    if draft.version < 20:
        names = {"bilinear": "linear", "bicubic": "cubic"}
        draft.expected = lambda x, grid: node_answer("GridSample", 20, [x, grid], **{
            name: names.get(value, value) for name, value in draft.attributes.items()})


def affine_grid(draft):
    rank = draft.choice([2, 3])
    draft.draw("T1", [draft.integer(1, 3), rank, rank + 1], "unit")
    draft.ints([draft.inputs[0].content.shape[0], draft.integer(1, 3)] + [draft.integer(1, 5) for _ in range(rank)])
    draft.maybe("align_corners", draft.integer(0, 1))
    draft.magnitude = 4

    def formula(theta, size):
        spots = []
        for count in size[2:]:
            if draft.attributes.get("align_corners"):
                spots.append(np.linspace(-1, 1, count))
            else:
                spots.append((2 * np.arange(count) + 1) / count - 1)
        grid = np.stack([*np.meshgrid(*spots, indexing="ij")][::-1] + [np.ones(size[2:])], -1)
        return [np.einsum("...k,nik->n...i", grid, theta.astype(np.float64)).astype(theta.dtype)]
    draft.expected = formula


def fused_conv(draft):
    dims = image(draft, 1, 2)
    kernel = window(draft, dims)
    x = draft.add(draft.data(TensorProto.FLOAT, [1, 2, *dims], "finite"))
    w = draft.add(draft.data(TensorProto.FLOAT, [3, 2, *kernel], "finite"))
    draft.add(draft.data(TensorProto.FLOAT, [3], "finite"))
    kind = draft.choice([None, "Relu", "Tanh", "Sigmoid"])
    if kind:
        draft.attributes["activation"] = kind
    draft.magnitude = greatest(x) * greatest(w) * 10 + 10
    functions = {None: lambda y: y, "Relu": lambda y: np.maximum(y, 0), "Tanh": np.tanh, "Sigmoid": lambda y: 1 / (1 + np.exp(-y))}
    draft.expected = lambda x, w, b: [functions[kind](convolve(draft, x.astype(np.float64), w.astype(np.float64), b)).astype(x.dtype)]


STRATEGIES = {
    "Conv": conv, "ConvInteger": conv, "QLinearConv": conv, "ConvTranspose": conv_transpose, "AveragePool": pool,
    "MaxPool": pool, "LpPool": pool, "GlobalAveragePool": global_pool, "GlobalMaxPool": global_pool, "GlobalLpPool": global_pool,
    "MaxUnpool": max_unpool, "RoiAlign": roi_align, "MaxRoiPool": max_roi_pool, "DeformConv": deform_conv, "Col2Im": col2im,
    "Resize": resize, "Upsample": resize, "GridSample": grid_sample, "AffineGrid": affine_grid, "FusedConv": fused_conv,
}
