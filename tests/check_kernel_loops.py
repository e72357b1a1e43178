#!/usr/bin/env python3
"""Fail where a hot loop of a matrix or convolution kernel stores vector registers on the stack: the compiler has run out
of registers there, which costs a large part of the speed. A hot loop is an innermost loop with some fused multiply-adds
or sums of products of integers. Also fail where a function leaves the upper halves of vector registers in use, as the compiler
has it do where a vector is an argument or the result: the code after it that knows no AVX then costs hundreds of cycles.
Exit code 77 (skipped) on other processors than x86-64, and without gcc (the compiler of releases) or objdump."""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = 77
MULTIPLY_ADDS = 4  # that make a loop a hot one
MULTIPLIES = ("vfmadd", "vpdpbusd", "vpmaddwd")
FLAGS = {"avx2": ["-mavx2", "-mfma", "-mf16c", "-mbmi2"]}
FLAGS["avx512"] = FLAGS["avx2"] + ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"]
FLAGS["avx512_vnni"] = FLAGS["avx512"] + ["-mavx512vnni"]

FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
STACK_STORE = re.compile(r"%[xyz]mm\d+.*,\s*-?(?:0x)?[0-9a-f]*\(%r(sp|bp)[,)]")


def functions_of(text):
    """Yields each function's name and its instructions: (address, mnemonic, operands)."""
    name, body = None, []
    for line in text.splitlines():
        match = FUNCTION.match(line)
        if match:
            if name:
                yield name, body
            name, body = match.group(1), []
            continue
        match = INSTRUCTION.match(line)
        if match and name:
            body.append((int(match.group(1), 16), match.group(2), match.group(3)))
    if name:
        yield name, body


def innermost_loops(body):
    """Ranges of addresses from a backward jump's target to the jump that hold no smaller such range."""
    loops = []
    for address, mnemonic, operands in body:
        target = re.match(r"([0-9a-f]+) <", operands)
        if mnemonic.startswith("j") and target and body[0][0] <= int(target.group(1), 16) <= address:
            loops.append((int(target.group(1), 16), address))
    return [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]


def spills(text):
    for name, body in functions_of(text):
        framed = any(m == "mov" and o.replace(" ", "") == "%rsp,%rbp" for _, m, o in body)
        for start, end in innermost_loops(body):
            inside = [i for i in body if start <= i[0] <= end]
            if sum(mnemonic.startswith(MULTIPLIES) for _, mnemonic, _ in inside) < MULTIPLY_ADDS:
                continue
            for address, mnemonic, operands in inside:
                match = STACK_STORE.search(operands)
                if match and (match.group(1) == "sp" or framed):
                    yield f"{name}+{address - body[0][0]:#x}: {mnemonic} {operands}"


def left_in_use(text):
    for name, body in functions_of(text):
        mnemonics = {mnemonic for _, mnemonic, _ in body}
        wide = any("%ymm" in operands or "%zmm" in operands for _, _, operands in body)
        if wide and "ret" in mnemonics and "vzeroupper" not in mnemonics:
            yield name


def main():
    if platform.machine() != "x86_64" or not shutil.which("gcc") or not shutil.which("objdump"):
        print("skipped: needs x86-64, gcc and objdump")
        return SKIPPED
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for level, flags in FLAGS.items():
            for source in sorted(glob.glob(os.path.join(ROOT, "src", "cpu", "*", f"*_{level}.c"))):
                target = os.path.join(folder, "kernel.o")
                subprocess.run(["gcc", "-std=c11", "-O3", "-D_GNU_SOURCE", "-ffp-contract=off", "-fno-math-errno",
                                "-fPIC", "-I", os.path.join(ROOT, "include"), "-I", os.path.join(ROOT, "src"), *flags,
                                "-c", source, "-o", target], check=True)
                text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", target], check=True,
                                      stdout=subprocess.PIPE, text=True).stdout
                for name in left_in_use(text):
                    print(f"{os.path.relpath(source, ROOT)}: leaves upper halves of vector registers in use: {name}")
                    failed = True
                if os.path.basename(os.path.dirname(source)) not in ("gemm", "conv", "int8"):
                    continue
                for spill in spills(text):
                    print(f"{os.path.relpath(source, ROOT)}: stores on the stack in a hot loop: {spill}")
                    failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
