#!/usr/bin/env python3
"""Random operator cases against the ONNX reference and ONNX Runtime.

usage: run.py [--seed S] [--cases N] [--operator NAME] [--first K] [--jobs N] [--domain D] [--verbose]

A case is fixed by the seed, its operator and its number, which each failure's line says how to run again. Ends with
"N passed, N failed, N skipped"; skipped are cases that nobody else can answer and those under exclusions.py. Exit code 0:
nothing failed. The library is $INGOT_LIBRARY, default build/src/libingot.so.
"""
import argparse
import collections
import json
import os
import select
import subprocess
import sys
import time
import traceback

try:
    import numpy  # noqa: F401
    import onnx  # noqa: F401
    import ml_dtypes  # noqa: F401
except ImportError as missing:
    print(f"{missing}: the random operator cases are skipped")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
SECONDS = 60  # for one case
PEERS = ("reference", "wide reference", "ONNX Runtime")


class Worker:
    """A process that runs cases one after another; when it dies, the case at hand has failed."""

    def __init__(self, seed):
        self.seed, self.task, self.stage, self.rest = seed, None, "", b""
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", os.path.abspath(__file__), "--worker", str(self.seed)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE if os.environ.get("INGOT_QUIET") else None)
        self.rest = b""

    def give(self, task):
        self.task, self.stage, self.since = task, "start", time.monotonic()
        self.process.stdin.write((json.dumps(task) + "\n").encode())
        self.process.stdin.flush()

    def read(self):
        """Results that have come; a death is one."""
        data = os.read(self.process.stdout.fileno(), 65536)
        if not data:
            return [self.died(f"died with exit code {self.process.wait()}")]
        *lines, self.rest = (self.rest + data).split(b"\n")
        results = []
        for line in lines:
            message = json.loads(line)
            if "stage" in message:
                self.stage, self.since = message["stage"], time.monotonic()
            else:
                results.append(message)
        return results

    def died(self, how):
        self.process.kill()
        self.process.wait()
        self.start()
        # Peers need not survive: their death by a signal leaves the case without an answer.
        verdict = "skipped" if self.stage in PEERS and " -" in how else "failed"
        return {"task": self.task, "verdict": verdict, "text": f"the {self.stage} stage {how}", "form": ""}

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def work(seed):
    """The worker's side: tasks on standard input, stages and results on standard output."""
    import warnings

    import numpy
    import trial
    numpy.seterr(all="ignore")
    warnings.simplefilter("ignore")
    channel = os.dup(1)
    os.dup2(2, 1)

    def say(message):
        os.write(channel, (json.dumps(message) + "\n").encode())

    runner = trial.Runner(lambda stage: say({"stage": stage}))
    for line in sys.stdin:
        task = json.loads(line)
        try:
            verdict, text, form = runner.run(seed, *task)
        except Exception:  # a fault of these tests is a failed case too
            verdict, text, form = "failed", "".join(traceback.format_exc().splitlines(True)[-7:]), ""
        say({"task": task, "verdict": verdict, "text": text, "form": form})


def tasks_of(arguments):
    import generate
    names = [name for name in generate.operators() if not arguments.operator or name[1] in arguments.operator.split(",")]
    if arguments.domain:
        names = [name for name in names if name[0] == arguments.domain]
    if not names:
        sys.exit(f"no operator {arguments.operator}")
    for index in range(arguments.cases):
        yield [*names[index % len(names)], arguments.first + index // len(names)]


def run_all(arguments, report):
    tasks, busy = tasks_of(arguments), []
    for _ in range(arguments.jobs):
        busy.append(Worker(arguments.seed))
    for worker in list(busy):
        task = next(tasks, None)
        if task is None:
            worker.stop()
            busy.remove(worker)
        else:
            worker.give(task)
    while busy:
        ready, _, _ = select.select([worker.process.stdout for worker in busy], [], [], 1)
        for worker in list(busy):
            results = []
            if worker.process.stdout in ready:
                results = worker.read()
            elif time.monotonic() - worker.since > SECONDS:
                results = [worker.died(f"took more than {SECONDS} s")]
            for result in results:
                report(result)
                task = next(tasks, None)
                if task is None:
                    worker.stop()
                    busy.remove(worker)
                else:
                    worker.give(task)


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(int(sys.argv[2]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--operator", help="names, separated by commas")
    parser.add_argument("--domain")
    parser.add_argument("--first", type=int, default=0, help="number of the first case of each operator")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="say why cases are skipped, and count verdicts per operator")
    arguments = parser.parse_args()
    counts, per_operator = collections.Counter(), collections.defaultdict(collections.Counter)

    def report(result):
        verdict, (domain, name, number) = result["verdict"], result["task"]
        counts[verdict] += 1
        per_operator[name][verdict] += 1
        if verdict == "failed" or arguments.verbose and result["text"]:
            print(f"{verdict}: {domain} {name} {result['form']}: {result['text']}\n"
                  f"  again: run.py --seed {arguments.seed} --operator {name} --first {number} --cases 1", flush=True)

    run_all(arguments, report)
    if arguments.verbose:
        for name, kinds in sorted(per_operator.items()):
            print(f"{name}: {dict(kinds)}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
