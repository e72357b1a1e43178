"""Operators that run bodies: If, Loop, Scan. Their values may come from the outer scope, and change shape in between."""
import numpy as np
from onnx import helper, numpy_helper

from draft import Unfit
from engine import ELEMENTS


def info(name, dtype, shape=None):
    return helper.make_tensor_value_info(name, ELEMENTS[np.dtype(dtype)], shape)


def operator(draft):
    """An operator that every version has in the same form, with numpy's function."""
    return draft.choice([("Add", np.add), ("Mul", np.multiply), ("Sub", np.subtract)])


def constant(name, content):
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(content), name))


def pick_float(draft):
    return draft.choice([np.float32, np.float64])


def if_(draft):
    dtype = pick_float(draft)
    count = draft.integer(1, 3)
    draft.outputs = count
    draft.exact = True
    draft.add(np.array(draft.chance(0.5)).reshape([] if draft.chance(0.7) else [1]))
    branches = []
    for branch in range(2):
        nodes, outputs, values = [], [], []
        for index in range(count):
            content = draft.data(ELEMENTS[np.dtype(dtype)], draft.shape(0, 3, 40), "finite")
            name, function = operator(draft)
            nodes += [constant(f"a{branch}{index}", content), helper.make_node(
                name, [f"a{branch}{index}"] * 2, [f"o{branch}{index}"])]
            outputs.append(info(f"o{branch}{index}", dtype))
            with np.errstate(all="ignore"):
                values.append(np.asarray(function(content, content)))
        branches.append((helper.make_graph(nodes, f"b{branch}", [], outputs), values))
    draft.attributes.update(then_branch=branches[0][0], else_branch=branches[1][0])
    if draft.version < 7:
        raise Unfit  # operators in the bodies of so old a form broadcast otherwise
    draft.expected = lambda condition: branches[0][1] if condition.reshape(()) else branches[1][1]


def loop(draft):
    """Carried values of a shape that stays or grows, and outputs gathered from the rounds."""
    if draft.version < 7:
        raise Unfit
    dtype = pick_float(draft)
    grows = draft.chance(0.3) and draft.version >= 11
    rounds = draft.integer(0, 5)
    stop = draft.integer(1, 6)
    count_given, condition_given = draft.chance(0.8), draft.chance(0.6)
    if not count_given:
        condition_given = True
    if count_given:
        draft.add(np.array(rounds, np.int64).reshape([] if draft.chance(0.7) else [1]))
    else:
        draft.skip()
    first = draft.chance(0.9)
    if condition_given:
        draft.add(np.array(first))
    else:
        draft.skip()
    shape = draft.shape(1, 2, 30)
    start = draft.add(draft.data(ELEMENTS[np.dtype(dtype)], shape, "finite"))
    name, function = operator(draft)
    step = draft.data(ELEMENTS[np.dtype(dtype)], [], "unit")
    nodes = [constant("step", step), helper.make_node(name, ["carry", "step"], ["moved"]), constant("limit", np.array(stop - 1, np.int64))]
    nodes.append(helper.make_node("Less", ["round", "limit"], ["more"]) if draft.version >= 9 else constant("more", np.array(True)))
    if draft.version < 9 and not count_given:
        raise Unfit
    if grows:
        nodes.append(helper.make_node("Concat", ["moved", "moved"], ["next"], axis=0))
    else:
        nodes.append(helper.make_node("Identity", ["moved"], ["next"]))
    nodes.append(helper.make_node("Identity", ["carry"], ["seen"]))
    gathered = not grows and draft.chance(0.6)
    outputs = [info("more", np.bool_), info("next", dtype)] + ([info("seen", dtype)] if gathered else [])
    draft.attributes["body"] = helper.make_graph(
        nodes, "body", [info("round", np.int64, []), info("go", np.bool_, []), info("carry", dtype)], outputs)
    draft.outputs = 2 if gathered else 1
    draft.elementwise = True

    def run(*_):
        value, seen, done, go = start, [], 0, first if condition_given else True
        while go and (not count_given or done < rounds):
            seen.append(value)
            with np.errstate(all="ignore"):
                value = np.asarray(function(value, step), dtype)
            if grows:
                value = np.concatenate([value, value])
            go = done < stop - 1 if draft.version >= 9 else True
            done += 1
        if not gathered:
            return [value]
        return [value, np.stack(seen)]
    if grows and (rounds if count_given else stop) > 4:
        raise Unfit
    draft.expected = run
    if gathered and (count_given and not rounds or condition_given and not first):
        raise Unfit  # of the shape of what no round gave the text says nothing


def scan(draft):
    if draft.version < 9:
        raise Unfit
    dtype = pick_float(draft)
    steps = draft.integer(1, 5)
    shape = draft.shape(1, 2, 30)
    name, function = operator(draft)
    inputs = draft.integer(1, 2)
    state = draft.add(draft.data(ELEMENTS[np.dtype(dtype)], shape, "finite"))
    draft.attributes["num_scan_inputs"] = inputs
    axes = [draft.integer(0, len(shape)) for _ in range(inputs)]
    backward = [draft.integer(0, 1) for _ in range(inputs)]
    contents = []
    for axis in axes:
        full = list(shape)
        full.insert(axis, steps)
        contents.append(draft.add(draft.data(ELEMENTS[np.dtype(dtype)], full, "finite")))
    out_axis, out_backward = draft.integer(0, len(shape)), draft.integer(0, 1)
    if any(axes) or draft.chance(0.3):
        draft.attributes["scan_input_axes"] = [axis - len(shape) - 1 if draft.version >= 11 and draft.chance(0.3) else axis
                                               for axis in axes]
    if any(backward) or draft.chance(0.3):
        draft.attributes["scan_input_directions"] = backward
    if out_axis or draft.chance(0.3):
        draft.attributes["scan_output_axes"] = [out_axis]
    if out_backward or draft.chance(0.3):
        draft.attributes["scan_output_directions"] = [out_backward]
    nodes, last = [], "state"
    for index in range(inputs):
        nodes.append(helper.make_node(name, [last, f"item{index}"], [f"sum{index}"]))
        last = f"sum{index}"
    nodes.append(helper.make_node("Identity", [last], ["seen"]))
    draft.attributes["body"] = helper.make_graph(
        nodes, "body", [info("state", dtype, shape)] + [info(f"item{index}", dtype, shape) for index in range(inputs)],
        [info(last, dtype, shape), info("seen", dtype, shape)])
    draft.outputs = 2
    draft.elementwise = True

    def run(*_):
        value, seen = state, []
        for step in range(steps):
            for content, axis, reverse in zip(contents, axes, backward):
                with np.errstate(all="ignore"):
                    value = np.asarray(function(value, np.take(content, steps - 1 - step if reverse else step, axis)), dtype)
            seen.append(value)
        return [value, np.stack(seen[::-1] if out_backward else seen, out_axis)]
    draft.expected = run


STRATEGIES = {"If": if_, "Loop": loop, "Scan": scan}
