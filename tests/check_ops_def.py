#!/usr/bin/env python3
"""Fail where src/ops/ops.def is not sorted by domain, name and version, or has a line twice: operators are looked up in it by
halving."""
import re
import sys

import house

PATH = "src/ops/ops.def"
LINE = re.compile(r'^(OP|OP_VIEW|OP_CONTROL|OP_UPGRADE)\("([\w.]+)", (\w+), (\d+), (\w+)(?:, (\w+))?\)$')


def main():
    problems, before = [], None
    for number, line in enumerate(house.without_comments(house.read(PATH)).split("\n"), 1):
        if not line.strip():
            continue
        match = LINE.match(line)
        if not match or (match.group(1) == "OP") != (match.group(6) is not None):
            problems.append(f"{PATH}:{number}: not a line of the table: {line}")
            continue
        key = (match.group(2), match.group(3), int(match.group(4)))
        if before is not None and key == before:
            problems.append(f"{PATH}:{number}: {key[1]}-{key[2]} is there twice")
        elif before is not None and key < before:
            problems.append(f"{PATH}:{number}: {key[1]}-{key[2]} must stand before {before[1]}-{before[2]}")
        before = key
    return house.finish(problems)


if __name__ == "__main__":
    sys.exit(main())
