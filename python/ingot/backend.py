"""The interface of onnx.backend.base, for ONNX's backend test suite and code that speaks it. Needs the package onnx.

    import ingot.backend, onnx.backend.test
    suite = onnx.backend.test.BackendTest(ingot.backend, __name__)
"""
from __future__ import annotations

from typing import Any, Optional, Tuple

import onnx.backend.base

from ._errors import IngotError, Unsupported
from ._session import Session, load


class BackendRep(onnx.backend.base.BackendRep):
    """A model prepared to run."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def run(self, inputs: Any, **kwargs: Any) -> Tuple[Any, ...]:
        """Run on a list of inputs in the model's order, or a dict of them by name; returns a tuple of the outputs."""
        names = [info.name for info in self.session.inputs]
        feeds = inputs if isinstance(inputs, dict) else dict(zip(names, inputs))
        results = self.session.run(feeds)
        return tuple(results[info.name] for info in self.session.outputs)


class Backend(onnx.backend.base.Backend):
    """Ingot as a backend."""

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether this build can load the model."""
        try:
            cls.prepare(model, device, **kwargs)
        except Unsupported:
            return False
        except IngotError:
            return True  # a fault of the model: running it tells
        return True

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> BackendRep:
        """Load a model: a path, bytes, or an onnx.ModelProto. kwargs: options of ingot.load."""
        if not cls.supports_device(device):
            raise Unsupported(f"device {device!r} is not supported: this build runs on 'CPU'")
        return BackendRep(load(model, **kwargs))

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **kwargs: Any) -> Tuple[Any, ...]:
        """Load a model and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: Any, inputs: Any, device: str = "CPU", outputs_info: Optional[Any] = None, **kwargs: Any
                 ) -> Tuple[Any, ...]:
        """Run one node. outputs_info: (dtype, shape) of each output, where shape inference cannot tell them."""
        return cls.run_model(_model_of(node, inputs, outputs_info, kwargs.pop("opset_version", None)), inputs, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether this build runs on a device: "CPU"."""
        return device.upper().split(":")[0] == "CPU"


def _model_of(node: Any, inputs: Any, outputs_info: Optional[Any], opset: Optional[int]) -> Any:
    """A model of one node; types of outputs come from shape inference where they are not given."""
    import numpy as np
    from onnx import helper

    arrays = [np.asarray(value) for value in inputs]
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
             for name, array in zip([name for name in node.input if name], arrays)]
    imports = [helper.make_opsetid(node.domain, opset)] if opset else [helper.make_opsetid("", onnx.defs.onnx_opset_version())]
    names = [name for name in node.output if name]
    if outputs_info is not None:
        results = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
                   for name, (dtype, shape) in zip(names, outputs_info)]
        return helper.make_model(helper.make_graph([node], "node", infos, results), opset_imports=imports)
    empty = [onnx.ValueInfoProto(name=name) for name in names]
    model = helper.make_model(helper.make_graph([node], "node", infos, empty), opset_imports=imports)
    inferred = onnx.shape_inference.infer_shapes(model)
    return inferred


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run = Backend.run_model
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
