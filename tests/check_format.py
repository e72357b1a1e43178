#!/usr/bin/env python3
"""Fail where a C file is not as clang-format 14 writes it. Generated files, which say so in their first lines, are left out.
Exit code 77 (skipped) without clang-format 14; CLANG_FORMAT names another program than clang-format-14 or clang-format."""
import os
import re
import sys

import house

VERSION = "14"


def find_formatter():
    for program in (os.environ.get("CLANG_FORMAT"), f"clang-format-{VERSION}", "clang-format"):
        if program:
            code, output = house.run([program, "--version"])
            if code == 0 and f"version {VERSION}." in output:
                return program
    return None


def is_generated(path):
    return re.search(r"\b(Written|written|Generated|generated) by \w+\.py", house.read(path)[:400]) is not None


def main():
    program = find_formatter()
    if program is None:
        return house.skip(f"clang-format {VERSION} was not found")
    paths = [path for path in house.files("include", "src", "cli", "compat", "examples", "fuzz", "python", "tests")
             if not is_generated(path)]
    code, output = house.run([program, "--dry-run", "-Werror", *paths])
    wrong = sorted({line.split(":")[0] for line in output.splitlines() if "clang-format-violations" in line})
    if code and not wrong:
        return house.finish([output.rstrip()])
    return house.finish([f"{path} is not formatted: run {program} -i {path}" for path in wrong])


if __name__ == "__main__":
    sys.exit(main())
