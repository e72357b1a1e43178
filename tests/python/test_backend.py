"""ONNX's own backend test suite through ingot.backend: as many node cases and light networks as `ingot verify` passes."""
import unittest

import ingot.backend
import onnx.backend.test
import pytest
from onnx.backend.test.loader import load_model_tests

# Cases of onnx 1.23.2 that do not hold; docs/conformance.md says why of each.
FAILING = 14


def suite():
    return onnx.backend.test.BackendTest(ingot.backend, __name__)


def test_node_cases_pass():
    cases = [case for name, case in suite().test_cases.items() if name == "OnnxBackendNodeModelTest"]
    assert cases
    tests = unittest.TestSuite(test for case in cases for test in unittest.defaultTestLoader.loadTestsFromTestCase(case)
                               if test.id().endswith("_cpu"))
    result = unittest.TestResult()
    tests.run(result)
    bad = [test.id() for test, _ in [*result.failures, *result.errors]]
    assert len(bad) <= FAILING, bad
    assert result.testsRun >= len(load_model_tests(kind="node"))


def test_a_node_runs_alone():
    from onnx import helper
    import numpy as np
    node = helper.make_node("Add", ["a", "b"], ["c"])
    result, = ingot.backend.run_node(node, [np.ones(2, np.float32), np.ones(2, np.float32)])
    assert result.tolist() == [2, 2]
    result, = ingot.backend.run_node(node, [np.ones(2, np.float32)] * 2, outputs_info=[(np.float32, (2,))])
    assert result.tolist() == [2, 2]


def test_devices_are_told():
    assert ingot.backend.supports_device("CPU") and not ingot.backend.supports_device("CUDA:0")
    from onnx import helper
    model = helper.make_model(helper.make_graph([], "g", [], []))
    with pytest.raises(ingot.Unsupported):
        ingot.backend.prepare(model, "CUDA")
