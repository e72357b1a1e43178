"""What the checks of the house (check_*.py) share: where the files are, how to read them, how to end."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = 77
SHOWN = 40  # problems printed of one check


def files(*folders, endings=(".c", ".h")):
    """Paths, relative to the root, of the files in folders that end so, sorted."""
    found = []
    for folder in folders:
        for place, names, leaves in os.walk(os.path.join(ROOT, folder)):
            names[:] = [name for name in names if not name.startswith((".", "build", "__"))]
            found += [os.path.relpath(os.path.join(place, leaf), ROOT) for leaf in leaves if leaf.endswith(endings)]
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def without_comments(text):
    """C text whose comments are spaces; strings and lines stay where they are."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0)) if match.group(0).startswith("/") else match.group(0)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def run(command, **options):
    """Exit code and output of a command, run at the root; code 127 where it does not exist."""
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False, **options)
    except FileNotFoundError:
        return 127, f"{command[0]} was not found"
    return done.returncode, done.stdout


def skip(reason):
    print(f"skipped: {reason}")
    return SKIPPED


def finish(problems):
    """Prints what is wrong, a line each; the exit code of the check."""
    for problem in problems[:SHOWN]:
        print(problem)
    if len(problems) > SHOWN:
        print(f"... and {len(problems) - SHOWN} more")
    return 1 if problems else 0
