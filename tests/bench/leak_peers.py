#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others say of programs that leak, beside `pieprofd heap -d`, and what it costs the program.

    tests/bench/leak_peers.py --peers PYTHON [--seconds 18] [--tool NAME ...] [--rows FILE] [NAME ...]
    tests/bench/leak_peers.py --table FILE ...       a table of such rows

Programs of tests/leaks/ that need no packages, clean ones too, or those with one of NAME in their names. PYTHON is that of a
virtual environment with memray, Scalene and guppy3, and runs the programs everywhere. A program runs under a tool while the
same program runs bare beside it: the cost is CPU time of a round over the bare one's, both from `ready` to the last round, so
that starting, reporting and the looks of the last two are not in it; memory is what is in RAM then, less the bare one's. Two bare ones beside each other
show the noise. (pieprofd's own CPU time is another process's, and shown beside.) Each says what it says in its usual way:

  memray       lines by what is allocated at the highest of memory, and by what is never freed (its reports `flamegraph` and `--leaks`)
  Scalene      lines by what they allocated; its own list of leaks is its verdict
  tracemalloc  lines by what has grown between two snapshots, of 1 or 10 frames the innermost of the program
  guppy        kinds of objects by what has come since a first look (setrelheap), with their shortest paths (shpaths) and referrers (byvia) as holders

A line is named when one of the first three of the program's own is in `lines` of expected.json; a holder when all its words stand in the
first three entries. Of a clean program only a verdict can be wrong. Nothing is asserted.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))

from harness import PIEPROFD, Failure  # noqa: E402
from leaks import FIRST, FOLDER, WARM_UP, has, judge  # noqa: E402

MEMRAY = """
import collections, json, memray, os, sys
file, said = sys.argv[2], {}
with memray.FileReader(sys.argv[1]) as reader:
    for name, records in (("peak", reader.get_high_watermark_allocation_records), ("leaks", reader.get_leaked_allocation_records)):
        sizes = collections.Counter()
        for record in records(merge_threads=True):
            for _, path, line in record.stack_trace():
                if os.path.basename(path) == file:
                    sizes[line] += record.size
                    break
        said[name] = [line for line, size in sizes.most_common(3)]
print(json.dumps(said))
"""
# A program with a thread that looks twice: argv is when, when again, the program and its arguments.
LOOKS = """
import json, os, runpy, sys, threading, time
WHAT
def look(early, late):
    time.sleep(early)
    began = time.perf_counter()
    first = begin()
    middle = time.perf_counter()
    time.sleep(max(0, late - early - (middle - began)))
    again = time.perf_counter()
    said = end(first)
    said.update(still=[middle - began, time.perf_counter() - again], cpu=time.thread_time())
    print("said " + json.dumps(said), flush=True)
threading.Thread(target=look, args=(float(sys.argv[1]), float(sys.argv[2])), daemon=True).start()
sys.argv = sys.argv[3:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
GUPPY = """
from guppy import hpy
heap = hpy()
def begin():
    heap.setrelheap()
def end(first):
    kinds = heap.heap()
    return {"kinds": [str(kinds[i].kind) for i in range(min(3, len(kinds)))],
            "paths": [(str(kinds[i].shpaths) + str(kinds[i].byvia))[:20000] for i in range(min(3, len(kinds)))]}
"""
TRACEMALLOC = """
import tracemalloc
tracemalloc.start(%d)
begin = tracemalloc.take_snapshot
def end(first):
    last = tracemalloc.take_snapshot()
    first.dump(os.environ["FOLDER"] + "/first")
    last.dump(os.environ["FOLDER"] + "/last")
    return {}
"""
COMPARE = """
import collections, json, sys, tracemalloc
first, last = (tracemalloc.Snapshot.load(path) for path in sys.argv[1:3])
sizes = collections.Counter()
for sign, snapshot in ((1, last), (-1, first)):
    for trace in snapshot.traces:
        for frame in reversed(trace.traceback):
            if frame.filename == sys.argv[3]:
                sizes[frame.lineno] += sign * trace.size
                break
print(json.dumps([line for line, size in sizes.most_common(3) if size > 0]))
"""


# ---- running


def family(pid):
    """A process and its descendants: Scalene's is a child of what was started."""
    yield pid
    try:
        for tid in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, tid)) as children:
                for child in children.read().split():
                    yield from family(int(child))
    except OSError:
        return


def cpu_and_memory(pid):
    """CPU time in seconds, and what is in RAM in MB, of the one of a family that has most of it."""
    used = []
    for one in family(pid):
        try:
            with open("/proc/%d/statm" % one) as statm:
                resident = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
            used.append((resident, time.clock_gettime(~one << 3 | 2)))  # the process's own clock, as clock_getcpuclockid() has it
        except OSError:
            continue
    resident, cpu = max(used)
    return cpu, resident


class Run:
    """A program from `ready` to its last round, read by a thread of its own."""

    def __init__(self, command):
        self.output, self.begun, self.ended, self.rounds = [], None, None, 0
        self.ready = threading.Event()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
                                        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            if line == "ready\n":
                self.begun = cpu_and_memory(self.process.pid)
                self.ready.set()
            elif line.startswith("rounds "):
                # At once: whatever the tool does at the end is no cost of the program's.
                self.ended, self.rounds = cpu_and_memory(self.process.pid), int(line.split()[1])
            self.output.append(line)
        self.ready.set()

    def finish(self, seconds):
        late = threading.Timer(seconds, self.process.kill)
        late.start()
        self.thread.join()
        self.process.wait()
        late.cancel()
        self.process.stdout.close()

    def figures(self):
        """CPU time of a round in seconds, and MB at the end."""
        if not self.begun or not self.rounds:
            raise Failure("no rounds: %s" % "".join(self.output)[-200:])
        return (self.ended[0] - self.begun[0]) / self.rounds, self.ended[1]

    def said(self):
        return next((json.loads(line[5:]) for line in self.output if line.startswith("said ")), {})


def paired(command, bare, seconds, beside=None):
    """The program under a tool, and what its figures are over those of a bare one beside it. beside: called with its pid."""
    runs = [Run(command), Run(bare)]
    try:
        runs[0].ready.wait(60)
        if beside:
            beside(runs[0].process.pid)
    finally:
        for one in runs:
            one.finish(3 * seconds + 60)
    (cost, resident), (bare_cost, bare_resident) = (one.figures() for one in runs)
    return runs[0], {"cost": cost / bare_cost, "round_us": 1e6 * bare_cost, "more_mb": resident - bare_resident}


# ---- the tools: each returns its figures with line, holder, verdict: True, False, or None where it does not say such things


def named(lines, program):
    return bool(set(lines[:FIRST]) & set(program["lines"]))


class Bench:
    def __init__(self, program, python, seconds, folder):
        self.program, self.python, self.seconds, self.folder = program, python, seconds, folder
        self.command = [program["path"], "--seconds", str(seconds)]
        self.bare = [python] + self.command

    def path(self, name):
        return os.path.join(self.folder, name)

    def nothing(self):
        return paired(self.bare, self.bare, self.seconds)[1]

    def pieprofd(self, *options):
        path, own = self.path("heap.json"), []

        def look(pid):
            time.sleep(WARM_UP)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([PIEPROFD, "heap", "--pid", str(pid), "-d", str(self.seconds - 2 * WARM_UP), "--format", "json", "-o", path,
                            *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            own.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

        _, row = paired(self.bare, self.bare, self.seconds, look)
        with open(path) as file:
            said = judge(self.program, json.load(file))
        # No variable holds it: that is the verdict's to say.
        holder = said["named"] if self.program["holder_words"] else None
        return dict(row, line=said["line"], holder=holder, verdict=said["verdict_right"], says=str(said["verdict"]),
                    own_cpu=own[0])

    def allocations(self):
        return self.pieprofd("--allocations")

    def memray(self, *options):
        path = self.path("memray%d.bin" % len(options))
        _, row = paired([self.python, "-m", "memray", "run", "-q", "-f", *options, "-o", path] + self.command, self.bare, self.seconds)
        said = json.loads(subprocess.run([self.python, "-c", MEMRAY, path, self.program["file"]], stdout=subprocess.PIPE, text=True,
                                         check=True).stdout)
        return dict(row, line=any(named(lines, self.program) for lines in said.values()), says="peak %s, leaks %s" % (
            said["peak"], said["leaks"]))

    def memray_python(self):
        return self.memray("--trace-python-allocators")

    def scalene(self):
        path = self.path("scalene.json")
        _, row = paired([self.python, "-m", "scalene", "run", "-o", path, self.program["path"], "---"] + self.command[1:], self.bare,
                        self.seconds)
        with open(path) as file:
            files = json.load(file)["files"]
        own = [entry for name, entry in files.items() if os.path.basename(name) == self.program["file"]]
        rows = sorted((row for entry in own for row in entry["lines"]), key=lambda row: -row["n_malloc_mb"])
        lines = [row["lineno"] for row in rows if row["n_malloc_mb"] > 0]
        leaks = [line for entry in files.values() for line in entry.get("leaks") or {}]
        return dict(row, line=named(lines, self.program), verdict=bool(leaks) == (self.program["kind"] == "leak"),
                    says="lines %s, %d leaks" % (lines[:FIRST], len(leaks)))

    def looks(self, what):
        words = [str(WARM_UP), str(self.seconds - 2 * WARM_UP)]
        one, row = paired([self.python, "-c", LOOKS.replace("WHAT", what)] + words + self.command, self.bare, self.seconds)
        said = one.said()
        if not said:
            raise Failure("it did not look twice: %s" % "".join(one.output)[-200:])
        # Without the looks, which are of no round: how long they took is told apart.
        cost, rounds = row["cost"], one.rounds
        return said, dict(row, still=said["still"], cost=cost - 1e6 * said["cpu"] / rounds / row["round_us"])

    def tracemalloc(self, frames=1):
        os.environ["FOLDER"] = self.folder
        row = self.looks(TRACEMALLOC % frames)[1]
        lines = json.loads(subprocess.run([self.python, "-c", COMPARE, self.path("first"), self.path("last"), self.program["path"]],
                                          stdout=subprocess.PIPE, text=True, check=True).stdout)
        return dict(row, line=named(lines, self.program), says="lines %s" % lines)

    def tracemalloc_deep(self):
        return self.tracemalloc(10)

    def guppy(self):
        said, row = self.looks(GUPPY)
        text = "\n".join(said["kinds"] + said["paths"])
        wanted = [words for words in [self.program["holder_words"]] + self.program.get("holder_words_also", []) if words]
        return dict(row, holder=any(has(text, words) for words in wanted), says="; ".join(said["kinds"]), paths=said["paths"])


TOOLS = {"bare": Bench.nothing, "heap -d": Bench.pieprofd, "heap -d --allocations": Bench.allocations, "memray": Bench.memray,
         "memray, Python's allocators": Bench.memray_python, "Scalene": Bench.scalene, "tracemalloc": Bench.tracemalloc, "tracemalloc, 10 frames": Bench.tracemalloc_deep,
         "guppy": Bench.guppy}


# ---- a table


def words_of(row):
    """What a tool named, and for how much."""
    if row.get("failed"):
        return "failed"
    said = []
    if row["kind"] == "leak":
        said = [what for what in ("line", "holder") if row.get(what)]
    if row.get("verdict") is not None and row["kind"] == "leak":
        said += ["verdict"] if row["verdict"] else []
    elif row.get("verdict") is False:
        said = ["**accused**" if row["tool"] == "Scalene" else "wrong verdict"]
    return "%s%.2f" % (", ".join(said) + "; " if said else "" if row["tool"] == "bare" else "-; ", row["cost"])


def table(paths):
    rows = []
    for path in paths:
        with open(path) as file:
            rows += [json.loads(line) for line in file]
    tools = [tool for tool in TOOLS if any(row["tool"] == tool for row in rows)]
    print("| program | %s |" % " | ".join(tools))
    print("|---" * (len(tools) + 1) + "|")
    for name in dict.fromkeys(row["program"] for row in rows):
        by_tool = {row["tool"]: row for row in rows if row["program"] == name}
        print("| `%s` | %s |" % (name, " | ".join(words_of(by_tool[tool]) if tool in by_tool else "" for tool in tools)))
    for what, key in (("MB more", lambda row: row["more_mb"]), ("s, standing still", lambda row: sum(row["still"]) if "still" in row else None),
                      ("s of its own CPU time", lambda row: row.get("own_cpu"))):
        cells = []
        for tool in tools:
            values = [key(row) for row in rows if row["tool"] == tool and not row.get("failed") and key(row) is not None]
            cells.append("%.1f to %.1f" % (min(values), max(values)) if values else "")
        print("| %s | %s |" % (what, " | ".join(cells)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--seconds", type=float, default=18)
    parser.add_argument("--tool", action="append", choices=TOOLS, help="all, if none is named")
    parser.add_argument("--rows", default=os.devnull, metavar="FILE", help="a line of JSON for each, appended")
    parser.add_argument("--table", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.table:
        table(arguments.table)
        return
    with open(os.path.join(FOLDER, "expected.json")) as file:
        programs = [program for program in json.load(file)["programs"] if not program["needs"]
                    and (not arguments.names or any(name in program["file"] for name in arguments.names))]
    for program in programs:
        program["path"] = os.path.join(FOLDER, program["file"])
        for name, tool in TOOLS.items():
            if arguments.tool and name not in arguments.tool:
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    row = tool(Bench(program, arguments.peers, arguments.seconds, folder))
                except (Failure, OSError, KeyError, ValueError, subprocess.SubprocessError) as problem:
                    row = {"failed": str(problem)[-300:]}
            row.update(program=program["file"][:-3], kind=program["kind"], tool=name)
            with open(arguments.rows, "a") as file:
                file.write(json.dumps(row) + "\n")
            print("%s, %s: %s: %s" % (row["program"], name, words_of(row), row.get("failed") or row.get("says", "")), flush=True)


if __name__ == "__main__":
    main()
