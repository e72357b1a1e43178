"""ingot.doctor: the findings of `ingot doctor` as objects."""
import numpy as np
import pytest
from onnx import TensorProto, helper

import ingot


def save(path, op, domain="", shape=(2,)):
    node = helper.make_node(op, ["x"], ["y"], "the node", domain=domain)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return path


def test_a_plain_model_has_no_findings(tmp_path):
    found = ingot.doctor(save(tmp_path / "m.onnx", "Relu"))
    assert found.findings == () and found.stub == "" and str(found) == "nothing found"


def test_what_is_not_supported_is_a_fault_with_a_stub(tmp_path):
    found = ingot.doctor(save(tmp_path / "m.onnx", "Foo", "com.example"))
    first = found.findings[0]
    assert (first.severity, first.rule, first.count) == ("fault", "unsupported-operator", 1)
    assert "ingot_custom_ops" in found.stub and "unsupported-operator" in found._repr_html_()


def test_free_sizes_are_a_note(tmp_path):
    assert [f.rule for f in ingot.doctor(save(tmp_path / "m.onnx", "Relu", shape=("N",))).findings] == ["free-sizes"]


def test_a_file_that_is_not_there_raises(tmp_path):
    with pytest.raises(ingot.NotFound):
        ingot.doctor(tmp_path / "no.onnx")


def test_an_array_for_an_output_that_is_not_run_is_refused(tmp_path):
    session = ingot.load(save(tmp_path / "m.onnx", "Relu"))
    with pytest.raises(ingot.InvalidArgument, match="typo"):
        session.run({"x": np.zeros(2, np.float32)}, out={"typo": np.zeros(2, np.float32)})
