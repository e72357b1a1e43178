#!/usr/bin/env python3
"""Build and run every test, part after part, and sum them up in one closing line.

usage: run_all.py [--quick] [PART ...]      --quick leaves all from levels on out; PART: names of parts to run, default all

Parts: unit (Meson's tests in build/), checks (tests/check_*.py), command (pytest on build/ingot), property
(random operator cases), python (pytest on the Python package in build/python); the unit tests at each instruction set (levels), and
built for AArch64 and emulated (aarch64; skipped without the cross compiler or qemu); unit and command again, built with the
address and undefined behaviour sanitizers (address, address-command); and the unit tests built with the thread sanitizer
(thread). Exit code 0: nothing failed. Meson and Ninja are taken from the path, the rest from the Python that runs this.
"""
import argparse
import dataclasses
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = 77  # exit code of a check or test that could not run here
SHOWN_LINES = 60  # of a failed step's output

# An exit code that no refusal has, so that a report is not taken for one; a giant allocation fails as it would without the
# sanitizer. Not detect_stack_use_after_return: with it gcc 12 misaligns 64-byte vectors on the stack.
COMMON_OPTIONS = "exitcode=86:allocator_may_return_null=1"
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": f"{COMMON_OPTIONS}:detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "exitcode=86:halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": f"{COMMON_OPTIONS}:halt_on_error=1:second_deadlock_stack=1",
}


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def run(command, **environment):
    """The exit code and output of a command, run at the root."""
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout


def show_tail(title, output):
    print(f"---- {title} failed ----")
    print("\n".join(output.rstrip().splitlines()[-SHOWN_LINES:]), flush=True)


# ---- Reading results ----

def count_tap(output):
    """Counts of the Test Anything Protocol, as cmocka writes it; None where there is none of it. Tests that the plan
    promises and that did not report have failed: the program died."""
    plans = re.findall(r"^1\.\.(\d+)\s*$", output, re.M)
    if not plans:
        return None
    counts = Counts()
    for verdict, rest in re.findall(r"^(ok|not ok)\b(.*)$", output, re.M):
        if re.search(r"#\s*skip", rest, re.I):
            counts.skipped += 1
        elif verdict == "ok":
            counts.passed += 1
        else:
            counts.failed += 1
    counts.failed += max(0, sum(map(int, plans)) - (counts.passed + counts.failed + counts.skipped))
    return counts


def count_closing_line(output):
    """Counts of the last line "N passed, N failed[, N skipped]"; None where there is none."""
    lines = re.findall(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", output, re.M)
    return Counts(*(int(number or 0) for number in lines[-1])) if lines else None


def count_program(output, result):
    """Counts of one test program; result is Meson's word for how it ended. A program that tells no numbers is one test."""
    if result == "SKIP":
        return Counts(skipped=1)
    good = result in ("OK", "EXPECTEDFAIL")
    counts = count_tap(output) or count_closing_line(output) or Counts(passed=int(good))
    if not good and counts.failed == 0:
        counts.failed = 1
    return counts


def count_junit(path):
    counts = Counts()
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        words = {child.tag for child in case}
        if words & {"failure", "error"}:
            counts.failed += 1
        elif "skipped" in words:
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


# ---- Parts ----

def run_checks():
    counts = Counts()
    for script in sorted(glob.glob(os.path.join(ROOT, "tests", "check_*.py"))):
        code, output = run([sys.executable, script])
        if code == SKIPPED:
            print(f"{os.path.basename(script)}: {output.strip()}")
            counts += Counts(skipped=1)
        elif code == 0:
            counts += Counts(passed=1)
        else:
            show_tail(os.path.basename(script), output)
            counts += Counts(failed=1)
    return counts


def build(folder, options):
    """Configures and builds folder; False where that failed."""
    commands = [["ninja", "-C", folder]]
    if not os.path.exists(os.path.join(ROOT, folder, "build.ninja")):
        commands.insert(0, ["meson", "setup", folder, "-Dtests=true", *options])
    for command in commands:
        code, output = run(command)
        if code != 0:
            show_tail(" ".join(command), output)
            return False
    return True


def meson_tests(folder, timeout_multiplier=1, before=(), options=(), **environment):
    """Counts of Meson's tests; before: a command that runs the one that follows it."""
    log = os.path.join(ROOT, folder, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    code, output = run([*before, "meson", "test", "-C", folder, "--no-rebuild",
                        f"--timeout-multiplier={timeout_multiplier}", *options], CMOCKA_MESSAGE_OUTPUT="TAP",
                       **SANITIZER_OPTIONS, **environment)
    if not os.path.exists(log):
        show_tail("meson test", output)
        return Counts(failed=1)
    counts = Counts()
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            test = json.loads(line)
            text = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
            found = count_program(text, test["result"])
            if found.failed:
                show_tail(test["name"], text)
            counts += found
    if code != 0 and counts.failed == 0:
        show_tail("meson test", output)
        counts.failed = 1
    return counts


def run_unit():
    if not build("build", ["--buildtype=release"]):
        return Counts(failed=1)
    return meson_tests("build")


def pytest(folder, *arguments):
    """The tests of the command, on the one that lies in folder; arguments: those of pytest, the tests first."""
    report = os.path.join(ROOT, folder, "pytest.xml")
    if os.path.exists(report):
        os.remove(report)
    code, output = run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}",
                        *arguments], INGOT=os.path.join(ROOT, folder, "ingot"), **SANITIZER_OPTIONS)
    if code not in (0, 5) or not os.path.exists(report):
        show_tail("pytest", output)
    counts = count_junit(report) if os.path.exists(report) else Counts()
    if code not in (0, 5) and counts.failed == 0:
        counts.failed = 1
    return counts


COMMAND_TESTS = ["tests", "--ignore=tests/python"]


def run_command():
    return pytest("build", *COMMAND_TESTS)


def run_python():
    if not build("build", ["--buildtype=release"]) or run(["meson", "configure", "build", "-Dpython=enabled"])[0] != 0 \
            or not build("build", []):
        return Counts(failed=1)
    return pytest("build", "tests/python")


def run_property():
    """Random operator cases, the same ones in every run."""
    if not build("build", ["--buildtype=release"]):
        return Counts(failed=1)
    code, output = run([sys.executable, "-B", "tests/property/run.py", "--seed", "1", "--cases", "3000", "--jobs", "2"])
    if code == SKIPPED:
        return Counts(skipped=1)
    counts = count_closing_line(output) or Counts(failed=1)
    if code != 0:
        show_tail("tests/property/run.py", output)
        counts.failed = counts.failed or 1
    return counts


def run_levels():
    """The unit tests at each instruction set that there is here; part unit runs them with all of them, and the kernels' own
    tests at each."""
    if not build("build", ["--buildtype=release"]):
        return Counts(failed=1)
    code, output = run(["build/tests/checkkernels/checkkernels", "--levels"])
    if code != 0:
        show_tail("checkkernels --levels", output)
        return Counts(failed=1)
    counts = Counts()
    for level in output.split():
        found = meson_tests("build", options=["--suite", "unit", "--no-suite", "kernels"], INGOT_CPU=level)
        print(f"levels, {level}: {found}", flush=True)
        counts += found
    return counts


def run_aarch64():
    """What is portable, built for another processor, and run by an emulator of it."""
    missing = [tool for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(tool)]
    if missing:
        print(f"aarch64: skipped, there is no {' and no '.join(missing)}")
        return Counts(skipped=1)
    if not build("build-aarch64", ["--cross-file", "tests/cross/aarch64.ini", "--buildtype=release", "-Doptimization=1"]):
        return Counts(failed=1)
    # Whole models take an emulator longer than all the rest; the tests of what is portable need none.
    return meson_tests("build-aarch64", timeout_multiplier=10, INGOT_TEST_DATA="", INGOT_TEST_EMULATED="1")


def sanitized(folder, sanitizers):
    # More than -O1, or more of a debugger's information than lines, takes the compiler several times as long for kernels.
    return build(folder, [f"-Db_sanitize={sanitizers}", "-Db_lundef=false", "--buildtype=debugoptimized",
                          "-Doptimization=1", "-Dc_args=-g1"])


def run_address():
    if not sanitized("build-asan", "address,undefined"):
        return Counts(failed=1)
    return meson_tests("build-asan", timeout_multiplier=6)


def run_address_command():
    if not sanitized("build-asan", "address,undefined"):
        return Counts(failed=1)
    return pytest("build-asan", *COMMAND_TESTS)


def run_thread():
    if not sanitized("build-tsan", "thread"):
        return Counts(failed=1)
    # Older thread sanitizers do not bear all of a new kernel's address randomization.
    fixed = ["setarch", "--addr-no-randomize"]
    works = shutil.which("setarch") and run([*fixed, "true"])[0] == 0
    return meson_tests("build-tsan", timeout_multiplier=10, before=fixed if works else ())


PARTS = {  # in the order in which they run
    "unit": run_unit,
    "checks": run_checks,  # some look at what unit has built
    "command": run_command,
    "property": run_property,
    "python": run_python,
    "levels": run_levels,
    "aarch64": run_aarch64,
    "address": run_address,
    "address-command": run_address_command,
    "thread": run_thread,
}
QUICK = ["unit", "checks", "command", "property", "python"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    parts = arguments.parts or (QUICK if arguments.quick else list(PARTS))
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    if not os.environ.get("INGOT_TEST_DATA"):
        print("INGOT_TEST_DATA is not set: tests that need the shared models are skipped")
    total = Counts()
    for part in parts:
        start = time.monotonic()
        counts = PARTS[part]()
        print(f"{part}: {counts}, in {time.monotonic() - start:.0f} s", flush=True)
        total += counts
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
