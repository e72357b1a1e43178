"""This is not ONNX Runtime: it is Ingot, which answers to the name onnxruntime for code that cannot be changed.

Everything comes from ingot.ort; what each name does is told in docs/python.md of Ingot. New code says
`import ingot.ort as onnxruntime` instead.
"""
import importlib.metadata as _metadata
import os as _os
import sys as _sys


def _refuse_to_replace():
    """ImportError where these files lie where those of a real onnxruntime were installed."""
    for distribution in _metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if not (name == "onnxruntime" or name.startswith(("onnxruntime-", "ort-nightly"))):
            continue
        its_file = distribution.locate_file("onnxruntime/__init__.py")
        if _os.path.exists(its_file) and _os.path.samefile(its_file, __file__):
            raise ImportError(f"ingot-as-onnxruntime was installed over the files of {name}: run "
                              f"`pip uninstall {name} ingot-as-onnxruntime`, then install the one that you want")


_refuse_to_replace()

import ingot.ort as _ort  # noqa: E402
from ingot.ort import *  # noqa: E402, F401, F403

__version__ = _ort.__version__
__author__ = _ort.__author__
__all__ = _ort.__all__

for _name in ("capi", *(f"capi.{_part}" for _part in _ort.capi.__all__)):
    _sys.modules[f"{__name__}.{_name}"] = _sys.modules[f"{_ort.__name__}.{_name}"]
