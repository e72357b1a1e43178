"""Arrays in and out: types, layouts, memory."""
import array

import ml_dtypes
import numpy as np
import pytest
from conftest import identity, make_model, tensor
from onnx import TensorProto, helper

import ingot

PLAIN = [np.float32, np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64, np.bool_, np.float16, np.float64, np.uint32,
         np.uint64, np.complex64, np.complex128]
BEYOND = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2,
          ml_dtypes.float8_e5m2fnuz, ml_dtypes.uint4, ml_dtypes.int4, ml_dtypes.float4_e2m1fn]


@pytest.mark.parametrize("dtype", PLAIN + BEYOND, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 3)], ids=str)
def test_every_element_type_goes_in_and_out(dtype, shape):
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    opset = 23 if np.dtype(dtype) == np.dtype(ml_dtypes.float4_e2m1fn) else 21
    session = ingot.load(identity(element, [None] * len(shape), opset))
    x = (np.arange(int(np.prod(shape))) % 5).reshape(shape).astype(dtype)
    y = session(x)
    assert y.dtype == x.dtype and y.shape == x.shape
    np.testing.assert_array_equal(y.astype(np.complex128), x.astype(np.complex128))


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4], ids=str)
def test_packed_integers_keep_sign_and_order(dtype):
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x = np.array([7, -8, 1, -1, 3] if dtype == ml_dtypes.int4 else [15, 0, 9, 8, 1]).astype(dtype)
    np.testing.assert_array_equal(ingot.load(identity(element))(x).astype(np.int32), x.astype(np.int32))


def test_bits_of_types_beyond_numpy_come_in_unsigned_integers():
    x = np.array([1.5, -2, 0], np.float32).astype(ml_dtypes.bfloat16)
    y = ingot.load(identity(TensorProto.BFLOAT16))(x.view(np.uint16))
    assert y.dtype == np.dtype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(y.view(np.uint16), x.view(np.uint16))


@pytest.mark.parametrize("make", [
    lambda x: x, lambda x: x[::2], lambda x: x[::-1], lambda x: x.astype(">f4"), lambda x: np.asfortranarray(x),
    lambda x: x.T, lambda x: np.broadcast_to(x[:1], x.shape)], ids=["row-major", "steps", "reversed", "big-endian", "fortran",
                                                                     "transposed", "broadcast"])
def test_layouts_that_are_not_row_major_are_read_right(make):
    x = make(np.arange(12, dtype=np.float32).reshape(3, 4))
    np.testing.assert_array_equal(ingot.load(identity(shape=["a", "b"]))(x), x)


def test_lists_and_numbers_become_the_declared_type():
    y = ingot.load(identity(TensorProto.INT64, ["a", "b"]))([[1, 2], [3, 4]])
    assert y.dtype == np.int64 and y.tolist() == [[1, 2], [3, 4]]
    assert ingot.load(identity(shape=[]))(2.5) == np.float32(2.5)
    assert ingot.load(identity(shape=[]))(np.float32(2.5)).shape == ()


def test_buffers_are_read():
    assert ingot.load(identity())(array.array("f", [1, 2])).tolist() == [1, 2]
    assert ingot.load(identity(TensorProto.UINT8))(bytearray(b"ab")).tolist() == [97, 98]
    assert ingot.load(identity(TensorProto.UINT8))(memoryview(b"abc")[1:]).tolist() == [98, 99]


class OnlyDlpack:
    def __init__(self, held):
        self.held = held

    def __dlpack__(self, **_):
        return self.held.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)

    def __array__(self, *_, **__):
        return self.held


def test_dlpack_is_read_where_it_lies():
    x = np.arange(4, dtype=np.float32)
    session = ingot.load(identity())
    assert session(OnlyDlpack(x)).tolist() == [0, 1, 2, 3]
    assert session(OnlyDlpack(x[::2])).tolist() == [0, 2]
    binding = session.bind().input("x", OnlyDlpack(x))
    x[0] = 9
    assert binding.run()["y"].tolist() == [9, 1, 2, 3]


def test_outputs_own_their_memory():
    session = ingot.load(identity())
    first, second = session(np.ones(3, np.float32)), session(np.zeros(3, np.float32))
    del session
    assert first.tolist() == [1, 1, 1] and second.tolist() == [0, 0, 0]
    first[0] = 5
    assert first.flags.writeable and second[0] == 0


def test_an_input_and_an_output_are_not_copied():
    session = ingot.load(identity(shape=["n"]))
    binding = session.bind()
    x, y = np.zeros(1 << 20, np.float32), np.empty(1 << 20, np.float32)
    binding.input("x", x).output("y", y)
    x[:] = 3
    binding.run()
    assert (y == 3).all() and binding["y"] is y
    x[:] = 4
    result = session.run({"x": x}, out={"y": y})["y"]
    assert (y == 4).all() and result.__array_interface__["data"] == y.__array_interface__["data"]


@pytest.mark.parametrize("target", [np.empty(4, np.float32)[::2], np.empty(2, ">f4"), [0, 0]], ids=["steps", "order", "list"])
def test_outputs_are_only_written_where_their_memory_can_be_used(target):
    with pytest.raises(TypeError, match="row-major"):
        ingot.load(identity()).run({"x": np.ones(2, np.float32)}, out={"y": target})


def test_a_read_only_array_is_no_target():
    target = np.zeros(2, np.float32)
    target.flags.writeable = False
    with pytest.raises(TypeError, match="writeable"):
        ingot.load(identity()).run({"x": np.ones(2, np.float32)}, out={"y": target})
    assert not target.any()


def test_a_target_of_another_shape_is_refused():
    target = np.zeros(3, np.float32)
    with pytest.raises(ingot.InvalidInput, match="y"):
        ingot.load(identity()).run({"x": np.ones(2, np.float32)}, out={"y": target})
    assert not target.any()


@pytest.mark.parametrize("x", [np.array(["a", "", "ü€"]), np.array(["a", "", "ü€"], object), ["a", "", "ü€"]],
                         ids=["unicode", "object", "list"])
def test_strings_go_in_and_out(x):
    y = ingot.load(identity(TensorProto.STRING))(x)
    assert y.dtype == object and y.tolist() == ["a", "", "ü€"]


def test_bytes_that_are_no_text_come_back_as_they_were():
    y = ingot.load(identity(TensorProto.STRING))(np.array([b"\xff\x00a"], object))
    assert y[0].encode("utf-8", "surrogateescape") == b"\xff\x00a"


def test_text_that_has_no_utf8_is_refused():
    with pytest.raises(ValueError, match="'x'.*surrogates"):
        ingot.load(identity(TensorProto.STRING))(["\ud800"])


def test_sequences_are_lists():
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    model = make_model([helper.make_node("Identity", ["x"], ["y"])], [helper.make_value_info("x", kind)],
                       [helper.make_value_info("y", kind)])
    session = ingot.load(model)
    assert session.inputs[0].type == "seq(tensor(float))"
    y = session([np.ones(2, np.float32), np.zeros((1, 3), np.float32)])
    assert [item.shape for item in y] == [(2,), (1, 3)]
    assert session([]) == []
    del session
    assert y[0].tolist() == [1, 1]


def test_optionals_hold_a_value_or_none():
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"])
    kind = helper.make_optional_type_proto(inner)
    session = ingot.load(make_model([helper.make_node("Identity", ["x"], ["y"])], [helper.make_value_info("x", kind)],
                                    [helper.make_value_info("y", kind)]))
    assert session.inputs[0].type == "optional(tensor(float))"
    assert session(np.ones(2, np.float32)).tolist() == [1, 1]
    assert session(None) is None


def test_maps_are_dicts():
    # ZipMap gives a sequence of maps: rows of scores, by label
    model = make_model([helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["a", "b"])],
                       [tensor("x", shape=["n", 2])],
                       [helper.make_value_info("y", helper.make_sequence_type_proto(helper.make_map_type_proto(
                           TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))))])
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    session = ingot.load(model)
    assert session.outputs[0].type == "seq(map(string,tensor(float)))"
    assert session(np.array([[.25, .75], [1, 0]], np.float32)) == [{"a": .25, "b": .75}, {"a": 1, "b": 0}]


def test_a_map_is_an_input():
    kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    model = make_model([helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[3, 5])],
                       [helper.make_value_info("x", kind)], [tensor("y", shape=[1, 2])])
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    assert ingot.load(model)({5: 2.5}).ravel().tolist() == [0, 2.5]


@pytest.mark.parametrize("value, error, words", [
    (object(), TypeError, "'x'"), (np.array([object()]), TypeError, "'x'"), ("text", ValueError, "'x'"),
    ([[1], [1, 2]], ValueError, "'x'"), (np.zeros(2), ingot.InvalidInput, "'x' is double.* takes float"),
    (np.zeros((2, 2), np.float32), ingot.InvalidInput, "rank"),
    (np.array(["2020-01-01"], "M8[D]"), TypeError, "datetime64"), (np.zeros((1,) * 17, np.float32), ValueError, "dimensions")],
    ids=["object", "objects", "text", "ragged", "type", "rank", "date", "dimensions"])
def test_what_is_no_input_is_refused_by_name(value, error, words):
    with pytest.raises(error, match=words):
        ingot.load(identity())(value)
