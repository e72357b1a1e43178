#!/usr/bin/env python3
"""Fail where the shared library exports what the public headers do not declare, lacks what they do, or calls what a library must
not: nothing in it prints to a standard stream or ends the process.

usage: check_symbols.py [BUILD]      the build folder; default: INGOT_BUILD, else build. Exit code 77 (skipped) without one.
"""
import os
import re
import sys

import house

FORBIDDEN = re.compile(r"^(__)?(v?f?d?printf|puts|fputs|putchar|fputc|putc|perror|psignal|abort|exit|_exit|_Exit|quick_exit|"
                       r"assert_fail|assert_perror_fail|assert|vf?printf_chk|f?printf_chk|stdout|stderr|err|errx|warn|warnx)$")


def symbols(library, *options):
    code, output = house.run(["nm", "-D", *options, library])
    if code:
        return None
    return [line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()]


def declared():
    names = set()
    for path in house.files("include"):
        text = house.without_comments(house.read(path))
        for declaration in re.findall(r"INGOT_API\b([^;]*);", text):
            names.update(re.findall(r"\b(ingot_\w+)\s*\(", declaration)[:1])
    return names


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("INGOT_BUILD", "build")
    library = os.path.join(house.ROOT, build, "src", "libingot.so")
    if not os.path.exists(library):
        return house.skip(f"{library} is not built")
    exported, needed = symbols(library, "--defined-only"), symbols(library, "--undefined-only")
    if exported is None:
        return house.skip("nm cannot read the library")
    promised = declared()
    problems = [f"{name} is exported, but no public header declares it" for name in sorted(set(exported) - promised)]
    problems += [f"{name} is declared in a public header, but not exported" for name in sorted(promised - set(exported))]
    problems += [f"the library calls {name}" for name in sorted(set(needed)) if FORBIDDEN.match(name)]
    return house.finish(problems)


if __name__ == "__main__":
    sys.exit(main())
