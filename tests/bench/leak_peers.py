#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others say of programs that leak, beside `pieprofd heap -d`, and what it costs the program.

    tests/bench/leak_peers.py --peers PYTHON [--python PYTHON] [--seconds 20] [WORD ...]

Programs of tests/leaks/ with WORD in their names that need no packages. PYTHON of --peers is one of a virtual environment with
memray, scalene and guppy3. Each program runs bare, under each tool, and bare again: CPU time of the program for a round, over
the mean of both bare runs, whose own proportion is shown as the noise. (memray's and Scalene's own work is part of that
time, as it is done in the program; pieprofd's is another process's, and shown beside it.) A line is named when one of the first
three lines of the program itself, by memory at its highest (memray), memory allocated (Scalene) or as in leaks.py (pieprofd), is in
`lines`. guppy names no lines: shown is how long the program stands still for one hpy().heap(), and its first type. Not asserted.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))

from harness import PIEPROFD, Failure  # noqa: E402
from leaks import FIRST, FOLDER, WARM_UP, judge  # noqa: E402

MEMRAY = """
import collections, memray, os, sys
file, sizes = sys.argv[2], collections.Counter()
with memray.FileReader(sys.argv[1]) as reader:
    for record in reader.get_high_watermark_allocation_records(merge_threads=True):
        for function, name, line in record.stack_trace():
            if os.path.basename(name) == file:
                sizes[line] += record.size
                break
print(*[line for line, size in sizes.most_common(3)])
"""
GUPPY = """
import os, runpy, sys, threading, time
from guppy import hpy
def look():
    time.sleep(float(sys.argv[1]))
    began = time.perf_counter()
    heap = hpy().heap()
    print("guppy %.3f %s" % (time.perf_counter() - began, heap[0].kind), flush=True)
threading.Thread(target=look, daemon=True).start()
sys.path.insert(0, os.path.dirname(sys.argv[2]))
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(command, seconds, beside=None):
    """CPU time of the program for a round, in microseconds, and what it printed. beside: called with its process, once it is ready."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1")) as process:
        own = beside(process) if beside else 0
        output = process.communicate(timeout=4 * seconds + 120)[0]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rounds = [int(line.split()[1]) for line in output.splitlines() if line.startswith("rounds ")]
    if not rounds:
        raise Failure("%s: %s" % (command[1:4], output[-200:]))
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - own
    return 1e6 * used / rounds[0], output


def named(lines, program):
    return bool(set(lines[:FIRST]) & set(program["lines"]))


def with_pieprofd(program, python, seconds, folder):
    path, own = os.path.join(folder, "heap.json"), []

    def look(process):
        time.sleep(WARM_UP)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([PIEPROFD, "heap", "--pid", str(process.pid), "-d", str(seconds - 2 * WARM_UP), "--format", "json", "-o",
                        path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        own.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return own[0]

    cost, _ = run([python, program["path"], "--seconds", str(seconds)], seconds, look)
    with open(path) as file:
        said = judge(program, json.load(file))
    return cost, "%s, holder %s; %.1f s of its own CPU" % (
        "line named" if said["line"] else "no line", "named" if said["named"] else "not named", own[0])


def with_memray(program, python, seconds, folder, *options):
    path = os.path.join(folder, "memray%d.bin" % len(options))
    cost, _ = run([python, "-m", "memray", "run", "-q", "-f", *options, "-o", path, program["path"], "--seconds", str(seconds)],
                  seconds)
    lines = subprocess.run([python, "-c", MEMRAY, path, program["file"]], stdout=subprocess.PIPE, text=True, check=True).stdout
    return cost, "line named" if named([int(line) for line in lines.split()], program) else "no line"


def with_scalene(program, python, seconds, folder):
    path = os.path.join(folder, "scalene.json")
    cost, _ = run([python, "-m", "scalene", "run", "-o", path, program["path"], "---", "--seconds", str(seconds)], seconds)
    with open(path) as file:
        files = json.load(file)["files"]
    rows = [row for name, entry in files.items() if os.path.basename(name) == program["file"] for row in entry["lines"]]
    rows.sort(key=lambda row: -row["n_malloc_mb"])
    lines = [row["lineno"] for row in rows if row["n_malloc_mb"] > 0]
    leaks = [leak for name, entry in files.items() for leak in entry.get("leaks") or {}]
    return cost, "%s; %d of its leaks" % ("line named" if named(lines, program) else "no line", len(leaks))


def with_guppy(program, python, seconds, folder):
    del folder
    cost, output = run([python, "-c", GUPPY, str(seconds - WARM_UP), program["path"], "--seconds", str(seconds)], seconds)
    said = [line for line in output.splitlines() if line.startswith("guppy ")]
    words = said[0].split(" ", 2) if said else ["", "?", "?"]
    return cost, "%s s standing still; first %s" % (words[1], words[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peers", required=True, metavar="PYTHON")
    parser.add_argument("--seconds", type=float, default=20)
    arguments = parser.parse_args()
    tools = [("pieprofd heap -d", with_pieprofd, arguments.python, ()), ("memray", with_memray, arguments.peers, ()),
             ("memray, Python's allocators", with_memray, arguments.peers, ("--trace-python-allocators",)),
             ("Scalene", with_scalene, arguments.peers, ()), ("guppy", with_guppy, arguments.peers, ())]
    with open(os.path.join(FOLDER, "expected.json")) as file:
        programs = [program for program in json.load(file)["programs"] if program["kind"] == "leak" and not program["needs"]
                    and (not arguments.words or any(word in program["file"] for word in arguments.words))]
    print("| program | tool | CPU time of a round, over bare | says |")
    print("|---" * 4 + "|")
    for program in programs:
        program["path"] = os.path.join(FOLDER, program["file"])
        with tempfile.TemporaryDirectory() as folder:
            bare = [arguments.python, program["path"], "--seconds", str(arguments.seconds)]
            first, said = run(bare, arguments.seconds)[0], []
            for name, tool, python, options in tools:
                try:
                    said.append((name,) + tool(program, python, arguments.seconds, folder, *options))
                except (Failure, OSError, KeyError, ValueError, subprocess.SubprocessError) as problem:
                    said.append((name, None, "failed: %s" % str(problem)[-100:].replace("\n", " ")))
            second = run(bare, arguments.seconds)[0]
        mean = (first + second) / 2
        print("| %s | bare twice | %.2f and %.2f (%.0f us) | |" % (program["file"][:-3], first / mean, second / mean, mean))
        for name, cost, words in said:
            print("| | %s | %s | %s |" % (name, "?" if cost is None else "%.2f" % (cost / mean), words), flush=True)


if __name__ == "__main__":
    main()
