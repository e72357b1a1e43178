"""Arrays in and out: NumPy is the judge."""
import io
import struct

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

NUMBERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
           "float64", "complex64", "complex128"]


def element_of(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def sample(dtype, shape):
    numbers = np.arange(int(np.prod(shape))).reshape(shape) - 5
    return (numbers > 0) if dtype == "bool" else numbers.astype(dtype)


def save(path, array, **more):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, **more)
    return path


@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_type_passes_through(through, tmp_path, dtype):
    array = sample(dtype, (2, 3, 4))
    got = through(save(tmp_path / "x.npy", array), element_of(dtype), [2, 3, 4])
    assert got.dtype == array.dtype and np.array_equal(got, array)


@pytest.mark.parametrize("dtype", ["int16", "float16", "float32", "float64", "complex64"])
def test_big_endian(through, tmp_path, dtype):
    array = sample(dtype, (3, 5))
    got = through(save(tmp_path / "x.npy", array.astype(array.dtype.newbyteorder(">"))), element_of(dtype), [3, 5])
    assert np.array_equal(got, array)


@pytest.mark.parametrize("shape", [(2, 3), (4, 1, 3), (2, 3, 4, 5)])
def test_fortran_order(through, tmp_path, shape):
    array = sample("float32", shape)
    path = save(tmp_path / "x.npy", np.asfortranarray(array))
    assert b"'fortran_order': True" in path.read_bytes()
    assert np.array_equal(through(path, TensorProto.FLOAT, shape), array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(through, tmp_path, version):
    array = sample("float32", (2, 2))
    assert np.array_equal(through(save(tmp_path / "x.npy", array, version=version), TensorProto.FLOAT, [2, 2]), array)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (7,)])
def test_scalars_and_empty_arrays(through, tmp_path, shape):
    array = sample("int64", shape)
    got = through(save(tmp_path / "x.npy", array), TensorProto.INT64, list(shape))
    assert got.shape == shape and np.array_equal(got, array)


@pytest.mark.parametrize("strings", [
    ["a", "", "longer"], ["größer", "日本", "🙂"], ["in\0side", "\0first"], [""], [],
    np.array([["b", "c"], ["d", "e"]], order="F"),
])
@pytest.mark.parametrize("order", ["<", ">"])
def test_unicode_strings(through, tmp_path, strings, order):
    array = np.array(strings, dtype=str if len(strings) else "U1")
    path = save(tmp_path / "x.npy", array.astype(array.dtype.newbyteorder(order)))
    got = through(path, TensorProto.STRING, list(array.shape))
    assert got.dtype.kind == "U" and got.shape == array.shape and (got == array).all()


def test_byte_strings_come_back_as_unicode(through, tmp_path):
    got = through(save(tmp_path / "x.npy", np.array([b"abc", b"", b"d"])), TensorProto.STRING, [3])
    assert got.tolist() == ["abc", "", "d"]


def test_strings_that_are_no_utf8_are_written_as_bytes(through, tmp_path):
    got = through(save(tmp_path / "x.npy", np.array([b"\xff\xfe", b"ok"])), TensorProto.STRING, [2])
    assert got.tolist() == [b"\xff\xfe", b"ok"]


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_types_that_numpy_lacks_travel_as_pb(ingot, identity, tmp_path, dtype):
    array = np.array([[1, 2, 3], [0, 1, 7]]).astype(getattr(ml_dtypes, dtype))
    element = helper.np_dtype_to_tensor_dtype(array.dtype)
    onnx.save_tensor(numpy_helper.from_array(array), tmp_path / "x.pb")
    model = identity(x=(element, [2, 3]), opset=25, ir_version=11)
    ingot("run", model, "--input", f"x={tmp_path / 'x.pb'}", "--output-dir", tmp_path / "out")
    tensor = onnx.load_tensor(tmp_path / "out" / "out_x.pb")
    assert tensor.name == "out_x" and tensor.data_type == element
    assert np.array_equal(numpy_helper.to_array(tensor), array)


def damaged(header, data=bytes(16), magic=b"\x93NUMPY\x01\x00"):
    text = header.encode()
    return magic + struct.pack("<H", len(text)) + text + data


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"


DAMAGED = [
    b"", b"\x93NUMPY", b"not an array at all",
    damaged(GOOD, magic=b"\x93NUMPY\x04\x00"),
    damaged(GOOD, data=bytes(15)), damaged(GOOD, data=bytes(17)), damaged(GOOD)[:40],
    damaged(GOOD[:-1]), damaged(GOOD + "}"), damaged(GOOD + "import os"),
    damaged("{}"), damaged("[]"), damaged("{'descr': '<f4', 'shape': (2, 2)}"),
    damaged("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}"),
    damaged("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), 'more': 1}"),
    damaged(GOOD.replace("(2, 2)", "(2, -2)")), damaged(GOOD.replace("(2, 2)", "2")),
    damaged(GOOD.replace("(2, 2)", "(2, 2")), damaged(GOOD.replace("(2, 2)", "(,)")),
    damaged(GOOD.replace("(2, 2)", "(99999999999999999999, 2)")),
    damaged(GOOD.replace("(2, 2)", "(4611686018427387904, 4611686018427387904)")),
    damaged(GOOD.replace("(2, 2)", "(" + "1, " * 17 + ")")),
    damaged(GOOD.replace("<f4", "<f3")), damaged(GOOD.replace("<f4", "")), damaged(GOOD.replace("<f4", "<f4x")),
    damaged(GOOD.replace("'<f4'", "[('a', '<f4')]")), damaged(GOOD.replace("<f4", "|O")),
    damaged(GOOD.replace("<f4", "<M8")), damaged(GOOD.replace("False", "None")),
    damaged(GOOD.replace("<f4", "<U1"), data=struct.pack("<4I", 0x110000, 0, 0, 0)),
    damaged(GOOD.replace("<f4", "<U1"), data=struct.pack("<4I", 0xD800, 0, 0, 0)),
    damaged(GOOD.replace("<f4", "<U0").replace("(2, 2)", "(4000000000,)"), data=b""),
]


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_file_is_refused_by_name(ingot, identity, tmp_path, content):
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    for element in (TensorProto.FLOAT, TensorProto.STRING):
        message = ingot("run", identity(x=(element, ["A", "B"])), "--input", path, code=1).stderr
        assert str(path) in message and "'x'" in message


def test_object_arrays_are_refused_with_advice(ingot, identity, tmp_path):
    np.save(tmp_path / "x.npy", np.array(["a", None], dtype=object), allow_pickle=True)
    message = ingot("run", identity(x=(TensorProto.STRING, ["N"])), "--input", tmp_path / "x.npy", code=1).stderr
    assert "astype(str)" in message


def test_output_is_what_numpy_writes(through, tmp_path):
    array = sample("float32", (5,))
    through(save(tmp_path / "x.npy", array), TensorProto.FLOAT, [5])
    expected = io.BytesIO()
    np.save(expected, array)
    assert (tmp_path / "out" / "out_x.npy").read_bytes() == expected.getvalue()
