"""Loading, running, sharing and describing sessions."""
import asyncio
import gc
import io
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import onnx
import pytest
from conftest import PACKAGE, identity, make_model, tensor
from onnx import TensorProto, helper

import ingot


def ones(count):
    return np.ones(count, np.float32)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_model_comes_from_a_path_bytes_or_a_proto(add_path):
    data = add_path.read_bytes()
    for source in (str(add_path), add_path, data, bytearray(data), memoryview(data), onnx.load(add_path)):
        assert ingot.load(source, threads=1)(ones(2)).tolist() == [11, 11]
    with pytest.raises(TypeError, match="path, bytes or"):
        ingot.load(3)


def test_bytes_may_go_once_the_session_is_there(add_path):
    data = add_path.read_bytes() + b""
    session = ingot.load(data)
    del data
    gc.collect()
    assert session(ones(1)).tolist() == [11]


def test_a_call_takes_inputs_by_place_or_by_name(add_path):
    session = ingot.load(add_path)
    assert session(ones(1), [2]).tolist() == session(w=[2], x=ones(1)).tolist() == [3]
    assert session.run({"x": ones(1), "w": None})["y"].tolist() == [11]
    with pytest.raises(TypeError, match="2 inputs, but 3"):
        session(ones(1), [2], [3])
    with pytest.raises(TypeError, match="twice"):
        session(ones(1), x=ones(1))


def test_several_outputs_are_a_tuple_in_the_models_order():
    model = make_model([helper.make_node("Neg", ["x"], ["b"]), helper.make_node("Abs", ["b"], ["a"])], [tensor("x")],
                       [tensor("a"), tensor("b")])
    session = ingot.load(model)
    a, b = session(ones(1))
    assert (a[0], b[0]) == (1, -1)
    assert list(session.run({"x": ones(1)}, ["b"])) == ["b"]
    assert list(session.run({"x": ones(1)}, ["b", "a"])) == ["b", "a"]


def test_many_inputs_and_outputs():
    names = [f"x{i}" for i in range(50)]
    model = make_model([helper.make_node("Neg", [name], [f"y{name}"]) for name in names], [tensor(name) for name in names],
                       [tensor(f"y{name}") for name in names])
    results = ingot.load(model)(*[np.full(1, i, np.float32) for i in range(50)])
    assert [int(result[0]) for result in results] == [-i for i in range(50)]


def test_a_session_tells_what_the_model_says(add_path):
    session = ingot.load(add_path)
    x, w = session.inputs
    assert (x.name, x.type, x.kind, x.element, x.shape, x.dtype, x.has_default) == \
        ("x", "tensor(float)", "tensor", "float", ("n",), np.float32, False)
    assert w.has_default and w.shape == (1,)
    assert session.metadata == {"author": "someone"}
    said = session.description
    assert (said["producer_name"], said["version"], said["domain"], said["description"]) == ("maker", 7, "org.example", "adds")
    assert said["opsets"] == {"ai.onnx": 21} and said["operators"] == {"Add": 1}
    session(ones(1))
    assert session.statistics()["runs"] == 1
    assert session.regions()[0]["operators"] == "Add"
    assert "add.onnx" in repr(session) and "<table>" in session._repr_html_()


@pytest.mark.parametrize("size", ["?", "None", "-1", "*"])
def test_marks_for_free_sizes_are_no_names(size):
    """Exporters write them for every free size; sizes that share one need not be equal."""
    session = ingot.load(identity(shape=[size, 3, size]))
    assert session(np.zeros((2, 3, 5), np.float32)).shape == (2, 3, 5)
    assert session.inputs[0].shape == (None, 3, None)


# ---- Errors ----

def test_errors_have_a_class_and_the_librarys_message(add_path, tmp_path):
    with pytest.raises(ingot.NotFound, match="none.onnx"):
        ingot.load(tmp_path / "none.onnx")
    with pytest.raises(ingot.InvalidModel):
        ingot.load(b"this is no model")
    with pytest.raises(ingot.InvalidArgument, match="threads"):
        ingot.load(add_path, threads=-1)
    with pytest.raises(ingot.Unsupported, match="device"):
        ingot.load(add_path, device="toaster")
    session = ingot.load(add_path)
    with pytest.raises(ingot.InvalidInput, match="'x'.*missing"):
        session.run({})
    with pytest.raises(ingot.NotFound, match="no input 'z'.*'x'"):
        session.run({"z": ones(1)})
    with pytest.raises(ingot.NotFound, match="no output 'z'.*'y'"):
        session.run({"x": ones(1)}, ["z"])
    for kind in (ingot.NotFound, ingot.InvalidModel, ingot.InvalidArgument, ingot.Unsupported, ingot.InvalidInput):
        assert issubclass(kind, ingot.IngotError)


def test_names_that_are_no_text_are_refused(add_path):
    session = ingot.load(add_path)
    for bad in ({3: ones(1)}, {None: ones(1)}, {"x\0": ones(1)}):
        with pytest.raises(ingot.NotFound):
            session.run(bad)
    with pytest.raises(TypeError):
        session.run({"x": ones(1)}, 3)
    with pytest.raises(TypeError):
        session.run({"x": ones(1)}, cancel="no")


def test_the_optimization_level_and_passes_are_chosen(add_path):
    assert ingot.load(add_path, opt_level=0)(ones(1)).tolist() == [11]
    assert ingot.load(add_path, disabled_passes=["fold-constants"])(ones(1)).tolist() == [11]
    with pytest.raises(ingot.InvalidArgument, match="no-such-pass"):
        ingot.load(add_path, disabled_passes=["no-such-pass"])


def test_shapes_are_laid_out_beforehand(add_path):
    session = ingot.load(add_path, warmup_shapes={"x": (4,)})
    assert session.statistics()["cached_shapes"] == 1
    session(ones(4))
    assert session.statistics()["cached_shapes"] == 1
    with pytest.raises(ingot.IngotError):
        ingot.load(add_path, warmup_shapes={"z": (4,)})


# ---- Bindings ----

def test_bindings_stay_from_run_to_run(add_path):
    binding = ingot.load(add_path).bind()
    x = np.zeros(2, np.float32)
    binding.input("x", x)
    with pytest.raises(ingot.IngotError, match="not run"):
        binding["y"]
    first = binding.run()["y"]
    x[:] = 5
    assert binding.run()["y"].tolist() == [15, 15]
    assert first.tolist() == [10, 10]  # a copy
    with pytest.raises(ingot.NotFound):
        binding.input("q", x)
    with pytest.raises(ingot.NotFound):
        binding.output("q", x)


def test_a_binding_keeps_what_is_bound(add_path):
    binding = ingot.load(add_path).bind()
    binding.input("x", np.full(1000, 2, np.float32)).output("y", np.empty(1000, np.float32))
    gc.collect()
    assert (binding.run()["y"] == 12).all()
    binding.output("y", None)
    assert (binding.run()["y"] == 12).all()


# ---- Threads, cancelling, asyncio ----

def test_threads_share_a_session(add_path):
    session = ingot.load(add_path, threads=1)
    wrong = []

    def work(number):
        x = np.full(64, number, np.float32)
        wrong.extend(1 for _ in range(200) if not (session(x) == number + 10).all())

    workers = [threading.Thread(target=work, args=(i,)) for i in range(32)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong and session.statistics()["runs"] == 32 * 200


def test_a_run_lets_other_threads_go_on_and_is_cancelled_by_them(slow_model):
    session = ingot.load(slow_model)
    cancel = ingot.Cancel()
    timer = threading.Timer(0.1, cancel.cancel)
    timer.start()
    with pytest.raises(ingot.Cancelled):
        session.run({"x": ones(1)}, cancel=cancel)
    timer.join()


def test_runs_are_awaited(add_path):
    session = ingot.load(add_path)

    async def all_of_them():
        return await asyncio.gather(*[session.run_async({"x": np.full(1, i, np.float32)}) for i in range(50)])

    assert [int(result["y"][0]) for result in asyncio.run(all_of_them())] == [i + 10 for i in range(50)]


def test_cancelling_a_task_ends_its_run(slow_model):
    session = ingot.load(slow_model)

    async def give_up():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(session.run_async({"x": ones(1)}), 0.1)

    asyncio.run(give_up())
    end = time.monotonic() + 10
    while session.statistics()["failed_runs"] == 0 and time.monotonic() < end:
        time.sleep(0.01)
    assert session.statistics()["failed_runs"] == 1


def test_errors_of_awaited_runs_arrive(add_path):
    with pytest.raises(ingot.InvalidInput):
        asyncio.run(ingot.load(add_path).run_async({}))


def test_a_child_process_runs_too(add_path):
    session = ingot.load(add_path)
    session(ones(1))
    child = os.fork()
    if child == 0:
        good = session(ones(1)).tolist() == [11] and ingot.load(add_path)(ones(1)).tolist() == [11]
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# ---- Pickling ----

def test_a_session_pickles_by_path(add_path):
    session = pickle.loads(pickle.dumps(ingot.load(str(add_path), threads=1, opt_level=1)))
    assert session(ones(1)).tolist() == [11] and session.path == str(add_path)
    with pytest.raises(pickle.PicklingError, match="memory"):
        pickle.dumps(ingot.load(add_path.read_bytes()))


# ---- Memory ----

def test_making_and_dropping_sessions_keeps_memory_flat(add_path):
    def cycle(count):
        for _ in range(count):
            session = ingot.load(add_path, threads=1)
            session(ones(1000))
            session.bind().input("x", ones(1000)).run()

    cycle(200)
    gc.collect()
    before = resident()
    cycle(500)
    gc.collect()
    assert resident() - before < 4 << 20


def test_runs_and_refused_runs_keep_memory_flat(add_path):
    session = ingot.load(add_path, threads=1)
    x = ones(100_000)

    def cycle():
        session(x)
        session(x[::2])
        session(x.tolist()[:100])
        for bad in ({}, {"q": x}, {"x": x.astype(np.float64)}, {"x": object()}):
            with pytest.raises((ingot.IngotError, TypeError)):
                session.run(bad)

    for _ in range(50):
        cycle()
    before = resident()
    for _ in range(200):
        cycle()
    assert resident() - before < 4 << 20


# ---- Tools ----

def test_bench_measures(add_path):
    result = ingot.bench(add_path, {"x": ones(10)}, seconds=0.05, threads=1)
    assert result.runs >= 10 and 0 < result.min_ms <= result.p50_ms <= result.p99_ms <= result.max_ms
    assert result.load_ms > 0 and result.throughput > 0
    assert "p99" in str(result) and "<table>" in result._repr_html_()
    assert ingot.bench(ingot.load(add_path), batch=3, seconds=0.01).load_ms == 0


def test_profile_tells_where_the_time_goes(add_path):
    result = ingot.profile(add_path, {"x": ones(10_000)}, runs=3, threads=1)
    region, = result.regions
    assert (region["operators"], region["calls"], region["depth"]) == ("Add", 3, 0)
    assert region["ms"] > 0 and region["share"] == 1 and abs(result.total_ms - region["ms"]) < 1e-9
    assert "Add" in str(result) and "<svg" in result._repr_html_() and "<table>" in result._repr_html_()
    with pytest.raises(ingot.InvalidArgument, match="runs"):
        ingot.profile(add_path, runs=0)
    with pytest.raises(ingot.InvalidInput):
        ingot.profile(add_path, {"x": np.ones(3)})


def test_a_library_that_brings_no_operators_is_refused(tmp_path):
    with pytest.raises(ingot.NotFound, match="none.so"):
        ingot.register_library(tmp_path / "none.so")
    with pytest.raises(ingot.InvalidArgument, match="ingot_custom_ops"):
        ingot.register_library(np._core._multiarray_umath.__file__)


def test_inspect_shows(add_path):
    shown = ingot.inspect(add_path)
    assert shown.size == add_path.stat().st_size and "Add" in str(shown)
    page = shown._repr_html_()
    assert "<table>" in page and "<svg" in page and page.count("<g>") == 1


def test_names_of_a_model_do_no_harm_in_a_page():
    model = make_model([helper.make_node("Neg", ["<b>x"], ["y"], name="<i>")], [tensor("<b>x")], [tensor("y")])
    page = ingot.inspect(model.SerializeToString())._repr_html_()
    assert "<b>" not in page and "<i>" not in page


def test_operators_are_listed():
    listed = ingot.operators()
    assert any(line["name"] == "Conv" and line["domain"] == "ai.onnx" for line in listed)
    assert "<table>" in listed._repr_html_()


def test_importing_prints_nothing_and_loads_only_what_it_needs():
    code = "import sys, ingot, ingot.ort; print(sorted({'onnx', 'torch', 'asyncio.runners'} & set(sys.modules) - {'asyncio.runners'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": PACKAGE})
    assert done.stdout == "[]\n" and done.stderr == ""


def test_a_random_input_needs_a_tensor_of_numbers():
    with pytest.raises(ingot.InvalidArgument, match="'x'.*string"):
        ingot.bench(identity(TensorProto.STRING), seconds=0.01)


def test_an_io_object_is_no_model():
    with pytest.raises(TypeError):
        ingot.load(io.BytesIO(b""))
