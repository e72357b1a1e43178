#!/usr/bin/env python3
"""Fail where docs/ops.md is not what `ingot ops` says. Exit code 77 (skipped) where build/ingot does not exist.

usage: check_ops_page.py [--write] [--ingot PATH]      --write makes the page anew
"""
import argparse
import json
import os
import sys

import house

PAGE = "docs/ops.md"
HEAD = """# Operators
Every operator that Ingot runs, with the opset versions that have a form of their own and the element types of its first input.
Made from `src/ops/ops.def` and the schemas of the standard by `tests/check_ops_page.py --write`; `ingot ops` prints the same.
An operator that is not here is refused when the model is loaded, by name.
"""

TAIL = """
## Not taken
Operators of `com.microsoft` that are refused by name, as are those of `org.pytorch.aten`:

| operator | why |
|---|---|
| Sampling | draws from a generator of its own; GreedySearch and BeamSearch are there |
| WhisperBeamSearch | a search with rules of one model; BeamSearch is there |
| EPContext, Snpe | hold code for one accelerator |
| MoE, QMoE | experts in layouts of GPU kernels |
| PackedAttention, PackedMultiHeadAttention, SparseAttention | ONNX Runtime has no kernel of its own for a CPU, or a layout of its own for GPUs |

Parts of operators that are refused, with a message that names the input or attribute:

| operator | part | what to do |
|---|---|---|
| GroupQueryAttention | a cache of 8 or 4 bits (`k_scale`, `v_scale`), `sliding_window_cache`, `query_seqlens` | export the cache in the type of the query, at its full length |
| BeamSearch, GreedySearch | a decoder whose past and present share a buffer | export the decoder without `past_present_share_buffer` |
"""


def page(operators):
    lines = [HEAD]
    domain = None
    rows = {}
    for entry in operators:
        rows.setdefault((entry["domain"], entry["name"]), []).append(entry)
    for (where, name), versions in rows.items():
        if where != domain:
            domain = where
            lines.append(f"\n## {domain}\n\n| operator | versions | types | what it does |\n|---|---|---|---|\n")
        summary = next((v["summary"] for v in reversed(versions) if v["summary"]), "rewritten into other operators")
        summary = summary[0].upper() + summary[1:].rstrip(".")
        numbers = " ".join(str(v["since_version"]) for v in versions)
        lines.append(f"| {name} | {numbers} | {versions[-1]['types']} | {summary.replace('|', chr(92) + '|')} |\n")
    return "".join([*lines, TAIL])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ingot", default=os.path.join(house.ROOT, "build", "ingot"))
    arguments = parser.parse_args()
    if not os.path.exists(arguments.ingot):
        return house.skip(f"{arguments.ingot} does not exist")
    code, output = house.run([arguments.ingot, "ops", "--json"])
    if code != 0:
        return house.finish([output])
    wanted = page(json.loads(output)["operators"])
    path = os.path.join(house.ROOT, PAGE)
    if arguments.write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
        return 0
    found = house.read(PAGE) if os.path.exists(path) else ""
    return house.finish([] if found == wanted else [f"{PAGE} is stale: run python3 tests/check_ops_page.py --write"])


if __name__ == "__main__":
    sys.exit(main())
