"""Builds this distribution, unless the environment that asks has a real onnxruntime, whose files it would replace."""
import glob
import os
import sysconfig

from flit_core.buildapi import *  # noqa: F403
from flit_core.buildapi import build_editable as _build_editable
from flit_core.buildapi import build_wheel as _build_wheel


def _refuse():
    for scheme in ("purelib", "platlib"):
        folder = sysconfig.get_path(scheme)
        for found in glob.glob(os.path.join(folder, "onnxruntime*.dist-info")):
            if os.path.exists(os.path.join(folder, "onnxruntime", "__init__.py")):
                raise SystemExit(f"{os.path.basename(found)} is installed in {folder}: ingot-as-onnxruntime would overwrite "
                                 "its files. Uninstall it first, or use `import ingot.ort as onnxruntime`")


def build_wheel(*args, **kwargs):
    _refuse()
    return _build_wheel(*args, **kwargs)


def build_editable(*args, **kwargs):
    _refuse()
    return _build_editable(*args, **kwargs)
