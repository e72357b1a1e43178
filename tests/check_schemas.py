#!/usr/bin/env python3
"""Fail where src/ops/schema_table.c is not what make_schemas.py writes. Exit code 77 (skipped) without the onnx package
of the version that it is made from."""
import difflib
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPS = os.path.join(ROOT, "src", "ops")
SKIPPED = 77


def main():
    sys.dont_write_bytecode = True
    sys.path.insert(0, OPS)
    try:
        import make_schemas
        import onnx
    except ImportError as error:
        print(f"skipped: {error}")
        return SKIPPED
    if onnx.__version__ != make_schemas.ONNX_VERSION:
        print(f"skipped: needs onnx {make_schemas.ONNX_VERSION}, found {onnx.__version__}")
        return SKIPPED
    with open(os.path.join(OPS, "schema_table.c"), encoding="utf-8") as file:
        found = file.read()
    wanted = make_schemas.generate()
    if found == wanted:
        return 0
    lines = difflib.unified_diff(found.splitlines(), wanted.splitlines(), "schema_table.c", "make_schemas.py", n=0,
                                 lineterm="")
    print("\n".join(list(lines)[:20]))
    print("src/ops/schema_table.c is stale: run python3 src/ops/make_schemas.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
