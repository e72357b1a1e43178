"""ingot doctor: each rule speaks up where it should and keeps quiet where it should not."""
import json
import shutil
import subprocess

import numpy as np
import pytest
from conftest import INGOT, ROOT, call, save_model, tensor_info
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, DOUBLE, HALF = TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE, TensorProto.FLOAT16


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"the_{op}", **attributes)


def weights(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


@pytest.fixture
def doctor(tmp_path):
    """The findings on a model, by rule."""
    def examine(nodes, shape, initializers=(), *words, element=FLOAT, output=None, code=0, inputs=(), **more):
        model = save_model(tmp_path / "model.onnx", nodes, [tensor_info("x", element, shape), *inputs],
                           [tensor_info("y", output or element, None)], initializers, **more)
        done = subprocess.run([INGOT, "doctor", str(model), "--json", *map(str, words)],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, done.stderr
        return {f["rule"]: f for f in json.loads(done.stdout)["findings"]}
    return examine


FILTER = weights("w", np.ones((2, 3, 1, 1), np.float32))


def test_a_plain_model_has_no_findings(doctor):
    assert doctor([node("Conv", "x w", "c"), node("Relu", "c", "y")], [1, 3, 8, 8], [FILTER]) == {}


def test_all_unsupported_operators_are_named_with_their_places(tmp_path):
    nodes = [helper.make_node("Foo", ["x"], ["a"], "first", domain="com.example"),
             helper.make_node("Bar", ["a"], ["b"], "second", domain="com.example"),
             helper.make_node("Foo", ["b"], ["y"], "third", domain="com.example")]
    model = helper.make_model(helper.make_graph(nodes, "g", [tensor_info("x", FLOAT, [1])], [tensor_info("y", FLOAT, [1])]),
                              opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)], ir_version=8)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    done = subprocess.run([INGOT, "doctor", tmp_path / "model.onnx", "--json"], capture_output=True, text=True, timeout=60, check=False)
    found = [f for f in json.loads(done.stdout)["findings"] if f["rule"] == "unsupported-operator"]
    assert done.returncode == 1
    assert [(f["severity"], f["count"], f["where"]) for f in found] == [("fault", 2, "node 'first'"), ("fault", 1, "node 'second'")]
    assert "'Foo' of domain com.example" in found[0]["what"]


def test_an_unsupported_operator_in_a_body_is_found(doctor):
    body = helper.make_graph([helper.make_node("Foo", [], ["b"], "deep", domain="com.example")], "body", [],
                             [tensor_info("b", FLOAT, [1])])
    found = doctor([node("If", "x", "y", then_branch=body, else_branch=body)], [], element=TensorProto.BOOL, output=FLOAT, code=1)
    assert found["unsupported-operator"]["where"] == "node 'deep'"


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_the_stub_compiles_and_says_that_it_is_a_stub(tmp_path):
    made = helper.make_node("Foo-2", ["x", ""], ["y"], "foo", domain="com.example", k=3, s="a", f=[1.0], t=FILTER)
    model = helper.make_model(helper.make_graph([made], "g", [tensor_info("x", FLOAT, [1])], [tensor_info("y", FLOAT, [1])]),
                              opset_imports=[helper.make_opsetid("com.example", 1)], ir_version=8)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    assert "fault" in subprocess.run([INGOT, "doctor", tmp_path / "model.onnx", "--stub", tmp_path / "stub.c"], capture_output=True,
                                     text=True, timeout=60, check=False).stdout
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT}/include", tmp_path / "stub.c",
                    "-o", tmp_path / "stub.so"], check=True)
    assert "not written yet" in call("inspect", tmp_path / "model.onnx", "--custom-ops", tmp_path / "stub.so", code=1).stderr


@pytest.mark.parametrize("rule, quiet, nodes, shape, more", [
    ("run-time-sizes", False, [node("NonZero", "x", "y")], [4], {"output": INT64}),
    ("double-arithmetic", False, [node("Add", "x x", "y")], [4], {"element": DOUBLE}),
    ("double-arithmetic", True, [node("Add", "x x", "y")], [4], {}),
    ("int64-arithmetic", False, [node("Mul", "x x", "y")], [64, 64], {"element": INT64}),
    ("int64-arithmetic", True, [node("Mul", "x x", "y")], [4], {"element": INT64}),
    ("layout-changes", False, [node("Transpose", "x", "moved", perm=[0, 3, 1, 2]), node("Conv", "moved w", "y")], [1, 8, 8, 3], {}),
    ("layout-changes", True, [node("Transpose", "x", "y", perm=[0, 3, 1, 2])], [1, 8, 8, 3], {}),
    ("precision-loss", False, [node("Cast", "x", "h", to=HALF), node("Cast", "h", "y", to=FLOAT)], [4], {}),
    ("precision-loss", True, [node("Cast", "x", "d", to=DOUBLE), node("Cast", "d", "y", to=FLOAT)], [4], {}),
    ("training-mode", False, [node("Dropout", "x r t", "y")], [4], {}),
    ("training-mode", True, [node("Dropout", "x r f", "y")], [4], {}),
    ("random", False, [node("RandomNormalLike", "x", "y")], [4], {}),
    ("flattening-softmax", False, [node("Softmax", "x", "y")], [2, 3, 4], {"opset": 11}),
    ("flattening-softmax", True, [node("Softmax", "x", "y")], [2, 3, 4], {}),
    ("free-sizes", False, [node("Relu", "x", "y")], ["N", 3], {}),
    ("unknown-rank", False, [node("Relu", "x", "y")], None, {}),
    ("fixed-batch", False, [node("Reshape", "x s", "y")], ["N", 6], {}),
    ("fixed-batch", True, [node("Reshape", "x s", "y")], [1, 6], {}),
    ("old-opset", False, [node("Relu", "x", "y")], [4], {"opset": 9}),
    ("unused-initializers", False, [node("Relu", "x", "y")], [4], {}),
    ("overridable-weights", False, [node("Conv", "x w", "y")], [1, 3, 8, 8], {"inputs": [tensor_info("w", FLOAT, [2, 3, 1, 1])]}),
    ("weights-not-finite", False, [node("Add", "x bad", "y")], [2], {}),
    ("denormal-weights", False, [node("Add", "x small", "y")], [2], {}),
    ("duplicate-weights", False, [node("Add", "x big", "a"), node("Add", "a again", "y")], [128, 256], {}),
    ("reference-kernels", False, [node("Det", "x", "y")], [3, 3], {}),
])
def test_a_rule_speaks_where_it_should(doctor, rule, quiet, nodes, shape, more):
    all_weights = [FILTER, weights("r", np.float32(0.5)), weights("t", np.array(True)), weights("f", np.array(False)),
                   weights("s", np.int64([1, 2, 3])), weights("bad", np.float32([np.nan, 1])),
                   weights("small", np.float32([1e-40, 1])), weights("big", np.ones((128, 256), np.float32)),
                   weights("again", np.ones((128, 256), np.float32))]
    used = {name for n in nodes for name in n.input}
    chosen = [w for w in all_weights if w.name in used or rule == "unused-initializers"]
    found = doctor(nodes, shape, chosen, **more)
    assert (rule in found) != quiet, found
    if not quiet:
        assert found[rule]["count"] >= 1 and found[rule]["advice"]


def pair(x, y, scale="s", back="s", zero="z"):
    return [node("QuantizeLinear", f"{x} {scale} {zero}", f"{y}_q"), node("DequantizeLinear", f"{y}_q {back} {zero}", y)]


@pytest.mark.parametrize("rule, nodes", [
    ("quantize-before-activation", [node("Conv", "x w", "c"), *pair("c", "d"), node("Relu", "d", "y")]),
    ("quantize-scales-differ", [*pair("x", "d", back="s2"), node("Conv", "d w", "y")]),
    ("quantize-for-nothing", [*pair("x", "d"), node("Cos", "d", "y")]),
    (None, [*pair("x", "d"), node("Conv", "d w", "c"), node("Relu", "c", "r"), *pair("r", "y")]),
])
def test_quantization_in_the_wrong_place(doctor, rule, nodes):
    scales = [weights("s", np.float32(0.1)), weights("s2", np.float32(0.2)), weights("z", np.uint8(0)), FILTER]
    used = {name for n in nodes for name in n.input}
    found = doctor(nodes, [1, 3, 4, 4], [w for w in scales if w.name in used])
    assert [r for r in found if r.startswith("quantize")] == ([rule] if rule else [])


def test_session_options_of_onnx_runtime_are_explained(doctor, tmp_path):
    doctor([node("Relu", "x", "y")], [1])
    text = call("doctor", tmp_path / "model.onnx", "--ort-option", "enable_mem_pattern", "--ort-option", "intra_op_num_threads",
                "--ort-option", "no.such").stdout
    assert "ignored  option enable_mem_pattern: memory is always planned" in text
    assert "note     option intra_op_num_threads: threads of one run" in text
    assert "ignored  option no.such: not an option that Ingot knows" in text
    assert text.endswith("0 faults, 0 warnings, 0 notes\n")


def test_a_model_that_cannot_run_is_a_fault_not_a_failure_of_the_doctor(doctor):
    found = doctor([node("Relu", "nothing", "y")], [1], code=1)
    assert found["cannot-run"]["severity"] == "fault" and "nothing" in found["cannot-run"]["what"]


def test_a_file_that_is_not_there_is_reported(tmp_path):
    assert "no.onnx" in call("doctor", tmp_path / "no.onnx", code=1).stderr


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"not a model", bytes(range(256)) * 8])
def test_a_file_that_is_no_model_is_a_fault_or_an_error(tmp_path, content):
    (tmp_path / "bad.onnx").write_bytes(content)
    done = subprocess.run([INGOT, "doctor", str(tmp_path / "bad.onnx")],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and ("fault" in done.stdout or done.stderr)


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_stubs_of_one_name_in_two_domains_compile(tmp_path):
    nodes = [helper.make_node("int", ["x"], ["a"], domain="d"), helper.make_node("int", ["a"], ["y"], domain="d2")]
    model = helper.make_model(helper.make_graph(nodes, "g", [tensor_info("x", FLOAT, [1])], [tensor_info("y", FLOAT, [1])]),
                              opset_imports=[helper.make_opsetid("d", 1), helper.make_opsetid("d2", 1)], ir_version=8)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    subprocess.run([INGOT, "doctor", tmp_path / "model.onnx", "--stub", tmp_path / "stub.c"], capture_output=True, timeout=60, check=False)
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT}/include", tmp_path / "stub.c",
                    "-o", tmp_path / "stub.so"], check=True)


def test_sizes_of_what_is_no_tensor_are_not_spoken_of(doctor):
    made = helper.make_node("SequenceConstruct", ["x"], ["s"]), helper.make_node("SequenceLength", ["s"], ["y"])
    found = doctor(made, [4], output=INT64)
    assert "run-time-sizes" not in found
    assert found["reference-kernels"]["where"] == "node SequenceConstruct without a name"
