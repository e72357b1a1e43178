#!/usr/bin/env python3
"""Fail where a file includes what its room must not: data goes from left to right, once, and no room knows those behind it."""
import os
import re
import sys

import house

PUBLIC = ["ingot"]
GRAPH = ["base", *PUBLIC]
OPS = ["graph", *GRAPH]
AFTER_OPS = ["ops", *OPS]

# Room: what it may include beside itself. A folder stands for all in it, a file for itself. The longest match rules.
ROOMS = {
    "include": PUBLIC,
    "src/base": PUBLIC,
    "src/graph": GRAPH,
    "src/ops": OPS,
    "src/onnx": AFTER_OPS,
    "src/passes": AFTER_OPS,
    "src/plan": AFTER_OPS,
    "src/cpu": [*AFTER_OPS, "plan/backend.h"],
    "src/cpu/ref": AFTER_OPS,
    "src/cuda": [*AFTER_OPS, "plan/backend.h"],
    "src/engine": ["plan", "onnx", *AFTER_OPS],
    "src/runtime": ["onnx", "passes", "plan", "engine", *AFTER_OPS],
    "src/tools": ["onnx", "passes", "plan", *AFTER_OPS],
    "src/server": PUBLIC,
    "cli": PUBLIC,
    "bench": PUBLIC,
    "compat": PUBLIC,
    "examples": PUBLIC,
    "python": PUBLIC,
}

# The table of reference kernels is what backend.h promises of that room.
EXCEPTIONS = {("src/cpu/ref/ref_table.c", "plan/backend.h")}


def room_of(path):
    fitting = [room for room in ROOMS if path.startswith(room + "/")]
    return max(fitting, key=len) if fitting else None


def allowed(path, room, included):
    if (path, included) in EXCEPTIONS:
        return True
    own = os.path.relpath(room, "src") if room.startswith("src/") else room
    if "/" not in included:  # a file beside this one
        return os.path.exists(os.path.join(house.ROOT, os.path.dirname(path), included))
    return any(included == place or included.startswith(place + "/") for place in [own, *ROOMS[room]])


def problems_of(path):
    room = room_of(path)
    if room is None:
        return [f"{path}: no room of tests/check_layers.py holds it"]
    found = []
    for number, line in enumerate(house.without_comments(house.read(path)).split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if match and not allowed(path, room, match.group(1)):
            found.append(f'{path}:{number}: {room} must not include "{match.group(1)}"; it may include '
                         + ", ".join(ROOMS[room]))
    return found


def main():
    paths = house.files("include", "src", "cli", "compat", "examples", "python", endings=(".c", ".h", ".def", ".cu"))
    return house.finish([problem for path in paths for problem in problems_of(path)])


if __name__ == "__main__":
    sys.exit(main())
