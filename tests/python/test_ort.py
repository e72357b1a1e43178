"""ingot.ort: the names of onnxruntime, and what they do. Where onnxruntime is installed, it says what is right."""
import copy
import importlib
import pathlib
import re
import threading

import numpy as np
import pytest
from conftest import ROOT, identity, make_model, tensor
from onnx import TensorProto, helper

import ingot
import ingot.ort as ort
from ingot.ort.capi import onnxruntime_pybind11_state as state

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

needs_onnxruntime = pytest.mark.skipif(onnxruntime is None, reason="onnxruntime is not installed")
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def ones(count):
    return np.ones(count, np.float32)


@pytest.fixture
def session(add_path):
    return ort.InferenceSession(str(add_path), providers=["CPUExecutionProvider"])


# ---- Names ----

def names_of_the_page():
    """Names in the first column of the tables below "Names of ONNX Runtime"."""
    rows = re.findall(r"^\| (`.*?) \|", PAGE.split("## Names of ONNX Runtime")[1], re.M)
    return {name for row in rows for name in re.findall(r"`([\w.]+)`", row)}


@needs_onnxruntime
def test_the_page_tells_of_every_name():
    listed = names_of_the_page()
    public = {name for name in dir(onnxruntime) if not name.startswith("_") and name not in
              {"contextlib", "import_capi_exception", "onnxruntime_validation"}}
    assert public - listed == set()
    for owner in ("InferenceSession", "SessionOptions", "RunOptions", "OrtValue", "SparseTensor", "IOBinding"):
        members = {f"{owner}.{name}" for name in dir(getattr(onnxruntime, owner)) if not name.startswith("_")}
        assert members - listed == set(), owner


@needs_onnxruntime
def test_what_the_page_says_is_here_is_here():
    tables = PAGE.split("## Names of ONNX Runtime")[1]
    absent = {name for row in re.findall(r"^\| (`.*?) \| not here", tables, re.M) for name in re.findall(r"`([\w.]+)`", row)}
    for name in names_of_the_page() - absent:
        found = ort
        for part in name.split("."):
            assert hasattr(found, part) or part in getattr(found, "__slots__", ()), name
            found = getattr(found, part, None)
    for name in absent:
        first, _, member = name.partition(".")
        assert not hasattr(getattr(ort, first, None) if member else ort, member or first), name


@needs_onnxruntime
def test_options_have_the_same_defaults():
    for here, there in ((ort.SessionOptions(), onnxruntime.SessionOptions()), (ort.RunOptions(), onnxruntime.RunOptions())):
        for name in dir(there):
            value = getattr(there, name)
            if not name.startswith("_") and not callable(value):
                assert getattr(here, name) == (value if isinstance(value, (int, str)) else value.value), name
    for kind in ("GraphOptimizationLevel", "ExecutionMode", "ExecutionOrder", "OrtAllocatorType", "OrtSparseFormat"):
        theirs = {name: member.value for name, member in getattr(onnxruntime, kind).__members__.items()}
        assert {name: member.value for name, member in getattr(ort, kind).__members__.items()} == theirs


def test_the_version_says_whose_it_is():
    assert re.fullmatch(r"\d+\.\d+\.\d+\+ingot\.\d+\.\d+\.\d+", ort.__version__)
    assert ort.get_version_string() == ort.__version__ and "Ingot" in ort.get_build_info()


# ---- Sessions ----

def test_a_session_describes_itself(session):
    assert [(arg.name, arg.type, arg.shape) for arg in session.get_inputs()] == [("x", "tensor(float)", ["n"])]
    assert [arg.name for arg in session.get_overridable_initializers()] == ["w"]
    assert [(arg.name, arg.shape) for arg in session.get_outputs()] == [("y", ["n"])]
    assert repr(session.get_inputs()[0]) == "NodeArg(name='x', type='tensor(float)', shape=['n'])"
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert session.get_provider_options() == {"CPUExecutionProvider": {}}
    meta = session.get_modelmeta()
    assert (meta.producer_name, meta.graph_name, meta.domain, meta.description, meta.version, meta.custom_metadata_map) == \
        ("maker", "graph", "org.example", "adds", 7, {"author": "someone"})
    assert session.end_profiling() == ""


@needs_onnxruntime
def test_a_session_says_what_onnxruntimes_says(session, add_path):
    real = onnxruntime.InferenceSession(str(add_path), providers=["CPUExecutionProvider"])
    for get in ("get_inputs", "get_outputs", "get_overridable_initializers"):
        pairs = zip(getattr(session, get)(), getattr(real, get)())
        assert all((a.name, a.type, a.shape) == (b.name, b.type, b.shape) for a, b in pairs)
    ours, theirs = session.get_modelmeta(), real.get_modelmeta()
    for name in ("producer_name", "graph_name", "domain", "description", "graph_description", "version", "custom_metadata_map"):
        assert getattr(ours, name) == getattr(theirs, name), name


@pytest.mark.parametrize("outputs", [None, [], ["y"], ("y",)], ids=str)
def test_a_run_gives_a_list(session, outputs):
    result = session.run(outputs, {"x": ones(2)})
    assert isinstance(result, list) and result[0].tolist() == [11, 11]
    assert session.run(output_names=outputs, input_feed={"x": ones(1)}, run_options=None)[0].tolist() == [11]


def test_every_way_to_make_a_session(add_path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    for arguments, keywords in [((str(add_path),), {}), ((add_path, options), {}), ((add_path.read_bytes(),), {}),
                                ((), {"path_or_bytes": str(add_path), "sess_options": options,
                                      "providers": [("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]}),
                                ((str(add_path), None, ["CPUExecutionProvider"], [{"a": 1}]), {}),
                                ((str(add_path),), {"providers": ort.get_available_providers(), "disabled_optimizers": []})]:
        assert ort.InferenceSession(*arguments, **keywords).run(None, {"x": ones(1)})[0].tolist() == [11]
    assert ort.InferenceSession(add_path, options).get_session_options() is options
    with pytest.raises(TypeError, match="Unable to load"):
        ort.InferenceSession(3)
    with pytest.raises(ValueError, match="same length"):
        ort.InferenceSession(add_path, providers=["CPUExecutionProvider"], provider_options=[{}, {}])


def test_providers_that_there_are_not_warn(add_path):
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        session = ort.InferenceSession(add_path, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_external_data_is_found_in_a_folder_of_the_options(tmp_path):
    import onnx
    weight = helper.make_tensor("w", TensorProto.FLOAT, [300], np.arange(300, dtype=np.float32))
    model = make_model([helper.make_node("Add", ["x", "w"], ["y"])], [tensor("x", shape=[300])], [tensor("y", shape=[300])],
                       [weight])
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    options = ort.SessionOptions()
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(tmp_path))
    session = ort.InferenceSession((tmp_path / "m.onnx").read_bytes(), options)
    np.testing.assert_array_equal(session.run(None, {"x": np.zeros(300, np.float32)})[0], np.arange(300))


# ---- Errors ----

def test_errors_have_onnxruntimes_classes_and_the_librarys_message(session, tmp_path):
    with pytest.raises(state.NoSuchFile, match="NO_SUCHFILE.*none.onnx"):
        ort.InferenceSession(str(tmp_path / "none.onnx"))
    with pytest.raises(state.InvalidGraph):
        ort.InferenceSession(b"no model")
    unknown = make_model([helper.make_node("Foo", ["x"], ["y"], domain="org.example")], [tensor("x")], [tensor("y")])
    unknown.opset_import.append(helper.make_opsetid("org.example", 1))
    with pytest.raises(state.NotImplemented, match="Foo"):
        ort.InferenceSession(unknown.SerializeToString())
    with pytest.raises(ValueError, match=r"Required inputs \(\['x'\]\) are missing from input feed \(\['w'\]\)"):
        session.run(None, {"w": ones(1)})
    with pytest.raises(state.InvalidArgument, match="no input 'z'"):
        session.run(None, {"x": ones(1), "z": ones(1)})
    with pytest.raises(state.InvalidArgument, match="no output 'z'"):
        session.run(["z"], {"x": ones(1)})
    with pytest.raises(state.InvalidArgument, match="double"):
        session.run(None, {"x": np.ones(1)})
    with pytest.raises(RuntimeError):
        session.run(None, {"x": object()})
    assert issubclass(state.Fail, ingot.IngotError)


@needs_onnxruntime
def test_every_exception_class_is_there():
    real = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    theirs = {name for name in dir(real) if isinstance(getattr(real, name), type) and issubclass(getattr(real, name), Exception)}
    assert theirs <= set(state.__all__) | {"DeviceReset"}


def test_a_run_is_ended_by_its_options(slow_model):
    session, options = ort.InferenceSession(slow_model), ort.RunOptions()
    timer = threading.Timer(0.1, setattr, (options, "terminate", True))
    timer.start()
    with pytest.raises(state.Fail, match="cancel"):
        session.run(None, {"x": ones(1)}, options)
    timer.join()
    assert options.terminate


def test_options_refuse_what_they_do_not_have():
    with pytest.raises(AttributeError):
        ort.SessionOptions().no_such_option = 1
    with pytest.raises(ValueError):
        ort.SessionOptions().graph_optimization_level = 17
    with pytest.raises(RuntimeError, match="no.such"):
        ort.SessionOptions().get_session_config_entry("no.such")
    with pytest.raises(state.NoSuchFile, match="none.so"):
        ort.SessionOptions().register_custom_ops_library("none.so")


@pytest.mark.parametrize("level, nodes", [("ORT_DISABLE_ALL", 2), ("ORT_ENABLE_BASIC", 1), ("ORT_ENABLE_ALL", 1)])
def test_the_optimization_level_counts(level, nodes):
    model = make_model([helper.make_node("Identity", ["x"], ["t"]), helper.make_node("Neg", ["t"], ["y"])], [tensor("x")],
                       [tensor("y")]).SerializeToString()
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel[level]
    assert ort.InferenceSession(model, options)._sess.statistics()["node_count"] == nodes


def test_a_profile_is_written_where_it_is_asked_for(add_path, tmp_path):
    import json
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "seen")
    session = ort.InferenceSession(add_path, options)
    assert session.get_profiling_start_time_ns() > 0
    first = session.run(None, {"x": ones(2), "w": [1]})
    assert session.run(["y"], {"x": ones(2)})[0].tolist() == [11, 11] and first[0].tolist() == [2, 2]
    with pytest.raises(state.InvalidArgument):
        session.run(None, {"x": np.ones(2)})
    path = pathlib.Path(session.end_profiling())
    assert path.parent == tmp_path and path.name.startswith("seen")
    events = json.loads(path.read_text(encoding="utf-8"))
    assert [event["name"] for event in events if event["cat"] == "Session"] == ["model_run"] * 2
    nodes = [event for event in events if event["cat"] == "Node"]
    assert [event["args"]["op_name"] for event in nodes] == ["Add", "Add"] and all(event["ph"] == "X" for event in nodes)
    assert session.run(None, {"x": ones(1)})[0].tolist() == [11]
    assert session.end_profiling() == ""


def test_options_without_meaning_are_told_as_the_doctor_tells_them():
    from ingot.ort._options import WITHOUT_MEANING
    assert set(WITHOUT_MEANING) < set(ort.SessionOptions.__slots__) and all(WITHOUT_MEANING.values())


def test_free_sizes_are_laid_out_by_name(add_path):
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("n", 4)
    assert ort.InferenceSession(add_path, options)._sess.statistics()["cached_shapes"] == 1


# ---- Values and bindings ----

def test_a_value_shares_the_memory_of_its_array():
    x = ones(3)
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert (value.shape(), value.data_type(), value.element_type(), value.device_name()) == ([3], "tensor(float)", 1, "cpu")
    assert value.is_tensor() and value.has_value() and not value.is_tensor_sequence() and not value.is_sparse_tensor()
    assert value.data_ptr() == x.ctypes.data and value.tensor_size_in_bytes() == 12
    x[0] = 7
    assert value.numpy().tolist() == [7, 1, 1]
    value.update_inplace(np.zeros(3, np.float32))
    assert x.tolist() == [0, 0, 0]
    for bad in (np.zeros(2, np.float32), np.zeros(3)):
        with pytest.raises(ValueError):
            value.update_inplace(bad)
    assert np.from_dlpack(value).tolist() == [0, 0, 0] and value.__dlpack_device__() == (1, 0)
    assert np.asarray(value, np.int64).dtype == np.int64


def test_values_of_a_shape_and_type():
    assert ort.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32).numpy().tolist() == [[0] * 3] * 2
    assert ort.OrtValue.ortvalue_from_shape_and_type([2], TensorProto.BFLOAT16, "cpu", 0).data_type() == "tensor(bfloat16)"
    bits = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.array([0x3F80], np.uint16), TensorProto.BFLOAT16)
    assert bits.element_type() == TensorProto.BFLOAT16 and float(bits.numpy()[0]) == 1
    with pytest.raises(state.InvalidArgument):
        ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.zeros(1, np.float32), TensorProto.BFLOAT16)
    with pytest.raises(state.InvalidArgument, match="cuda"):
        ort.OrtValue.ortvalue_from_numpy(ones(1), "cuda", 0)
    x = ones(2)
    assert ort.OrtValue.from_dlpack(x).data_ptr() == x.ctypes.data


def test_values_go_through_a_run(session):
    results = session.run_with_ort_values(["y"], {"x": ort.OrtValue.ortvalue_from_numpy(ones(2))})
    assert results[0].numpy().tolist() == [11, 11]
    again = session.run_with_ort_values(None, {"x": results[0]})
    assert again[0].numpy().tolist() == [21, 21]
    fetches = []
    session.run_with_ortvaluevector(None, ["x"], [results[0]], ["y"], fetches, [])
    assert fetches[0].numpy().tolist() == [21, 21]


def test_a_sequence_is_a_value():
    model = make_model([helper.make_node("SplitToSequence", ["x"], ["y"], axis=0)], [tensor("x", shape=["n", 2])],
                       [helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)]).SerializeToString()
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    value, = ort.InferenceSession(model).run_with_ort_values(None, {"x": ort.OrtValue.ortvalue_from_numpy(x)})
    assert value.is_tensor_sequence() and value.data_type() == "seq(tensor(float))"
    assert [item.tolist() for item in value.numpy()] == [[[0, 1]], [[2, 3]]]


def test_bindings_read_and_write_where_they_are_told(session):
    binding = session.io_binding()
    x, y = ones(4), np.zeros(4, np.float32)
    binding.bind_cpu_input("x", x)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    assert binding.copy_outputs_to_cpu()[0].tolist() == [11] * 4
    first = binding.get_outputs()[0]
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    x[:] = 2
    session.run_with_iobinding(binding)
    assert y.tolist() == [12] * 4 and binding.get_outputs()[0].data_ptr() == y.ctypes.data
    assert first.numpy().tolist() == [11] * 4
    target = ort.OrtValue.ortvalue_from_shape_and_type([4], np.float32)
    binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(y))
    binding.bind_ortvalue_output("y", target)
    session.run_with_iobinding(binding, ort.RunOptions())
    assert target.numpy().tolist() == [22] * 4
    binding.clear_binding_inputs()
    with pytest.raises(ValueError, match="missing"):
        session.run_with_iobinding(binding)
    with pytest.raises(state.InvalidArgument, match="cuda"):
        binding.bind_output("y", "cuda")


def test_an_asynchronous_run_calls_back(session):
    done, seen = threading.Event(), []

    def callback(results, user_data, error):
        seen.append((results, user_data, error))
        done.set()

    session.run_async(None, {"x": ones(2)}, callback, "mine")
    assert done.wait(10) and seen[0][0][0].tolist() == [11, 11] and seen[0][1:] == ("mine", "")
    done.clear()
    session.run_async(None, {}, callback, None)
    assert done.wait(10) and seen[1][0] == [] and "Required inputs" in seen[1][2]


def test_sparse_tensors_keep_their_parts():
    device = ort.OrtDevice.make("cpu", 0)
    coo = ort.SparseTensor.sparse_coo_from_numpy([3, 3], np.array([1, 2], np.float32), np.array([1, 5]), device)
    assert coo.format() == ort.OrtSparseFormat.ORT_SPARSE_COO and coo.data_type() == "sparse_tensor(float)"
    assert coo.dense_shape().tolist() == [3, 3] and coo.as_coo_view().indices().tolist() == [1, 5]
    value = ort.OrtValue.ort_value_from_sparse_tensor(coo)
    assert value.is_sparse_tensor() and value.shape() == [3, 3]
    assert value.as_sparse_tensor().values().tolist() == [1, 2]
    csr = ort.SparseTensor.sparse_csr_from_numpy([2, 3], np.array([1, 2], np.float32), [1, 2], [0, 1, 2], device)
    assert csr.as_csrc_view().inner().tolist() == [1, 2] and csr.as_csrc_view().outer().tolist() == [0, 1, 2]
    assert ort.OrtValue.ort_value_from_sparse_tensor(csr).as_sparse_tensor().as_coo_view().indices().tolist() == [1, 5]
    with pytest.raises(RuntimeError):
        csr.as_coo_view()
    with pytest.raises(ingot.InvalidArgument, match="ascend"):
        ort.OrtValue.ort_value_from_sparse_tensor(ort.SparseTensor([3], ones(2), [2, 1]))


def test_lists_of_numbers_are_fed():
    session = ort.InferenceSession(identity(TensorProto.INT64, ["a", "b"]))
    assert session.run(None, {"x": [[1, 2]]})[0].tolist() == [[1, 2]]
    assert copy.copy(session.get_inputs()[0]).name == "x"


def test_the_stand_in_says_what_it_is(monkeypatch):
    import sys
    for name in [name for name in sys.modules if name == "onnxruntime" or name.startswith("onnxruntime.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(pathlib.Path(ROOT, "python", "ingot-as-onnxruntime")))
    stand_in = importlib.import_module("onnxruntime")
    assert "not ONNX Runtime" in stand_in.__doc__ and "ingot" in stand_in.__version__
    assert stand_in.InferenceSession is ort.InferenceSession
    assert importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state") is state
    assert importlib.import_module("onnxruntime.capi._pybind_state").Fail is state.Fail
    for name in [name for name in sys.modules if name == "onnxruntime" or name.startswith("onnxruntime.")]:
        monkeypatch.delitem(sys.modules, name)
