"""The same names as onnxruntime_pybind11_state, where code for onnxruntime looks for them."""
from .onnxruntime_pybind11_state import *  # noqa: F403
from .onnxruntime_pybind11_state import __all__ as __all__
