"""What the random cases found wrong in Ingot, each kept as one small case with the value that the ONNX text gives."""
import os
import pathlib
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import engine  # noqa: E402
from draft import tensor_type  # noqa: E402

COMMAND = pathlib.Path(os.environ.get("INGOT", str(engine.ROOT / "build" / "ingot")))
LIBRARY = pathlib.Path(os.environ.get("INGOT_LIBRARY", COMMAND.parent / "src" / "libingot.so"))
pytestmark = pytest.mark.skipif(not LIBRARY.exists() or b"__asan_init" in LIBRARY.read_bytes(),
                                reason="needs the library without sanitizers")


@pytest.fixture(scope="module")
def ingot():
    return engine.Engine(str(LIBRARY))


@pytest.fixture(params=[0, 1, 2])
def run(ingot, request):
    """Runs one node: inputs by order, None for one left out; kinds gives types that are no tensors of their own content."""
    def one(name, opset, *inputs, domain="", kinds=(), constants=(), outputs=1, **attributes):
        names = [f"x{index}" if content is not None else "" for index, content in enumerate(inputs)]
        types = {names[index]: dict(kinds).get(index) or tensor_type(engine.ELEMENTS[content.dtype])
                 for index, content in enumerate(inputs) if content is not None and index not in constants}
        fixed = [numpy_helper.from_array(inputs[index], names[index]) for index in constants]
        infos = [onnx.ValueInfoProto(name=f"y{index}") for index in range(outputs)]
        graph = helper.make_graph([helper.make_node(name, names, [info.name for info in infos], domain=domain, **attributes)],
                                  "kept", [helper.make_value_info(*item) for item in types.items()], infos, fixed)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, opset)], ir_version=10)
        feed = {key: content for key, content in zip(names, inputs) if key in types}
        return ingot.run(model.SerializeToString(), feed, types, request.param)
    return one


def same(found, *expected):
    assert len(found) == len(expected)
    for one, two in zip(found, expected):
        two = np.asarray(two)
        assert one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes(), (one, two)


def test_slice_whose_starts_only_the_run_tells(run):
    same(run("Slice", 13, np.array([9], np.uint16), np.array([3], np.int32), np.array([2], np.int32), constants=(0, 2)),
         np.zeros([0], np.uint16))


def test_slice_of_which_only_the_steps_are_constant(run):
    lists = [np.array(values, np.int64) for values in ([8], [2 ** 63 - 1], [0], [-2])]
    same(run("Slice", 13, np.arange(14, dtype=np.float32).reshape(7, 2), *lists, constants=(4,)), np.zeros([0, 2], np.float32))


def test_first_tile_repeats_by_floats(run):
    same(run("Tile", 1, np.array([[1, 2]], np.float32), np.array([2], np.float32), np.array([1], np.float32)),
         np.array([[1, 2, 1, 2]], np.float32))


def test_first_split_takes_sizes_as_floats(run):
    same(run("Split", 1, np.arange(4, dtype=np.float32), np.array([1, 3], np.float32), outputs=2),
         np.array([0], np.float32), np.array([1, 2, 3], np.float32))


def test_transpose_of_a_column_of_float8(run):
    content = np.array([[0.5], [2]], engine.DTYPES[TensorProto.FLOAT8E5M2])
    same(run("Transpose", 23, content), content.T.copy())


@pytest.mark.parametrize("opset, last", [(9, 0), (11, 5)])
def test_negative_index_of_one_hot(run, opset, last):
    same(run("OneHot", opset, np.array([-1], np.int64), np.array(2, np.int64), np.array([0, 5], np.float32)),
         np.array([[0, last]], np.float32))


def test_lone_point_of_an_aligned_affine_grid(run):
    theta = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
    same(run("AffineGrid", 20, theta, np.array([1, 1, 1, 2], np.int64), align_corners=1),
         np.array([[[[-1, -1], [1, -1]]]], np.float32))


def test_columns_of_complex_numbers(run):
    columns = np.array([[[1 + 2j, 3], [5j, 7]]], np.complex64)
    same(run("Col2Im", 18, columns, np.array([3], np.int64), np.array([2], np.int64)),
         np.array([[[1 + 2j, 3 + 5j, 7]]], np.complex64))


def test_map_for_the_dict_vectorizer(run):
    kind = helper.make_map_type_proto(TensorProto.STRING, tensor_type(TensorProto.FLOAT))
    same(run("DictVectorizer", 1, {"b": 2.0, "z": 9.0}, domain="ai.onnx.ml", kinds={0: kind}, string_vocabulary=["a", "b"]),
         np.array([0, 2], np.float32))


def test_shrink_keeps_every_bit_of_large_integers(run):
    same(run("Shrink", 9, np.array([2 ** 64 - 1, 2 ** 63 + 1, 0], np.uint64), bias=2.0),
         np.array([2 ** 64 - 3, 2 ** 63 - 1, 0], np.uint64))
    same(run("Shrink", 9, np.array([-2 ** 63, 2 ** 63 - 1], np.int64), bias=1.5), np.array([-2 ** 63 + 2, 2 ** 63 - 3], np.int64))


@pytest.mark.parametrize("opset, least", [(1, -np.inf), (6, np.finfo(np.float32).min)])
def test_clip_without_bounds(run, opset, least):
    same(run("Clip", opset, np.array([-np.inf, 1], np.float32)), np.array([least, 1], np.float32))


def test_padding_with_minus_zero(run):
    for dtype in (np.float32, np.float16):
        same(run("Pad", 2, np.array([1], dtype), pads=[1, 0], value=-0.0), np.array([-0.0, 1], dtype))
