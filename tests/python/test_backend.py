"""ONNX's own backend test suite through ingot.backend: what passes is what `ingot verify` passes of it."""
import unittest

import numpy as np
import onnx
import onnx.backend.test
import pytest
from onnx import helper

import ingot.backend

# Not passed, of onnx 1.23.2; docs/conformance.md says why of each.
RANDOM = {f"test_bernoulli{form}{expanded}" for form in ("", "_double", "_seed") for expanded in ("", "_expanded")} | {
    f"test_training_dropout{form}" for form in ("", "_default", "_mask", "_default_mask")}
NOT_PASSED = RANDOM | {"test_dft_inverse", "test_dft_inverse_opset19", "test_gradient_of_add", "test_gradient_of_add_and_mul"}
CASES = 2024 + 9  # operators and small models; the classic networks


class Suite(onnx.backend.test.BackendTest):
    """The suite, able to compare sequences that hold tensors of rank 0."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None):
        if isinstance(outputs, np.ndarray) and outputs.ndim == 0:
            ref_outputs, outputs = ref_outputs[None], outputs[None]
        super().assert_similar_outputs(ref_outputs, outputs, rtol, atol, model_dir)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_suite_passes():
    tests = unittest.TestSuite(test for case in Suite(ingot.backend, __name__).test_cases.values()
                               for test in unittest.defaultTestLoader.loadTestsFromTestCase(case) if test.id().endswith("_cpu"))
    assert tests.countTestCases() == CASES
    result = unittest.TestResult()
    tests.run(result)
    # A picture of a format whose library this build lacks is refused, and says so.
    reasons = {test.id().split(".")[-1][:-len("_cpu")]: reason
               for test, reason in [*result.failures, *result.errors, *result.skipped]}
    missing = {name for name, reason in reasons.items() if "which this build of Ingot cannot read" in reason}
    assert reasons.keys() - missing == NOT_PASSED


def test_a_node_runs_alone():
    node = helper.make_node("Add", ["a", "b"], ["c"])
    for outputs_info in (None, [(np.float32, (2,))]):
        result, = ingot.backend.run_node(node, [np.ones(2, np.float32)] * 2, outputs_info=outputs_info)
        assert result.tolist() == [2, 2]


def test_devices_and_models_are_told():
    assert ingot.backend.supports_device("CPU") and not ingot.backend.supports_device("CUDA:0")
    graph = helper.make_graph([helper.make_node("Foo", ["x"], ["y"], domain="org.example")], "g",
                              [helper.make_tensor_value_info("x", 1, [1])], [helper.make_tensor_value_info("y", 1, [1])])
    unknown = helper.make_model(graph, opset_imports=[helper.make_opsetid("org.example", 1)], ir_version=10)
    assert not ingot.backend.is_compatible(unknown)
    with pytest.raises(ingot.Unsupported):
        ingot.backend.prepare(unknown, "CUDA")
