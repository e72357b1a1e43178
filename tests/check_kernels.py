#!/usr/bin/env python3
"""Fail where a CPU kernel is not enumerated or not checked: a file NAME_LEVEL.c whose level no *.def of kernels has, a kernel
named TYPE_SHAPE_LEVEL without its line, a line without its kernel, a folder of kernels that checkkernels has no part for."""
import os
import re
import sys

import house

LEVELS = "src/cpu/simd/levels.def"


def names_in(path, macro):
    return re.findall(rf"^\s*{macro}\((\w+)", house.without_comments(house.read(path)), re.M)


def any_of(words):
    """A pattern for the words, the longest first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def check_folder(folder, levels):
    problems, paths = [], [path for path in house.files(folder) if os.path.dirname(path) == folder]
    tables = [path for path in house.files(folder, endings=("_kernels.def",))]
    listed = {name for table in tables for name in names_in(table, r"INGOT_\w+")}
    known = set(levels) | {name.split("_", 2)[-1] for name in listed}
    suffix = re.compile(r"_(" + any_of(known | {"sse", "neon", "vnni", "bf16", "amx"}) + r")\.c$")
    kernels = [(path, match.group(1)) for path in paths if (match := suffix.search(path))]
    if not kernels:
        return []
    problems += [f"{path}: no line of {LEVELS} or of the folder's *_kernels.def has the level '{level}'"
                 for path, level in kernels if level not in known]
    text = "\n".join(house.without_comments(house.read(path)) for path, _ in kernels)
    if tables:
        named = set(re.findall(rf"(?<![a-zA-Z0-9])([a-z]+\d+_\d+x\d+_(?:{any_of(known)}))(?![a-z0-9])", text))
        problems += [f"{folder}: kernel {name} has no line in {', '.join(tables)}" for name in sorted(named - listed)]
        problems += [f"{folder}: {name} of {', '.join(tables)} is defined nowhere" for name in sorted(listed - named)]
    checker = f"tests/checkkernels/check_{os.path.basename(folder)}.c"
    if not os.path.exists(os.path.join(house.ROOT, checker)):
        problems.append(f"{folder} has kernels, but there is no {checker}")
    return problems


def main():
    levels = names_in(LEVELS, "INGOT_LEVEL")
    place = os.path.join(house.ROOT, "src", "cpu")
    folders = sorted(name for name in os.listdir(place) if os.path.isdir(os.path.join(place, name)))
    problems = []
    for name in folders:
        if name not in ("ref", "simd"):
            problems += check_folder(f"src/cpu/{name}", levels)
    return house.finish(problems)


if __name__ == "__main__":
    sys.exit(main())
