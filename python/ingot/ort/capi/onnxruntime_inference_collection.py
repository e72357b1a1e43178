"""Sessions and values, where code for onnxruntime looks for them."""
from .._session import InferenceSession, IOBinding
from .._values import OrtDevice, OrtValue, SparseTensor, copy_tensors

Session = InferenceSession

__all__ = ["IOBinding", "InferenceSession", "OrtDevice", "OrtValue", "Session", "SparseTensor", "copy_tensors"]
