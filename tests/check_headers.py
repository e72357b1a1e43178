#!/usr/bin/env python3
"""Fail where a header does not compile alone: public ones as C11 and as C++17, internal ones as C11, without warnings.

CC and CXX name the compilers. Exit code 77 (skipped) where there is none. Templates (*_tmpl.h), and headers that a source file
sets up for one instruction set, are no headers of their own."""
import concurrent.futures
import os
import shlex
import sys

import house

C = [*shlex.split(os.environ.get("CC", "cc")), "-x", "c", "-std=c11"]
CXX = [*shlex.split(os.environ.get("CXX", "c++")), "-x", "c++", "-std=c++17"]
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
INTERNAL = ["-D_GNU_SOURCE", "-Wno-unused-parameter", "-Wno-unused-function", "-Iinclude", "-Isrc"]

# Vector types and operations under one set of names: compiled only by the files of an instruction set, which say which.
SET_UP_BY_INCLUDER = ("src/cpu/simd/simd", "src/cpu/eltwise/vec.h", "src/cpu/eltwise/vec_math.h",
                      "src/cpu/int8/ints")


def compile_alone(command, header):
    """What the compiler says against a file that only includes the header; None: nothing. A missing compiler: 127."""
    text = f'#include "{header}"\nextern int ingot_header_included;\n'
    code, output = house.run([*command, *STRICT, "-"], input=text)
    return (code, f"{' '.join(command)}: {header} does not compile alone:\n{output.rstrip()}") if code else None


def jobs():
    for path in house.files("include"):
        header = os.path.relpath(path, "include")
        yield [*C, "-Iinclude"], header
        yield [*CXX, "-Iinclude"], header
    for path in house.files("src", endings=(".h",)):
        if not path.endswith("_tmpl.h") and not path.startswith(SET_UP_BY_INCLUDER):
            yield [*C, *INTERNAL], os.path.relpath(path, "src")
    for path in house.files("cli", endings=(".h",)):
        yield [*C, "-D_GNU_SOURCE", "-Iinclude", "-Icli"], os.path.relpath(path, "cli")


def main():
    for compiler in (C, CXX):
        code, output = house.run([*compiler, *STRICT, "-"], input="extern int nothing;\n")
        if code == 127:
            return house.skip(output)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compile_alone(*job), jobs()))
    return house.finish([result[1] for result in results if result])


if __name__ == "__main__":
    sys.exit(main())
